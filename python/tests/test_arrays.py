"""Arrays of other libraries: the numbers are those of NumPy, nothing is copied on the way in, and x is where b was."""
import ctypes
import gc

import numpy as np
import pytest
import scipy.sparse as sp

import texsolve
from texsolve import _arrays as arrays
from conftest import poisson, residual

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason='PyTorch is not installed (Debian: python3-torch)')


class OnlyDLPack:
    """An array of a library that has only DLPack, in its first form or in that of 2023."""

    def __init__(self, array, form, log=None):
        self._array, self._form, self._log = array, form, [] if log is None else log

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, **options):
        self._log.append(dict(options))
        if self._form == 'first':
            if 'max_version' in options:
                raise TypeError('unexpected keyword argument max_version')
            return self._array.__dlpack__(**options)
        assert options['max_version'] >= (1, 0)
        return _versioned_capsule(self._array)


_kept = {}


def _versioned_capsule(array):
    """A capsule of DLManagedTensorVersioned, which NumPy 1.24 does not make."""
    from texsolve import _dlpack as dl
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*[stride // array.itemsize for stride in array.strides])
    tensor = dl._Tensor(array.ctypes.data, dl._Device(1, 0), array.ndim, dl._DataType(2, 8 * array.itemsize, 1), shape, strides, 0)
    managed = dl._ManagedVersioned(1, 1, None, dl._Deleter(0), 1, tensor)  # flag 1: read-only
    address = ctypes.addressof(managed)
    _kept[address] = (managed, shape, strides, array)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, b'dltensor_versioned', None)


@pytest.mark.parametrize('form', ['first', 'versioned'])
def test_dlpack(form, A, b):
    log = []
    x = texsolve.solve(A, OnlyDLPack(b, form, log), rtol=1e-9).x
    assert isinstance(x, np.ndarray) and residual(A, x, b) <= 1e-9
    assert arrays.wrap('b', OnlyDLPack(b, form)).data == b.ctypes.data
    assert log[0]['max_version'] == (1, 0) and len(log) == (2 if form == 'first' else 1)
    two = np.c_[b, -b]
    for order in 'CF':  # the second is copied
        x = texsolve.solve(A, OnlyDLPack(np.asarray(two, order=order), form), rtol=1e-9).x
        assert residual(A, x, two) <= 1e-9
    wide = texsolve.solve(A, OnlyDLPack(np.repeat(b[:, None], 6, axis=1), form), rtol=1e-9).x
    assert residual(A, wide, np.repeat(b[:, None], 6, axis=1)) <= 1e-9


def test_dlpack_types(A, b):
    whole = np.arange(A.shape[0])
    assert residual(A, texsolve.solve(A, OnlyDLPack(whole, 'first'), rtol=1e-9).x, whole) <= 1e-9
    with pytest.raises(TypeError, match='b is complex'):
        texsolve.solve(A, OnlyDLPack(b + 1j, 'first'))

    class Elsewhere(OnlyDLPack):
        def __dlpack_device__(self):
            return 4, 0  # OpenCL
    with pytest.raises(TypeError, match='b is on a device of DLPack type 4'):
        texsolve.solve(A, Elsewhere(b, 'first'))

    class Wrong(OnlyDLPack):
        def __dlpack__(self, **options):
            return 7
    with pytest.raises(TypeError, match='capsule'):
        texsolve.solve(A, Wrong(b, 'first'))


def test_dlpack_memory_lives(A, b):
    s = texsolve.Solver(A, rtol=1e-9)
    wrapped = arrays.wrap('b', OnlyDLPack(b.copy(), 'first'))
    gc.collect()
    assert np.array_equal(arrays.as_numpy(wrapped), b)
    view = arrays.as_numpy(wrapped)
    del wrapped
    gc.collect()
    np.random.default_rng(0).standard_normal(5000)
    assert np.array_equal(view, b) and residual(A, s(view), b) <= 1e-9


