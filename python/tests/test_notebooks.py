"""The notebooks run, with pictures that show something, and are stored without outputs."""
import importlib.machinery
import importlib.util
import json
import pathlib

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent.parent / 'notebooks'
NEEDS = {'conductivity': 'torch', 'mesh': 'scipy', 'poisson': 'scipy'}
PICTURES = {'conductivity': 1, 'mesh': 3, 'poisson': 4}


def runner():
    loader = importlib.machinery.SourceFileLoader('run_notebooks', str(HERE / 'run'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('run_notebooks', loader))
    loader.exec_module(module)
    return module


def test_every_notebook_is_listed():
    assert sorted(path.stem for path in HERE.glob('*.ipynb')) == sorted(NEEDS)


@pytest.mark.parametrize('name', sorted(NEEDS))
def test_notebook_runs(name, tmp_path):
    image = pytest.importorskip('matplotlib.image', reason='Matplotlib is not installed')
    pytest.importorskip(NEEDS[name], reason=f'{NEEDS[name]} is not installed')
    _, files = runner().run(HERE / f'{name}.ipynb', tmp_path)
    assert len(files) == PICTURES[name]
    for file in files:
        pixels = image.imread(file)[:, :, :3]
        assert (np.ptp(pixels, axis=2) > 0.2).mean() > 0.002, f'{file.name} has no colours'


@pytest.mark.parametrize('name', sorted(NEEDS))
def test_notebook_is_stored_without_outputs(name):
    book = json.loads((HERE / f'{name}.ipynb').read_text(encoding='utf-8'))
    assert (book['nbformat'], book['nbformat_minor']) == (4, 5)
    cells = book['cells']
    assert len({cell['id'] for cell in cells}) == len(cells)
    for cell in cells:
        if cell['cell_type'] == 'code':
            assert cell['outputs'] == [] and cell['execution_count'] is None
        for line in ''.join(cell['source']).splitlines():
            assert len(line) <= 132, line


def test_runner_names_the_cell_of_an_error(tmp_path):
    path = tmp_path / 'bad.ipynb'
    cells = [{'cell_type': 'markdown', 'source': ['x']}, {'cell_type': 'code', 'source': ['a = 1\n', 'a']},
             {'cell_type': 'code', 'source': ['assert a == 2']}]
    path.write_text(json.dumps({'cells': cells}))
    run = runner()
    with pytest.raises(run.CellError, match='bad.ipynb, cell 2: AssertionError'):
        run.run(path)
