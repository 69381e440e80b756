#!/usr/bin/env python3
"""Clears the texts of EM_JS in a module: emcc has copied them into the JavaScript, and leaves them in the data.

  strip_scripts.py MODULE OUTPUT
"""
import pathlib
import re
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    module = pathlib.Path(sys.argv[1]).read_bytes()
    # "(int unit)<::>{ body }" and a zero
    cleared = re.sub(rb'\([\w *,]*\)<::>\{[^\0]*\}(?=\0)', lambda found: bytes(len(found[0])), module)
    pathlib.Path(sys.argv[2]).write_bytes(cleared)


if __name__ == '__main__':
    main()