class FakeCuda:
    """An array that claims to be in CUDA memory."""

    def __init__(self, array, strides=None):
        self.__cuda_array_interface__ = {'data': (array.ctypes.data, False), 'shape': array.shape, 'strides': strides,
                                         'typestr': array.dtype.str, 'version': 3, 'stream': None}


def test_cuda_arrays_need_cuda(A, b):
    found = arrays.wrap('b', FakeCuda(b))
    assert found.device == 0 and found.data == b.ctypes.data and found.memory == 1
    with pytest.raises(TypeError, match='CUDA memory'):
        texsolve.solve(A, FakeCuda(b))
    with pytest.raises(ValueError, match='b is not contiguous'):
        texsolve.solve(A, FakeCuda(b, strides=(16,)))


def test_no_copies_of_numpy(A, b):
    assert arrays.floats('b', b).data == b.ctypes.data
    from texsolve import _matrix
    found = _matrix.of('A', A)
    assert (found.rows.data, found.columns.data, found.values.data) == (
        A.indptr.ctypes.data, A.indices.ctypes.data, A.data.ctypes.data)


@needs_torch
@pytest.mark.parametrize('layout', ['csr', 'coo', 'csc'])
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_torch(layout, dtype, A, b):
    kind = getattr(torch, dtype)
    csr = torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices), torch.from_numpy(A.data).to(kind), A.shape)
    given = csr if layout == 'csr' else csr.to_sparse() if layout == 'coo' else csr.to_dense().to_sparse_csc()
    right = torch.from_numpy(b).to(kind)
    r = texsolve.solve(given, right, rtol=1e-6)
    assert isinstance(r.x, torch.Tensor) and r.x.dtype == kind and r.x.shape == right.shape
    assert residual(A, r.x.double().numpy(), b) <= 2e-6
    assert isinstance(texsolve.solve(A, right).x, torch.Tensor)
    assert isinstance(texsolve.solve(given, b).x, np.ndarray)
    s = texsolve.Solver(given, rtol=1e-6)
    s.update(2 * (given.values() if layout != 'coo' else given._values()))
    assert residual(2 * A, s(right).double().numpy(), b) <= 2e-6
    out = torch.empty_like(right)
    assert s(right, out=out) is out and residual(2 * A, out.double().numpy(), b) <= 2e-6


@needs_torch
def test_torch_views_and_gradients(A, b):
    right = torch.from_numpy(np.c_[b, b])
    assert residual(A, texsolve.solve(A, right[:, 0], rtol=1e-9).x.numpy(), b) <= 1e-9
    assert residual(A, texsolve.solve(A, torch.from_numpy(b).requires_grad_(), rtol=1e-9).x.numpy(), b) <= 1e-9
    six = torch.from_numpy(np.random.default_rng(1).standard_normal((A.shape[0], 6)))
    assert residual(A, texsolve.solve(A, six, rtol=1e-9).x.numpy(), six.numpy()) <= 1e-9
    assert arrays.floats('b', six).data == six.data_ptr()
    half = torch.from_numpy(b).half()
    assert residual(A, texsolve.solve(A, half, rtol=1e-6).x.numpy(), half.double().numpy()) <= 1e-6


@needs_torch
def test_torch_refused(A, b):
    right = torch.from_numpy(b)
    for given, text in ((torch.eye(400), 'A is a dense tensor'), (torch.eye(400).to_sparse().to(torch.cfloat), 'A is complex'),
                        (torch.eye(400, dtype=torch.int64).to_sparse(), r'A holds int64; convert it: A\.double\(\)'),
                        (torch.eye(400).to_sparse().to(torch.bfloat16), 'bfloat16')):
        with pytest.raises(TypeError, match=text):
            texsolve.solve(given, right)
    with pytest.raises(TypeError, match='b is a sparse tensor'):
        texsolve.solve(A, right.to_sparse())
    with pytest.raises(TypeError, match='b is complex'):
        texsolve.solve(A, right.to(torch.cdouble))
    with pytest.raises(TypeError, match='on the device meta'):
        texsolve.solve(A, right.to('meta'))
