"""Shared code of these scripts: reads the output of `texsolve bench --json`, and defines the style of charts."""
import json
import sys

# Buatois, Caumon, Levy 2008, sections 3.1 and 3.2: the largest published values, GFLOP/s. The CPU is an Athlon
# 64 X2 4800+, CTM ran on a Radeon X1900XTX, OpenGL and CUDA on a QuadroFX 5600.
PAPER = [
    ("CPU, two threads, SSE3", 0.62, 0.94, "1.7 (4.0 times less than CUDA)"),
    ("Radeon X1900XTX, CTM", 7.6, 7.0, "5"),
    ("QuadroFX 5600, OpenGL (Krueger and Westermann)", 10.0, 14.3, "-"),
    ("QuadroFX 5600, CUDA", 11.0, 15.5, "6.8, with blocks of 4 x 4"),
]
PAPER_CUDA = {"axpy": 11.0, "dot": 15.5, "spmv": 6.8}


def fail(message):
    sys.exit(f"{sys.argv[0].rsplit('/', 1)[-1]}: {message}")


def ordered(values):
    return list(dict.fromkeys(values))


def load(paths):
    """Merges reports of one benchmark; "-" is standard input."""
    merged = {"devices": [], "results": [], "ratios": [], "sweeps": []}
    for path in paths:
        try:
            with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
                report = json.load(file)
        except (OSError, ValueError) as error:
            fail(f"{path}: {error}")
        if not isinstance(report, dict) or not (report.get("results") or report.get("sweeps")):
            fail(f"{path}: there are no results of bench compare or bench paper, and no sweeps of bench lcp in it")
        if report.get("sweeps"):
            merged["devices"].append({"backend": report["backend"], "device": report["device"]})
            for row in report["sweeps"]:
                row["machine"] = report["backend"]
        for key, value in report.items():
            if isinstance(value, list) and isinstance(merged.get(key), list):
                merged[key] += value
            else:
                merged[key] = value
    merged["devices"] = list({d["backend"]: d for d in merged["devices"]}.values())
    merged["ratios"] = [r for r in merged["ratios"] if r["matrix"] != "geom. mean"]
    return merged


def pyplot():
    try:
        import matplotlib
    except ImportError:
        fail("charts need matplotlib (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "axes.axisbelow": True, "axes.edgecolor": "0.5", "axes.grid": True, "axes.titlelocation": "left",
        "axes.titlesize": 10.5, "figure.constrained_layout.use": True, "figure.titlesize": 12, "figure.titleweight": "bold",
        "grid.color": "0.88", "legend.frameon": False, "lines.linewidth": 1.5, "lines.markersize": 5.5,
        "savefig.bbox": "tight", "savefig.dpi": 130, "svg.hashsalt": "texsolve", "xtick.color": "0.5",
        "xtick.labelcolor": "black", "ytick.color": "0.5", "ytick.labelcolor": "black"})
    from matplotlib import pyplot as plt
    return plt


def save(figure, path):
    try:
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")
