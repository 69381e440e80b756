"""The examples run; each checks its own numbers."""
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / 'examples'


def test_voltages():
    pytest.importorskip('networkx', reason='needs networkx (Debian: python3-networkx)')
    run = subprocess.run([sys.executable, EXAMPLES / 'voltages.py'], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert 'resistance between the corners: 2.42821244, by networkx 2.42821244' in run.stdout
