"""Builds the shared library with CMake and puts it next to the modules of the package.

TEXSOLVE_CMAKE_ARGS has further arguments of CMake, such as -DTEXSOLVE_CUDA=OFF. TEXSOLVE_BUILD_DIR names a directory in which the
library was built: nothing is compiled then.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version():
    text = (ROOT / 'include/texsolve/texsolve.h').read_text()
    return '.'.join(re.search(rf'#define TS_VERSION_{part} (\d+)', text)[1] for part in ('MAJOR', 'MINOR', 'PATCH'))


def build(directory):
    options = ['-DCMAKE_BUILD_TYPE=Release', '-DTEXSOLVE_PROGRAMS=OFF', '-DTEXSOLVE_TESTS=OFF', '-DTEXSOLVE_INSTALL=OFF']
    generator = ['-G', 'Ninja'] if shutil.which('ninja') else []
    subprocess.run(['cmake', '-S', str(ROOT), '-B', str(directory), *generator, *options,
                    *shlex.split(os.environ.get('TEXSOLVE_CMAKE_ARGS', ''))], check=True)
    subprocess.run(['cmake', '--build', str(directory), '--parallel'], check=True)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return  # the library is found by TEXSOLVE_LIBRARY or on the system
        given = os.environ.get('TEXSOLVE_BUILD_DIR')
        directory = pathlib.Path(given) if given else pathlib.Path(self.get_finalized_command('build').build_temp) / 'cmake'
        if not given:
            build(directory)
        major, minor = version().split('.')[:2]
        library = directory / f'libtexsolve.so.{major}.{minor}'
        target = pathlib.Path(self.build_lib) / 'texsolve'
        shutil.copy(library, target / library.name)
        for module in directory.rglob('texsolve-direct.so'):
            shutil.copy(module, target / module.name)


class BinaryDistribution(Distribution):
    """The package has a library of one platform, for every version of Python."""

    def has_ext_modules(self):
        return True


commands = {'build_py': BuildWithLibrary}
try:
    from wheel.bdist_wheel import bdist_wheel

    class AnyPython(bdist_wheel):
        def get_tag(self):
            return 'py3', 'none', super().get_tag()[2]

    commands['bdist_wheel'] = AnyPython
except ImportError:
    pass

setup(version=version(), distclass=BinaryDistribution, cmdclass=commands)
