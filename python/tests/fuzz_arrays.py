#!/usr/bin/env python3
"""Random arrays, matrices and options, valid and not, through every function of the package: a fuzz target of the ctypes layer.

  python3 fuzz_arrays.py [--seconds 60] [--cases N] [--seed 0]
  python3 fuzz_arrays.py --case N [--seed 0]

Each call has to end in a right answer, which SciPy's product checks, or in an exception that names an argument at fault. Inputs
must be left as they were. Calls run in a second process with poisoned memory, so that a crash or a hang is reported with its
case; --case repeats one and prints it.
"""
import argparse
import faulthandler
import logging
import os
import re
import signal
import subprocess
import sys
import time
import traceback
import warnings

import numpy as np
import scipy.sparse as sp

from fuzz_inputs import Fuzz, Wrong

HANG = 60  # seconds that a case may take
MOST_FAILURES = 1000

# How messages name an argument: by its name, or by that of the library's description of it.
NAMES = {
    'A': r'\bA\b|\b(row_offsets|row_indices|triplet|row|column|column_indices|values|rows|columns|entries|triplets|matrix)\b',
    'b': r'\bb\b|right-hand side', 'x0': r'\bx0\b|starting value', 'values': r'\bvalues\b|row_offsets|column_indices',
    'coordinates': r'\bcoordinates\b', 'near_null_space': r'\bnear_null', 'null_space': r'\bnull_space\b',
    'M': r'\bM\b|preconditioner', 'preconditioner': r'\bM\b|preconditioner', 'q': r'\bq\b|right-hand side',
}


def call(fuzz, function):
    """The result of a call, or None after an exception that names an argument at fault."""
    try:
        found = function()
    except (TypeError, ValueError, OverflowError, MemoryError, RuntimeError, NotImplementedError) as error:
        import texsolve
        text = str(error)
        if isinstance(error, (texsolve.UnsupportedError, texsolve.UnavailableError)) and not fuzz.faults:
            return None  # the combination of method, matrix and preconditioner does not exist, or not in this build
        if isinstance(error, texsolve.InvalidArgumentError) and fuzz.may_mismatch:
            return None  # such as a method that needs a square matrix
        if not any(re.search(NAMES.get(name, rf'\b{name}\b'), text) for name in fuzz.faults):
            raise Wrong(f'{type(error).__name__} names none of {sorted(fuzz.faults) or "no faults"}: {text}') from error
        return None
    finally:
        fuzz.check_kept()
    return found


def check(fuzz, A, b, x, result, rtol):
    """The residual, by SciPy's product."""
    if fuzz.faults:
        if not result.converged and fuzz.faults <= fuzz.not_finite:
            return  # the solve ended for another reason, before the NaN was met
        raise Wrong(f'no exception, though {sorted(fuzz.faults)} is invalid: {result}')
    if np.shape(x) != (A.shape[1],) + b.shape[1:]:
        raise Wrong(f'x has shape {np.shape(x)}')
    x = np.asarray(getattr(x, 'array', x), dtype=float)
    if not np.isfinite(x).all() and (result.converged or np.diff(A.tocsc().indptr).all()):
        raise Wrong('x has a NaN or an infinity')
    if not result.converged:
        if fuzz.dominant and fuzz.is_plain:
            raise Wrong(f'a diagonally dominant system did not converge: {result}')
        return
    single = result.x.dtype != np.float64 if hasattr(result.x, 'dtype') else False
    rounding = (1e-5 if single else 1e-12) * (abs(A) @ abs(x) + abs(b)).max(axis=0)
    rest = b - A @ x

    def excess(rest, b, rounding):
        return np.linalg.norm(rest, axis=0) - 1.01 * rtol * np.linalg.norm(b, axis=0) - rounding * np.sqrt(len(rest))
    over = excess(rest, b, rounding)
    if A.shape[0] != A.shape[1] or result.method in ('lsmr', 'cgls'):  # least squares, unless b is in the range of A
        over = np.minimum(over, excess(A.T @ rest, A.T @ b, rounding * max(1.0, abs(A).sum(axis=0).max())))
    if (over > 0).any():
        raise Wrong(f'{result} is not right: the residuals are {over} above the limit')


def shape_of_b(fuzz, rows):
    return (rows,) if fuzz.chance(0.7) else (rows, int(fuzz.random.integers(1, 7)))


def fuzz_solve(fuzz, texsolve):
    rows = int(fuzz.random.integers(1, 40))
    columns = rows if fuzz.chance(0.8) else max(1, rows - int(fuzz.random.integers(1, 10)))
    given, A = fuzz.matrix(rows, columns)
    shape = shape_of_b(fuzz, rows)
    right, b = fuzz.vector('b', shape)
    start = fuzz.vector('x0', (columns,) + shape[1:])[0] if fuzz.chance(0.3) else None
    options = fuzz.options(SOLVE)
    fuzz.may_mismatch = len(options) > 1
    fuzz.is_plain = not {'method', 'preconditioner', 'precision', 'max_iterations'} & set(options)
    result = call(fuzz, lambda: texsolve.solve(given, right, start, **options))
    if result is not None:
        check(fuzz, A, b, result.x, result, options['rtol'])


