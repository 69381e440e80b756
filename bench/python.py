#!/usr/bin/env python3
"""Measures the Python package beside SciPy, and the time that Python itself takes.

  TEXSOLVE_LIBRARY=build/libtexsolve.so PYTHONPATH=python bench/python.py [PART...]

Parts: import, overhead, poisson (also poisson2d and poisson3d alone), batch, interrupt, and cuda, which needs CuPy; by default
all but the last. --backend names the device (cpu), --threads its threads, --json FILE writes the numbers. Each time is the
smallest and the median of several runs, in alternation; processor time is that of all threads, which other programs change
less. Residuals are computed with NumPy from x. The overhead is the median of differences of neighbouring runs, in several
processes, in which malloc keeps the memory that is freed: otherwise it depends on the other objects of the process whether a
call gets its memory back from the system, page by page, which takes up to 0.6 ms. The last lines are tables in Markdown. All
parts take seven minutes.
"""
import argparse
import ctypes
import functools
import inspect
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import texsolve
from texsolve import _arrays, _declarations as d
from texsolve._library import lib


# The C library gives freed memory back to the system only above this size.
KEEP_MEMORY = {name: str(1 << 30) for name in ('MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_')}


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
    """The calls of a program in C for texsolve.solve, with arguments that are ready: matrix, ts_solve, destroy. The context has
    no function of Python that is called during the solve."""

    def __init__(self, A, b, backend, threads, rtol):
        self.x = np.empty_like(b)
        self.keep = (A, b)
        array = functools.partial(_arrays.wrap, '')
        self.keep_context = texsolve.Context(backend, threads=threads)
        self.context = self.keep_context.pointer
        lib.ts_context_set_poll(self.context, d.ts_poll_fn(), None, 0.0)
        csr = d.ts_csr(A.shape[0], A.shape[1], array(A.indptr), array(A.indices), array(A.data))
        self.desc = d.ts_matrix_desc(csr=csr, borrow=1, components=1)
        self.options = d.ts_solver_desc(rtol=rtol, zero_start=1)
        self.b, self.result, self.arguments = array(b), d.ts_result(), None
        self.target = array(self.x).writable()

    def __call__(self):
        matrix = ctypes.c_void_p()
        lib.ts_matrix_create(self.context, ctypes.byref(self.desc), ctypes.byref(matrix))
        lib.ts_solve(matrix, self.b, self.target, ctypes.byref(self.options), ctypes.byref(self.result))
        lib.ts_matrix_destroy(ctypes.byref(matrix))


def measure_import(report):
    program = ('import time, numpy; t, p = time.perf_counter(), time.process_time(); import texsolve; '
               'print(time.perf_counter() - t, time.process_time() - p)')
    runs = [subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(15)]
    times, processor = ([float(number) for number in column] for column in zip(*runs))
    report['import'] = {'smallest': min(times), 'median': float(np.median(times)), 'processor': min(processor)}
    print(f'import texsolve after NumPy: {1e3 * min(times):.1f} ms, median {1e3 * np.median(times):.1f} ms, processor time '
          f'{1e3 * min(processor):.1f} ms')


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


def measure_pairs(n, seconds, backend, threads):
    """In a process of its own: C and Python one after the other, in random order. Prints the times of both as JSON."""
    A = poisson(n, 2)
    b = np.ones(A.shape[0])
    context, in_c = texsolve.Context(backend, threads=threads), InC(A, b, backend, threads, 1e-5)
    functions = {'C': in_c, 'Python': lambda: texsolve.solve(A, b, context=context, rtol=1e-5)}
    times, processor = {name: [] for name in functions}, {name: [] for name in functions}
    order, end = random.Random(), time.perf_counter() + seconds
    while time.perf_counter() < end or len(times['C']) < 5:
        for name in order.sample(sorted(functions), 2):
            start, start_processor = time.perf_counter(), time.process_time()
            functions[name]()
            times[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - start_processor)
    least, median = outside(functions['Python'], seconds / 4)
    print(json.dumps({'times': times, 'processor': processor, 'outside': median, 'least outside': least}))


