#!/usr/bin/env python3
"""Joins a JavaScript module and those that it imports into one file, because a browser asks for few files at a time.

  join_modules.py MODULE OUTPUT

Each import, and each export of names, must be a line of its own, as in the package. Modules must not import each other in a
circle, and must not assign to what they export.
"""
import pathlib
import re
import sys

IMPORT = re.compile(r"^import (?:\{ (?P<names>.*) \}|(?P<default>\w+)) from '\./(?P<file>[^']*)'$", re.M)
FORWARD = re.compile(r"^export \{ (?P<names>.*) \} from '\./(?P<file>[^']*)'$", re.M)
DECLARED = re.compile(r'^export (?=(?:async function|function|class|const) (\w+))', re.M)
DEFAULT = re.compile(r'^export default (\w+);?$', re.M)


def name_of(file):
    return re.sub(r'\W', '_', file)


def taken(found):
    """The line that takes imported names from a joined module."""
    names = f'default: {found["default"]}' if found['default'] else found['names'].replace(' as ', ': ')
    return f'const {{ {names} }} = {name_of(found["file"])}'


def wrapped(file, text):
    names = DECLARED.findall(text) + [f'default: {name}' for name in DEFAULT.findall(text)]
    body = IMPORT.sub(taken, DEFAULT.sub('', DECLARED.sub('', text)))
    if re.search(r'^(import|export)\b', body, re.M):
        sys.exit(f'join_modules.py: {file} has an import or an export of a form that is not known here')
    return f'const {name_of(file)} = (() => {{\n{body}\nreturn {{ {", ".join(names)} }}\n}})()\n'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    first = pathlib.Path(sys.argv[1])
    joined = {}

    def join(text):
        for found in [*IMPORT.finditer(text), *FORWARD.finditer(text)]:
            file = found['file']
            if file in joined:
                continue
            imported = (first.parent / file).read_text()
            join(imported)
            joined[file] = wrapped(file, imported)

    text = first.read_text()
    join(text)
    text = FORWARD.sub(lambda found: f'export const {{ {found["names"]} }} = {name_of(found["file"])}', text)
    pathlib.Path(sys.argv[2]).write_text(''.join(joined.values()) + IMPORT.sub(taken, text))


if __name__ == '__main__':
    main()
