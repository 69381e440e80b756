#!/usr/bin/env python3
"""Peers of `texsolve bench answer` that are used from Python: SciPy, and CuPy if a device is available.

Standard input contains a matrix as int64 rows, columns, entries, int32 offsets and indices, and doubles; b is all 1.
The answer is a JSON object. Usage: peer-python RTOL REPEATS [FILE]; SciPy also reads the file.
"""
import json
import sys
import time

try:
    import numpy as np
except ImportError as missing:
    print(f"peer-python: {missing}", file=sys.stderr)
    json.dump({"results": []}, sys.stdout)
    sys.exit()

MOST_DIRECT = 60000  # maximum rows for sparse direct factors


def read_matrix(stream):
    rows, columns, entries = np.frombuffer(stream.read(24), np.int64)
    offsets = np.frombuffer(stream.read(4 * (rows + 1)), np.int32).copy()
    indices = np.frombuffer(stream.read(4 * entries), np.int32).copy()
    values = np.frombuffer(stream.read(8 * entries), np.float64).copy()
    return (values, indices, offsets), (int(rows), int(columns))


def median(times):
    return sorted(times)[len(times) // 2]


def residual_of(A, x):
    b = np.ones(A.shape[0])
    x = x.get() if hasattr(x, "get") else x  # CuPy's
    return float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))


def run(library, setting, host, repeats, create, prepare, solve):
    """The median time of each part. A part returns the next one's arguments; the last returns x and the iterations."""
    times = [[], [], []]
    for _ in range(repeats + 1):  # the first is a warm-up
        begun = time.perf_counter()
        A = create()
        created = time.perf_counter()
        M = prepare(A)
        prepared = time.perf_counter()
        x, iterations = solve(A, M)
        ended = time.perf_counter()
        for kept, seconds in zip(times, (created - begun, prepared - created, ended - prepared)):
            kept.append(seconds)
    parts = [median(kept[1:]) for kept in times]
    return {
        "library": library,
        "setting": setting,
        "create": parts[0],
        "setup": parts[1],
        "solve": parts[2],
        "iterations": iterations,
        "residual": residual_of(host, x),
    }


def conjugate_gradients(cg, A, M, b, rtol):
    """x and the iterations. The name of the tolerance depends on the version."""
    count = [0]

    def step(_):
        count[0] += 1

    try:
        x, _ = cg(A, b, M=M, callback=step, maxiter=5000, rtol=rtol, atol=0)
    except TypeError:
        x, _ = cg(A, b, M=M, callback=step, maxiter=5000, tol=rtol, atol=0)
    return x, count[0]


def solve_with_scipy(arrays, shape, rtol, repeats):
    import scipy.sparse as sparse
    import scipy.sparse.linalg as linalg

    host = sparse.csr_matrix(arrays, shape)
    b = np.ones(shape[0])
    found = []

    def create():
        return sparse.csr_matrix(arrays, shape)

    def scale(A):
        inverse = 1 / A.diagonal()
        return linalg.LinearOperator(A.shape, matvec=lambda r: inverse * r)

    if abs(host - host.T).max() == 0:
        found.append(
            run("SciPy", "cg, jacobi", host, repeats, create, scale,
                lambda A, M: conjugate_gradients(linalg.cg, A, M, b, rtol)))
    if shape[0] <= MOST_DIRECT:
        found.append(
            run("SciPy", "splu", host, repeats, create, lambda A: linalg.splu(A.tocsc()),
                lambda A, M: (M.solve(b), 1)))
    return found


def solve_with_cupy(arrays, shape, rtol, repeats):
    import cupy
    import cupyx.scipy.sparse as sparse
    import cupyx.scipy.sparse.linalg as linalg
    import scipy.sparse

    if cupy.cuda.runtime.getDeviceCount() == 0:
        return []
    host = scipy.sparse.csr_matrix(arrays, shape)

    on_device = tuple(cupy.asarray(array) for array in arrays)

    def create(arrays):
        A = sparse.csr_matrix(arrays, shape)
        cupy.cuda.Device().synchronize()
        return A

    def scale(A):
        inverse = 1 / A.diagonal()
        return linalg.LinearOperator(A.shape, matvec=lambda r: inverse * r, dtype=np.float64)

    def solve(A, M):
        x, iterations = conjugate_gradients(linalg.cg, A, M, cupy.ones(shape[0]), rtol)
        cupy.cuda.Device().synchronize()
        return x, iterations

    def solve_to_host(A, M):
        x, iterations = solve(A, M)
        return cupy.asnumpy(x), iterations

    return [
        run("CuPy", "cg, jacobi", host, repeats, lambda: create(tuple(cupy.asarray(array) for array in arrays)),
            scale, solve_to_host),
        run("CuPy, CUDA memory", "cg, jacobi", host, repeats, lambda: create(on_device), scale, solve)
    ]


def time_to_read(path):
    import scipy.io

    begun = time.perf_counter()
    scipy.io.mmread(path).tocsr()
    return time.perf_counter() - begun


def main():
    rtol, repeats = float(sys.argv[1]), int(sys.argv[2])
    arrays, shape = read_matrix(sys.stdin.buffer)
    results = []
    for solve in (solve_with_scipy, solve_with_cupy):
        try:
            results += solve(arrays, shape, rtol, repeats)
        except ImportError as error:
            print(f"peer-python: {error}", file=sys.stderr)
    read = time_to_read(sys.argv[3]) if len(sys.argv) > 3 and results else None
    json.dump({"read": read, "results": results}, sys.stdout)


main()
