"""Sparse matrices of SciPy, CuPy and PyTorch, and functions as matrices, for the library."""
from __future__ import annotations

import ctypes
import re
from typing import Any, Callable

import numpy as np

from . import _arrays as arrays
from . import _declarations as d
from ._arrays import Array
from ._context import Context, Handle
from ._errors import Error, InvalidArgumentError, LimitError
from ._interrupts import Interrupts
from ._library import lib

LARGEST = 2**31 - 1024


class Sparse:
    """A sparse matrix as the library takes it: rows (CSR) or triplets, in the memory of its owner. `name` is that of the
    argument, for messages."""

    def __init__(self, name: str, shape: tuple[int, int], rows: Array, columns: Array, values: Array, is_csr: bool) -> None:
        self.name = name
        self.shape = shape
        self.rows = rows  # offsets of CSR, or the row of each triplet
        self.columns = columns
        self.values = values
        self.is_csr = is_csr
        self.device = values.device

    def _as_csr(self) -> Any:
        return d.ts_csr(*self.shape, self.rows, self.columns, self.values)

    def _as_triplets(self) -> Any:
        return d.ts_triplets(self.shape[0], self.shape[1], self.rows, self.columns, self.values)

    def create(self, context: Context, desc: Any, borrow: bool) -> Handle:
        """The matrix in a context. `desc` is a ts_matrix_desc without a matrix. With `borrow` the arrays must live and stay as
        they are until the handle is destroyed."""
        if self.is_csr:
            desc.csr = d.ts_csr(*self.shape, self.rows, self.columns, self.values)
            desc.borrow = int(borrow and self.device is None)
        else:
            triplets = self._as_triplets()
            desc.triplets = ctypes.pointer(triplets)
        try:
            return Handle(context, 'ts_matrix_destroy', lib.ts_matrix_create, context.pointer, desc)
        except (InvalidArgumentError, LimitError) as error:
            raise self._renamed(error) from None

    def update(self, handle: Handle) -> None:
        """Replaces the values of a matrix that was created with the same pattern."""
        try:
            if self.is_csr:
                handle.context.check(lib.ts_matrix_set_values(handle.pointer, ctypes.byref(self._as_csr())))
            else:
                handle.context.check(lib.ts_matrix_set_triplets(handle.pointer, ctypes.byref(self._as_triplets())))
        except (InvalidArgumentError, LimitError) as error:
            raise self._renamed(error) from None

    def _renamed(self, error: Error) -> Error:
        """The error with the names of SciPy's arrays: 'A.indices[5] in row 1 is 400'."""
        if not self.name:
            return error
        names = {'row_offsets': 'indptr', 'column_indices': 'indices' if self.is_csr else 'col', 'row_indices': 'row',
                 'values': 'data'}
        pattern = r'\b(row_offsets|column_indices|row_indices|values)(?=\[)'
        found = type(error)(re.sub(pattern, lambda match: f'{self.name}.{names[match[1]]}', str(error)))
        found.status = error.status
        return found

    def with_values(self, values: Array) -> Sparse:
        """The same pattern with other values, which are an argument of their own."""
        return Sparse('', self.shape, self.rows, self.columns, values, self.is_csr)


def _values(name: str, array: Any) -> Array:
    values = arrays.wrap(name, array)
    if values.dtype not in arrays.FLOATS:
        _refuse(name, values)
    return values


def _refuse(name: str, values: Array) -> None:
    if values.dtype.kind == 'c':
        raise TypeError(f'{name} is complex ({values.dtype}), and the library solves real systems; a complex system of n '
                        f'unknowns is the real system [[re, -im], [im, re]] of 2 n unknowns')
    convert = 'double()' if values.kind == 'torch' else 'astype(float)'
    raise TypeError(f'{name} holds {values.dtype}; convert it: {name}.{convert}')


