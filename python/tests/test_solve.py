"""solve() and Solver: right answers, in every format and type, and where b was."""
import gc

import numpy as np
import pytest
import scipy.sparse as sp

import texsolve
from conftest import convection, poisson, residual


def test_solution_is_right(A, b):
    r = texsolve.solve(A, b, rtol=1e-10)
    assert r.converged and r.reason == 'converged' and r.method == 'cg'
    assert residual(A, r.x, b) <= 1e-10
    assert r.residual == pytest.approx(residual(A, r.x, b), rel=1e-2)
    assert r.iterations == len(r.history) and r.seconds > 0


@pytest.mark.parametrize('form', ['csr', 'csc', 'coo', 'bsr', 'dia', 'lil', 'dok'])
@pytest.mark.parametrize('array', [False, True])
def test_formats(form, array, b):
    A = convection(400)
    given = A.asformat(form)
    if array:
        given = getattr(sp, f'{form}_array')(given)
    r = texsolve.solve(given, b, rtol=1e-9)
    assert r.converged and residual(A, r.x, b) <= 1e-9


@pytest.mark.parametrize('index', [np.int32, np.int64, np.uint16])
@pytest.mark.parametrize('value', [np.float32, np.float64])
def test_types(A, b, index, value):
    given = (A.data.astype(value), A.indices.astype(index), A.indptr.astype(index))
    x = texsolve.solve(given, b.astype(value), rtol=1e-6).x
    assert x.dtype == value
    assert residual(A, x.astype(float), b) < 2e-6


def test_unsorted_and_duplicate_entries(A, b):
    coo = A.tocoo()
    order = np.random.default_rng(1).permutation(coo.nnz)
    half = coo.data[order] / 2
    twice = sp.coo_matrix((np.r_[half, half], (np.r_[coo.row[order], coo.row[order]], np.r_[coo.col[order], coo.col[order]])))
    assert residual(A, texsolve.solve(twice, b, rtol=1e-9).x, b) <= 1e-9
    backwards = sp.csr_matrix((A.data, A.indices, A.indptr), copy=True)
    for i in range(A.shape[0]):
        part = slice(A.indptr[i], A.indptr[i + 1])
        backwards.indices[part] = A.indices[part][::-1]
        backwards.data[part] = A.data[part][::-1]
    assert residual(A, texsolve.solve(backwards, b, rtol=1e-9).x, b) <= 1e-9


@pytest.mark.parametrize('count', [1, 3, 4, 5, 9])
def test_several_right_hand_sides(A, count):
    b = np.random.default_rng(3).standard_normal((A.shape[0], count))
    r = texsolve.solve(A, b, rtol=1e-9)
    assert r.x.shape == b.shape and residual(A, r.x, b) <= 1e-9
    s = texsolve.Solver(A, rtol=1e-9)
    for order in ('C', 'F'):
        assert residual(A, s(np.asarray(b, order=order)), b) <= 1e-9


def test_start(A, b):
    exact = texsolve.solve(A, b, rtol=1e-12).x
    r = texsolve.solve(A, b, exact, rtol=1e-6)
    assert r.iterations == 0 and np.array_equal(r.x, exact) and r.converged
    s = texsolve.Solver(A, rtol=1e-6)
    assert s.solve(b, exact).iterations == 0
    assert s.solve(b).iterations > 0  # the start of the solve before is forgotten


@pytest.mark.parametrize('scale', [1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300])
@pytest.mark.parametrize('which', ['A', 'b', 'both'])
def test_scales(A, b, scale, which):
    exact = texsolve.solve(A, b, rtol=1e-10).x
    matrix, right, factor = {'A': (A * scale, b, 1 / scale), 'b': (A, b * scale, scale), 'both': (A * scale, b * scale, 1.0)}[which]
    r = texsolve.solve(matrix, right, rtol=1e-8)
    assert r.converged and np.abs(r.x / factor - exact).max() < 1e-5 * np.abs(exact).max()


