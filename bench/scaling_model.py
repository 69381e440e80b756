#!/usr/bin/env python3
"""A model of an iteration of conjugate gradients with Jacobi over many GPUs: the tables of docs/scaling.md.

    bench/scaling_model.py                      prints the tables
    bench/scaling_model.py --write PAGE         puts them in the page, between its marks
    bench/scaling_model.py --check PAGE         fails unless the page has them so
    bench/scaling_model.py --measured FILE...   what `texsolve bench scaling --json` measured, with the model beside it;
                                                of ranks one file for each number of them

Needs nothing but Python. The page says what is measured and what is assumed.
"""
import json
import math
import re
import sys

US = 1e-6
M = 1 << 20

# Measured on an H200 and an H100 (docs/results/devices.md, docs/notes/conjugate-gradients.md), relative to the
# bytes of csr. The selected format reads fewer.
BANDWIDTHS = {"H200": 4.7e12, "H100": 3.33e12}
BANDWIDTH = BANDWIDTHS["H200"]
FIXED = 4.6 * US  # time of an iteration in addition to its bytes: three barriers of a GPU's threads, latencies
BARRIER = 0.8 * US  # one of the barriers, which the form with one reduction does not need
# Measured between two H200s, by kernels that write to the other's memory.
LINK = 370e9  # bytes/s, one way
FLAG = 1.5 * US  # round trip
# Assumed: a NIC of 400 Gb/s per GPU, and the latency of a message.
NETWORK = 50e9
LATENCY = 3.5 * US
LATENCIES = (2 * US, 3.5 * US, 5 * US)
NODE = 8  # GPUs
MEMORY = 141e9  # bytes of an H200

VALUE = 4
ENTRY = 8  # csr: a value and a column within the part
MOST_ENTRIES = 2**31 - 1  # per part: its offsets have 32 bits
VECTOR_PASSES = 10  # of the two updates of an iteration, or of the single update in the form with one reduction

# Measurements, in us per iteration.
NOTES, DEVICES = "notes/conjugate-gradients.md", "results/devices.md"
ONE_GPU = [("H200", 16384, 5.0, NOTES), ("H200", M, 24.5, DEVICES), ("H200", 4 * M, 105.8, DEVICES),
           ("H200", 8 * M, 207.5, NOTES), ("H200", 16 * M, 391.1, DEVICES), ("H200", 32 * M, 834.9, DEVICES),
           ("H100", M, 32.6, DEVICES), ("H100", 4 * M, 143.9, DEVICES), ("H100", 16 * M, 556.9, DEVICES),
           ("H100", 32 * M, 1180.3, DEVICES), ("H100", 128 * M, 4997.8, DEVICES)]
SEVERAL_GPUS = [(2, "H200", M, 17.4), (2, "H200", 4 * M, 60.7), (2, "H200", 16 * M, 200.5), (2, "H200", 32 * M, 434.7),
                (4, "H200", 16 * M, 111.4), (2, "H100", M, 23.0), (2, "H100", 4 * M, 83.4), (2, "H100", 16 * M, 282.1),
                (2, "H100", 32 * M, 599.2), (2, "H100", 128 * M, 2359.1)]
# Ranks on two cores of a processor: the time of an iteration on one and on two of them, then the times of a
# product's exchange and of a sum on two. The bandwidth is that of one rank.
RANKS = [(65536, 309, 159, 0, 0.7), (M, 5730, 2880, 51, 0.7), (4 * M, 28600, 13700, 0, 0.7)]


def entries_of(rows):
    """Entries of the 7-point Laplacian of a cube."""
    side = round(rows ** (1 / 3), 6)
    return 7 * rows - 6 * side * side


def product_bytes(rows, entries, halo):
    return ENTRY * entries + VALUE * (rows + halo) + 2 * VALUE * rows  # offsets, x and y


def iteration_bytes(rows, entries, halo):
    return product_bytes(rows, entries, halo) + VECTOR_PASSES * VALUE * rows


class Part:
    """The largest part: its rows, its entries, and its ghosts from GPUs of the same node and of other nodes."""

    def __init__(self, rows, entries, near=0, far=0):
        self.rows, self.entries, self.near, self.far = rows, entries, near, far


