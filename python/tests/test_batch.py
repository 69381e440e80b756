"""solve_batch: right answers for every system, where b was, and what it refuses."""
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import texsolve
from conftest import convection, poisson


def batch(A, count, dtype=np.float64):
    rng = np.random.default_rng(count)
    return ((A.data * (1 + 0.2 * rng.random((count, A.nnz)))).astype(dtype),
            rng.standard_normal((count, A.shape[0])).astype(dtype))


def residuals(A, values, x, b):
    return np.array([np.linalg.norm(b[k] - sp.csr_matrix((values[k], A.indices, A.indptr), A.shape).astype(float) @ x[k])
                     / np.linalg.norm(b[k]) for k in range(len(b))])


@pytest.mark.parametrize('A', [poisson(8), convection(60)], ids=['symmetric', 'convection'])
@pytest.mark.parametrize('count', [1, 2, 67])
def test_solutions_are_right(A, count):
    values, b = batch(A, count)
    r = texsolve.solve_batch(A, values, b, rtol=1e-10)
    assert r.x.shape == b.shape and r.x.dtype == np.float64 and len(r) == count
    assert r.converged.all() and r.message == '' and (r.iterations > 0).all() and r.seconds > 0
    true = residuals(A, values, r.x, b)
    assert true.max() <= 1e-10
    assert np.allclose(r.residual, true, rtol=1e-2)


def test_method_of_each_system():
    A = poisson(5)
    values = np.stack([A.data, A.data * (1 + 0.1 * np.random.default_rng(1).random(A.nnz))])
    r = texsolve.solve_batch(A, values, np.ones((2, 25)), rtol=1e-9)
    assert (r.method(0), r.method(1)) == ('cg', 'bicgstab') and r.reason(1) == 'converged'
    r = texsolve.solve_batch(A, values, np.ones((2, 25)), method='bicgstab', preconditioner=None, rtol=1e-9)
    assert r.method(0) == 'bicgstab' and r.converged.all()


@pytest.mark.parametrize('index', [np.int32, np.int64])
@pytest.mark.parametrize('value', [np.float32, np.float64])
def test_patterns_and_types(index, value):
    A = convection(20)
    values, b = batch(A, 3, value)
    given = (A.indices.astype(index), A.indptr.astype(index))
    r = texsolve.solve_batch(given, values, b, rtol=1e-6)
    assert r.x.dtype == value and residuals(A, values, r.x.astype(float), b).max() < 3e-6
    for pattern in (A, sp.csr_array(A)):
        assert np.array_equal(texsolve.solve_batch(pattern, values, b, rtol=1e-6).x, r.x)
    # any order in memory
    assert np.array_equal(texsolve.solve_batch(A, np.asfortranarray(values), b[:, ::-1][:, ::-1], rtol=1e-6).x, r.x)


def test_start():
    A = poisson(6)
    values, b = np.tile(A.data, (4, 1)), batch(A, 4)[1]
    x = texsolve.solve_batch(A, values, b, rtol=1e-10).x
    again = texsolve.solve_batch(A, values, b, x, rtol=1e-9)
    assert (again.iterations == 0).all() and np.array_equal(again.x, x) and again.x is not x


def test_torch_stays_torch():
    torch = pytest.importorskip('torch', reason='PyTorch is not installed')
    A = convection(15)
    values, b = batch(A, 3)
    r = texsolve.solve_batch(A, torch.tensor(values), torch.tensor(b), rtol=1e-9)
    assert isinstance(r.x, torch.Tensor) and residuals(A, values, r.x.numpy(), b).max() <= 1e-9


def test_failures_stay_with_their_systems():
    A = poisson(6)
    values, b = np.tile(A.data, (5, 1)), batch(A, 5)[1]
    good = texsolve.solve_batch(A, values, b, rtol=1e-9)
    values[3, 7] = np.nan
    with pytest.warns(texsolve.ConvergenceWarning, match='system 3'):
        r = texsolve.solve_batch(A, values, b, rtol=1e-9)
    assert r.converged.tolist() == [True, True, True, False, True]
    assert 'NaN' in r.reason(3) and np.isnan(r.residual[3])
    others = [0, 1, 2, 4]
    assert np.array_equal(r.x[others], good.x[others])
    assert '4 of 5 systems converged' in repr(r)
    with pytest.warns(texsolve.ConvergenceWarning, match='5 '):
        r = texsolve.solve_batch(A, np.tile(A.data, (5, 1)), b, rtol=1e-9, max_iterations=2)
    assert not r.converged.any() and (r.iterations <= 2).all()


