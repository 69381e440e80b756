#!/usr/bin/env python3
"""Copies shaders without comments and spaces, and with short names. Lines keep their numbers, so errors name the right ones.

  compact_shaders.py SHADERS OUTPUT [ROOM...]    # the directories to copy, by default all

A name is short everywhere or nowhere. It stays as it is if the C sources beside SHADERS (src/gl) have it in a text: samplers,
defines. The names depend on all shaders, so that copies of some rooms equal those of all.
"""
import itertools
import pathlib
import re
import shutil
import string
import sys

NAME = re.compile(r'\b[A-Za-z_]\w*')
# Functions of GLSL, which variables may have as names too.
BUILT_IN = set("""abs acos all any asin atan ceil clamp cos cosh cross dFdx dFdy degrees determinant distance dot equal exp exp2
    faceforward floatBitsToInt floatBitsToUint floor fma fract fwidth greaterThan intBitsToFloat inverse inversesqrt isinf isnan
    length lessThan log log2 matrixCompMult max min mix mod modf normalize not notEqual outerProduct pow radians reflect refract
    round roundEven sign sin sinh smoothstep sqrt step tan tanh texelFetch texture textureGather textureLod textureSize transpose
    trunc uintBitsToFloat unpackHalf2x16""".split())
TYPE = r'(?:void|bool|u?int|float|[iub]?vec[234]|mat[234]|[iu]?sampler2D)'


def compact(text):
    text = re.sub(r'/\*.*?\*/', lambda found: '\n' * found[0].count('\n') or ' ', text, flags=re.S)
    text = re.sub(r'//[^\n]*', '', text)
    lines = [line.strip() for line in text.split('\n')]
    lines = [line if line.startswith('#') else re.sub(r'\s*([-+*/%=<>!&|^~?:;,(){}\[\]])\s*', r'\1', line) for line in lines]
    return '\n'.join(lines).rstrip('\n') + '\n'


def names_in_c(directory):
    """The words of texts that are names of shaders' parts: single words and defines."""
    words = set()
    for path in directory.rglob('*.[ch]'):
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text()):
            if '#' in text or re.fullmatch(r'\w+', text):
                words |= set(NAME.findall(text.replace('\\n', ' ')))
    return words


def short_names(texts, kept):
    """The new name of each name that the shaders declare, the most frequent ones first."""
    text = '\n'.join(texts)
    structs = re.findall(r'\bstruct (\w+)', text)
    kinds = '|'.join([TYPE, *structs])
    declared = set(structs) | set(re.findall(r'#define\s+(\w+)', text)) | set(re.findall(rf'\b(?:{kinds})\s+([A-Za-z_]\w*)', text))
    for parameters in re.findall(r'#define\s+\w+\(([^)]*)\)', text):
        declared |= set(NAME.findall(parameters))
    counts = {}
    for name in NAME.findall(text):
        counts[name] = counts.get(name, 0) + 1
    # Two letters or fewer gain nothing, and what looks like components of a vector may be those.
    kept |= BUILT_IN | {"main"}
    found = [name for name in declared if len(name) > 2 and name not in kept and not re.fullmatch(r"[xyzwrgbastpq]{1,4}", name)]
    found.sort(key=lambda name: (-counts[name], name))
    taken = set(counts) | kept | {'do', 'if', 'in'}
    free = (a + b for a, b in itertools.product(string.ascii_letters, string.ascii_letters + string.digits) if a + b not in taken)
    return dict(zip(found, free))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    source, output, rooms = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    shutil.rmtree(output, ignore_errors=True)
    texts = {path.relative_to(source): compact(path.read_text()) for path in sorted(source.rglob('*'))
             if path.suffix in ('.vert', '.frag', '.glsl')}
    short = short_names(texts.values(), names_in_c(source.parent / 'src/gl'))
    for path, text in texts.items():
        if rooms and path.parts[0] not in rooms:
            continue
        lines = [line if line.startswith('#include') else NAME.sub(lambda found: short.get(found[0], found[0]), line)
                 for line in text.split('\n')]
        to = output / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text('\n'.join(lines))


if __name__ == '__main__':
    main()