def slabs(shape, gpus):
    x, y, z = shape
    depth = math.ceil(z / gpus)
    faces = min(2, gpus - 1)
    return Part(x * y * depth, 7 * x * y * depth - 2 * depth * (x + y) - (2 - faces) * x * y, near=faces * x * y)


def cuts(gpus):
    """Powers of two; the last axis is cut most often."""
    factors, axis = [1, 1, 1], 2
    while math.prod(factors) < gpus:
        factors[axis] *= 2
        axis = (axis - 1) % 3
    return factors


def blocks(shape, gpus):
    """An inner block. A node has 2 x 2 x 2 of them, so one of the two faces along each axis borders another node."""
    a, b, c = (math.ceil(side / n) for side, n in zip(shape, cuts(gpus)))
    face = a * b + b * c + c * a
    return Part(a * b * c, 7 * a * b * c, near=face, far=face)


def halo_time(part, latency):
    times = [0]
    if part.near:
        times.append(part.near * VALUE / LINK + FLAG)
    if part.far:
        times.append(part.far * VALUE / NETWORK + latency)
    return max(times)


def reduction_time(gpus, latency):
    nodes = math.ceil(gpus / NODE)
    return (FLAG if gpus > 1 else 0) + math.ceil(math.log2(nodes)) * latency


def iteration(part, gpus, hidden=True, reductions=2, latency=LATENCY, bandwidth=BANDWIDTH):
    """Seconds. `hidden`: rows without ghosts are multiplied during the halo exchange."""
    halo = part.near + part.far
    time = iteration_bytes(part.rows, part.entries, halo) / bandwidth + FIXED - (2 - reductions) * BARRIER
    exposed = halo_time(part, latency)
    if hidden:
        exposed = max(0, exposed - product_bytes(part.rows, part.entries, 0) / bandwidth)
    return time + exposed + reductions * reduction_time(gpus, latency)


def part_of(shape, gpus):
    return slabs(shape, gpus) if gpus <= NODE else blocks(shape, gpus)


def gpus_text(gpus):
    return f"{gpus}" if gpus <= NODE else f"{gpus} ({gpus // NODE} nodes)"


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def us(seconds):
    return number(seconds / US)


def size_text(rows):
    side = round(rows ** (1 / 3))
    return f"{side}^3" if side**3 == rows and rows % M else f"{rows // M} M" if rows >= M else f"{rows // 1024} k"


def table(header, rows):
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] + ["| " + " | ".join(r) + " |" for r in rows]


def check_table():
    rows = []

    def row(what, n, measured, model, source):
        far = f"{100 * (model / US / measured - 1):+.1f} %" if model else ""
        rows.append([what, size_text(n), number(measured), us(model) if model else "-", far, source])

    for device, n, measured, source in ONE_GPU:
        row(f"one {device}", n, measured, iteration(Part(n, entries_of(n)), 1, bandwidth=BANDWIDTHS[device]), f"[{source}]({source})")
    for count, device, n, measured in SEVERAL_GPUS:
        side = n ** (1 / 3)
        part = slabs((side, side, side), count)
        row(f"{'two' if count == 2 else 'four'} {device}", n, measured, iteration(part, count, bandwidth=BANDWIDTHS[device]),
            f"[{DEVICES}]({DEVICES})")
    for n, one, two, exchange, reduction in RANKS:
        part = slabs((n ** (1 / 3),) * 3, 2)
        share = iteration_bytes(part.rows, part.entries, part.near) / iteration_bytes(n, entries_of(n), 0)
        row("one rank on a CPU", n, one, None, "[results/ranks.md](results/ranks.md)")
        row("two ranks on a CPU", n, two, (one * share + exchange + 2 * reduction) * US, "[results/ranks.md](results/ranks.md)")
    return table(["parts", "rows", "us measured", "us by the model", "off by", "measured in"], rows)


def scaling_row(shape, gpus, one, weak):
    part = part_of(shape, gpus)
    exposed, two, best = iteration(part, gpus, hidden=False), iteration(part, gpus), iteration(part, gpus, reductions=1)
    gain = one / two * (gpus if weak else 1)
    fits = part.entries <= MOST_ENTRIES
    cells = [gpus_text(gpus), number(part.rows / 1e6), number((part.near + part.far) * VALUE / 1e6), us(exposed), us(two), us(best),
             f"{gain:.4g}", f"{100 * gain / gpus:.1f} %"]
    return cells if fits else cells[:2] + ["-", "-", us(two) + " (too many entries)", "-", cells[-2], cells[-1]]


