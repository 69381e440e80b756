"""Preconditioners of a matrix: by name, as objects, and as functions, matrices or operators of the application."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import warnings

from . import _arrays as arrays
from . import _declarations as d
from . import _matrix
from ._context import Context, Handle, context_for
from ._errors import PerformanceWarning
from ._library import describe, lib, value_of


class Preconditioner:
    """M^-1 of one matrix: a preconditioner object of the library, which has `shape`, `dtype` and `matvec` as a LinearOperator.

    Pass it to texsolve.solve, texsolve.Solver or as `M` to the functions of texsolve.linalg and of SciPy.
    """

    def __init__(self, matrix: Handle, handle: Handle, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.matrix = matrix
        self.handle = handle
        self.shape = shape
        self.dtype = dtype
        self._keep: list[Any] = []

    @property
    def context(self) -> Context:
        return self.handle.context

    def info(self) -> Any:
        """ts_preconditioner_info."""
        info = d.ts_preconditioner_info()
        with self.context.calls() as context:
            context.check(lib.ts_preconditioner_get_info(self.handle.pointer, ctypes.byref(info)))
        return info

    def matvec(self, r: Any) -> Any:
        """M^-1 r, where r was."""
        given = arrays.floats('r', r)
        if given.count != self.shape[0]:
            raise ValueError(f'r has shape {given.shape}; expected ({self.shape[0]},)')
        found = arrays.empty_like(given, given.shape, given.dtype)
        with self.context.calls() as context:
            space = lib.ts_matrix_get_row_space(self.matrix.pointer)
            one, two = (Handle(context, 'ts_vector_destroy', lib.ts_vector_create, space, None) for _ in range(2))
            context.check(lib.ts_vector_write(one.pointer, given))
            context.check(lib.ts_preconditioner_apply(self.handle.pointer, two.pointer, one.pointer))
            context.check(lib.ts_vector_read(two.pointer, found.writable()))
            one.destroy()
            two.destroy()
        return arrays.result_of(found, given)

    __call__ = matvec


def _options(desc: Any, options: dict[str, Any]) -> None:
    names = {'block_size', 'degree', 'levels', 'max_factor_entries', 'fill', 'drop_tolerance', 'scaling', 'sweeps'}
    for name, value in options.items():
        if name not in names:
            raise TypeError(f'unknown option {name!r}; the options are {", ".join(sorted(names))}')
        describe(desc, **{name: value_of('scaling', value, name) if name == 'scaling' else value})


def keeps_host_copy(kind: str, matrix: _matrix.Sparse) -> int:
    """ts_matrix_desc.keep_host_copy for a preconditioner of this kind. CUDA makes some of them on the device."""
    needs = ('block-jacobi', 'isai', 'ilu', 'ic', 'amg', 'direct') if matrix.device is None else ('block-jacobi', 'isai', 'ic')
    return int(kind in needs)


def preconditioner(A: Any, kind: str = 'auto', *, backend: str = 'auto', context: Context | None = None,
                   **options: Any) -> Preconditioner:
    """A preconditioner of A by name: 'jacobi', 'block-jacobi', 'chebyshev', 'isai', 'ilu', 'ic', 'amg' or 'direct', with the
    options of ts_preconditioner_desc. texsolve.amg has those of AMG."""
    matrix = _matrix.of('A', A)
    desc = d.ts_preconditioner_desc(kind=value_of('preconditioner_kind', kind, 'kind'))
    _options(desc, options)
    with context_for(matrix.device, backend, 0, context) as used:
        handle = matrix.create(used, d.ts_matrix_desc(keep_host_copy=keeps_host_copy(kind, matrix)), False)
        made = Handle(used, 'ts_preconditioner_destroy', lib.ts_preconditioner_create, handle.pointer, ctypes.byref(desc))
    return Preconditioner(handle, made, matrix.shape, matrix.values.dtype)


class Given:
    """A preconditioner of the application for one matrix of the library: M.matvec(r), or the product with a matrix M."""

    def __init__(self, context: Context, matrix: Handle, rows: int, M: Any) -> None:
        self.functions: list[_matrix.Function] = []
        self.keep: list[Any] = [M]
        desc = d.ts_preconditioner_desc(kind=d.TS_PRECONDITIONER_CUSTOM, symmetric=1)
        if not _matrix.is_operator(M) and not callable(M):
            found = M if isinstance(M, _matrix.Sparse) else (
                _matrix.of_dense('M', M) if isinstance(M, np.ndarray) else _matrix.of('M', M))
            self._check(found.shape, rows)
            space = lib.ts_matrix_get_row_space(matrix.pointer)
            product = found.create(context, d.ts_matrix_desc(row_space=space, column_space=space), False)
            self.keep.append(product)
            multiply = lib.ts_matrix_multiply
            callback = d.ts_precondition_fn(lambda user, z, r: int(multiply(z, product.pointer, r)))
            desc.apply, desc.products = callback, 1.0
            self.keep.append(callback)
        else:
            self._check(getattr(M, 'shape', (rows, rows)), rows)
            function = _matrix.Function('M.matvec' if hasattr(M, 'matvec') else 'M', context,
                                        M.matvec if hasattr(M, 'matvec') else M, rows, rows, d.ts_precondition_fn)
            self.functions.append(function)
            desc.apply = function.callback
            warnings.warn('M is a function of Python: in each iteration two vectors move between the library and Python. '
                          'A preconditioner of texsolve, such as texsolve.amg(A), stays in the library',
                          PerformanceWarning, stacklevel=6)
        self.handle = Handle(context, 'ts_preconditioner_destroy', lib.ts_preconditioner_create, matrix.pointer,
                             ctypes.byref(desc))

    @staticmethod
    def _check(shape: Any, rows: int) -> None:
        if tuple(shape) != (rows, rows):
            raise ValueError(f'M is {" x ".join(map(str, shape))}; expected {rows} x {rows}')
