#!/usr/bin/env python3
"""The peer of `texsolve bench batch`: a loop of SciPy's direct solver over systems of one pattern.

Standard input contains int64 rows, entries and systems, int32 offsets and columns, and doubles: values and b of all
systems. The answer is a JSON object. Usage: peer-batch REPEATS [--processor-time]
"""
import json
import sys
import time
import warnings

try:
    import numpy as np
    import scipy.sparse as sparse
    import scipy.sparse.linalg as linalg
except ImportError as missing:
    print(f"peer-batch: {missing}", file=sys.stderr)
    json.dump({"results": []}, sys.stdout)
    sys.exit()


def take_systems(stream):
    rows, entries, systems = (int(n) for n in np.frombuffer(stream.read(24), np.int64))
    offsets = np.frombuffer(stream.read(4 * (rows + 1)), np.int32).copy()
    columns = np.frombuffer(stream.read(4 * entries), np.int32).copy()
    values = np.frombuffer(stream.read(8 * entries * systems), np.float64).reshape(systems, entries).copy()
    b = np.frombuffer(stream.read(8 * rows * systems), np.float64).reshape(systems, rows).copy()
    return offsets, columns, values, b


def main():
    repeats = int(sys.argv[1])
    now = time.process_time if "--processor-time" in sys.argv else time.perf_counter
    offsets, columns, values, b = take_systems(sys.stdin.buffer)
    systems, rows = b.shape
    times, x = [], np.empty_like(b)
    warnings.simplefilter("ignore")  # spsolve would rather have columns than rows
    A = sparse.csr_matrix((values[0], columns, offsets), (rows, rows))
    for _ in range(repeats + 1):  # the first is a warm-up
        begun = now()
        for k in range(systems):
            A.data = values[k]
            x[k] = linalg.spsolve(A, b[k])
        times.append(now() - begun)
    worst = 0.0
    for k in range(systems):
        A.data = values[k]
        worst = max(worst, float(np.linalg.norm(b[k] - A @ x[k]) / np.linalg.norm(b[k])))
    seconds = sorted(times[1:])[repeats // 2]
    json.dump({"results": [{"library": "SciPy", "setting": "spsolve", "systems": systems, "seconds": seconds,
                            "residual": worst}]}, sys.stdout)


main()
