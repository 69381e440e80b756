#!/usr/bin/env python3
"""Compares the version in every place that names it with that of CMakeLists.txt (docs/releasing.md)."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "include/texsolve/texsolve.h"

# File, and a pattern around the version.
PLACES = [
    (HEADER, r"#define TS_VERSION_MAJOR (\d+)\n#define TS_VERSION_MINOR (\d+)\n#define TS_VERSION_PATCH (\d+)"),
    (HEADER, r'the library\'s version, "(\d+)\.(\d+)\.(\d+)"'),
    ("CHANGELOG.md", r"\A# Changes\n\n## (\d+)\.(\d+)\.(\d+)"),
    ("CITATION.cff", r"(?m)^version: (\d+)\.(\d+)\.(\d+)$"),
] + [(str(page.relative_to(ROOT)), r'\A\.TH .*"texsolve (\d+)\.(\d+)\.(\d+)"') for page in sorted(ROOT.glob("docs/*.1"))]


def version_in(name, pattern):
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"))
    return ".".join(found.groups()) if found else "no version"


wanted = version_in("CMakeLists.txt", r"project\(texsolve VERSION (\d+)\.(\d+)\.(\d+)")
failed = wanted == "no version"
for name, pattern in PLACES:
    version = version_in(name, pattern)
    print(f"{name}: {version}" + ("" if version == wanted else f", and CMakeLists.txt: {wanted}"))
    failed |= version != wanted
sys.exit(failed)
