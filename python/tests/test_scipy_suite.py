"""SciPy's own tests of its iterative solvers against texsolve.linalg."""
import pathlib
import subprocess
import sys

import pytest
import scipy


def test_differences_are_those_in_the_list():
    pytest.importorskip('scipy.sparse.linalg._isolve.tests.test_iterative')
    if scipy.__version__.split('.')[:2] != ['1', '10']:
        pytest.skip(f'the list of differences is for the tests of SciPy 1.10, not for those of {scipy.__version__}')
    script = pathlib.Path(__file__).with_name('scipy_suite.py')
    run = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert ' 0 fail' in run.stdout.splitlines()[-1]