def _shape(name: str, shape: Any) -> tuple[int, int]:
    if len(shape) != 2:
        raise ValueError(f'{name} has {len(shape)} dimensions; a matrix has 2')
    rows, columns = int(shape[0]), int(shape[1])
    if rows < 1 or columns < 1:
        raise ValueError(f'{name} is empty: {rows} x {columns}')
    if max(rows, columns) > LARGEST:
        raise ValueError(f'{name} is {rows} x {columns}; the limit is {LARGEST} rows and columns')
    return rows, columns


def _csr(name: str, shape: Any, offsets: Any, columns: Any, values: Any) -> Sparse:
    rows = _shape(name, shape)
    # Each function that is not called saves 3 us, since the library's work replaces its code in the caches.
    offsets, columns = arrays.wrap(f'{name}.indptr', offsets), arrays.wrap(f'{name}.indices', columns)
    found = arrays.wrap(name, values)
    if offsets.dtype not in arrays.INTEGERS:
        offsets = arrays.to_indices(f'{name}.indptr', offsets)
    if columns.dtype not in arrays.INTEGERS:
        columns = arrays.to_indices(f'{name}.indices', columns)
    if found.dtype not in arrays.FLOATS:
        _refuse(name, found)
    for part, array in (('indptr', offsets), ('indices', columns), ('data', found)):
        if len(array.shape) != 1:
            raise ValueError(f'{name}.{part} has {len(array.shape)} dimensions instead of 1')
    if not offsets.device == columns.device == found.device:
        raise ValueError(f'the arrays of {name} are on several devices')
    if offsets.shape[0] != rows[0] + 1:
        raise ValueError(f'{name}.indptr has {offsets.shape[0]} elements; a matrix of {rows[0]} rows has {rows[0] + 1}')
    if offsets.device is None:
        # The library reads as many entries as the last offset says.
        count: int = arrays.as_numpy(offsets).item(-1)
        if count < 0 or count > min(columns.shape[0], found.shape[0]):
            raise ValueError(f'{name}.indptr ends with {count}, but {name}.indices has {columns.shape[0]} elements and '
                             f'{name}.data {found.shape[0]}')
        if columns.shape[0] != count:
            columns = arrays.with_shape(columns, (count,))  # SciPy's arrays may be longer than the matrix
        if found.shape[0] != count:
            found = arrays.with_shape(found, (count,))
    return Sparse(name, rows, offsets, columns, found, True)


def _triplets(name: str, shape: Any, rows: Any, columns: Any, values: Any) -> Sparse:
    rows, columns = arrays.indices(f'{name}.row', rows), arrays.indices(f'{name}.col', columns)
    found = _values(name, values)
    if not rows.shape == columns.shape == found.shape or len(found.shape) != 1:
        raise ValueError(f'{name} has {rows.count} rows, {columns.count} columns and {found.count} values in its lists')
    return Sparse(name, _shape(name, shape), rows, columns, found, False)


def _of_torch(name: str, tensor: Any) -> Sparse:
    import torch
    tensor = tensor.detach()
    if tensor.layout == torch.sparse_coo:
        indices = tensor._indices()
        return _triplets(name, tensor.shape, indices[0], indices[1], tensor._values())
    if tensor.layout == torch.strided:
        raise TypeError(f'{name} is a dense tensor; make it sparse: {name}.to_sparse_csr()')
    if tensor.layout != torch.sparse_csr:
        tensor = tensor.to_sparse_csr()
    return _csr(name, tensor.shape, tensor.crow_indices(), tensor.col_indices(), tensor.values())


