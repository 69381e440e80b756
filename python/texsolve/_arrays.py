"""Dense arrays of NumPy, PyTorch, CuPy and of any library with DLPack or __cuda_array_interface__, without copies.

An Array describes memory that a library of arrays owns. Memory is copied only if it is not contiguous, not in this machine's
byte order, or of a type that the library does not read.
"""
from __future__ import annotations

import ctypes
import math
import sys
from typing import Any

import numpy as np

from . import _declarations as d
from ._dlpack import view_of_capsule

FLOAT: np.dtype[Any] = np.dtype(np.float32)
DOUBLE: np.dtype[Any] = np.dtype(np.float64)
FLOATS = (DOUBLE, FLOAT)  # the usual one first: comparing with another one takes a while
INT32: np.dtype[Any] = np.dtype(np.int32)
INT64: np.dtype[Any] = np.dtype(np.int64)
INTEGERS = (INT32, INT64)
TYPES = {FLOAT: d.TS_TYPE_FLOAT, DOUBLE: d.TS_TYPE_DOUBLE, INT32: d.TS_TYPE_INT32, INT64: d.TS_TYPE_INT64}


class Array(d.ts_array):
    """A ts_array and the array that owns its memory. The library may write after writable()."""

    owner: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    kind = 'numpy'  # the owner's library: 'numpy', 'torch', 'cupy' or 'other'
    device: int | None = None  # of CUDA; None: host memory

    def writable(self) -> Array:
        self.read_only = 0
        return self


def _array(owner: Any, kind: str, pointer: int | None, shape: tuple[int, ...], dtype: np.dtype[Any], device: int | None = None,
           stream: int | None = None) -> Array:
    memory = d.TS_MEMORY_HOST if device is None else d.TS_MEMORY_CUDA
    array = Array(pointer or None, math.prod(shape), TYPES.get(dtype, d.TS_TYPE_NONE), memory, 1, 0, stream or None)
    array.owner, array.shape, array.dtype, array.kind, array.device = owner, shape, dtype, kind, device
    return array


# ---- Arrays of the libraries ----

_address = ctypes.addressof
_bytes: Any = ctypes.c_char.from_buffer


def _of_numpy(array: np.ndarray[Any, Any], kind: str = 'numpy', owner: Any = None) -> Array:
    try:
        pointer = _address(_bytes(array))
    except (TypeError, ValueError, BufferError):  # read-only, or empty
        pointer = array.__array_interface__['data'][0]  # takes six times as long
    return _array(array if owner is None else owner, kind, pointer, array.shape, array.dtype)


def _numpy_dtype(name: str, dtype: Any) -> np.dtype[Any]:
    """The dtype of NumPy of a dtype of another library, such as torch.float32."""
    try:
        return np.dtype(dtype)
    except TypeError:
        pass
    try:
        return np.dtype(str(dtype).rpartition('.')[2])
    except TypeError:
        raise TypeError(f'{name} has elements of type {dtype}; convert it to float32 or float64') from None


def _is_torch(array: Any) -> bool:
    torch = sys.modules.get('torch')
    return torch is not None and isinstance(array, getattr(torch, 'Tensor', ()))


def _of_torch(name: str, tensor: Any) -> Array:
    import torch
    if tensor.layout != torch.strided:
        raise TypeError(f'{name} is a sparse tensor; make it dense: {name}.to_dense()')
    dtype = _numpy_dtype(name, tensor.dtype)
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if tensor.device.type == 'cpu':
        return _array(tensor, 'torch', tensor.data_ptr(), tuple(tensor.shape), dtype)
    if tensor.device.type != 'cuda':
        raise TypeError(f'{name} is on the device {tensor.device}; move it to the CPU or to CUDA: {name}.cpu()')
    stream = torch.cuda.current_stream(tensor.device).cuda_stream
    return _array(tensor, 'torch', tensor.data_ptr(), tuple(tensor.shape), dtype, tensor.device.index or 0, stream)


