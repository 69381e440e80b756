#!/usr/bin/env python3
"""Tables in Markdown from what `texsolve bench compare --json` wrote, beside the figures of Buatois et al. 2008.

    bench/tables.py FILE.json...

Several files count as one run. Needs nothing but Python.
"""
import math
import sys

from report import PAPER, load, ordered


def digits(value):
    return "-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def columns_of(results):
    """The formats of backends, and the fastest one of each library."""
    columns = []
    for backend in ordered(r["backend"] for r in results):
        own = [r for r in results if r["backend"] == backend]
        columns += [(backend, f) for f in ordered(r["format"] for r in own if not r["peer"])]
        columns += [(p, None) for p in ordered(r["implementation"] for r in own if r["peer"] and r["implementation"] != "cuBLAS")]
    return columns


def table(results, key, best, title):
    columns = columns_of(results)
    print(f"\n{title}\n")
    print("| matrix | rows | entries | " + " | ".join(f"{c} {f}" if f else c for c, f in columns) + " |")
    print("|---" * (3 + len(columns)) + "|")
    for matrix, rows, entries in ordered((r["matrix"], r["rows"], r["nonzeros"]) for r in results):
        cells = []
        for implementation, form in columns:
            values = [(r[key], r) for r in results
                      if (r["matrix"], r["rows"]) == (matrix, rows) and r["implementation"] == implementation
                      and (form is None or r["format"] == form) and r[key] is not None]
            if not values:
                cells.append("-")
                continue
            value, row = best(values, key=lambda v: v[0])
            text = digits(value)
            cells.append(f"**{text}**" if row["default"] else text if form else f"{text} ({row['format']})")
        print(f"| {matrix} | {rows} | {entries} | " + " | ".join(cells) + " |")


def ratio_table(ratios):
    if not ratios:
        return
    print("\nTimes as fast as the fastest library on the same device\n")
    print("| matrix | backend | its format: SpMV | best format: SpMV | CG | axpy | dot | nrm2 |")
    print("|---" * 8 + "|")
    for backend in ordered(r["backend"] for r in ratios):
        own = [r for r in ratios if r["backend"] == backend]
        for r in own:
            print(f"| {r['matrix']} | {backend} | {r['format']}: {digits(r['spmv'])} | {r['best_format']}: "
                  f"{digits(r['best_spmv'])} | " + " | ".join(digits(r[k]) for k in ("cg", "axpy", "dot", "nrm2")) + " |")
        means = []
        for key in ("spmv", "best_spmv", "cg", "axpy", "dot", "nrm2"):
            logarithms = [math.log(r[key]) for r in own if r[key]]
            means.append(digits(math.exp(sum(logarithms) / len(logarithms)) if logarithms else None))
        print(f"| geometric mean | {backend} | " + " | ".join(means) + " |")


def main():
    paths = sys.argv[1:]
    if not paths or paths[0].startswith("-"):
        sys.exit(__doc__.strip())
    report = load(paths)
    results = report["results"]
    for d in report["devices"]:
        print(f"- `{d['backend']}`: {d['device']}, copies {d['copy_gigabytes_per_second']:.0f} GB/s")
    table(results, "spmv_gflops", max, "y = A x, GFLOP/s; bold: the format that the backend takes by itself")
    table(results, "cg_microseconds", min, "An iteration of conjugate gradients, us")
    ratio_table(report["ratios"])
    print("\nOn vectors, and the figures of 2008, GFLOP/s\n")
    print("| | axpy | dot, nrm2 | SpMV, at best |")
    print("|---|---|---|---|")
    for name in ordered(r["implementation"] for r in results):
        own = [r for r in results if r["implementation"] == name]
        best = [max((r[k] for r in own if r[k] is not None), default=None) for k in ("axpy_gflops", "dot_gflops", "spmv_gflops")]
        print(f"| {name} | " + " | ".join(digits(b) for b in best) + " |")
    for name, axpy, dot, spmv in PAPER:
        print(f"| Buatois et al. 2008: {name} | {axpy} | {dot} | {spmv} |")


if __name__ == "__main__":
    main()