def check(name: str, matrix: Any) -> None:
    """Checks the arrays before SciPy converts them, since it writes out of bounds if an index is out of range."""
    if getattr(matrix, 'format', None) == 'coo':
        triplets = _triplets(name, matrix.shape, matrix.row, matrix.col, matrix.data)
        for part, array, extent in (('row', triplets.rows, matrix.shape[0]), ('col', triplets.columns, matrix.shape[1])):
            found = arrays.as_numpy(array)
            if found.size and (found.min() < 0 or found.max() >= extent):
                raise ValueError(f'{name}.{part} has the index {found[(found < 0) | (found >= extent)][0]}; there are {extent}')
        return
    full_check = getattr(matrix, 'check_format', None)
    if full_check is None:
        return
    for part in ('indices', 'indptr'):
        arrays.indices(f'{name}.{part}', getattr(matrix, part))
    offsets = matrix.indptr
    if len(offsets) and (int(offsets[0]) != 0 or bool((offsets[1:] < offsets[:-1]).any())):
        raise ValueError(f'{name}.indptr has to ascend from 0')
    try:
        full_check(full_check=True)
    except ValueError as error:
        raise ValueError(f'{name}: {error}') from None


def of(name: str, matrix: Any, allow_operator: bool = False) -> Any:
    """The matrix as a Sparse, a LinearOperator as it is, or a TypeError that says what to do."""
    form = getattr(matrix, 'format', None)
    if form == 'csr' and hasattr(matrix, 'indptr'):
        return _csr(name, matrix.shape, matrix.indptr, matrix.indices, matrix.data)
    if isinstance(matrix, Sparse):
        return matrix
    if allow_operator and is_operator(matrix):
        if len(getattr(matrix, 'shape', ())) != 2:
            raise TypeError(f'{name} has a matvec and no shape; a LinearOperator has both')
        return matrix
    if isinstance(matrix, tuple):
        if len(matrix) != 3:
            raise TypeError(f'{name} is a tuple of {len(matrix)}; expected (data, indices, indptr) of a square matrix in CSR')
        try:
            offsets = arrays.indices(f'{name}[2]', matrix[2])
        except TypeError as error:
            raise TypeError(f'{error}; the tuple is (data, indices, indptr)') from None
        size = max(offsets.shape[0] - 1, 0) if len(offsets.shape) == 1 else 0
        return _csr(name, (size, size), matrix[2], matrix[1], matrix[0])
    if arrays._is_torch(matrix):
        return _of_torch(name, matrix)
    if isinstance(form, str) and hasattr(matrix, 'tocsr') and hasattr(matrix, 'shape'):
        dtype = getattr(matrix, 'dtype', np.dtype(float))
        if dtype not in arrays.FLOATS and getattr(dtype, 'kind', 'f') != 'f':
            _values(name, np.empty(0, dtype))
        if form == 'coo':
            row, column = (matrix.coords if not hasattr(matrix, 'row') else (matrix.row, matrix.col))
            return _triplets(name, matrix.shape, row, column, matrix.data)
        _shape(name, matrix.shape)
        check(name, matrix)
        matrix = matrix.tocsr()
        return _csr(name, matrix.shape, matrix.indptr, matrix.indices, matrix.data)
    if isinstance(matrix, (np.ndarray, list)) or hasattr(matrix, '__cuda_array_interface__'):
        shape = getattr(matrix, 'shape', ())
        if len(shape) == 1:
            raise TypeError(f'{name} is a dense array of shape {tuple(shape)}; expected a sparse matrix')
        raise TypeError(f'{name} is a dense {"list" if isinstance(matrix, list) else "array"}; make it sparse: '
                        f'scipy.sparse.csr_array({name})')
    raise TypeError(f'{name} is of type {type(matrix).__name__}; expected a sparse matrix of SciPy, CuPy or PyTorch, a '
                    f'LinearOperator, or a tuple (data, indices, indptr)')


def of_dense(name: str, matrix: Any) -> Sparse:
    """A dense matrix of NumPy without its zeros."""
    dense = np.atleast_2d(np.asarray(matrix))
    shape = _shape(name, dense.shape)
    if dense.dtype.kind in 'iub':
        dense = dense.astype(float)
    if dense.dtype.kind not in 'f':
        _values(name, np.empty(0, dense.dtype))
    mask = dense != 0  # a NaN is kept, and found by the library
    offsets = np.concatenate(([0], np.cumsum(mask.sum(axis=1))))
    values = dense[mask]
    return _csr(name, shape, offsets, mask.nonzero()[1], values.astype(np.float64) if values.dtype.itemsize > 8 else values)