COUNTS = (1, 2, 4, 8, 64 * NODE, 1024 * NODE)
SCALING = ["GPUs", "M rows each", "halo, MB", "us: halo first", "us: halo hidden", "us: one reduction", "speed-up", "efficiency"]


def strong_table(side):
    shape = (side, side, side)
    one = iteration(part_of(shape, 1), 1)
    return table(SCALING, [scaling_row(shape, gpus, one, weak=False) for gpus in COUNTS])


def weak_part(gpus):
    """32 M rows per part, from a cube in one part. It grows along one axis within a node, and along all axes beyond."""
    side = (32 * M) ** (1 / 3)
    face = side * side
    if gpus > NODE:
        return Part(32 * M, 7 * 32 * M, near=3 * face, far=3 * face)
    faces = min(2, gpus - 1)
    return Part(32 * M, 7 * 32 * M - (6 - faces) * face, near=faces * face)


def weak_table():
    one = iteration(weak_part(1), 1)
    rows = []
    for gpus in COUNTS:
        part = weak_part(gpus)
        times = [iteration(part, gpus, hidden=False), iteration(part, gpus), iteration(part, gpus, reductions=1)]
        rows.append([gpus_text(gpus), number(part.rows * gpus / 1e6), number((part.near + part.far) * VALUE / 1e6), *map(us, times),
                     f"{gpus * one / times[1]:.4g}", f"{100 * one / times[1]:.1f} %"])
    return table(["GPUs", "M rows in all"] + SCALING[2:], rows)


def least_rows(gpus, gain):
    """The rows of a cube, to two digits."""
    def gains(rows):
        side = rows ** (1 / 3)
        part = Part(rows / gpus, entries_of(rows) / gpus, near=min(2, gpus - 1) * side * side)
        return iteration(Part(rows, entries_of(rows)), 1) / iteration(part, gpus, hidden=False)
    low, high = 1e3, 1e10
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gains(middle) >= gain else (middle, high)
    return f"{float(f'{high:.2g}'):.0f}"


def least_table():
    rows = [[f"{gpus}"] + [least_rows(gpus, gain) for gain in (1, 0.7 * gpus, 0.9 * gpus)] for gpus in (2, 4, 8)]
    return table(["GPUs", "as fast as one from rows", "efficiency 70 % from", "90 % from"], rows)


def latency_table():
    rows = []
    for side in (512, 1024):
        shape = (side, side, side)
        one = iteration(part_of(shape, 1), 1)
        for gpus in COUNTS[-2:]:
            part = part_of(shape, gpus)
            times = [iteration(part, gpus, reductions=r, latency=t) for r in (2, 1) for t in LATENCIES]
            rows.append([f"{side}^3", gpus_text(gpus)] + [f"{us(t)} ({100 * one / t / gpus:.0f} %)" for t in times])
    names = [f"{t / US:.3g} us, {r}" for r in ("two", "one") for t in LATENCIES]
    return table(["rows", "GPUs"] + names, rows)


def memory_row(what, rows, entries, halo, floats):
    """`floats`: 4-byte numbers per row in vectors: x, b, e, r, d, q and the inverse diagonal."""
    matrix, offsets = ENTRY * entries, VALUE * (rows + 1)
    vectors = VALUE * (floats * rows + halo)
    lists = VALUE * halo
    total = matrix + offsets + vectors + lists
    return [what, number(rows / 1e6), number(entries / 1e6), number(matrix / 1e9), number(offsets / 1e9), number(vectors / 1e9),
            f"{total / 1e9:.1f}", f"{100 * total / MEMORY:.0f} %"]


