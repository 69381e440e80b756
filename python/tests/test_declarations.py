"""The generated declarations are those of the headers: their text, and sizes and offsets as the C compiler has them."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import texsolve._declarations as d

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / 'scripts/python-declarations'
CC = shutil.which(os.environ.get('CC') or 'cc')

needs_source = pytest.mark.skipif(not SCRIPT.exists() or CC is None, reason='needs the repository and a C compiler')


def structs():
    return {name: kind for name, kind in vars(d).items()
            if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and name.startswith('ts_')}


@needs_source
def test_file_is_what_the_script_writes():
    run = subprocess.run([sys.executable, SCRIPT, '--check'], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@needs_source
def test_layout_is_that_of_the_compiler(tmp_path):
    lines = []
    for name, kind in structs().items():
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("{name}.{field[0]} %zu\\n", offsetof(struct {name}, {field[0]}));' for field in kind._fields_]
    headers = [path.name for path in sorted((ROOT / 'include/texsolve').glob('*.h')) if path.name != 'mpi.h']
    source = tmp_path / 'layout.c'
    source.write_text('#include <stddef.h>\n#include <stdio.h>\n' + ''.join(f'#include <texsolve/{name}>\n' for name in headers)
                      + 'int main(void) {\n' + '\n'.join(lines) + '\nreturn 0;\n}\n')
    subprocess.run([CC, '-std=c11', '-I', ROOT / 'include', source, '-o', tmp_path / 'layout'], check=True)
    compiled = subprocess.run([tmp_path / 'layout'], capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for name, kind in structs().items():
        found.append(f'{name} {ctypes.sizeof(kind)}')
        found += [f'{name}.{field[0]} {getattr(kind, field[0]).offset}' for field in kind._fields_]
    assert len(structs()) > 40
    assert found == compiled


def test_every_function_is_in_the_library():
    from texsolve._library import lib
    optional = ('ts_cuda', 'ts_gl')  # of backends that a build may lack
    missing = [name for name in d.FUNCTIONS if not hasattr(lib.opened(), name) and not name.startswith(optional)]
    assert missing == []
