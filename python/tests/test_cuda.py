"""Arrays in CUDA memory, of CuPy and PyTorch: no copy to the host, the result on the device, streams and several columns."""
import numpy as np
import pytest

import texsolve
import texsolve.linalg as spla
from texsolve import _arrays as arrays
from conftest import convection, poisson, residual


def has_cuda():
    try:
        texsolve.Context('cuda')
        return True
    except RuntimeError:
        return False


try:
    import cupy
    import cupyx.scipy.sparse
    cupy.cuda.runtime.getDeviceCount()
except Exception:
    cupy = None
try:
    import torch
    if not torch.cuda.is_available():
        torch = None
except ImportError:
    torch = None

pytestmark = pytest.mark.skipif(not has_cuda(), reason='no CUDA device, or a library without CUDA')
needs_cupy = pytest.mark.skipif(cupy is None, reason='needs CuPy')
needs_torch = pytest.mark.skipif(torch is None, reason='needs PyTorch with CUDA')


def cupy_csr(A, dtype=np.float64):
    return cupyx.scipy.sparse.csr_matrix((cupy.asarray(A.data.astype(dtype)), cupy.asarray(A.indices), cupy.asarray(A.indptr)), A.shape)


def test_host_arrays():
    A = poisson(40)
    b = np.random.default_rng(1).standard_normal(A.shape[0])
    r = texsolve.solve(A, b, backend='cuda', rtol=1e-9)
    assert r.backend.startswith('cuda') and isinstance(r.x, np.ndarray) and residual(A, r.x, b) <= 1e-9


@needs_cupy
@pytest.mark.parametrize('dtype', [np.float32, np.float64])
@pytest.mark.parametrize('make', [poisson, lambda n: convection(n * n)])
def test_cupy(dtype, make):
    A = make(60)
    b = np.random.default_rng(1).standard_normal(A.shape[0]).astype(dtype)
    given, right = cupy_csr(A, dtype), cupy.asarray(b)
    for matrix in (given, given.tocoo(), given.tocsc()):
        r = texsolve.solve(matrix, right, rtol=1e-5)
        assert isinstance(r.x, cupy.ndarray) and r.x.dtype == dtype and r.backend.startswith('cuda')
        assert residual(A, r.x.get().astype(float), b) <= 2e-5
    s = texsolve.Solver(given, rtol=1e-5)
    s.update(2 * given.data)
    out = cupy.empty_like(right)
    assert s(right, out=out) is out and residual(2 * A, out.get().astype(float), b) <= 2e-5
    x, info = spla.bicgstab(given, right, rtol=1e-5)
    assert info == 0 and isinstance(x, cupy.ndarray) and residual(A, x.get().astype(float), b) <= 2e-5
    for columns in (3, 6):
        two = cupy.asarray(np.random.default_rng(2).standard_normal((A.shape[0], columns)).astype(dtype))
        x = texsolve.solve(given, two, rtol=1e-5).x
        assert x.shape == two.shape and residual(A, x.get().astype(float), two.get()) <= 2e-5
    assert residual(A, texsolve.solve(given, cupy.repeat(right, 2)[::2], rtol=1e-5).x.get().astype(float), b) <= 2e-5


@needs_cupy
def test_cupy_streams_and_memory():
    A = poisson(60)
    given = cupy_csr(A)
    s = texsolve.Solver(given, rtol=1e-8)
    for k in range(5):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            right = cupy.zeros(A.shape[0])
            for _ in range(50):  # work that has not finished when the solver is called
                right += cupy.sin(cupy.arange(A.shape[0], dtype=float) + k)
            x = s(right)
            norm = cupy.linalg.norm(right - given @ x) / cupy.linalg.norm(right)
            assert float(norm) <= 1e-7
    assert arrays.wrap('b', right).data == right.data.ptr


@needs_cupy
def test_cupy_preconditioners():
    A = poisson(100)
    given, right = cupy_csr(A), cupy.ones(A.shape[0])
    ml = texsolve.amg(given)
    x, info = ml.solve(right, tol=1e-9, accel='cg', return_info=True)
    assert info == 0 and residual(A, x.get(), np.ones(A.shape[0])) <= 1e-9 and isinstance(ml.matvec(right), cupy.ndarray)
    seen = []
    x, info = spla.cg(given, right, rtol=1e-8, M=ml, callback=seen.append)
    assert info == 0 and isinstance(seen[-1], cupy.ndarray)
    ml.update(2 * given.data)
    assert residual(2 * A, ml.solve(right, tol=1e-9, accel='cg').get(), np.ones(A.shape[0])) <= 1e-9


@needs_cupy
def test_cupy_bad_input():
    A = poisson(10)
    given, right = cupy_csr(A), cupy.ones(100)
    for matrix, b, error, text in (
            (given, cupy.ones(99), ValueError, 'b has shape'), (given, right * 1j, TypeError, 'b is complex'),
            (given.astype(complex), right, TypeError, 'A is complex'), (given, right * np.nan, ValueError, 'NaN'),
            (A, right * np.inf, ValueError, 'infinity')):
        with pytest.raises(error, match=text):
            texsolve.solve(matrix, b)
    bad = given.copy()
    bad.indices[17] = 5000
    with pytest.raises(ValueError):
        texsolve.solve(bad, right)
    with pytest.raises((TypeError, RuntimeError, NotImplementedError)):
        texsolve.solve(given, right, backend='cpu')
    assert texsolve.solve(given, right).converged


@needs_torch
@pytest.mark.parametrize('layout', ['csr', 'coo'])
def test_torch(layout):
    A = poisson(60)
    b = np.random.default_rng(1).standard_normal(A.shape[0])
    csr = torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices), torch.from_numpy(A.data), A.shape).cuda()
    given, right = csr if layout == 'csr' else csr.to_sparse_coo(), torch.from_numpy(b).cuda()
    r = texsolve.solve(given, right, rtol=1e-8)
    assert r.x.device == right.device and residual(A, r.x.cpu().numpy(), b) <= 1e-8
    assert arrays.floats('b', right).data == right.data_ptr()
    with torch.cuda.stream(torch.cuda.Stream()):
        late = right * 1
        for _ in range(50):
            late = torch.sin(late)
        x = texsolve.solve(given, late, rtol=1e-8).x
        assert float(torch.linalg.norm(late - csr @ x) / torch.linalg.norm(late)) <= 1e-7
    six = torch.from_numpy(np.random.default_rng(2).standard_normal((A.shape[0], 6))).cuda()
    assert residual(A, texsolve.solve(given, six, rtol=1e-8).x.cpu().numpy(), six.cpu().numpy()) <= 1e-8


class OnlyDLPack:
    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@needs_cupy
def test_dlpack_on_the_device():
    A = poisson(30)
    right = cupy.ones(A.shape[0])
    found = arrays.floats('b', OnlyDLPack(right))
    assert found.device == 0 and found.data == right.data.ptr
    with pytest.raises(TypeError, match='out'):
        texsolve.solve(A, OnlyDLPack(right))  # no way to make an array of that library
    out = cupy.empty_like(right)
    texsolve.Solver(A, backend='cuda', rtol=1e-8)(OnlyDLPack(right), out=out)
    assert residual(A, out.get(), np.ones(A.shape[0])) <= 1e-8