def _of_cuda_interface(name: str, array: Any) -> Array:
    interface = array.__cuda_array_interface__
    dtype, shape = np.dtype(interface['typestr']), tuple(interface['shape'])
    root = type(array).__module__.partition('.')[0]
    strides = interface.get('strides')
    if interface.get('mask') is not None:
        raise TypeError(f'{name} has a mask; pass an array without one')
    if strides is not None and not _is_contiguous(shape, tuple(strides), dtype.itemsize):
        copy = getattr(sys.modules.get(root), 'ascontiguousarray', None)
        if copy is None:
            raise ValueError(f'{name} is not contiguous, and {root} has no ascontiguousarray; pass a contiguous copy')
        return _of_cuda_interface(name, copy(array))
    device, stream = 0, interface.get('stream') or 0
    if root == 'cupy':
        import cupy
        device, stream = array.device.id, cupy.cuda.get_current_stream().ptr
    elif hasattr(array, '__dlpack_device__'):
        device = array.__dlpack_device__()[1]
    return _array(array, 'cupy' if root == 'cupy' else 'other', interface['data'][0], shape, dtype, device, stream)


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != size:
            return False
        size *= extent
    return True


def _of_dlpack(name: str, array: Any) -> Array:
    """An array of a library that only has DLPack. The device types are CPU, CUDA, and memory of CUDA on the host."""
    kind, device = array.__dlpack_device__()
    if int(kind) not in (1, 2, 3, 13):
        raise TypeError(f'{name} is on a device of DLPack type {int(kind)}; move it to the CPU or to CUDA')
    on_cuda = int(kind) in (2, 13)
    try:  # the form of 2023, which may say that it copied or may not be written
        capsule = array.__dlpack__(stream=1 if on_cuda else None, max_version=(1, 0))
    except TypeError:
        capsule = array.__dlpack__(stream=1) if on_cuda else array.__dlpack__()
    view = view_of_capsule(name, capsule)
    if view.strides is not None and not _is_contiguous(view.shape, view.strides, view.dtype.itemsize):
        if on_cuda:
            raise ValueError(f'{name} is not contiguous; pass a contiguous copy')
        copy = _of_numpy(np.ascontiguousarray(view.as_numpy()))
        return _array((copy.owner, array), 'other', copy.data, copy.shape, copy.dtype)
    return _array((view, array), 'other', view.pointer, view.shape, view.dtype, device if on_cuda else None)


# ---- What the package calls ----

def wrap(name: str, array: Any) -> Array:
    """The array in its present type, contiguous and in this machine's byte order."""
    if type(array) is np.ndarray:
        dtype, shape = array.dtype, array.shape
        kind = d.TS_TYPE_DOUBLE if dtype is DOUBLE else d.TS_TYPE_INT32 if dtype is INT32 else TYPES.get(dtype)
        if kind is not None:  # the usual case: tests of the flags take longer
            try:
                pointer = _address(_bytes(array))  # raises an error if the array is not contiguous
                if not pointer % 8:
                    found = Array(pointer, array.size, kind, d.TS_MEMORY_HOST, 1)
                    found.owner, found.shape, found.dtype = array, shape, dtype
                    return found
            except (TypeError, ValueError, BufferError):
                pass
    else:
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(f'{name} is a masked array; fill it: {name}.filled(0)')
        if _is_torch(array):
            return _of_torch(name, array)
        if hasattr(array, 'tocsr'):
            raise TypeError(f'{name} is sparse; make it dense: {name}.toarray()')
        if hasattr(array, '__cuda_array_interface__'):
            return _of_cuda_interface(name, array)
        if hasattr(array, '__dlpack__') and not isinstance(array, (np.ndarray, np.generic)):
            return _of_dlpack(name, array)
        try:
            array = np.asarray(array)
        except ValueError as error:
            raise ValueError(f'{name} is not an array: {error}') from None
    try:
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder('='))
        if not array.flags.c_contiguous or not array.flags.aligned:
            array = np.array(array, order='C', copy=True)
    except MemoryError as error:
        raise MemoryError(f'{name} needs a contiguous copy: {error}') from None
    return _of_numpy(array)


def cast(array: Array, dtype: Any) -> Array:
    """The array in another type, in the same memory space."""
    dtype = np.dtype(dtype)
    if array.dtype == dtype:
        return array
    if array.kind == 'torch':
        import torch
        return _of_torch('array', array.owner.to(getattr(torch, dtype.name)))
    if array.kind == 'cupy':
        return _of_cuda_interface('array', array.owner.astype(dtype))
    if array.device is not None:
        raise TypeError(f'an array in CUDA memory has elements of type {array.dtype}; convert it to {dtype}')
    return _of_numpy(as_numpy(array).astype(dtype))


def floats(name: str, array: Any) -> Array:
    """An array of float32 or float64. Integers and booleans become float64, half precision float32."""
    found = wrap(name, array)
    return found if found.dtype in FLOATS else to_floats(name, found, array)