def memory_table():
    side = 754  # 754^3 rows have 3 billion entries
    half = slabs((side, side, side), 2)
    rows = [memory_row(f"half of {side}^3, single", half.rows, half.entries, half.near, 7),
            memory_row(f"half of {side}^3, mixed", half.rows, half.entries, half.near, 9)]
    for label, part in (("512^3 on one", slabs((512,) * 3, 1)), ("half of 512^3", slabs((512,) * 3, 2)), ("32 M rows", weak_part(2)),
                        ("an eighth of 1024^3", slabs((1024,) * 3, 8))):
        rows.append(memory_row(f"{label}, single", part.rows, part.entries, part.near, 7))
    return table(["a GPU's part", "M rows", "M entries", "matrix, GB", "offsets", "vectors", "in all, GB", "of 141 GB"], rows)


def tables():
    return {"check": check_table(), "strong-256": strong_table(256), "strong-512": strong_table(512), "strong-1024": strong_table(1024),
            "weak": weak_table(), "least": least_table(), "latency": latency_table(), "memory": memory_table()}


def fail(message):
    sys.exit(f"scaling_model.py: {message}")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        fail(error)


def filled(page):
    """The page with each table between its marks."""
    for name, lines in tables().items():
        mark = f"<!-- scaling_model.py: {name} -->"
        page, found = re.subn(re.escape(mark) + r"\n(\|.*\n)*", lambda _, m=mark, t=lines: "\n".join([m, *t, ""]), page)
        if found != 1:
            fail(f"the page has {found} marks {mark}")
    return page


def measured_part(r):
    """Parts that take turns, which have an overhead instead of a speed-up, are combined."""
    shares = r["parts_with_rows"] if r["overhead_percent"] is None else 1
    return Part(r["rows"] / shares, r["entries"] / shares, near=r["halo_rows"] / shares)


def read_report(path):
    try:
        report = json.loads(read(path))
    except ValueError as error:
        fail(f"{path}: {error}")
    if not isinstance(report, dict) or report.get("bench") != "scaling":
        fail(f"{path}: no report of bench scaling")
    return report


def measured_model(r, one):
    """Seconds. The bandwidth is that of one part on any device. Ranks add the measured times of exchanges and sums."""
    is_gpu = "cuda" in r["backend"]
    fixed, links = (FIXED, 2 * FLAG) if is_gpu else (0, 0)
    bandwidth = iteration_bytes(one["rows"], one["entries"], 0) / (one["microseconds"] * US - fixed)
    part = measured_part(r)
    model = fixed + iteration_bytes(part.rows, part.entries, part.near) / bandwidth
    if "microseconds_sum" in r:
        exchange = r["microseconds_product"] - r["microseconds_own"] if r["parts"] > 1 else 0
        return model + (max(0, exchange) + (2 * r["microseconds_sum"] if r["parts"] > 1 else 0)) * US
    return model + (halo_time(part, LATENCY) + links if is_gpu and part.near else 0)


def print_measured(paths):
    """Ranks are not modelled without a measurement of one rank. A busy device may have no valid time."""
    reports = [read_report(path) for path in paths]
    one = next((r for report in reports for r in report.get("strong", []) if r["parts"] == 1 and r["microseconds"]), None)
    print(f"{'':6} {'parts':>5} {'rows':>11} {'us measured':>12} {'us by the model':>16} {'off by':>8}")
    for report in reports:
        for kind in ("strong", "weak"):
            for r in report.get(kind, []):
                us = r["microseconds"]
                model, off = (measured_model(r, one) / US if one else None), None
                if model and us:
                    off = 100 * (model / us - 1)
                cells = [f"{us:12.2f}" if us else f"{'-':>12}", f"{model:16.2f}" if model else f"{'-':>16}",
                         f"{off:+7.1f}%" if off is not None else f"{'-':>8}"]
                print(f"{kind:6} {r['parts']:5} {r['rows']:11} {' '.join(cells)}")


def main(arguments):
    if not arguments:
        for name, lines in tables().items():
            print("\n".join(["", name, "", *lines]))
    elif len(arguments) == 2 and arguments[0] == "--write":
        page = filled(read(arguments[1]))
        with open(arguments[1], "w", encoding="utf-8") as file:
            file.write(page)
    elif len(arguments) == 2 and arguments[0] == "--check":
        page = read(arguments[1])
        if page != filled(page):
            fail(f"{arguments[1]} has other tables: run bench/scaling_model.py --write {arguments[1]}")
    elif len(arguments) >= 2 and arguments[0] == "--measured":
        print_measured(arguments[1:])
    else:
        fail(__doc__)


main(sys.argv[1:])