def test_methods_and_preconditioners():
    A = convection(500)
    b = A @ np.ones(500)
    for method in ('bicgstab', 'idr', 'gmres'):
        for preconditioner in ('none', 'jacobi', 'ilu', 'isai', None):
            r = texsolve.solve(A, b, method=method, preconditioner=preconditioner, rtol=1e-8)
            assert r.method == method and r.preconditioner == (preconditioner or 'none') and residual(A, r.x, b) <= 1e-8
    S = poisson(12)
    b = S @ np.arange(144.0)
    for method in ('cg', 'minres'):
        for preconditioner in ('ic', 'amg', 'block-jacobi', 'chebyshev'):
            r = texsolve.solve(S, b, method=method, preconditioner=texsolve.preconditioner(S, preconditioner), rtol=1e-8)
            assert r.method == method and r.preconditioner == preconditioner and residual(S, r.x, b) <= 1e-8


def test_least_squares():
    A = sp.csr_matrix(sp.random(80, 30, 0.3, random_state=4) + sp.eye(80, 30))
    b = np.random.default_rng(4).standard_normal(80)
    expected = np.linalg.lstsq(A.toarray(), b, rcond=None)[0]
    for method in ('auto', 'lsmr', 'cgls'):
        r = texsolve.solve(A, b, method=method, rtol=1e-12)
        assert r.x.shape == (30,) and np.abs(r.x - expected).max() < 1e-9


def test_null_space():
    A = poisson(30, 1)
    A = sp.csr_matrix(A - sp.diags(np.asarray(A.sum(axis=1)).ravel()))  # constants are in the null space
    b = np.random.default_rng(5).standard_normal(30)
    b -= b.mean()
    r = texsolve.solve(A, b, null_space=np.ones((30, 1)), rtol=1e-9)
    assert r.converged and residual(A, r.x, b) <= 1e-9 and abs(r.x.mean()) < 1e-9


def test_update_values(A, b):
    s = texsolve.Solver(A, rtol=1e-10)
    first = s(b)
    s.update(4 * A.data)
    assert np.allclose(4 * s(b), first, rtol=1e-7, atol=0)
    s.update(A)
    assert np.allclose(s(b), first, rtol=1e-7, atol=0)
    coo = A.tocoo()
    s = texsolve.Solver(coo, rtol=1e-10)
    s.update(2 * coo.data)
    assert np.allclose(2 * s(b), first, rtol=1e-7, atol=0)


def test_out_is_used(A, b):
    s = texsolve.Solver(A, rtol=1e-9)
    out = np.full_like(b, np.nan)
    assert s(b, out=out) is out and residual(A, out, b) <= 1e-9
    for bad in (np.empty(3), np.empty(2 * len(b))[::2], np.empty(len(b), np.int64)):
        with pytest.raises(ValueError, match='out'):
            s(b, out=bad)
    out.flags.writeable = False
    with pytest.raises(ValueError, match='out'):
        s(b, out=out)


def test_solver_outlives_its_matrix(b):
    A = poisson(20)
    s = texsolve.Solver(A, rtol=1e-9)
    A.data[:], A.indices[:], A.indptr[:] = np.nan, -5, 77
    del A
    gc.collect()
    s.update(3 * poisson(20).data)
    assert residual(3 * poisson(20), s(b), b) <= 1e-9


def test_missed_tolerance_is_a_warning(A, b):
    with pytest.warns(texsolve.ConvergenceWarning, match='maximum of 3 iterations'):
        r = texsolve.solve(A, b, max_iterations=3, method='cg', preconditioner='none')
    assert not r.converged and r.iterations == 3 and np.isfinite(r.x).all()
    assert r.residual == pytest.approx(residual(A, r.x, b), rel=1e-3)


def test_zero_right_hand_side(A):
    r = texsolve.solve(A, np.zeros(A.shape[0]))
    assert r.converged and not r.x.any()


