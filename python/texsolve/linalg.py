"""Solvers with the names, arguments and results of scipy.sparse.linalg: cg, minres, bicgstab, gmres, lsqr, LinearOperator.

x, info = cg(A, b, rtol=1e-10, M=texsolve.amg(A))

info is 0 if x, and not only a recurrence, meets ||b - A x|| <= max(rtol ||b||, atol). It is the number of iterations if that was
missed at the limit of iterations or of the precision, and negative if the solve broke down; a ConvergenceWarning has the reason.

Differences from SciPy: without M the library chooses a preconditioner (M='none': none); `tol` means `rtol` (SciPy 1.10), and
atol='legacy' means 0; complex systems are refused. cg needs a symmetric matrix and reports one that is not.
"""
from __future__ import annotations

import operator
import sys
import warnings
from typing import Any, Callable

import numpy as np

from . import _arrays as arrays
from . import _declarations as d
from . import _matrix
from ._context import Context, context_for
from ._errors import ConvergenceWarning, UnsupportedError
from ._library import lib
from ._preconditioner import Preconditioner
from ._result import Result
from ._solver import Options, System

__all__ = ['LinearOperator', 'aslinearoperator', 'bicgstab', 'cg', 'gmres', 'lsqr', 'minres']


class LinearOperator:
    """A matrix given by its products, as scipy.sparse.linalg.LinearOperator, which serves as well.

    LinearOperator(shape, matvec, rmatvec=None, dtype=None)
    """

    def __init__(self, shape: tuple[int, int], matvec: Callable[[Any], Any], rmatvec: Callable[[Any], Any] | None = None,
                 matmat: Any = None, dtype: Any = None) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(float if dtype is None else dtype)
        self.matvec = matvec
        if rmatvec is not None:
            self.rmatvec = rmatvec
        self.matmat = matmat


def aslinearoperator(A: Any) -> Any:
    """A as a LinearOperator."""
    if _matrix.is_operator(A):
        return A
    return LinearOperator(A.shape, lambda x: A @ x, lambda x: A.T @ x, dtype=A.dtype)


def _number(name: str, value: Any) -> float:
    """A tolerance, or an exception that names it."""
    if not isinstance(value, (int, float, np.number)) or isinstance(value, np.complexfloating):
        raise TypeError(f'{name} is {value!r}; it must be a number')
    if not value >= 0:
        raise ValueError(f'{name} is {value}; it must be at least 0')
    return float(value)