def to_floats(name: str, found: Array, array: Any) -> Array:
    """What floats() returns for an array of another type. `array` is the caller's."""
    if found.dtype.kind in 'iub':
        return cast(found, np.float64)
    if found.dtype == np.dtype(np.float16):
        return cast(found, np.float32)
    if found.dtype.kind == 'c':
        raise TypeError(f'{name} is complex ({found.dtype}), and the library solves real systems; for a real matrix solve for '
                        f'{name}.real and {name}.imag')
    if array is None:
        raise TypeError(f'{name} is None; expected an array of numbers')
    raise TypeError(f'{name} has elements of type {found.dtype}; convert it: {_conversion(name, array)}')


def _conversion(name: str, array: Any) -> str:
    """What a program writes to get double precision."""
    if _is_torch(array):
        return f'{name}.double()'
    return f'{name}.astype(float)' if hasattr(array, 'astype') else f'numpy.array({name}, float)'


def indices(name: str, array: Any) -> Array:
    """An array of int32 or int64."""
    found = wrap(name, array)
    return found if found.dtype in INTEGERS else to_indices(name, found)


def to_indices(name: str, found: Array) -> Array:
    """What indices() returns for an array of another type."""
    if found.dtype.kind not in 'iu':
        raise TypeError(f'{name} has elements of type {found.dtype}; indices are integers')
    if found.dtype == np.dtype(np.uint64) and found.device is None and found.count and as_numpy(found).max() > 2**63 - 1:
        raise ValueError(f'{name} has an index above 2^63 - 1')
    return cast(found, np.int64)


def as_numpy(array: Array) -> np.ndarray[Any, Any]:
    """A view of host memory as an array of NumPy, which keeps the owner."""
    if isinstance(array.owner, np.ndarray) and array.owner.shape == array.shape:
        owner: np.ndarray[Any, Any] = array.owner
        return owner
    if array.device is not None:
        raise TypeError('an array in CUDA memory is needed on the host')
    if array.count == 0:
        return np.empty(array.shape, array.dtype)
    buffer: Any = (ctypes.c_char * (array.count * array.dtype.itemsize)).from_address(array.data)
    buffer._owner = array.owner
    return np.frombuffer(buffer, array.dtype).reshape(array.shape)


def empty_like(array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A new array where `array` is, of the same library."""
    if array.kind == 'numpy':
        return wrap('x', np.empty(shape, dtype))
    if array.kind == 'torch':
        import torch
        return _of_torch('x', torch.empty(shape, dtype=getattr(torch, dtype.name), device=array.owner.device))
    if array.kind == 'cupy':
        import cupy
        with cupy.cuda.Device(array.device):
            return _of_cuda_interface('x', cupy.empty(shape, dtype))
    if array.device is None:
        return _of_numpy(np.empty(shape, dtype))
    root = type(_prototype(array)).__module__.partition('.')[0]
    module = sys.modules.get(root)
    for make in (getattr(module, 'empty', None), getattr(getattr(module, 'cuda', None), 'device_array', None)):
        if make is not None:
            return wrap('x', make(shape, dtype=dtype))
    raise TypeError(f'the result has to be in CUDA memory, and {root} has no function `empty`; pass the array as one of CuPy '
                    f'or PyTorch, or give `out`')


def _prototype(array: Array) -> Any:
    return array.owner[1] if isinstance(array.owner, tuple) else array.owner


def result_of(array: Array, like: Array) -> Any:
    """The array as the user gets it: of the library of `like`."""
    if array.kind != 'numpy' or like.kind != 'other':
        return array.owner
    module = sys.modules.get(type(_prototype(like)).__module__.partition('.')[0])
    convert = getattr(module, 'from_dlpack', None)
    return array.owner if convert is None else convert(array.owner)


def flat(array: Array) -> Array:
    """The same memory as an array of one dimension."""
    if len(array.shape) == 1:
        return array
    if array.kind in ('numpy', 'torch', 'cupy'):
        return wrap('array', array.owner.reshape(-1))
    return with_shape(array, (array.count,))


def with_shape(array: Array, shape: tuple[int]) -> Array:
    """The first elements as an array of one dimension."""
    return _array(array.owner, array.kind, array.data, shape, array.dtype, array.device, array.stream)


def copy_into(array: Array, source: Array) -> None:
    """Copies the numbers of an array of the same shape."""
    if array.device is None and source.device is None:
        np.copyto(as_numpy(array), as_numpy(source), casting='same_kind')
    elif array.kind == source.kind and array.kind in ('torch', 'cupy'):
        array.owner[...] = source.owner
    else:
        raise TypeError('arrays on the host and on CUDA are mixed; move them to one device')
