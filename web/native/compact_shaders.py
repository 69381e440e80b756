#!/usr/bin/env python3
"""Copies shaders without comments and indentation. Lines keep their numbers, so errors name the right ones.

  compact_shaders.py SHADERS OUTPUT [ROOM...]    # the directories to copy, by default all
"""
import pathlib
import re
import shutil
import sys


def compact(text):
    text = re.sub(r'/\*.*?\*/', lambda found: '\n' * found[0].count('\n') or ' ', text, flags=re.S)
    text = re.sub(r'//[^\n]*', '', text)
    return '\n'.join(line.strip() for line in text.split('\n')).rstrip('\n') + '\n'


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    source, output, rooms = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    shutil.rmtree(output, ignore_errors=True)
    for path in sorted(source.rglob('*')):
        if path.suffix not in ('.vert', '.frag', '.glsl') or (rooms and path.relative_to(source).parts[0] not in rooms):
            continue
        to = output / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(compact(path.read_text()))


if __name__ == '__main__':
    main()