def _count(name: str, value: Any) -> int:
    """A number of iterations, or an exception that names it."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f'{name} is {value!r}; it must be an integer') from None


def _tolerances(tol: Any, rtol: Any, atol: Any) -> tuple[float, float]:
    if tol is not None and rtol is not None:
        raise TypeError('tol and rtol are two names of one argument; give one')
    name = 'tol' if rtol is None and tol is not None else 'rtol'
    relative = 1e-5 if tol is None and rtol is None else tol if rtol is None else rtol
    if isinstance(atol, str):
        if atol != 'legacy':
            raise ValueError(f'atol is {atol!r}; it must be a number or \'legacy\'')
        atol = 0.0
    absolute = 0.0 if atol is None else _number('atol', atol)
    relative = _number(name, relative)
    return min(relative, 0.999999), min(absolute, sys.float_info.max)


class _Shifted:
    """A - shift I as an operator."""

    def __init__(self, A: Any, shift: float) -> None:
        self.shape, self.dtype, self._A, self._shift = A.shape, np.dtype(float), A, shift

    def matvec(self, x: Any) -> Any:
        product = self._A.matvec(x) if _matrix.is_operator(self._A) else self._A @ x
        return np.asarray(product).reshape(-1) - self._shift * x


def _as_floats(A: Any) -> Any:
    """A sparse matrix of integers as one of float64, as SciPy does."""
    if hasattr(A, 'tocsr') and getattr(getattr(A, 'dtype', None), 'kind', '') in 'iub':
        return A.astype(np.float64)
    return A


def _matrix_of(A: Any) -> Any:
    A = _as_floats(A)
    return _matrix.of_dense('A', A) if isinstance(A, (np.ndarray, list)) or np.isscalar(A) else _matrix.of('A', A, True)


def _is_identity(M: Any) -> bool:
    return type(M).__name__ == 'IdentityOperator'


def _right_hand_side(b: Any, rows: int) -> arrays.Array:
    found = arrays.floats('b', b)
    if found.shape not in ((rows,), (rows, 1)):
        raise ValueError(f'b has shape {found.shape}; expected ({rows},) or ({rows}, 1), since A has {rows} rows')
    return arrays.flat(found)


def _start_of(x0: Any, M: Any, b: arrays.Array) -> Any:
    if not isinstance(x0, str):
        return x0
    if x0 != 'Mb':
        raise ValueError(f'x0 is {x0!r}; it must be an array or \'Mb\'')
    if M is None or isinstance(M, str):
        return b.owner
    return M.matvec(b.owner) if hasattr(M, 'matvec') else M @ b.owner


def _iterate_callback(system: System, callback: Callable[[Any], Any], b: arrays.Array, x: arrays.Array) -> Callable[[], Any]:
    """Calls callback(xk) at each check, with a new array."""
    def at_iterate() -> None:
        found = arrays.empty_like(b, x.shape, x.dtype)
        status = lib.ts_solver_read_iterate(system.opened().pointer, found.writable())
        system.context.check(status)
        callback(arrays.result_of(found, b))
    return at_iterate


def _solve(method: str, A: Any, b: Any, x0: Any, tolerances: tuple[float, float], maxiter: int | None, M: Any,
           callback: Any, symmetric: bool, context: Context | None, backend: str, restart: int = 0,
           history_callback: Callable[[float], Any] | None = None) -> tuple[Any, int, Result]:
    """One solve of the library. Returns x, info and the result."""
    matrix = _matrix_of(A)
    rows, columns = int(matrix.shape[0]), int(matrix.shape[1])
    if rows != columns:
        raise ValueError(f'A is {rows} x {columns}; it must be square')
    right = _right_hand_side(b, rows)
    dtype = np.dtype(np.float32 if right.dtype == np.float32 and getattr(A, 'dtype', None) == np.float32 else np.float64)
    x = arrays.empty_like(right, (columns,), dtype)
    start = _start_of(x0, M, right)
    if start is not None:
        given = arrays.cast(arrays.floats('x0', start), dtype)
        if given.shape not in ((columns,), (columns, 1)):
            raise ValueError(f'x0 has shape {given.shape}; expected ({columns},)')
        arrays.copy_into(x, arrays.flat(given))
    preconditioner = 'auto' if M is None else 'none' if _is_identity(M) else M
    if M is None and not isinstance(matrix, _matrix.Sparse):
        preconditioner = 'none'
    if callback is not None and not callable(callback) or history_callback is not None and not callable(history_callback):
        raise TypeError('callback is not a function')
    if maxiter is not None:
        maxiter = min(_count('maxiter', maxiter), 2**31 - 1)
        if maxiter < 0:
            raise ValueError(f'maxiter is {maxiter}; it must be at least 0')
    if maxiter is not None and maxiter < 1:
        found = x if start is not None else arrays.cast(arrays.wrap('x', np.zeros(columns)), dtype)
        return arrays.result_of(found, right), 0 if maxiter is None else 1, Result()
    options = Options(method, preconditioner, tolerances[0], tolerances[1], maxiter, 'auto', restart, int(bool(callback)), None,
                      symmetric)
    if options.native is not None:
        context = options.native.context
    device = right.device if right.device is not None else getattr(matrix, 'device', None)
    with context_for(device, backend, 0, context, is_short=True) as used:
        system = System(used, matrix, options, None, True, 1)
        if callback or history_callback:
            watcher = system.watch()
            if callback:
                watcher.at_iterate = _iterate_callback(system, callback, right, x)
            if history_callback:
                watcher.at_numbers = history_callback
        try:
            result = system.solve(right, x, start is not None)
        finally:
            system.close()
    result.x = arrays.result_of(x, right)
    return result.x, _info(result), result


def _info(result: Result) -> int:
    """0: converged. Positive: the iterations, at a limit. Negative: the method cannot solve this system."""
    if result.converged:
        return 0
    if result.code in (d.TS_REASON_MAX_ITERATIONS, d.TS_REASON_STAGNATED, d.TS_REASON_STOPPED, d.TS_REASON_INCOMPATIBLE):
        return max(result.iterations, 1)
    return -result.code


def _warn(result: Result) -> None:
    if not result.converged and result.message:
        warnings.warn(f'{result.message} (residual {result.residual:.1e})', ConvergenceWarning, 4)


def _simple(method: str, A: Any, b: Any, x0: Any, tol: Any, maxiter: Any, M: Any, callback: Any, atol: Any, rtol: Any,
            symmetric: bool, backend: str, context: Context | None) -> tuple[Any, int]:
    x, info, result = _solve(method, A, b, x0, _tolerances(tol, rtol, atol), maxiter, M, callback, symmetric, context, backend)
    _warn(result)
    return x, info


def cg(A: Any, b: Any, x0: Any = None, tol: Any = None, maxiter: int | None = None, M: Any = None, callback: Any = None,
       atol: Any = None, *, rtol: Any = None, backend: str = 'auto', context: Context | None = None) -> tuple[Any, int]:
    """Conjugate gradients for a symmetric positive definite A. callback(xk) runs at each iteration."""
    return _simple('cg', A, b, x0, tol, maxiter, M, callback, atol, rtol, True, backend, context)


def bicgstab(A: Any, b: Any, x0: Any = None, tol: Any = None, maxiter: int | None = None, M: Any = None, callback: Any = None,
             atol: Any = None, *, rtol: Any = None, backend: str = 'auto', context: Context | None = None) -> tuple[Any, int]:
    """Stabilised bi-conjugate gradients for any square A."""
    return _simple('bicgstab', A, b, x0, tol, maxiter, M, callback, atol, rtol, False, backend, context)


def minres(A: Any, b: Any, x0: Any = None, shift: float = 0.0, tol: Any = None, maxiter: int | None = None, M: Any = None,
           callback: Any = None, show: bool = False, check: bool = False, *, rtol: Any = None, backend: str = 'auto',
           context: Context | None = None) -> tuple[Any, int]:
    """The minimal residual method for a symmetric A, which may be indefinite. Solves (A - shift I) x = b."""
    if shift:
        if hasattr(A, 'tocsr'):
            import scipy.sparse
            _matrix.check('A', A)
            A = A - shift * scipy.sparse.identity(A.shape[0], format='csr')
        elif _matrix.is_operator(A):
            A = _Shifted(A, shift)
        else:
            A = np.asarray(A) - shift * np.eye(len(A))
    x, info, result = _solve('minres', A, b, x0, _tolerances(tol, rtol, None), maxiter, M, callback, True, context, backend)
    if check and result.code == d.TS_REASON_NOT_SYMMETRIC:
        raise ValueError(f'A: {result.message}')
    if show:
        print(result)
    _warn(result)
    return x, info


def gmres(A: Any, b: Any, x0: Any = None, tol: Any = None, restart: int | None = None, maxiter: int | None = None, M: Any = None,
          callback: Any = None, restrt: int | None = None, atol: Any = None, callback_type: str | None = None, *,
          rtol: Any = None, backend: str = 'auto', context: Context | None = None) -> tuple[Any, int]:
    """Restarted GMRES for any square A, with cycles of `restart` iterations, 20 by default.

    callback_type  'pr_norm': callback(residual) at each iteration; 'legacy', the default: the same, and `maxiter` limits the
                   iterations; 'x': callback(xk) at the end of each cycle

    A positive info is the number of cycles, with 'legacy' that of iterations.
    """
    if restrt is not None:
        if restart is not None:
            raise ValueError('restart and restrt are two names of one argument; give one')
        warnings.warn('\'gmres\' keyword argument \'restrt\' is deprecated; its name is \'restart\'', DeprecationWarning, 2)
        restart = restrt
    if callback_type not in (None, 'x', 'pr_norm', 'legacy'):
        raise ValueError(f'callback_type is {callback_type!r}; it must be \'x\', \'pr_norm\' or \'legacy\'')
    if restart is not None and _count('restart', restart) < 1:
        raise ValueError(f'restart is {restart}; it must be at least 1')
    rows = int((A if hasattr(A, 'tocsr') else _matrix_of(A)).shape[0])
    length = max(min(20 if restart is None else restart, rows, 200), 1)
    cycles = 10 * rows if maxiter is None else _count('maxiter', maxiter)
    if cycles < 0:
        raise ValueError(f'maxiter is {maxiter}; it must be at least 0')
    tolerances = _tolerances(tol, rtol, atol)
    if callback is None or callback_type != 'x':
        counts_iterations = callback is not None and callback_type != 'pr_norm'
        limit = cycles if counts_iterations else cycles * length
        x, info, result = _solve('gmres', A, b, x0, tolerances, limit, M, None, False, context, backend, length, callback)
        _warn(result)
        return x, info if counts_iterations or info <= 0 else -(-info // length)
    x, info = x0, 1
    done = 0
    result = Result()
    for done in range(1, cycles + 1):  # a cycle forgets the ones before, so solves of one cycle each are the same
        x, info, result = _solve('gmres', A, b, x, tolerances, length, M, None, False, context, backend, length)
        callback(x)
        if info <= 0 or result.code != d.TS_REASON_MAX_ITERATIONS:
            break
    _warn(result)
    return x, max(done, 1) if info > 0 else info


def lsqr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8,
         iter_lim: int | None = None, show: bool = False, calc_var: bool = False, x0: Any = None, *, backend: str = 'auto',
         context: Context | None = None) -> tuple[Any, ...]:
    """Least squares, min ||b - A x||^2 + damp^2 ||x||^2, by LSMR in double precision.

    Returns (x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var) as SciPy. Its rules for
    `atol` and `btol` are SciPy's.
    anorm is the Frobenius norm; acond, and var, which calc_var asks for, are not computed.
    """
    if calc_var:
        raise UnsupportedError('calc_var is not supported: the method does not compute variances')
    matrix = A
    if damp:
        if _matrix.is_operator(A):
            raise UnsupportedError('damp needs a matrix with entries, not an operator')
        import scipy.sparse
        _matrix.check('A', A)
        matrix = scipy.sparse.vstack([A, damp * scipy.sparse.identity(A.shape[1])], format='csr')
    found = _matrix_of(matrix)
    rows, columns = int(found.shape[0]), int(found.shape[1])
    right = np.asarray(b, float).reshape(-1)
    if len(right) != int(np.shape(A)[0] if isinstance(A, np.ndarray) else A.shape[0]):
        raise ValueError(f'b has {len(right)} numbers, and A {A.shape[0]} rows')
    right = np.concatenate([right, np.zeros(rows - len(right))])
    x = np.zeros(columns) if x0 is None else np.array(x0, float).reshape(-1)
    multiply = A.matvec if _matrix.is_operator(A) else (lambda v: A @ v)
    transposed = A.rmatvec if _matrix.is_operator(A) else (lambda v: A.T @ v)
    anorm = float(np.linalg.norm(arrays.as_numpy(found.values))) if isinstance(found, _matrix.Sparse) else 0.0
    size = float(np.linalg.norm(right))
    given, target = arrays.wrap('b', right), arrays.wrap('x', x)
    # The library stops at ||A^T r|| <= rtol ||A^T b||. SciPy's rules are relative to ||r||, which may be small: then the solve goes
    # on with a smaller tolerance.
    rtol, left, iterations, starts = min(float(atol), 1e-2), iter_lim or 2 * columns + 100, 0, x0 is not None
    while True:
        options = Options('lsmr', 'none', max(rtol, 1e-15), 0.0, left, 'double', 0, 0, None, False)
        with context_for(None, backend, 0, context, is_short=True) as used:
            result = System(used, found, options, None, True, 1).solve(given, target, starts)
        iterations += result.iterations
        left -= result.iterations
        r = np.asarray(b, float).reshape(-1) - np.asarray(multiply(x)).reshape(-1)
        r1norm, xnorm = float(np.linalg.norm(r)), float(np.linalg.norm(x))
        r2norm = float(np.hypot(r1norm, damp * xnorm))
        arnorm = float(np.linalg.norm(np.asarray(transposed(r)).reshape(-1) - damp**2 * x))
        fits = r2norm <= btol * size + atol * anorm * xnorm
        is_least = arnorm <= atol * anorm * r2norm or (not anorm and result.converged)
        if fits or is_least or not result.converged or left < 1 or rtol < 1e-15:
            break
        rtol, starts = rtol * 1e-2, True
    istop = 0 if not right.any() else 1 if fits else 2 if is_least else 7
    if show:
        print(result)
    if istop == 7:
        _warn(result)
    return x, istop, iterations, r1norm, r2norm, anorm, float('nan'), arnorm, xnorm, np.zeros(columns)
