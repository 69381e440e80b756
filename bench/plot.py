#!/usr/bin/env python3
"""Draws what `texsolve bench compare --json`, `texsolve bench paper --json` or `texsolve bench lcp --json` wrote.

    texsolve bench compare -m grid -s 1k,16k,256k --json | bench/plot.py -o speed.svg
    bench/plot.py -o figure.svg paper.json
    bench/plot.py -o sweeps.svg lcp-cpu.json lcp-cuda.json

Several files count as one run. The picture's name ends with .svg, .png or .pdf; the figures of bench paper get their
numbers in Buatois et al. 2008 before the ending: figure8.svg, figure9.svg and figure11.svg. Those of bench lcp get theirs in
Courtecuisse and Allard 2009: sweeps6.svg of the CPU, sweeps7.svg of GPUs, sweeps8.svg of all, as far as they were measured.
Needs matplotlib (Debian: python3-matplotlib).
"""
import argparse
import math
import os

from plot_lcp import draw_lcp
from report import PAPER_CUDA, fail, load, ordered, pyplot, save

COLOURS = {"gl": "#1f66bf", "cuda": "#409919", "cpu": "#e6730d", "cuSPARSE": "#262626", "cuBLAS": "#262626", "Eigen": "#8c40a6"}
MARKERS = {"jagged": "o", "segments": "^", "csr": "s", "bcrs2": "D", "bcrs4": "v", "": "h"}
PANELS = {"axpy": "y = a x + y", "dot": "x . y", "spmv": "y = A x", "cg": "conjugate gradients (Jacobi)"}


def colour_of(name):
    return next((c for prefix, c in COLOURS.items() if name.startswith(prefix)), "0.5")


def look(implementation, form, is_peer):
    marker = "o" if is_peer else MARKERS.get(form, "h")
    style = {"color": colour_of(implementation), "marker": marker, "linestyle": "--" if is_peer else "-"}
    return style | ({"markerfacecolor": "white"} if is_peer else {})


def collect(results, operation, x_of):
    """{(implementation, format, is a peer): {x: GFLOP/s}}. The format of peers and vector operations is "". The fastest of
    several values for one x counts."""
    series = {}
    for row in results:
        value, peer = row[operation + "_gflops"], bool(row["peer"])
        if not value:
            continue
        form = "" if peer or operation in ("axpy", "dot") else row["format"]
        points = series.setdefault((row["implementation"], form, peer), {})
        points[x_of(row)] = max(value, points.get(x_of(row), 0))
    return series


def short(value, unit):
    for power, letter in ((2, "M"), (1, "k")):
        if value >= unit ** power:
            return f"{value / unit ** power:.3g}{letter}"
    return f"{value:.3g}"


def log_axis(axis, unit=1000):
    """A logarithmic axis with numbers such as 16k. Unit 1024: at powers of 4, as for --size."""
    from matplotlib import ticker
    low, high = axis.get_view_interval()
    binary, decades = unit == 1024, math.log10(high / low)
    parts = (1, 2, 3, 5, 7) if decades < 1.3 else (1, 2, 5) if decades < 3.3 else (1,)
    axis.set_major_locator(ticker.LogLocator(16 if decades > 5 else 4) if binary else ticker.LogLocator(10, parts))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: short(value, unit)))
    axis.set_minor_locator(ticker.NullLocator())


def limits_of(values, factor=1.3, least=1):
    """Limits of a logarithmic axis around values, at least `least` decades apart."""
    middle = math.sqrt(min(values) * max(values))
    reach = max(math.sqrt(max(values) / min(values)) * factor, 10 ** (least / 2))
    return middle / reach, middle * reach


def speeds(axes, series, operation, seen, title, joined=True, beside=False):
    """Curves, or points; side by side if x is the index of a matrix."""
    for k, (key, points) in enumerate(series.items()):
        x = sorted(points)
        shift = 0.6 * ((k + 0.5) / len(series) - 0.5) if beside else 0
        style = look(*key) | ({} if joined else {"linestyle": ""})
        axes.plot([at + shift for at in x], [points[at] for at in x], **style)
        seen.setdefault(key, style)
    if operation in PAPER_CUDA:
        axes.axhline(PAPER_CUDA[operation], **THE_PAPER)
    axes.set(title=title, ylabel="GFLOP/s", yscale="log")


THE_PAPER = {"color": "0.45", "linestyle": ":", "linewidth": 1.2}


def legend(plt, figure, report, entries, others):
    """Right of the panels: each implementation with its device, below it its formats as (implementation, text, style), then
    the others."""
    devices = {d["backend"]: d["device"] for d in report["devices"]}
    left, y = figure.get_figwidth() + 0.15, figure.get_figheight() - 0.3
    inches = figure.dpi_scale_trans

    def line(text, style):
        nonlocal y
        figure.add_artist(plt.Line2D([left, left + 0.16, left + 0.32], [y] * 3, markevery=[1], transform=inches, **style))
        figure.text(left + 0.42, y, text, va="center", transform=inches)
        y -= 0.22

    for name in ordered(e[0] for e in entries):
        figure.text(left, y, name, weight="bold", va="center", transform=inches)
        if name in devices:
            y -= 0.2
            device = devices[name]
            figure.text(left, y, device if len(device) < 42 else device[:40] + "...", size=8, color="0.35", va="center", transform=inches)
        y -= 0.23
        for _, text, style in (e for e in entries if e[0] == name):
            line(text, style)
        y -= 0.1
    for text, style in others:
        line(text, style)


def speed_legend(plt, figure, report, seen):
    legend(plt, figure, report, [(i, "fastest" if peer else form or "vectors", style) for (i, form, peer), style in seen.items()],
           [("Buatois et al. 2008: best, in CUDA", THE_PAPER)])


