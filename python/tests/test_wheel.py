"""scripts/wheel: a wheel of the library under test solves in an empty environment, and a wrong name of a wheel is found."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / 'scripts/wheel'


@pytest.mark.skipif(not SCRIPT.exists() or shutil.which('objdump') is None, reason='needs the repository and objdump')
def test_wheel(tmp_path):
    pytest.importorskip('wheel', reason='needs wheel (Debian: python3-wheel)')
    from texsolve import _declarations, _library
    name = f'libtexsolve.so.{_declarations.VERSION[0]}.{_declarations.VERSION[1]}'
    shutil.copy(_library.lib.opened()._name, tmp_path / name)
    environment = {name: value for name, value in os.environ.items() if name not in ('PYTHONPATH', 'TEXSOLVE_LIBRARY')}
    made = subprocess.run([sys.executable, SCRIPT, '--no-build', '--build', tmp_path, '--try'], capture_output=True, text=True,
                          env=environment)
    assert made.returncode == 0, made.stdout + made.stderr
    assert 'cg with amg' in made.stdout and 'residual' in made.stdout
    wheel, = (tmp_path / 'dist').glob('*.whl')
    other = wheel.with_name(wheel.name.replace(wheel.stem.rpartition('-')[2], 'manylinux_2_17_x86_64'))
    wheel.rename(other)
    found = subprocess.run([sys.executable, SCRIPT, '--check', other], capture_output=True, text=True, env=environment)
    assert found.returncode == 1 and 'another platform' in found.stderr
    other.rename(wheel)
    has_cuda = 'CUDA: no' not in made.stdout
    for option, is_right in (('--no-cuda', not has_cuda), ('--cuda=20', False)):  # CUDA 20: older than any toolkit knows
        found = subprocess.run([sys.executable, SCRIPT, option, '--check', wheel], capture_output=True, text=True, env=environment)
        assert (found.returncode == 0) == is_right and ('CUDA' in found.stderr or 'kernels' in found.stderr) != is_right
