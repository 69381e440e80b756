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

HANG = 60  # seconds that a case may take
MOST_FAILURES = 1000

# How messages name an argument: by its name, or by that of the library's description of it.
NAMES = {
    'A': r'\bA\b|\b(row_offsets|row_indices|triplet|row|column|column_indices|values|rows|columns|entries|triplets|matrix)\b',
    'b': r'\bb\b|right-hand side', 'x0': r'\bx0\b|starting value', 'values': r'\bvalues\b|row_offsets|column_indices',
    'coordinates': r'\bcoordinates\b', 'near_null_space': r'\bnear_null', 'null_space': r'\bnull_space\b',
    'M': r'\bM\b|preconditioner', 'preconditioner': r'\bM\b|preconditioner', 'q': r'\bq\b|right-hand side',
}


class Wrong(Exception):
    """A call that did not do what it must."""


class Foreign:
    """An array of a library of which only the protocol is known."""

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Fuzz:
    """The choices of one case. `faults` has the arguments that were made invalid on purpose."""

    def __init__(self, seed, case):
        self.random = np.random.default_rng([seed, case])
        self.faults = set()
        self.not_finite = set()
        self.lines = []
        self.kept = []  # (name, bytes before the call, array)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def say(self, text):
        self.lines.append(text)

    def keep(self, name, *arrays):
        for array in arrays:
            if isinstance(array, np.ndarray) and array.nbytes < 1e6:
                self.kept.append((name, array.tobytes(), array))

    def check_kept(self):
        for name, before, array in self.kept:
            if array.tobytes() != before:
                raise Wrong(f'{name} was changed')

    # ---- Vectors ----

    def vector(self, name, shape, values=None):
        """An array of this shape in some form. Returns what is passed, and its numbers, or None if the array is invalid."""
        numbers = self.random.standard_normal(shape) if values is None else values
        if self.chance(0.12):
            self.faults.add(name)
            return self.bad_vector(name, shape, numbers), None
        form = self.pick('plain', 'f4', 'swapped', 'i4', 'u1', 'bool', 'f2', 'strided', 'backwards', 'fortran', 'unaligned',
                         'frozen', 'list', 'subclass', 'foreign', 'broadcast', 'transposed', 'padded', 'memoryview')
        array = self.formed(form, numbers)
        self.say(f'{name}: {form} {np.shape(array)}')
        self.keep(name, array if isinstance(array, np.ndarray) else getattr(array, 'array', None))
        if form in ('foreign', 'memoryview'):
            return array, np.asarray(getattr(array, 'array', array), dtype=float)
        return array, np.asarray(array).astype(float)

    def formed(self, form, numbers):
        if form in ('f4', 'i4', 'u1', 'f2'):
            return (np.round(4 * np.abs(numbers)) if form in ('i4', 'u1') else numbers).astype(form)
        if form == 'swapped':
            return numbers.astype(self.pick('>f8', '>f4'))
        if form == 'bool':
            return numbers > 0
        if form == 'strided':
            return np.repeat(numbers, 3, axis=0)[::3]
        if form == 'backwards':
            return numbers[::-1].copy()[::-1]
        if form == 'fortran':
            return np.asfortranarray(numbers)
        if form == 'unaligned':
            return np.frombuffer(b'x' + numbers.tobytes(), np.uint8)[1:].view(float).reshape(numbers.shape)
        if form == 'frozen':
            frozen = numbers.copy()
            frozen.flags.writeable = False
            return frozen
        if form == 'list':
            return numbers.tolist()
        if form == 'subclass':
            return numbers.view(type('Own', (np.ndarray,), {}))
        if form == 'foreign':
            return Foreign(np.array(numbers))
        if form == 'broadcast':
            return np.broadcast_to(numbers[:1], numbers.shape)
        if form == 'transposed':
            return np.array(numbers.T).T
        if form == 'padded':
            return np.pad(numbers, [(3, 5)] + [(1, 2)] * (numbers.ndim - 1))[(slice(3, -5),) + (slice(1, -2),) * (numbers.ndim - 1)]
        if form == 'memoryview':
            return memoryview(np.array(numbers))
        return np.array(numbers)

    def bad_vector(self, name, shape, numbers):
        kind = self.pick('nan', 'inf', 'short', 'long', 'empty', 'scalar', 'cube', 'complex', 'object', 'text', 'dates', 'none',
                         'masked', 'structured', 'ragged', 'huge', 'longdouble', 'sparse', 'device', 'liar')
        self.say(f'{name}: bad, {kind}')
        if kind == 'device':
            self.faults.add('CUDA')  # which this machine may lack
        if kind in ('nan', 'inf'):
            self.not_finite.add(name)
            numbers = numbers.copy()
            numbers.flat[self.random.integers(numbers.size)] = float(kind) * self.pick(1, -1)
            return numbers
        size = shape[0]
        return {
            'short': lambda: numbers[:-1], 'long': lambda: np.ones(size + 1), 'empty': lambda: np.empty(self.pick((0,), (size, 0), (0, size))),
            'scalar': lambda: self.pick(1.0, np.float32(2), np.array(3.0)), 'cube': lambda: np.ones((size, 1, 1)),
            'complex': lambda: numbers + 1j, 'object': lambda: numbers.astype(object), 'text': lambda: self.pick('abc', ['x'] * size),
            'dates': lambda: numbers.astype('M8[s]'), 'none': lambda: self.pick({}, object(), [None] * size),
            'masked': lambda: np.ma.masked_less(numbers, 0), 'structured': lambda: np.zeros(size, [('a', float)]),
            'ragged': lambda: [[1.0, 2.0], [3.0]], 'huge': lambda: np.broadcast_to(1.0, (2**40,)),
            'longdouble': lambda: numbers.astype(np.longdouble), 'sparse': lambda: sp.csr_matrix(np.atleast_2d(numbers)),
            'device': lambda: self.cuda_like(size), 'liar': lambda: self.liar(numbers)}[kind]()

    @staticmethod
    def cuda_like(size):
        """An array that says that it is in CUDA memory: at most an address that no one may read."""
        interface = {'shape': (size,), 'typestr': '<f8', 'data': (4096, False), 'version': 3}
        return type('Device', (), {'__cuda_array_interface__': interface})()

    @staticmethod
    def liar(numbers):
        """An object with a broken protocol."""
        broken = type('Broken', (), {'__dlpack__': lambda self, **_: 'no capsule', '__dlpack_device__': lambda self: (1, 0)})
        return broken()

    # ---- Matrices ----

    def matrix(self, rows=None, columns=None):
        """Returns what is passed, and the matrix in double precision, or None if it is invalid."""
        rows = rows or int(self.random.integers(1, 40))
        columns = columns or rows
        full = sp.random(rows, columns, min(1.0, 4 / columns), random_state=int(self.random.integers(2**31)), data_rvs=self.random.standard_normal)
        if rows == columns:
            symmetric = self.chance(0.5)
            full = full + full.T if symmetric else full
            self.dominant = self.chance(0.8)
            if self.dominant:
                full = full + sp.diags(np.asarray(abs(full).sum(axis=1)).ravel() + 1)
        else:
            full = full + sp.eye(rows, columns)
        full = sp.csr_matrix(full)
        if self.chance(0.2):
            self.faults.add('A')
            return self.bad_matrix(full), None
        given = self.formed_matrix(full)
        exact = given
        if isinstance(given, tuple):
            exact = sp.csr_matrix(tuple(np.asarray(part).astype(part.dtype.newbyteorder('=')) for part in given), shape=full.shape)
        elif isinstance(given, sp.csr_matrix):
            self.keep('A', given.data, given.indices, given.indptr)
        return given, sp.csr_matrix(exact).astype(float)

    def formed_matrix(self, full):
        form = self.pick('csr', 'csc', 'coo', 'bsr', 'dia', 'lil', 'dok', 'array', 'tuple', 'long', 'shuffled', 'doubled', 'swapped',
                         'f4', 'spare', 'readonly')
        self.say(f'A: {form} {full.shape[0]} x {full.shape[1]}, {full.nnz} entries')
        if form in ('csc', 'coo', 'bsr', 'dia', 'lil', 'dok'):
            return full.asformat(form)
        if form == 'array':
            return sp.csr_array(full)
        if form == 'tuple' and full.shape[0] == full.shape[1]:
            kind = self.pick('i4', 'i8', '>i4', 'u2', 'u8')
            return full.data, full.indices.astype(kind), full.indptr.astype(kind)
        given = full.copy()
        if form == 'long':
            given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
        elif form == 'shuffled':
            for i in range(full.shape[0]):
                part = slice(full.indptr[i], full.indptr[i + 1])
                order = self.random.permutation(part.stop - part.start)
                given.indices[part], given.data[part] = full.indices[part][order], full.data[part][order]
        elif form == 'doubled':
            coo = full.tocoo()
            given = sp.coo_matrix((np.r_[coo.data, coo.data] / 2, (np.r_[coo.row, coo.row], np.r_[coo.col, coo.col])), full.shape)
        elif form == 'swapped':
            given.data = given.data.astype('>f8')
        elif form == 'f4':
            given = given.astype(np.float32)
        elif form == 'spare':  # SciPy's arrays may be longer than the matrix
            given.data, given.indices = np.r_[given.data, [np.nan] * 5], np.r_[given.indices, np.full(5, 9999, given.indices.dtype)]
        elif form == 'readonly':
            for part in (given.data, given.indices, given.indptr):
                part.flags.writeable = False
        return given

    def bad_matrix(self, full):
        kind = self.pick('column', 'column', 'offset', 'first', 'last', 'nan', 'complex', 'empty', 'object', 'dense', 'text', 'none',
                         'pair', 'floats', 'short', 'lists', 'longdouble', 'bigcolumn', 'ints', 'triplet', 'triplet')
        form = self.pick('csr', 'csr', 'csr', 'csc', 'bsr')
        self.say(f'A: bad {form}, {kind}, {full.shape[0]} x {full.shape[1]}, {full.nnz} entries')
        # SciPy's own conversions write out of bounds if indices are out of range.
        bad = full.copy() if form == 'csr' else full.tocsc() if form == 'csc' else full.tobsr((1, 1))
        at = int(self.random.integers(max(full.nnz, 1)))
        extent = full.shape[0] if form == 'csc' else full.shape[1]
        huge = self.pick(-1, -2**31, 2**31 - 1, extent, extent + 7)
        if kind in ('column', 'nan', 'bigcolumn', 'triplet') and not full.nnz:
            kind = 'first'
        if kind == 'column':
            bad.indices[at] = huge
        elif kind == 'bigcolumn':
            bad.indices = bad.indices.astype(np.int64)
            bad.indices[at] = self.pick(2**32, 2**40, -2**62, 2**63 - 1)
        elif kind == 'offset':
            row = int(self.random.integers(len(bad.indptr) - 1))  # the last one is kind 'last'
            bad.indptr[row] = self.pick(-1, full.nnz + 1, 2**31 - 1, -2**31)
        elif kind == 'first':
            bad.indptr[0] = self.pick(1, -1, 2**30)
        elif kind == 'last':
            bad.indptr[-1] = self.pick(full.nnz + 1, -1, 2**31 - 1)
        elif kind == 'nan':
            bad.data.flat[at] = self.pick(np.nan, np.inf, -np.inf)
        elif kind == 'triplet':
            bad = full.tocoo()
            part = self.pick('row', 'col')
            getattr(bad, part)[at] = self.pick(-1, -2**31, 2**31 - 1, full.shape[part == 'col'])
        elif kind == 'short':
            part = self.pick('indptr', 'indices', 'data')
            setattr(bad, part, getattr(bad, part)[:-1])
            if part != 'indptr' and not full.nnz:
                bad.indptr = bad.indptr[:-1]
        elif kind == 'complex':
            return full.astype(complex)
        elif kind == 'ints':
            return full.astype(self.pick(np.int32, np.int64, np.uint8, bool))
        elif kind == 'longdouble':
            return full.astype(np.longdouble)
        elif kind == 'object':
            bad.data = bad.data.astype(object)
        elif kind == 'floats':
            return bad.data, bad.indices.astype(float), bad.indptr
        elif kind == 'lists':
            return [1.0], [[0]], {}
        elif kind == 'pair':
            return bad.data, bad.indices
        elif kind == 'empty':
            return sp.csr_matrix(self.pick((0, 0), (0, 3), (3, 0)))
        else:
            return {'dense': full.toarray(), 'text': self.pick('A', b'A'), 'none': self.pick(None, 5, object())}[kind]
        return bad

    # ---- Options ----

    def options(self, allowed):
        """Arguments of a solve. Some of the invalid ones are found only by some methods."""
        given = {'rtol': float(self.pick(1e-3, 1e-6, 1e-10))}
        if self.chance(0.3):
            given['method'] = self.pick('cg', 'minres', 'bicgstab', 'gmres', 'idr', 'lsmr', 'cgls', 'richardson')
        if self.chance(0.3):
            given['preconditioner'] = self.pick('none', 'jacobi', 'block-jacobi', 'chebyshev', 'isai', 'amg', 'ilu', 'ic', 'direct', None)
        if self.chance(0.2):
            given['precision'] = self.pick('single', 'mixed', 'double')
        if self.chance(0.2):
            given['max_iterations'] = self.pick(1, np.int64(7), 100000)
        if self.chance(0.15):
            name, values = self.pick(
                ('rtol', (np.nan, -1.0, 1.0, 'x', None, 1j, [1e-3])), ('atol', (-1.0, np.nan, 'x', None, [0.0])),
                ('max_iterations', (-1, 2**31, 2**32 + 5, 2**70, 2.5, '7', [3])), ('restart', (-3, 2**31, 2**33, 1.5, 'x')),
                ('check_interval', (-1, 2**32 + 4, 5000, 1.5, '3')), ('method', ('foo', 3, None, b'cg', 'c\0g', '\udcff')),
                ('preconditioner', ('foo', 5, b'amg', object(), [1, 2])), ('precision', ('half', None, 3)),
                ('threads', (-1, 2**33, 1.5, 'x')), ('backend', ('foo', None, 3, 'cpu\0x', '\udcff')), ('context', (5, 'cpu')),
                ('null_space', (3.0, np.ones((2, 9)), 'x', np.ones((3, 0)), 1j)), ('progress', (5, 'x')), ('symmetric', ([], 'x', 2)))
            if name in allowed:
                given[name] = self.pick(*values) if len(values) > 1 else values[0]
                self.faults.add(name)
        self.say(f'options: {given}')
        return given


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
            values, numbers = fuzz.vector('values', (len(getattr(given, 'data', ())) if sp.issparse(given) and given.format in ('csr', 'coo') else 1,))
            fuzz.say('update(values)')
            if sp.issparse(given) and given.format in ('csr', 'coo') and not given.data.shape == (A.nnz,):
                return  # duplicates or spare memory: the order of values is the caller's
            if not (sp.issparse(given) and given.format in ('csr', 'coo')):
                if call(fuzz, lambda: solver.update(given)) is None and fuzz.faults:
                    return
            elif numbers is None or np.shape(values) != (A.nnz,):
                fuzz.faults.add('values')
                call(fuzz, lambda: solver.update(values))
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
