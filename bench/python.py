#!/usr/bin/env python3
"""Measures the Python package beside SciPy, and the time that Python itself takes.

  TEXSOLVE_LIBRARY=build/libtexsolve.so PYTHONPATH=python bench/python.py [PART...]

Parts: import, overhead, poisson, and cuda, which needs CuPy; by default the first three. --backend names the device (cpu), --threads its threads, --json FILE writes the
numbers. Each time is the smallest and the median of several runs, in alternation. Residuals are computed with NumPy from x.
"""
import argparse
import ctypes
import inspect
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import texsolve
from texsolve import _arrays, _declarations as d
from texsolve._library import lib


def poisson(n, dimensions):
    line, matrix = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)), None
    for _ in range(dimensions):
        matrix = line if matrix is None else sp.kron(matrix, sp.identity(n)) + sp.kron(sp.identity(matrix.shape[0]), line)
    return sp.csr_matrix(matrix)


def alternate(functions, seconds, at_least=3):
    """The times of each function, in alternation, until `seconds` have passed."""
    times = {name: [] for name in functions}
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or min(map(len, times.values())) < at_least:
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return times


class InC:
    """The calls of a program in C for texsolve.solve, with arguments that are ready: matrix, ts_solve, destroy."""

    def __init__(self, A, b, context, rtol):
        self.x = np.empty_like(b)
        self.keep = (A, b)
        array = lambda given, read_only=True: _arrays.wrap('', given).as_ts(read_only)
        self.context = context.pointer
        csr = d.ts_csr(A.shape[0], A.shape[1], array(A.indptr), array(A.indices), array(A.data))
        self.desc = d.ts_matrix_desc(csr=csr, borrow=1, components=1)
        self.options = d.ts_solver_desc(rtol=rtol, zero_start=1)
        self.b, self.result, self.arguments = array(b), d.ts_result(), None
        self.target = array(self.x, False)

    def __call__(self):
        matrix = ctypes.c_void_p()
        lib.ts_matrix_create(self.context, ctypes.byref(self.desc), ctypes.byref(matrix))
        lib.ts_solve(matrix, self.b, self.target, ctypes.byref(self.options), ctypes.byref(self.result))
        lib.ts_matrix_destroy(ctypes.byref(matrix))


def measure_import(report):
    program = 'import time, numpy; t = time.perf_counter(); import texsolve; print(time.perf_counter() - t)'
    times = [float(subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, check=True).stdout)
             for _ in range(15)]
    report['import'] = {'smallest': min(times), 'median': float(np.median(times))}
    print(f'import texsolve after NumPy: {1e3 * min(times):.1f} ms, median {1e3 * np.median(times):.1f} ms')


class Timed:
    """Measures the time within functions of the library. Callbacks count as the library's."""

    def __init__(self):
        self.seconds, self.kept = 0.0, {name: getattr(lib, name) for name in d.FUNCTIONS if name in vars(lib)}

    def __enter__(self):
        for name, function in self.kept.items():
            setattr(lib, name, self.timed(function))
        return self

    def timed(self, function):
        def call(*arguments):
            begin = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.perf_counter() - begin
        return call

    def __exit__(self, *error):
        for name, function in self.kept.items():
            setattr(lib, name, function)


def outside(function, seconds):
    """The smallest and the median time of a call that is not spent in the library."""
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 3:
        with Timed() as timed:
            begin = time.perf_counter()
            function()
            found.append(time.perf_counter() - begin - timed.seconds)
    return min(found), float(np.median(found))


def measure_overhead(report, context):
    for n, seconds in ((100, 12), (1000, 30)):
        A = poisson(n, 2)
        b = np.ones(A.shape[0])
        for rtol in (1e-5,):
            in_c = InC(A, b, context, rtol)
            times = alternate({'C': in_c, 'Python': lambda: texsolve.solve(A, b, context=context, rtol=rtol)}, seconds)
            best = {name: min(found) for name, found in times.items()}
            more = np.median(np.array(times['Python']) - np.array(times['C']))
            report[f'overhead {n * n}'] = {'C': best['C'], 'Python': best['Python'], 'median difference': float(more)}
            print(f'solve of {n * n} unknowns: C {1e3 * best["C"]:.3f} ms, Python {1e3 * best["Python"]:.3f} ms; difference of the '
                  f'smallest {1e6 * (best["Python"] - best["C"]):.0f} us, median of differences {1e6 * more:.0f} us '
                  f'({100 * more / best["C"]:.2f} %)')
            least, median = outside(lambda: texsolve.solve(A, b, context=context, rtol=rtol), seconds / 4)
            report[f'outside {n * n}'] = {'smallest': least, 'median': median}
            print(f'  of this outside the library, timers included: {1e6 * least:.0f} us, median {1e6 * median:.0f} us '
                  f'({100 * median / best["C"]:.3f} %)')


