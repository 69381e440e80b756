"""Sphinx' pages of the Python package. In this directory: python3 -m sphinx -W -b html . ../../build/docs/python"""
import importlib.util
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import texsolve  # noqa: E402: found by the path above

project = 'texsolve'
version = release = texsolve.__version__
copyright = 'the texsolve authors'
extensions = ['sphinx.ext.autodoc']
html_theme = 'alabaster'
html_theme_options = {'description': 'Sparse linear systems on CPUs and GPUs', 'fixed_sidebar': True}
html_show_copyright = False
html_show_sourcelink = False
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'
autodoc_default_options = {'members': True}
nitpicky = True
if not importlib.util.find_spec('torch'):
    autodoc_mock_imports = ['torch']

# Docstrings are plain text: paragraphs, code, and lists with aligned columns, which stay as they are.
COLUMNS = re.compile(r'^\S.*?\S {2,}\S')
CODE = re.compile(r'^( {4}|[\w., ]+ = |import |print\()')


def as_rst(lines):
    """A docstring as reStructuredText."""
    found = []
    for paragraph in re.split(r'\n\s*\n', '\n'.join(lines).strip('\n')):
        rows = paragraph.split('\n')
        if any(COLUMNS.match(row) for row in rows) or (all(CODE.match(row) for row in rows) and not paragraph.endswith('.')):
            found += ['::', '', *('    ' + row for row in rows), '']
        else:
            text = re.sub(r'([*|\\])', r'\\\1', paragraph)
            found += [*re.sub(r'`([^`]+)`', r'``\1``', text).split('\n'), '']
    return found


def process(app, what, name, thing, options, lines):
    lines[:] = as_rst(lines)


def setup(app):
    app.connect('autodoc-process-docstring', process)
