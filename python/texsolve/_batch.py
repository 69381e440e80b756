"""Many small systems with one sparsity pattern, solved in one call (texsolve/batch.h)."""
from __future__ import annotations

import ctypes
import time
import warnings
from typing import Any

import numpy as np

from . import _arrays as arrays
from . import _declarations as d
from ._arrays import Array
from ._context import Context, context_for
from ._errors import ConvergenceWarning
from ._library import lib, text_of, value_of


class BatchResult:
    """What solve_batch found. All arrays except x are arrays of NumPy with one element for each system.

    x           (batch, n), where b was
    converged   whether x meets the tolerance; it is computed from x
    residual    ||b - A x|| / ||b||, computed from x
    iterations  iterations of each system
    code        the ts_reason; `reason(k)` is its text for system k
    seconds     wall-clock time of the call
    message     '', or the first system that did not converge with its reason, and the number of such systems
    backend     where the systems were solved
    """

    __slots__ = ('x', 'converged', 'residual', 'iterations', 'code', 'seconds', 'message', 'backend', '_method')

    def __init__(self, x: Any, found: np.ndarray[Any, Any], seconds: float, message: str, backend: str) -> None:
        self.x = x
        self.code = found['reason'].copy()
        self.converged: np.ndarray[Any, Any] = self.code <= d.TS_REASON_FIXED_ITERATIONS
        self.residual = found['relative_residual'].copy()
        self.iterations = found['iterations'].copy()
        self._method = found['method'].copy()
        self.seconds = seconds
        self.message = message
        self.backend = backend

    def reason(self, system: int) -> str:
        """Why the solve of one system ended, such as 'converged'."""
        return text_of('reason', int(self.code[system]))

    def method(self, system: int) -> str:
        """The method that solved one system: 'cg' or 'bicgstab'."""
        return text_of('method', int(self._method[system]))

    def __len__(self) -> int:
        return len(self.code)

    def __repr__(self) -> str:
        if len(self) == 0:
            return '<texsolve.BatchResult of 0 systems>'
        worst = np.nanmax(self.residual) if not np.isnan(self.residual).all() else np.nan
        return (f'<texsolve.BatchResult: {int(self.converged.sum())} of {len(self)} systems converged, at most '
                f'{int(self.iterations.max())} iterations, largest residual {worst:.1e}, {self.seconds:.3g} s>')


def pattern_of(name: str, pattern: Any) -> tuple[Array, Array, int]:
    """The offsets and columns of a square pattern in CSR, and its number of rows."""
    if isinstance(pattern, tuple):
        if len(pattern) != 2:
            raise TypeError(f'{name} is a tuple of {len(pattern)}; expected (indices, indptr) of a square matrix in CSR')
        columns, offsets = pattern
        shape = None
    elif arrays._is_torch(pattern):
        if not str(pattern.layout).endswith('sparse_csr'):
            raise TypeError(f'{name} is a tensor of layout {pattern.layout}; the order of the values is that of CSR: '
                            f'{name}.to_sparse_csr()')
        columns, offsets, shape = pattern.col_indices(), pattern.crow_indices(), tuple(pattern.shape)
    elif hasattr(pattern, 'indptr') and hasattr(pattern, 'indices'):
        if getattr(pattern, 'format', 'csr') != 'csr':
            raise TypeError(f'{name} is a matrix in {pattern.format}; the order of the values is that of CSR: {name}.tocsr()')
        columns, offsets, shape = pattern.indices, pattern.indptr, tuple(pattern.shape)
    else:
        raise TypeError(f'{name} is of type {type(pattern).__name__}; expected a sparse matrix in CSR of SciPy, CuPy or PyTorch, '
                        f'or a tuple (indices, indptr)')
    found, rows = arrays.indices(f'{name}.indices', columns), arrays.indices(f'{name}.indptr', offsets)
    if len(rows.shape) != 1 or rows.shape[0] < 2 or len(found.shape) != 1:
        raise ValueError(f'{name} has {rows.shape} offsets and {found.shape} columns; expected (n + 1,) and (entries,), n > 0')
    size = rows.shape[0] - 1
    if shape not in (None, (size, size)):
        raise ValueError(f'{name} is {" x ".join(map(str, shape or ()))}; a square matrix is needed')
    return rows, found, size