def test_unusual_arrays(A, b):
    expected = texsolve.solve(A, b, rtol=1e-9).x
    read_only = b.copy()
    read_only.flags.writeable = False
    strided = np.repeat(b, 2)[::2]
    for given in (read_only, strided, b[::-1].copy()[::-1], b.astype('>f8'), np.asarray(b, dtype=object).astype(float)):
        assert np.array_equal(texsolve.solve(A, given, rtol=1e-9).x, expected)
    swapped = sp.csr_matrix(A)
    swapped.data = A.data.astype('>f8')
    assert np.array_equal(texsolve.solve(swapped, b, rtol=1e-9).x, expected)
    unaligned = np.frombuffer(b'x' + b.tobytes(), np.uint8)[1:].view(np.float64)
    assert not unaligned.flags.aligned
    assert np.array_equal(texsolve.solve(A, unaligned, rtol=1e-9).x, expected)
    assert np.array_equal(texsolve.solve(A, b.reshape(-1, 1), rtol=1e-9).x, expected.reshape(-1, 1))
    whole = np.arange(A.shape[0])
    assert residual(A, texsolve.solve(A, whole.tolist(), rtol=1e-9).x, whole) <= 1e-9


def test_operator(A, b):
    import scipy.sparse.linalg as sla
    calls = []

    def multiply(x):
        calls.append(x.shape)
        return A @ x

    op = sla.LinearOperator(A.shape, matvec=multiply, dtype=float)
    r = texsolve.solve(op, b, symmetric=True, rtol=1e-9)
    assert r.method == 'cg' and residual(A, r.x, b) <= 1e-9 and calls
    C = convection(400)
    assert residual(C, texsolve.solve(sla.aslinearoperator(C), b, rtol=1e-9).x, b) <= 1e-9
    s = texsolve.Solver(op, symmetric=True, rtol=1e-9)
    two = np.c_[b, 2 * b]
    assert residual(A, s(two), two) <= 1e-9


def test_errors_of_functions(A, b):
    import scipy.sparse.linalg as sla

    class Own(Exception):
        pass

    def fail(x):
        raise Own('from matvec')

    op = sla.LinearOperator(A.shape, matvec=fail, dtype=float)
    with pytest.raises(Own, match='from matvec'):
        texsolve.solve(op, b)
    with pytest.raises(ValueError, match='shape'):
        texsolve.solve(type('Short', (), {'shape': A.shape, 'matvec': staticmethod(lambda x: x[:5])})(), b)
    with pytest.warns(texsolve.PerformanceWarning), pytest.raises(Own):
        texsolve.solve(A, b, preconditioner=fail)
    with pytest.raises(Own):
        def progress(state):
            raise Own()
        texsolve.solve(A, b, progress=progress)
    assert texsolve.solve(A, b).converged


def test_progress(A, b):
    seen = []
    r = texsolve.solve(A, b, progress=seen.append, check_interval=1, rtol=1e-8)
    assert [state.iteration for state in seen] == sorted(state.iteration for state in seen) and seen[-1].residual < 1e-7
    r = texsolve.solve(A, b, progress=lambda state: state.iteration >= 5, check_interval=1)
    assert r.reason == 'stopped by a callback' and not r.converged


def test_result_in_notebooks(A, b):
    r = texsolve.solve(A, b)
    text = r._repr_html_()
    assert '<table>' in text and '<svg' in text and 'cg' in text
    assert 'converged' in repr(r)


def test_logging(caplog):
    twice = sp.coo_matrix((np.ones(10), (np.arange(10) // 2, np.arange(10) // 2)))
    assert np.allclose(texsolve.solve(twice, np.ones(5)).x, 0.5)
    assert caplog.records == []  # the sum is what SciPy defines
    singular = sp.csr_matrix([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    texsolve.solve(singular, np.ones(3), method='gmres', preconditioner='ilu')
    assert [(record.name, record.levelname) for record in caplog.records] == [('texsolve', 'WARNING')]
    assert caplog.messages == ['ilu: 1 pivots of 3 were too small and are replaced']


def test_contexts(A, b):
    one, two = texsolve.Context('cpu'), texsolve.Context('multi:cpu+cpu', threads=1)
    assert 'cpu' in repr(one)
    s, t = texsolve.Solver(A, context=one), texsolve.Solver(A, context=two)
    assert np.allclose(s(b), t(b), rtol=1e-3, atol=1e-5)
    M = texsolve.preconditioner(A, 'jacobi', context=one)
    assert np.allclose(M.matvec(b), b / 4)
    assert texsolve.solve(A, b, preconditioner=M).preconditioner == 'jacobi'
