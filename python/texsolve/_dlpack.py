"""Views of DLPack capsules: both forms, DLManagedTensor and DLManagedTensorVersioned of version 1."""
from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np


class _Device(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int32), ('id', ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device', _Device), ('ndim', ctypes.c_int32), ('dtype', _DataType),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('byte_offset', ctypes.c_uint64)]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [('tensor', _Tensor), ('manager', ctypes.c_void_p), ('deleter', _Deleter)]


class _ManagedVersioned(ctypes.Structure):
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('manager', ctypes.c_void_p),
                ('deleter', _Deleter), ('flags', ctypes.c_uint64), ('tensor', _Tensor)]


_CODES = {0: 'i', 1: 'u', 2: 'f', 5: 'c', 6: 'b'}  # kDLInt, kDLUInt, kDLFloat, kDLComplex, kDLBool


class View:
    """The memory of a capsule, which lives as long as this object."""

    def __init__(self, name: str, capsule: Any, managed: Any) -> None:
        self._managed = managed
        self._capsule = capsule
        tensor = managed.tensor
        code = _CODES.get(tensor.dtype.code)
        size = tensor.dtype.bits // 8
        if tensor.dtype.lanes != 1 or code is None or tensor.dtype.bits % 8 or (code == 'f' and size not in (2, 4, 8)):
            raise TypeError(f'{name} has elements of DLPack type ({tensor.dtype.code}, {tensor.dtype.bits} bits); convert it '
                            f'to float32 or float64')
        self.dtype = np.dtype(f'{code}{size}')
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        self.strides = tuple(tensor.strides[i] * size for i in range(tensor.ndim)) if tensor.strides else None
        self.pointer = (tensor.data or 0) + tensor.byte_offset

    def as_numpy(self) -> np.ndarray[Any, Any]:
        """A view as an array of NumPy, which may be strided."""
        strides = self.strides
        if 0 in self.shape or strides is None:
            low, high = 0, math.prod(self.shape) * self.dtype.itemsize
        else:
            spans = [(extent - 1) * stride for extent, stride in zip(self.shape, strides)]
            low, high = sum(min(span, 0) for span in spans), sum(max(span, 0) for span in spans) + self.dtype.itemsize
        buffer: Any = (ctypes.c_char * (high - low)).from_address(self.pointer + low)
        buffer._owner = self
        return np.ndarray(self.shape, self.dtype, buffer, -low, strides)


def view_of_capsule(name: str, capsule: Any) -> View:
    """A view of the memory of a capsule. The capsule stays unconsumed and calls its deleter when it is collected, as the
    protocol demands of capsules that no one has renamed."""
    api = ctypes.pythonapi
    is_valid, get_pointer = api.PyCapsule_IsValid, api.PyCapsule_GetPointer
    is_valid.restype, is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    if is_valid(capsule, b'dltensor_versioned'):
        pointer = get_pointer(capsule, b'dltensor_versioned')
        managed: Any = ctypes.cast(pointer, ctypes.POINTER(_ManagedVersioned)).contents
        if managed.major != 1:
            raise TypeError(f'{name} exports version {managed.major} of DLPack; versions 0 and 1 are understood')
        return View(name, capsule, managed)
    if is_valid(capsule, b'dltensor'):
        pointer = get_pointer(capsule, b'dltensor')
        return View(name, capsule, ctypes.cast(pointer, ctypes.POINTER(_Managed)).contents)
    raise TypeError(f'{name}.__dlpack__ did not return a new capsule of DLPack')