def test_empty_batch():
    A = poisson(3)
    r = texsolve.solve_batch(A, np.empty((0, A.nnz)), np.empty((0, 9)))
    assert r.x.shape == (0, 9) and len(r) == 0 and '0 systems' in repr(r)


def test_inputs_are_not_changed():
    A = poisson(4)
    values, b = batch(A, 3)
    values.flags.writeable = b.flags.writeable = False
    kept = values.copy(), b.copy(), A.indices.copy()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        texsolve.solve_batch(A, values, b)
    assert np.array_equal(values, kept[0]) and np.array_equal(b, kept[1]) and np.array_equal(A.indices, kept[2])


@pytest.mark.parametrize('change,error,message', [
    (dict(values=np.ones(21)), ValueError, r'values has shape \(21,\); expected \(batch, 33\)'),
    (dict(values=np.ones((2, 33), complex)), TypeError, 'values is complex'),
    (dict(b=np.ones((3, 9))), ValueError, r'b has shape \(3, 9\); expected \(2, 9\)'),
    (dict(b=[['a'] * 9] * 2), TypeError, 'b has elements of type'),
    (dict(x0=np.ones((2, 8))), ValueError, 'x0 has shape'),
    (dict(rtol=1), ValueError, 'rtol is 1'),
    (dict(rtol='x'), ValueError, "rtol is 'x'"),
    (dict(method='gmres'), ValueError, 'method'),
    (dict(method='cgg'), ValueError, "method is 'cgg'"),
    (dict(preconditioner='amg'), ValueError, 'preconditioner'),
    (dict(max_iterations=-1), ValueError, 'max_iterations'),
    (dict(pattern=poisson(3).tocsc()), TypeError, 'pattern is a matrix in csc'),
    (dict(pattern=poisson(3).tocsr()[:8]), ValueError, 'pattern is 8 x 9'),
    (dict(pattern=np.ones((9, 9))), TypeError, 'pattern is of type ndarray'),
    (dict(pattern=(1, 2, 3)), TypeError, 'pattern is a tuple of 3'),
    (dict(pattern=([9] * 33, poisson(3).indptr)), ValueError, 'column'),
    (dict(pattern=(poisson(3).indices, poisson(3).indptr[::-1])), ValueError, 'row_offsets'),
    (dict(backend='cpuu'), (ValueError, RuntimeError), 'cpuu'),
])
def test_bad_arguments(change, error, message):
    A = poisson(3)
    given = {'pattern': A, 'values': np.tile(A.data, (2, 1)), 'b': np.ones((2, 9)), **change}
    with pytest.raises(error, match=message):
        texsolve.solve_batch(**given)


def has_cuda():
    try:
        return texsolve.Context('cuda').backend.startswith('cuda')
    except RuntimeError:
        return False


@pytest.mark.skipif(not has_cuda(), reason='no CUDA device, or a library without CUDA')
@pytest.mark.parametrize('A', [poisson(10), convection(100)], ids=['symmetric', 'convection'])
def test_cuda(A):
    values, b = batch(A, 300)
    r = texsolve.solve_batch(A, values, b, backend='cuda', rtol=1e-10)
    assert r.backend.startswith('cuda') and r.converged.all() and residuals(A, values, r.x, b).max() <= 1e-10
    cupy = pytest.importorskip('cupy', reason='CuPy is not installed')
    given = tuple(map(cupy.asarray, (A.indices, A.indptr)))
    r = texsolve.solve_batch(given, cupy.asarray(values), cupy.asarray(b), rtol=1e-10)
    assert isinstance(r.x, cupy.ndarray) and r.backend.startswith('cuda') and r.x.device == cupy.asarray(b).device
    assert residuals(A, values, r.x.get(), b).max() <= 1e-10
