"""Random calls with damaged arguments: each must return or raise an exception of Python.

  PYTHONPATH=python TEXSOLVE_LIBRARY=build/libtexsolve.so python3 python/tests/fuzz.py SECONDS [SEED]

Prints the number of calls by outcome. A crash ends the process, and the seed of the call is in the last line before it.
"""
import collections
import random
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp

import texsolve
import texsolve.linalg as spla

# What a call may raise. Anything else, such as an AttributeError of the package itself, is a finding.
EXPECTED = (ValueError, TypeError, MemoryError, RuntimeError, OverflowError)


def damage(rng, array):
    """The array with something wrong, or unusual, or neither."""
    array = np.array(array)
    choice = rng.randrange(16)
    if choice == 0 and array.size:
        array.flat[rng.randrange(array.size)] = rng.choice([0, -1, 2**31 - 1, -2**31, 7])
    elif choice == 1 and array.dtype.kind == 'f' and array.size:
        array.flat[rng.randrange(array.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0])
    elif choice == 2:
        array = array[:rng.randrange(array.shape[0] + 1)] if array.ndim else array
    elif choice == 3:
        array = array.astype(rng.choice(['f4', 'f8', 'i4', 'i8', 'u8', 'i2', 'f2', 'c16', '?', 'O', '>f8', '>i4', 'g', 'U5']))
    elif choice == 4:
        array = np.repeat(array, 2, axis=0)[::2] if array.ndim else array
    elif choice == 5:
        array = array[::-1]
    elif choice == 6:
        array.flags.writeable = False
    elif choice == 7:
        array = array.reshape(rng.choice([(-1, 1), (1, -1), (-1,), (-1, 1, 1)]))
    elif choice == 8:
        array = array * rng.choice([0, -1, 1e-300, 1e300, 2, 2**33])
    elif choice == 9:
        array = np.concatenate([array, array]) if array.ndim else array
    elif choice == 10:
        array = array[:0] if array.ndim else array
    elif choice == 11 and array.size:
        rng_state = np.random.default_rng(rng.randrange(2**32))
        array = rng_state.permutation(array)
    return array


def matrix(rng):
    """A matrix of SciPy, with arrays that its constructor would refuse."""
    rows, columns = rng.randrange(1, 12), rng.randrange(1, 12)
    if rng.random() < 0.7:
        columns = rows
    numbers = np.random.default_rng(rng.randrange(2**32))
    dense = numbers.standard_normal((rows, columns)) * (numbers.random((rows, columns)) < 0.5)
    if rows == columns:
        dense += rng.choice([0, 5, 0.1]) * np.eye(rows)
        if rng.random() < 0.5:
            dense = dense + dense.T
    found = sp.csr_matrix(dense).asformat(rng.choice(['csr', 'csr', 'coo', 'csc', 'bsr', 'dia']))
    names = {'csr': ('data', 'indices', 'indptr'), 'csc': ('data', 'indices', 'indptr'), 'coo': ('data', 'row', 'col')}
    for name in names.get(found.format, ()):
        if rng.random() < 0.3:
            try:
                setattr(found, name, damage(rng, getattr(found, name)))
            except EXPECTED + (AttributeError, np.core._exceptions.UFuncTypeError):
                pass
    return found, rows, columns


def call(seed):
    """One call. Returns what became of it."""
    rng = random.Random(seed)
    A, rows, columns = matrix(rng)
    numbers = np.random.default_rng(seed)
    b = numbers.standard_normal(rows if rng.random() < 0.8 else (rows, rng.randrange(0, 6)))
    if rng.random() < 0.4:
        b = damage(rng, b)
    options = {}
    if rng.random() < 0.3:
        options['method'] = rng.choice(['cg', 'gmres', 'minres', 'bicgstab', 'idr', 'lsmr', 'cgls', 'richardson', 'x'])
    if rng.random() < 0.3:
        options['preconditioner'] = rng.choice(['none', 'jacobi', 'amg', 'ilu', 'ic', 'isai', 'direct', 'chebyshev', 'block-jacobi',
                                                None, lambda r: r, lambda r: r[:-1], np.eye(rows), 3])
    if rng.random() < 0.2:
        options['rtol'] = rng.choice([0, 1e-14, 0.9, 1, -1, np.nan, 1e-300])
    if rng.random() < 0.2:
        options['x0'] = damage(rng, numbers.standard_normal((columns,) + b.shape[1:]))
    options['max_iterations'] = rng.choice([None, 1, 50, 0, -1])
    which = rng.randrange(6)
    if which <= 1:
        return texsolve.solve(A, b, **options).reason
    if which == 2:
        options.pop('x0', None)
        s = texsolve.Solver(A, **options)
        s.update(damage(rng, A.data))
        return s.solve(b).reason
    if which == 3:
        name = rng.choice(['cg', 'bicgstab', 'gmres', 'minres', 'lsqr'])
        getattr(spla, name)(A, b, **({} if name == 'lsqr' else {'maxiter': rng.choice([0, 1, 20]), 'x0': options.get('x0')}))
        return name
    if which == 4:
        ml = texsolve.amg(A, damage(rng, np.ones((rows, 2))) if rng.random() < 0.3 else None)
        ml.solve(b, accel=rng.choice([None, 'cg', 'gmres']), maxiter=5)
        return 'amg'
    dense = A.toarray() if rng.random() < 0.5 and A.format in ('bsr', 'dia') else A
    return texsolve.lcp(dense, b, max_sweeps=rng.choice([1, 20]),
                        friction=damage(rng, np.ones(max(rows // 2, 1))) if rng.random() < 0.3 else None).reason


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    warnings.simplefilter('ignore')
    outcomes, end = collections.Counter(), time.monotonic() + seconds
    while time.monotonic() < end:
        print(f'\rseed {seed} ', end='', flush=True)
        try:
            outcomes[call(seed)] += 1
        except EXPECTED as error:
            outcomes[type(error).__name__] += 1
        except BaseException:
            print(f'\nan unexpected exception with seed {seed}')
            raise
        seed += 1
    b = np.ones(3)
    assert abs(texsolve.solve(sp.identity(3, format='csr'), b).x - b).max() < 1e-6
    print(f'\n{sum(outcomes.values())} calls: {dict(outcomes.most_common())}')


if __name__ == '__main__':
    main()
