"""Complementarity problems, with and without friction (texsolve/lcp.h)."""
from __future__ import annotations

import ctypes
import time
import warnings
from typing import Any

import numpy as np

from . import _arrays as arrays
from . import _declarations as d
from . import _matrix, _progress
from ._context import Context, Handle, context_for
from ._errors import ConvergenceWarning
from ._interrupts import Interrupts
from ._library import describe, lib, text_of, value_of
from ._progress import ProgressOption
from ._result import Result


def _describe(M: Any, friction: Any, lower: Any, upper: Any, precision: str, keep: list[Any]) -> tuple[Any, int]:
    desc = d.ts_lcp_desc(precision=value_of('precision', precision, 'precision') if precision != 'auto' else 0)
    if isinstance(M, (np.ndarray, list)):
        dense = arrays.floats('M', M)
        if len(dense.shape) != 2 or dense.shape[0] != dense.shape[1] or dense.count == 0:
            raise ValueError(f'M has shape {dense.shape}; expected (n, n)')
        size = dense.shape[0]
        desc.matrix = dense
        keep.append(dense)
    else:
        if getattr(M, 'format', 'csr') == 'coo':
            _matrix.check('M', M)
            M = M.tocsr()
        matrix = _matrix.of('M', M)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f'M is {matrix.shape[0]} x {matrix.shape[1]}; expected a square matrix')
        size = matrix.shape[0]
        desc.sparse_matrix = ctypes.pointer(matrix._as_csr())
        keep.append(matrix)
    desc.size = size
    if friction is not None:
        if lower is not None or upper is not None:
            raise ValueError('lower and upper are bounds of problems without friction')
        if np.isscalar(friction):
            possible = [rows for rows in (2, 3) if size % rows == 0]
            if len(possible) != 1:
                raise ValueError(f'friction is {friction!r} and M has {size} rows; expected an array with a coefficient for each '
                                 f'contact, which has 2 or 3 rows: numpy.full(contacts, {friction!r})')
            friction = np.full(size // possible[0], friction)
        coefficients = arrays.floats('friction', friction)
        contacts = coefficients.count
        if contacts == 0 or size % contacts or size // contacts not in (2, 3):
            raise ValueError(f'friction has {contacts} coefficients and M {size} rows; a contact has 2 or 3 rows')
        desc.dimension = size // contacts
        desc.friction = coefficients
        keep.append(coefficients)
    for name, bound in (('lower', lower), ('upper', upper)):
        if bound is not None:
            found = arrays.floats(name, np.broadcast_to(bound, (size,)) if np.isscalar(bound) else bound)
            if found.shape != (size,):
                raise ValueError(f'{name} has shape {found.shape}; expected ({size},)')
            setattr(desc, name, found)
            keep.append(found)
    return desc, size


def lcp(M: Any, q: Any, z0: Any = None, *, friction: Any = None, lower: Any = None, upper: Any = None, rtol: float = 1e-5,
        atol: float = 0.0, max_sweeps: int = 0, scheme: str = 'auto', local: str = 'auto', acceleration: str = 'auto',
        precision: str = 'double', progress: ProgressOption = None, backend: str = 'auto', threads: int = 0,
        context: Context | None = None) -> Result:
    """Solves w = M z + q, z >= 0, w >= 0, z w = 0 by Gauss-Seidel sweeps. The result's x is z, its iterations are sweeps, and its
    residual is that of the natural map relative to ||q||.

    M         (n, n), dense or sparse
    friction  coefficients of contacts, which have 2 or 3 consecutive unknowns, the normal one first
              A number is that of all contacts, if n is not a multiple of both 2 and 3
    lower, upper  bounds of z without friction, which may be infinite. Default: 0, infinity

    The other arguments are those of ts_lcp_settings.
    """
    begin = time.perf_counter()
    keep: list[Any] = []
    desc, size = _describe(M, friction, lower, upper, precision, keep)
    right = arrays.floats('q', q)
    if right.shape != (size,):
        raise ValueError(f'q has shape {right.shape}; expected ({size},), since M has {size} rows')
    z = arrays.empty_like(right, (size,), right.dtype if right.dtype == np.float32 else np.dtype(np.float64))
    settings = describe(d.ts_lcp_settings(), rtol=-1.0 if rtol == 0 else rtol, atol=atol, max_sweeps=max_sweeps,
                        zero_start=int(z0 is None))
    for name, text in (('scheme', scheme), ('local', local), ('acceleration', acceleration)):
        setattr(settings, name, value_of(f'lcp_{name}', text, name))
    watcher = _progress.Watcher(progress, rtol)
    registration = _progress.Registration(watcher)
    settings.progress, settings.progress_user = _progress.callback, registration.number
    result = d.ts_lcp_result()
    try:
        with context_for(right.device, backend, threads, context, is_short=True) as used, Interrupts() as interrupts:
            problem = Handle(used, 'ts_lcp_destroy', lib.ts_lcp_create, used.pointer, ctypes.byref(desc))
            space = lib.ts_lcp_get_space(problem.pointer)
            vector_desc = d.ts_vector_desc(precision=d.TS_PRECISION_DOUBLE)
            q_vector, z_vector = (Handle(used, 'ts_vector_destroy', lib.ts_vector_create, space, ctypes.byref(vector_desc))
                                  for _ in range(2))
            used.check(lib.ts_vector_write(q_vector.pointer, right))
            if z0 is not None:
                start = arrays.floats('z0', z0)
                if start.shape != (size,):
                    raise ValueError(f'z0 has shape {start.shape}; expected ({size},)')
                used.check(lib.ts_vector_write(z_vector.pointer, start))
            watcher.restart(interrupts)
            used.check(lib.ts_lcp_solve(problem.pointer, q_vector.pointer, z_vector.pointer, ctypes.byref(settings),
                                        ctypes.byref(result)))
            used.check(lib.ts_vector_read(z_vector.pointer, z.writable()))
            backend_name = used.backend
    finally:
        del registration  # it lived for the callbacks of the solve
    watcher.finish()
    found = Result(x=arrays.result_of(z, right), converged=result.reason <= d.TS_REASON_FIXED_ITERATIONS, code=result.reason,
                   reason=text_of('reason', result.reason), message=result.message.decode('utf-8', 'replace'),
                   residual=result.relative_residual, iterations=result.sweeps, seconds=time.perf_counter() - begin,
                   method=f'Gauss-Seidel, scheme {text_of("lcp_scheme", result.scheme)}', preconditioner='none',
                   history=watcher.history, backend=backend_name)
    if not found.converged and found.code != d.TS_REASON_STOPPED:
        warnings.warn(f'{found.message or found.reason} (residual {found.residual:.1e})', ConvergenceWarning, 2)
    return found
