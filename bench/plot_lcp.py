"""Figures 6, 7 and 8 of Courtecuisse and Allard 2009 from the sweeps of `texsolve bench lcp --json`.

The paper prints its curves as pictures only. The values in its text (section IV.C) are drawn in grey: the speed-ups of the
best schemes on machines of 2009 as lines and points, and none for figure 8.
"""
from report import fail, ordered

COLOURS = {"row": "#8c40a6", "column": "#b08d1a", "block": "#e6730d", "graph": "#1f66bf", "graph-2": "#409919", "relaxed": "#c02942",
           "sequential": "#262626"}
MARKERS = {"row": "s", "column": "v", "block": "D", "graph": "o", "graph-2": "^", "relaxed": "x", "sequential": "h"}
PRECISIONS = ("single", "double")
GREY = "0.45"
# Speed-ups of 2009 against one core: (text, value or (n, value), precision or None, line style).
PAPER_CPU = [("paper: quad, 4 cores: up to 6", 6, None, ":"), ("paper: bi-quad, 8 cores: up to 18", 18, None, "--"),
             ("paper: octo, 16 cores: up to 28", 28, None, "-."), ("paper: octo, large n: 6", 6, None, (0, (1, 4)))]
PAPER_GPU = [("paper: GTX 280, graph, single: 10 at n = 10000", (10000, 10), "single", "o"), ("paper: GTX 280, graph, double: 9.5 at n = 10000", (10000, 9.5), "double", "o"),
             ("paper: GTX 280, block: 1 at n = 1400", (1400, 1), None, "D"), ("paper: GTX 280, block, single: up to 2.5", 2.5, "single", ":"),
             ("paper: GTX 280, block, double: up to 3.4", 3.4, "double", ":")]


def is_gpu(row):
    return not row["backend"].startswith("cpu") and row["scheme"] != "sequential"


def paper(axes, facts, precision):
    for text, value, only, style in facts:
        if only not in (None, precision):
            continue
        if isinstance(value, tuple):
            axes.plot([value[0]], [value[1]], color=GREY, marker=style, markersize=8, markerfacecolor="white", linestyle="", label=text)
        else:
            axes.axhline(value, color=GREY, linestyle=style, linewidth=1.2, label=text)


def finish(axes, title, label):
    from matplotlib import ticker
    axes.set(title=title, xlabel="n, unknowns", ylabel=label, xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(ticker.LogLocator(10, (1, 2, 5)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(ticker.NullLocator())
    axes.tick_params(labelleft=True)


def legend(figure, panels):
    """One legend for all panels, on the right; equal texts appear once."""
    entries = {}
    for axes in panels:
        for line, text in zip(*axes.get_legend_handles_labels()):
            entries.setdefault(text, line)
    figure.legend(entries.values(), entries.keys(), loc="upper left", bbox_to_anchor=(1.0, 0.95))


def precisions_of(rows):
    return [p for p in PRECISIONS if any(r["precision"] == p for r in rows)]


def panels_of(plt, rows, title):
    precisions = precisions_of(rows)
    figure, panels = plt.subplots(1, len(precisions), figsize=(5 * len(precisions), 4.4), sharex=True, sharey=True, squeeze=False)
    figure.suptitle(title, x=0.01, ha="left")
    return figure, list(zip(panels[0], precisions))


def draw_speedups(plt, rows, devices, number, facts):
    """Figures 6 and 7: each scheme relative to the sequential loop on one core of the same machine."""
    backends = ordered(r["backend"] for r in rows)
    names = ", ".join(f"{b}: {devices.get(b, '')}" if devices.get(b) else b for b in backends)
    figure, panels = panels_of(plt, rows, f"Sweeps of dense Gauss-Seidel (figure {number}), {names}")
    for axes, precision in panels:
        axes.axhline(1, color="black", linewidth=0.8)
        for k, backend in enumerate(backends):
            for scheme in ordered(r["scheme"] for r in rows):
                points = sorted((r["size"], r["times_sequential"]) for r in rows
                                if (r["backend"], r["scheme"], r["precision"]) == (backend, scheme, precision) and r["times_sequential"])
                label = scheme if len(backends) == 1 else f"{backend} {scheme}"
                if points:
                    axes.plot(*zip(*points), color=COLOURS.get(scheme, "0.5"), marker=MARKERS.get(scheme, "o"),
                              linestyle="-" if k == 0 else "--", label=label)
        paper(axes, facts, precision)
        finish(axes, f"{precision} precision", "times as fast as one core")
    legend(figure, [axes for axes, _ in panels])
    return figure


def draw_rates(plt, rows, devices):
    """Figure 8: GFLOP/s of the fastest scheme with sequential iterates, 2 operations per entry."""
    figure, panels = panels_of(plt, rows, "Sweeps of dense Gauss-Seidel (figure 8): the fastest scheme of each architecture")
    machines = ordered(r["machine"] for r in rows)
    series = {}
    for m in machines:
        text = f"one core, beside {m}" if len(machines) > 1 else "one core"
        series[text] = lambda r, m=m: r["scheme"] == "sequential" and r["machine"] == m
    for backend in ordered(r["backend"] for r in rows if r["scheme"] != "sequential"):
        series[f"{backend}: {devices.get(backend, '')}"] = (
            lambda r, b=backend: r["backend"] == b and r["scheme"] not in ("sequential", "relaxed"))
    for axes, precision in panels:
        for k, (text, belongs) in enumerate(series.items()):
            best = {}
            for r in rows:
                if r["precision"] == precision and belongs(r) and r["gflops"]:
                    best[r["size"]] = max(best.get(r["size"], 0), r["gflops"])
            if best:
                axes.plot(*zip(*sorted(best.items())), marker="hos^Dv"[k % 6], color=list(COLOURS.values())[-1 - k % 7], label=text)
        finish(axes, f"{precision} precision", "GFLOP/s")
    legend(figure, [axes for axes, _ in panels])
    return figure


def draw_lcp(plt, report):
    """{number: figure}"""
    rows = report["sweeps"]
    if not rows:
        fail("there are no sweeps in it: bench lcp measures them when no problem is named")
    devices = {d["backend"]: d["device"] for d in report["devices"]}
    parallel = [r for r in rows if r["scheme"] != "sequential"]
    cpu, gpu = [r for r in parallel if not is_gpu(r)], [r for r in parallel if is_gpu(r)]
    figures = {}
    if cpu:
        figures["6"] = draw_speedups(plt, cpu, devices, 6, PAPER_CPU)
    if gpu:
        figures["7"] = draw_speedups(plt, gpu, devices, 7, PAPER_GPU)
    figures["8"] = draw_rates(plt, rows, devices)
    return figures