def solve_batch(pattern: Any, values: Any, b: Any, x0: Any = None, *, method: str = 'auto', preconditioner: Any = 'auto',
                rtol: float = 1e-5, max_iterations: int | None = None, backend: str = 'auto', threads: int = 0,
                context: Context | None = None) -> BatchResult:
    """Solves A_k x_k = b_k for all k. The matrices have one pattern and n up to about 1000.

    pattern  a square sparse matrix in CSR of SciPy, CuPy or PyTorch, with any values, or a tuple (indices, indptr)
    values   (batch, entries): values[k] is A_k.data
    b        (batch, n), of NumPy, CuPy, PyTorch or any library with DLPack; x is where b is
    x0       (batch, n), the starts; default: 0

    method          'auto', 'cg' or 'bicgstab'; auto is cg for each matrix that is symmetric with a positive diagonal
    preconditioner  'auto', 'jacobi', or None

    On CUDA one launch solves all systems; elsewhere the threads of the host share them. Systems do not influence each other.
    If some miss the tolerance, a ConvergenceWarning gives their number.
    """
    result = run_batch(pattern, values, b, x0, method=method, preconditioner=preconditioner, rtol=rtol,
                       max_iterations=max_iterations, backend=backend, threads=threads, context=context)
    if not result.converged.all():
        warnings.warn(result.message, ConvergenceWarning, 2)
    return result


def run_batch(pattern: Any, values: Any, b: Any, x0: Any = None, *, method: str = 'auto', preconditioner: Any = 'auto',
              rtol: float = 1e-5, max_iterations: int | None = None, backend: str = 'auto', threads: int = 0,
              context: Context | None = None) -> BatchResult:
    """solve_batch without a warning."""
    begin = time.perf_counter()
    offsets, columns, size = pattern_of('pattern', pattern)
    given, right = arrays.floats('values', values), arrays.floats('b', b)
    if len(given.shape) != 2 or given.shape[1] != columns.shape[0]:
        raise ValueError(f'values has shape {given.shape}; expected (batch, {columns.shape[0]}), the entries of the pattern')
    systems = given.shape[0]
    if right.shape != (systems, size):
        raise ValueError(f'b has shape {right.shape}; expected ({systems}, {size})')
    if not isinstance(rtol, (int, float, np.floating)) or not 0 <= rtol < 1:
        raise ValueError(f'rtol is {rtol!r}; it must be a number from 0 to below 1')
    devices = {array.device for array in (offsets, columns, given, right)}
    if len(devices - {None}) > 1:
        raise ValueError('pattern, values and b are on several CUDA devices')
    device = next(iter(devices - {None}), None)
    single = given.dtype == np.float32 == right.dtype
    x = arrays.empty_like(right, right.shape, np.dtype(np.float32 if single else np.float64))
    if x0 is not None:
        start = arrays.cast(arrays.floats('x0', x0), x.dtype)
        if start.shape != x.shape:
            raise ValueError(f'x0 has shape {start.shape}; expected {x.shape}')
        arrays.copy_into(x, start)
    desc = d.ts_batch_desc(systems=systems, rows=size, row_offsets=offsets, column_indices=columns,
                           values=given, rtol=-1.0 if rtol == 0 else rtol, max_iterations=max_iterations or 0,
                           zero_start=int(x0 is None))
    if method != 'auto':
        desc.method = value_of('method', method, 'method')
    if preconditioner is None:
        desc.preconditioner_kind = d.TS_PRECONDITIONER_NONE
    elif preconditioner != 'auto':
        desc.preconditioner_kind = value_of('preconditioner_kind', preconditioner, 'preconditioner')
    results = (d.ts_batch_result * max(systems, 1))()
    message = ''
    with context_for(device, backend, threads, context, is_short=True) as used:
        status = used.check(lib.ts_batch_solve(used.pointer, ctypes.byref(desc), right, x.writable(),
                                               results))
        if status:
            message = (lib.ts_last_error(used.pointer) or b'').decode('utf-8', 'replace')
        name = used.backend
    return BatchResult(arrays.result_of(x, right), np.ctypeslib.as_array(results)[:systems], time.perf_counter() - begin,
                       message, name)
