"""The pages of the package: Sphinx makes them without a warning, and they have every public name."""
import pathlib
import subprocess
import sys

import pytest

import texsolve
import texsolve.linalg

DOCS = pathlib.Path(__file__).resolve().parents[1] / 'docs'


@pytest.mark.skipif(not DOCS.exists(), reason='needs the repository')
def test_pages(tmp_path):
    pytest.importorskip('sphinx', reason='needs Sphinx (Debian: python3-sphinx)')
    run = subprocess.run([sys.executable, '-m', 'sphinx', '-W', '--keep-going', '-q', '-b', 'html', '-d', tmp_path / 'trees', DOCS,
                          tmp_path / 'html'], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    pages = ''.join(page.read_text(encoding='utf-8') for page in (tmp_path / 'html').glob('*.html'))
    names = [f'texsolve.{name}' for name in texsolve.__all__] + [f'texsolve.linalg.{name}' for name in texsolve.linalg.__all__]
    assert [name for name in names if f'id="{name}"' not in pages] == []
