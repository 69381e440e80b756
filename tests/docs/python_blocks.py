#!/usr/bin/env python3
"""Runs the blocks of Python in the documents: sessions with ">>> " have to print what stands below, other blocks have to run.

  python_blocks.py BUILD_DIR [DOCUMENT...]      default: README.md, docs/*.md

The blocks of a document are one program. The exit status is 77 if no interpreter has NumPy and SciPy.
"""
import doctest
import glob
import os
import subprocess
import sys
import warnings

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(document):
    """(number of the first line, text) of each block of Python."""
    found, begin = [], None
    with open(os.path.join(SOURCE, document), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if begin is None and line.strip() == "```python":
                begin, found = number, found + [(number, "")]
            elif line.startswith("```"):
                begin = None
            elif begin is not None:
                found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def failures(document):
    names, ran = {"__name__": "__main__"}, 0
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for line, text in blocks(document):
        ran += 1
        if ">>> " in text:
            test = doctest.DocTestParser().get_doctest(text, names, document, os.path.join(SOURCE, document), line)
            runner.run(test, clear_globs=False)
            names = test.globs
        else:
            exec(compile("\n" * line + text, document, "exec"), names)
    failed = runner.summarize(verbose=False).failed
    if ran:
        print(f"{document}: {ran} blocks, {failed} lines fail")
    return failed, ran


def main():
    try:
        import numpy  # noqa: F401
        import scipy  # noqa: F401
    except ImportError:
        if sys.executable == "/usr/bin/python3" or not os.path.exists("/usr/bin/python3"):
            print("NumPy or SciPy is missing")
            return 77
        return subprocess.run(["/usr/bin/python3", *sys.argv]).returncode
    os.environ["TEXSOLVE_LIBRARY"] = os.path.join(os.path.abspath(sys.argv[1]), "libtexsolve.so")
    sys.path.insert(0, os.path.join(SOURCE, "python"))
    sys.dont_write_bytecode = True
    warnings.simplefilter("error")
    pages = sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md")))
    documents = sys.argv[2:] or ["README.md"] + [os.path.relpath(page, SOURCE) for page in pages]
    results = [failures(document) for document in documents]
    return int(any(failed for failed, _ in results) or not any(ran for _, ran in results))


if __name__ == "__main__":
    sys.exit(main())