def measure_overhead(report, options, processes=12):
    for n, seconds in ((100, 3), (1000, 12)):
        command = [sys.executable, __file__, '--pairs', str(n), str(seconds), '--backend', options.backend, '--threads',
                   str(options.threads)]
        runs = [json.loads(subprocess.run(command, env={**os.environ, **KEEP_MEMORY}, stdout=subprocess.PIPE, check=True).stdout)
                for _ in range(processes if n < 1000 else processes // 3)]
        differences = {kind: sorted(float(np.median(np.array(run[kind]['Python']) - np.array(run[kind]['C']))) for run in runs)
                       for kind in ('times', 'processor')}
        in_c = float(np.median([time for run in runs for time in run['times']['C']]))
        more, more_processor = (float(np.median(differences[kind])) for kind in ('times', 'processor'))
        away = float(np.median([run['outside'] for run in runs])), min(run['least outside'] for run in runs)
        report[f'overhead {n * n}'] = {'C': in_c, 'difference': more, 'lowest': differences['times'][0],
                                       'highest': differences['times'][-1], 'difference of processor time': more_processor,
                                       'outside the library': away[0], 'smallest': away[1]}
        print(f'solve of {n * n} unknowns: C {1e3 * in_c:.3f} ms; Python takes {1e6 * more:.0f} us more ({100 * more / in_c:.2f} %), '
              f'{1e6 * differences["times"][0]:.0f} to {1e6 * differences["times"][-1]:.0f} us in {len(runs)} processes; of processor '
              f'time {1e6 * more_processor:.0f} us ({1e6 * differences["processor"][0]:.0f} to '
              f'{1e6 * differences["processor"][-1]:.0f})')
        print(f'  outside the library, timers included: {1e6 * away[0]:.0f} us, smallest {1e6 * away[1]:.0f} us '
              f'({100 * away[0] / in_c:.3f} %)', flush=True)


def with_processor_time(functions):
    """The functions, and the processor times that they will have taken."""
    taken = {name: [] for name in functions}

    def timed(name):
        start = time.process_time()
        functions[name]()
        taken[name].append(time.process_time() - start)
    return {name: functools.partial(timed, name) for name in functions}, taken


def measure_poisson(report, context, parts):
    for n, dimensions in ((1000, 2), (100, 3)):
        if not {'poisson', f'poisson{dimensions}d'} & set(parts):
            continue
        A = poisson(n, dimensions)
        b = np.random.default_rng(1).standard_normal(A.shape[0])
        name = 'rtol' if 'rtol' in inspect.signature(sla.cg).parameters else 'tol'
        results = []
        functions = {
            'texsolve.solve': lambda: results.append(texsolve.solve(A, b, rtol=1e-8, context=context)) or results[-1].x,
            'texsolve.solve, jacobi': lambda: texsolve.solve(A, b, method='cg', preconditioner='jacobi', rtol=1e-8,
                                                             context=context).x,
            'texsolve.linalg.cg': lambda: texsolve.linalg.cg(A, b, rtol=1e-8, context=context)[0],
            'scipy cg': lambda: sla.cg(A, b, atol=0, **{name: 1e-8})[0]}
        if dimensions == 2:
            functions['scipy spsolve'] = lambda: sla.spsolve(A.tocsc(), b)
        found = {key: {'residual': float(np.linalg.norm(b - A @ function()) / np.linalg.norm(b))}
                 for key, function in functions.items()}
        timed, processor = with_processor_time(functions)
        for key, times in alternate(timed, 0, 3 if dimensions == 2 else 7).items():
            found[key].update(seconds=min(times), median=float(np.median(times)), processor=min(processor[key]))
        setup = float(np.median([result.seconds_setup for result in results]))
        found['texsolve.solve']['setup'] = setup
        for key, row in found.items():
            print(f'Poisson {n}^{dimensions}: {key:23} {row["seconds"]:8.3f} s, median {row["median"]:8.3f} s, processor time '
                  f'{row["processor"]:8.3f} s, residual {row["residual"]:.1e}', flush=True)
        print(f'  of texsolve.solve the set-up of {results[-1].preconditioner}: median {setup:.3f} s, {results[-1].iterations} '
              f'iterations; scipy cg takes {found["scipy cg"]["median"] / found["texsolve.solve"]["median"]:.1f} times as long')
        report[f'poisson {n}^{dimensions}'] = found


def measure_batch(report, context, systems=10000, n=10):
    """Systems of n^2 unknowns with one pattern: diffusion with random conductivities that differ by a factor of 100."""
    pattern = poisson(n, 2)
    row, column = pattern.tocoo().row, pattern.tocoo().col
    rng = np.random.default_rng(1)
    conductivity = 10 ** rng.uniform(-1, 1, (systems, n * n))
    values = np.where(row == column, 0, -np.sqrt(conductivity[:, row] * conductivity[:, column]))
    for k in range(n * n):
        inside = (row == k) & (column != k)
        boundary = (4 - inside.sum()) * conductivity[:, k]  # the walls are kept at 0
        values[:, np.flatnonzero((row == k) & (column == k))[0]] = boundary - values[:, inside].sum(axis=1)
    b = rng.standard_normal((systems, n * n))

    def matrix(k):
        return sp.csr_matrix((values[k], pattern.indices, pattern.indptr), pattern.shape)

    def loop(of):
        return np.stack([of(matrix(k), b[k]) for k in range(systems)])

    functions = {'texsolve.solve_batch': lambda: texsolve.solve_batch(pattern, values, b, rtol=1e-8, context=context).x,
                 'a loop of spsolve': lambda: loop(lambda A, right: sla.spsolve(A.tocsc(), right))}
    if context.backend.startswith('cuda'):
        import cupy
        there = [cupy.asarray(array) for array in (pattern.indices, pattern.indptr, values, b)]
        functions['solve_batch on the GPU'] = lambda: texsolve.solve_batch(tuple(there[:2]), *there[2:], rtol=1e-8,
                                                                          context=context).x
    found = {}
    for name, function in functions.items():
        x = function()
        x = x if isinstance(x, np.ndarray) else x.get()
        worst = max(np.linalg.norm(b[k] - matrix(k) @ x[k]) / np.linalg.norm(b[k]) for k in range(systems))
        found[name] = {'residual': float(worst)}
    timed, processor = with_processor_time(functions)
    for name, times in alternate(timed, 20).items():
        found[name].update(seconds=min(times), median=float(np.median(times)), processor=min(processor[name]))
        print(f'{systems} systems of {n * n}: {name:23} {1e3 * min(times):8.1f} ms, median {1e3 * found[name]["median"]:8.1f} ms, '
              f'processor time {1e3 * found[name]["processor"]:8.1f} ms, largest residual {found[name]["residual"]:.1e}')
    report[f'batch {systems} x {n * n}'] = found


def measure_interrupt(report, context):
    """From the signal of Ctrl+C to KeyboardInterrupt, at several times during the call."""
    A = poisson(100, 3)
    b = np.ones(A.shape[0])

    def latency(function, after):
        sent = []

        def interrupt():
            time.sleep(after)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            function()
            time.sleep(after + 1)
        except KeyboardInterrupt:
            return time.perf_counter() - sent[0]
        return math.nan
    found = {}
    for name, function in (('texsolve.amg', lambda: texsolve.amg(A, context=context)),
                           ('texsolve.solve', lambda: texsolve.solve(A, b, rtol=1e-8, context=context)),
                           ("texsolve.preconditioner(A, 'ilu')", lambda: texsolve.preconditioner(A, 'ilu', context=context))):
        times = [latency(function, after) for after in np.linspace(0.02, 0.4, 20)]
        found[name] = {'longest': max(times), 'median': float(np.median(times))}
        print(f'Ctrl+C during {name}, 10^6 unknowns: longest {1e3 * max(times):.0f} ms, median {1e3 * np.median(times):.0f} ms')
    report['interrupt'] = found


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


def tables(report):
    """Every number again: a table for each part, with milliseconds for times."""
    for part, rows in report.items():
        if not isinstance(rows, dict):
            continue
        if not isinstance(next(iter(rows.values())), dict):
            rows = {part: rows}
        heads = list(dict.fromkeys(head for row in rows.values() for head in row))
        print(f'\n| {part} | ' + ' | '.join(head if head == 'residual' else f'{head}, ms' for head in heads) + ' |')
        print('|---' * (len(heads) + 1) + '|')
        for name, row in rows.items():
            cells = [f'{row[head]:.1e}' if head == 'residual' else f'{1e3 * row[head]:.4g}' if head in row else '' for head in heads]
            print(f'| {name} | ' + ' | '.join(cells) + ' |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('parts', nargs='*', default=['import', 'overhead', 'poisson', 'batch', 'interrupt'])
    parser.add_argument('--backend', default='cpu')
    parser.add_argument('--threads', type=int, default=0)
    parser.add_argument('--json')
    parser.add_argument('--pairs', nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.pairs:
        return measure_pairs(*options.pairs, options.backend, options.threads)
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
        measure_overhead(report, options)
    measure_poisson(report, context, options.parts)
    if 'batch' in options.parts:
        measure_batch(report, context)
    if 'interrupt' in options.parts:
        measure_interrupt(report, context)
    if 'cuda' in options.parts:
        measure_cuda(report)
    tables(report)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(report, file, indent=1)


if __name__ == '__main__':
    main()