def fuzz_solver(fuzz, texsolve):
    given, A = fuzz.matrix()
    options = fuzz.options(SOLVE)
    fuzz.may_mismatch = len(options) > 1
    fuzz.is_plain = not {'method', 'preconditioner', 'precision', 'max_iterations'} & set(options)
    solver = call(fuzz, lambda: texsolve.Solver(given, **options))
    if solver is None:
        return
    if fuzz.faults:
        raise Wrong(f'no exception, though {sorted(fuzz.faults)} is invalid')
    for _ in range(3):
        fuzz.faults, fuzz.kept = set(), []
        rows = A.shape[0]
        if fuzz.chance(0.5):
            has_values = sp.issparse(given) and given.format in ('csr', 'coo')
            values, numbers = fuzz.vector('values', (len(given.data) if has_values else 1,))
            fuzz.say('update(values)')
            if has_values and not given.data.shape == (A.nnz,):
                return  # duplicates or spare memory: the order of values is the caller's
            if not has_values:
                if call(fuzz, lambda: solver.update(given)) is None and fuzz.faults:
                    return
            elif numbers is None or np.shape(values) != (A.nnz,):
                fuzz.faults.add('values')
                if call(fuzz, lambda: (solver.update(values), True)[1]):
                    raise Wrong('values were accepted')
            else:
                call(fuzz, lambda: solver.update(values))
                form = type(given)
                A = given.copy()
                A.data = numbers
                A = sp.csr_matrix(form(A)).astype(float)
                fuzz.dominant = False
            fuzz.faults = set()
        shape = shape_of_b(fuzz, rows)
        right, b = fuzz.vector('b', shape)
        result = call(fuzz, lambda: solver.solve(right))
        if result is not None:
            check(fuzz, A, b, result.x, result, options['rtol'])