def measure_poisson(report, context):
    for n, dimensions in ((1000, 2), (100, 3)):
        A = poisson(n, dimensions)
        b = np.random.default_rng(1).standard_normal(A.shape[0])
        found = {}

        def solve_with(name, function):
            start = time.perf_counter()
            x = function()
            found[name] = {'seconds': time.perf_counter() - start,
                           'residual': float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))}
            print(f'Poisson {n}^{dimensions}: {name:24} {found[name]["seconds"]:8.2f} s, residual {found[name]["residual"]:.1e}',
                  flush=True)

        for _ in range(3):
            solve_with('texsolve.solve', lambda: texsolve.solve(A, b, rtol=1e-8, context=context).x)
        solve_with('texsolve.linalg.cg', lambda: texsolve.linalg.cg(A, b, rtol=1e-8, context=context)[0])
        name = 'rtol' if 'rtol' in inspect.signature(sla.cg).parameters else 'tol'
        solve_with('scipy cg', lambda: sla.cg(A, b, atol=0, **{name: 1e-8})[0])
        if dimensions == 2:
            solve_with('scipy spsolve', lambda: sla.spsolve(A.tocsc(), b))
        report[f'poisson {n}^{dimensions}'] = found


def measure_cuda(report):
    """From a matrix of CuPy in device memory to x there."""
    import cupy
    import cupyx.scipy.sparse
    import cupyx.scipy.sparse.linalg as cla
    A = poisson(100, 3)
    b = np.random.default_rng(1).standard_normal(A.shape[0])
    given, right = cupyx.scipy.sparse.csr_matrix(A), cupy.asarray(b)
    name = 'rtol' if 'rtol' in inspect.signature(cla.cg).parameters else 'tol'
    found = {}

    def solve(function):
        x = function()
        cupy.cuda.runtime.deviceSynchronize()
        return x

    functions = {'texsolve.solve': lambda: solve(lambda: texsolve.solve(given, right, rtol=1e-8).x),
                 'cupyx cg': lambda: solve(lambda: cla.cg(given, right, atol=0, **{name: 1e-8})[0])}
    kept = {key: function() for key, function in functions.items()}
    times = alternate(functions, 5)
    for key, x in kept.items():
        found[key] = {'seconds': min(times[key]), 'median': float(np.median(times[key])),
                      'residual': float(np.linalg.norm(b - A @ x.get()) / np.linalg.norm(b))}
        print(f'Poisson 100^3 on {cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()}: {key:16} {1e3 * min(times[key]):.1f} '
              f'ms, median {1e3 * np.median(times[key]):.1f} ms, residual {found[key]["residual"]:.1e}')
    report['cuda'] = found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('parts', nargs='*', default=['import', 'overhead', 'poisson'])
    parser.add_argument('--backend', default='cpu')
    parser.add_argument('--threads', type=int, default=0)
    parser.add_argument('--json')
    options = parser.parse_args()
    import texsolve.linalg  # noqa: F401
    warnings.simplefilter('ignore', DeprecationWarning)
    context = texsolve.Context(options.backend, threads=options.threads)
    report = {'device': context.device, 'threads': context.info().threads, 'numpy': np.__version__, 'scipy': scipy.__version__,
              'python': sys.version.split()[0], 'load': os.getloadavg()[0]}
    print(f'{context.device}, {report["threads"]} threads, NumPy {np.__version__}, SciPy {scipy.__version__}, load '
          f'{report["load"]:.1f}')
    if 'import' in options.parts:
        measure_import(report)
    if 'overhead' in options.parts:
        measure_overhead(report, context)
    if 'poisson' in options.parts:
        measure_poisson(report, context)
    if 'cuda' in options.parts:
        measure_cuda(report)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(report, file, indent=1)


if __name__ == '__main__':
    main()