def is_operator(matrix: Any) -> bool:
    """Whether this is a LinearOperator, or another object that only multiplies."""
    return not hasattr(matrix, 'tocsr') and hasattr(matrix, 'matvec')


# ---- Functions ----

Apply = Callable[[np.ndarray[Any, Any]], Any]


class Function:
    """A function of Python that the library calls: y = f(x). An exception ends the solve and is kept in `error`."""

    def __init__(self, name: str, context: Context, apply: Apply, rows: int, columns: int, kind: Any) -> None:
        self.name = name
        self.context = context
        self.apply = apply
        self.shape = (rows, columns)
        self.error: BaseException | None = None
        self.interrupts: Interrupts | None = None
        self.callback = kind(self._call)

    def _call(self, user: Any, y: int, x: int) -> int:
        if self.interrupts is not None and self.interrupts.error is not None:
            return d.TS_ERROR_INVALID_ARGUMENT  # Ctrl+C: the exception follows
        try:
            components = lib.ts_vector_get_components(x)
            given = np.empty((self.shape[1], components))
            self.context.check(lib.ts_vector_read(x, arrays.wrap('x', given).writable()))
            result = np.empty((self.shape[0], components))
            for component in range(components):
                found = np.asarray(self.apply(np.ascontiguousarray(given[:, component])))
                if found.dtype.kind not in 'fiub':
                    raise TypeError(f'{self.name} returned an array of {found.dtype}; expected real numbers')
                if found.size != self.shape[0]:
                    raise ValueError(f'{self.name} returned an array of shape {found.shape}; expected ({self.shape[0]},)')
                result[:, component] = found.reshape(-1)
            self.context.check(lib.ts_vector_write(y, arrays.wrap('y', result)))
            return d.TS_OK
        except NotImplementedError as error:  # SciPy says only that rmatvec is not defined
            self.error = NotImplementedError(f'{self.name}: {error}. This method multiplies by the transpose; give the operator '
                                             f'an rmatvec') if self.name.endswith('rmatvec') else error
            return d.TS_ERROR_INVALID_ARGUMENT
        except BaseException as error:  # noqa: B902: raised again by the caller of the solve
            self.error = error
            return d.TS_ERROR_INVALID_ARGUMENT

    def raise_error(self) -> None:
        """Raises what the function raised."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error


def create_operator(context: Context, operator: Any, symmetric: bool) -> tuple[Handle, list[Function]]:
    """A LinearOperator, or an object with `matvec` and `shape`, as a matrix of the library."""
    rows, columns = _shape('A', operator.shape)
    if getattr(operator, 'dtype', None) is not None and np.dtype(operator.dtype).kind == 'c':
        raise TypeError('A is complex, and the library solves real systems')
    row_space = Handle(context, 'ts_space_destroy', lib.ts_space_create, context.pointer,
                       ctypes.byref(d.ts_space_desc(size=rows)))
    column_space = row_space if rows == columns else Handle(
        context, 'ts_space_destroy', lib.ts_space_create, context.pointer, ctypes.byref(d.ts_space_desc(size=columns)))
    functions = [Function('A.matvec', context, operator.matvec, rows, columns, d.ts_operator_fn)]
    desc = d.ts_operator_desc(apply=functions[0].callback, symmetric=int(symmetric))
    if hasattr(operator, 'rmatvec') and not symmetric:
        functions.append(Function('A.rmatvec', context, operator.rmatvec, columns, rows, d.ts_operator_fn))
        desc.apply_transposed = functions[1].callback
    handle = Handle(context, 'ts_matrix_destroy', lib.ts_operator_create, row_space.pointer, column_space.pointer,
                    ctypes.byref(desc))
    return handle, functions