def fuzz_amg(fuzz, texsolve):
    given, A = fuzz.matrix()
    arguments = {}
    rows = A.shape[0] if A is not None else 3
    if fuzz.chance(0.3) and A is not None:
        arguments['near_null_space'] = fuzz.vector('near_null_space', (rows, int(fuzz.random.integers(1, 4))))[0]
    elif fuzz.chance(0.2) and rows % 2 == 0 and A is not None:
        arguments['coordinates'] = fuzz.vector('coordinates', (rows // 2, 2))[0]
    if fuzz.chance(0.15):
        name, values = fuzz.pick(('sweeps', (-1, 2**33, 1.5)), ('visits', (-1, 3.5, 2**32 + 1)), ('smoother', ('foo', 3)),
                                 ('coarsest', (-1, 'x')), ('strength', (-1.0, np.nan, 'x', 2.0)), ('unknowns', (-1, 2**33, 'x')))
        arguments[name] = fuzz.pick(*values)
        fuzz.faults.add(name)
    fuzz.say(f'amg: { {k: v for k, v in arguments.items() if k not in ("near_null_space", "coordinates")} }')
    fuzz.may_mismatch, fuzz.is_plain = True, False
    ml = call(fuzz, lambda: texsolve.amg(given, **arguments))
    if ml is None:
        return
    if fuzz.faults:
        raise Wrong(f'no exception, though {sorted(fuzz.faults)} is invalid')
    fuzz.kept = []
    if sum(level.rows for level in ml.levels) < A.shape[0] or 'Levels' not in str(ml) or '<table>' not in ml._repr_html_():
        raise Wrong(f'levels: {ml}')
    right, b = fuzz.vector('b', (rows,))
    accel = fuzz.pick(None, 'cg', 'gmres', 'bicgstab')
    fuzz.say(f'accel={accel}')
    x = call(fuzz, lambda: ml.solve(right, tol=1e-6, accel=accel))
    if x is not None:
        check(fuzz, A, b, x, ml.result, 1e-6)


def fuzz_linalg(fuzz, texsolve):
    import texsolve.linalg as spla
    name = fuzz.pick('cg', 'minres', 'bicgstab', 'gmres')
    given, A = fuzz.matrix()
    if isinstance(given, np.ndarray) or sp.issparse(given) and given.dtype.kind in 'iub':
        fuzz.faults.discard('A')  # dense matrices and those of integers are taken by SciPy's functions
        A = sp.csr_matrix(given).astype(float)
    rows = A.shape[0] if A is not None else given.shape[0] if sp.issparse(given) and given.shape[0] else 3
    right, b = fuzz.vector('b', fuzz.pick((rows,), (rows, 1)))
    arguments = {}
    if fuzz.chance(0.3):
        arguments['x0'] = fuzz.vector('x0', (rows,))[0]
    if fuzz.chance(0.2):
        arguments['M'] = fuzz.pick(sp.identity(rows, format='csr'), np.eye(rows))
    if fuzz.chance(0.1):
        fault, values = fuzz.pick(('M', (5, 'amg ', sp.identity(rows + 1))), ('maxiter', (-1, 2.5, 'x')), ('rtol', (-1.0, 'x', np.nan)),
                                  ('callback', (5, 'x')), ('atol', (-1.0, [1])))
        arguments[fault] = fuzz.pick(*values)
        fuzz.faults.add(fault)
    fuzz.say(f'{name}: {sorted(arguments)} { {k: v for k, v in arguments.items() if k not in ("x0", "M")} }')
    fuzz.may_mismatch, fuzz.is_plain = True, False
    arguments.setdefault('rtol', 1e-8)
    found = call(fuzz, lambda: getattr(spla, name)(given, right, **arguments))
    if found is None:
        return
    x, info = found
    result = texsolve.Result(x=x, converged=info == 0, method=name)
    if b is not None and b.ndim == 2:
        x, b = np.asarray(getattr(x, 'array', x)).reshape(-1), b.reshape(-1)
        result.x = x
    check(fuzz, A, b, x, result, 1e-8)


SOLVE = ('rtol', 'atol', 'max_iterations', 'restart', 'check_interval', 'method', 'preconditioner', 'precision', 'threads', 'backend',
         'context', 'null_space', 'progress')


def targets():
    import importlib.util
    import texsolve  # noqa: F401: the package that the specification below looks into
    has_linalg = importlib.util.find_spec('texsolve.linalg') is not None
    return [fuzz_solve, fuzz_solver, fuzz_amg] + [fuzz_linalg] * has_linalg


def run_case(seed, case, verbose=False):
    """Whether the case is in order; a report is printed otherwise."""
    import texsolve
    fuzz = Fuzz(seed, case)
    fuzz.dominant = fuzz.is_plain = fuzz.may_mismatch = False
    target = fuzz.pick(*targets())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            target(fuzz, texsolve)
    except Exception as error:  # noqa: B902: whatever a call raised that it may not
        print(f'\ncase {case} (--seed {seed} --case {case}): {target.__name__}\n  ' + '\n  '.join(fuzz.lines))
        print(f'  {type(error).__name__}: {error}', flush=True)
        if not isinstance(error, Wrong) or verbose:
            traceback.print_exc()
        return False
    if verbose:
        print(f'case {case}: {target.__name__}\n  ' + '\n  '.join(fuzz.lines) + '\n  in order')
    return True


def child(seed, first, last, seconds):
    """Runs cases, each announced on the standard output, until the time is over."""
    import texsolve  # noqa: F401: if it fails, no case is announced
    end, case = time.monotonic() + seconds, first
    while time.monotonic() < end and case < last:
        sys.stdout.write(f'@{case}\n')
        sys.stdout.flush()
        run_case(seed, case)
        case += 1


def parent(seed, cases, seconds):
    """Starts children until the time is over; one that died or hangs is a failure, and the next goes on behind its case."""
    end, first, failures = time.monotonic() + seconds, 0, 0
    environment = {**os.environ, 'MALLOC_CHECK_': '3', 'MALLOC_PERTURB_': '165', 'PYTHONFAULTHANDLER': '1'}
    left = seconds
    while left > 0 and first < cases and failures < MOST_FAILURES:
        command = [sys.executable, __file__, '--seed', str(seed), '--first', str(first), '--cases', str(cases),
                   '--seconds', f'{left:.1f}', '--child']
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        alarm = signal.signal(signal.SIGALRM, lambda *_: process.kill())
        signal.alarm(HANG)
        began = first
        for line in process.stdout:
            if line.startswith('@'):
                first = int(line[1:]) + 1
                signal.alarm(HANG)
            else:
                failures += line.startswith('case ')
                sys.stdout.write(line)
        status = process.wait()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, alarm)
        if status or first == began:
            failures += 1
            print(f'\nthe process ended with status {status} (a signal if negative; {-signal.SIGKILL} after {HANG} s without an end) '
                  f'in case {first - 1}: --seed {seed} --case {first - 1}')
        if first == began:
            break
        left = end - time.monotonic()
    print(f'{first} cases, {failures} failures')
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--cases', type=int, default=10**9, help='end after this number of cases')
    parser.add_argument('--first', type=int, default=0, help='the number of the first case')
    parser.add_argument('--case', type=int, help='run one case in this process')
    parser.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.disable()  # the library's warnings of duplicate entries and small pivots
    if options.case is not None:
        faulthandler.enable()
        return int(not run_case(options.seed, options.case, verbose=True))
    if options.child:
        child(options.seed, options.first, options.cases, options.seconds)
        return 0
    return int(parent(options.seed, options.cases, options.seconds) > 0)


if __name__ == '__main__':
    sys.exit(main())