def draw_compare(plt, report):
    """Vectors, and the products of each matrix of several sizes; without such a matrix all matrices side by side."""
    results, seen = report["results"], {}
    names = ordered(r["matrix"] for r in results)
    families = [n for n in names if len({r["rows"] for r in results if r["matrix"] == n}) > 1]
    count = 1 + max(len(families), 1)
    figure, rows = plt.subplots(count, 2, figsize=(10.5, 3.3 * count))

    def over_sizes(axes, own, operation, title, label):
        speeds(axes, collect(own, operation, lambda r: r["rows"]), operation, seen, title, bool(families))
        axes.set(xscale="log", xlabel=label, xlim=limits_of([r["rows"] for r in own]))
        log_axis(axes.xaxis, 1024)

    for axes, operation in zip(rows[0], ("axpy", "dot")):
        over_sizes(axes, results, operation, PANELS[operation], "elements")
    for panels, family in zip(rows[1:], families):
        for axes, operation in zip(panels, ("spmv", "cg")):
            over_sizes(axes, [r for r in results if r["matrix"] == family], operation, f"{family}: {PANELS[operation]}", "rows")
    for axes, operation in zip([] if families else rows[1], ("spmv", "cg")):
        series = collect(results, operation, lambda r: names.index(r["matrix"]))
        speeds(axes, series, operation, seen, PANELS[operation], joined=False, beside=True)
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_xlim(-0.6, len(names) - 0.4)
        axes.grid(False, axis="x")
    for axes in rows.flat:
        log_axis(axes.yaxis)
    speed_legend(plt, figure, report, seen)
    return figure


def draw_speeds(plt, report, title, panels):
    """Figures 8 and 9. `panels`: rows of (operation, matrix or None, title). All share their axes, for comparison."""
    seen = {}
    figure, rows = plt.subplots(len(panels), 2, figsize=(10, 0.4 + 3.2 * len(panels)), sharex=True, sharey=True, squeeze=False)
    figure.suptitle(title, x=0.01, ha="left")
    for axes, (operation, matrix, text) in zip(rows.flat, (p for row in panels for p in row)):
        own = [r for r in report["results"] if matrix in (None, r["matrix"])]
        speeds(axes, collect(own, operation, lambda r: r["rows"]), operation, seen, text)
        axes.set(xscale="log", xlabel="unknowns" if matrix else "elements")
        axes.tick_params(labelbottom=True, labelleft=True)
    rows[0][0].set_xlim(limits_of([r["rows"] for r in report["results"]]))
    log_axis(rows[0][0].xaxis)
    log_axis(rows[0][0].yaxis)
    speed_legend(plt, figure, report, seen)
    return figure


def draw_figure8(plt, report):
    return draw_speeds(plt, report, "Operations on vectors (figure 8)", [[(o, None, PANELS[o]) for o in ("axpy", "dot")]])


def draw_figure9(plt, report):
    return draw_speeds(plt, report, "Sparse matrices (figure 9): useful operations over wall-clock time", [
        [(o, matrix, f"{application}: {PANELS[o]}") for o in ("spmv", "cg")]
        for matrix, application in (("lscm", "parameterization"), ("dsi", "smoothing"))])


def draw_figure11(plt, report):
    """Residuals and errors. The curves coincide, so each backend has its own marker."""
    from matplotlib import ticker
    first = report["residuals"][0]
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True)
    figure.suptitle(f"Single precision (figure 11): a parameterization of {first['unknowns']} unknowns in {first['charts']} charts",
                    x=0.01, ha="left")
    styles = {"double": {"color": "0.75", "linewidth": 4}}
    for k, device in enumerate(report["devices"]):
        styles[device["backend"]] = {"color": colour_of(device["backend"]), "marker": "o^sDvh"[k % 6]} | (
            {"linestyle": "--", "markerfacecolor": "white"} if k else {})
    least = 1.0
    for axes, table, title, label in ((panels[0], "residuals", "residual, computed from x in double precision", "|b - A x| / |b|"),
                                      (panels[1], "errors", "error", "|x - x*| / |x*|")):
        for name, style in styles.items():
            points = [(r["iterations"], r[name]) for r in report[table] if r.get(name)]
            axes.plot([x for x, _ in points], [y for _, y in points], **style)
            least = min([least] + [y for _, y in points])
        axes.set(title=title, xlabel="iterations", ylabel=label, yscale="log", xlim=(0, max(r["iterations"] for r in report[table])))
        axes.tick_params(labelleft=True)
        axes.yaxis.set_major_locator(ticker.LogLocator(10, numticks=20))
    # Single precision ends long before 1e-8.
    panels[0].set_ylim(min(max(10 ** math.floor(math.log10(least)), 1e-8), 1e-6), 2)
    legend(plt, figure, report, [(name, "single precision", style) for name, style in styles.items() if name != "double"],
           [("double precision", styles["double"])])
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=["-"], metavar="FILE", help="what --json wrote (default: standard input)")
    parser.add_argument("-o", "--output", required=True, help="the picture: .svg, .png or .pdf")
    options = parser.parse_args()
    name, ending = os.path.splitext(options.output)
    if ending not in (".svg", ".png", ".pdf"):
        fail(f"{options.output}: the name of a picture ends with .svg, .png or .pdf")
    report = load(options.files)
    plt = pyplot()
    if report.get("bench") == "compare":
        save(draw_compare(plt, report), options.output)
        return
    if report.get("bench") == "lcp":
        for number, figure in draw_lcp(plt, report).items():
            save(figure, name + number + ending)
        return
    for number, draw in (("8", draw_figure8), ("9", draw_figure9), ("11", draw_figure11)):
        if number != "11" or report.get("residuals"):
            save(draw(plt, report), name + number + ending)


if __name__ == "__main__":
    main()
