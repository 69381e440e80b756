"""Bad input gives an exception that names the argument, and never a crash."""
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg

import texsolve
import texsolve.linalg as spla
from conftest import poisson, residual


def broken(A, **changes):
    """A as SciPy would not make it: its constructor would check."""
    bad = sp.csr_matrix(A, copy=True)
    for name, value in changes.items():
        setattr(bad, name, value)
    return bad


@pytest.mark.parametrize('make, error, text', [
    (lambda A, b: (A, b[:-1]), ValueError, 'b has shape'),
    (lambda A, b: (A, b.reshape(20, 20)), ValueError, 'b has shape'),
    (lambda A, b: (A, b.reshape(-1, 1, 1)), ValueError, 'b has shape'),
    (lambda A, b: (A, np.float64(3)), ValueError, 'b has shape'),
    (lambda A, b: (A, np.empty((len(b), 0))), ValueError, 'b has shape'),
    (lambda A, b: (A, []), ValueError, 'b has shape'),
    (lambda A, b: (A, np.broadcast_to(1.0, 2**45)), MemoryError, 'b needs a contiguous copy'),
    (lambda A, b: (A, b.reshape(1, -1)), ValueError, r'b has shape \(1, 400\); .*; pass b\.T$'),
    (lambda A, b: (A, None), TypeError, 'b is None'),
    (lambda A, b: (A, 'abc'), TypeError, 'b has elements of type'),
    (lambda A, b: (A, ['a'] * len(b)), TypeError, r'b has elements of type <U1; convert it: numpy\.array\(b, float\)'),
    (lambda A, b: (A, [[1], [1, 2]]), ValueError, 'b is not an array'),
    (lambda A, b: (A, b + 1j), TypeError, 'b is complex'),
    (lambda A, b: (A, b.astype(object)), TypeError, 'b has elements of type object'),
    (lambda A, b: (A, b.astype(np.longdouble)), TypeError, 'b has elements of type'),
    (lambda A, b: (A, sp.csr_matrix(b)), TypeError, 'b is sparse'),
    (lambda A, b: (A, np.ma.masked_array(b, b > 0)), TypeError, 'b is a masked array'),
    (lambda A, b: (A * 1j, b), TypeError, 'A is complex'),
    (lambda A, b: (A.astype(int), b), TypeError, 'A holds int64'),
    (lambda A, b: (A.astype(bool), b), TypeError, 'A holds bool'),
    (lambda A, b: (A.astype(int).todia(), b), TypeError, 'A holds int64'),
    (lambda A, b: (A.toarray(), b), TypeError, r'A is a dense array; make it sparse: scipy\.sparse\.csr_array\(A\)'),
    (lambda A, b: (A.toarray().tolist(), b), TypeError, r'A is a dense list; make it sparse: scipy\.sparse\.csr_array\(A\)'),
    (lambda A, b: (b, A), TypeError, r'A is a dense array of shape \(400,\); expected a sparse matrix'),
    (lambda A, b: ((A.indptr, A.indices, A.data), b), TypeError, r'the tuple is \(data, indices, indptr\)'),
    (lambda A, b: (None, b), TypeError, 'A is of type NoneType'),
    (lambda A, b: ((A.data, A.indices), b), TypeError, 'A is a tuple of 2'),
    (lambda A, b: ((A.data, A.indices, 5), b), (TypeError, ValueError), 'A'),
    (lambda A, b: (sp.csr_matrix((0, 0)), b), ValueError, 'A is empty'),
    (lambda A, b: (sp.csr_matrix((0, 5)), b), ValueError, 'A is empty'),
    (lambda A, b: (sp.coo_matrix((5, 0)), b), ValueError, 'A is empty'),
    (lambda A, b: (broken(A, indptr=A.indptr[:-1]), b), ValueError, 'A.indptr has'),
    (lambda A, b: (broken(A, indices=A.indices[:-3]), b), ValueError, 'A.indptr ends with'),
    (lambda A, b: (broken(A, data=A.data[:-3]), b), ValueError, 'A.indptr ends with'),
    (lambda A, b: (broken(A, indptr=-A.indptr), b), ValueError, 'A.indptr ends with'),
    (lambda A, b: (broken(A, indptr=A.indptr[::-1].copy()), b), ValueError, r'A\.indptr'),
    (lambda A, b: (broken(A, indptr=A.indptr + 1), b), ValueError, r'A.indptr ends with 1921'),
    (lambda A, b: (broken(A, indices=A.indices + 1), b), ValueError, r'A\.indices\['),
    (lambda A, b: (broken(A, indices=A.indices - 1), b), ValueError, r'A\.indices\['),
    (lambda A, b: (broken(A, indices=A.indices.astype(np.int64) * 2**40), b), ValueError, r'A\.indices\['),
    (lambda A, b: (broken(A, indices=A.indices.astype(float)), b), TypeError, 'A.indices has elements'),
    (lambda A, b: (broken(A, data=A.data.reshape(-1, 1)), b), ValueError, 'A.data has 2 dimensions'),
    (lambda A, b: (broken(A, data=A.data * np.nan), b), ValueError, r'A\.data\[0\] in row 0'),
    (lambda A, b: (broken(A, data=A.data * np.inf), b), ValueError, 'row 0'),
    (lambda A, b: (A, b * np.nan), ValueError, 'NaN'),
    (lambda A, b: (A, b * np.inf), ValueError, 'infinity'),
])
def test_refused(make, error, text, A, b):
    matrix, right = make(A, b)
    with pytest.raises(error, match=text):
        texsolve.solve(matrix, right)
    assert texsolve.solve(A, b).converged  # the context is still usable


@pytest.mark.parametrize('options, error, text', [
    (dict(rtol=-1.0), ValueError, 'rtol is -1'), (dict(tol='x'), TypeError, 'tol is \'x\''), (dict(atol=[1]), TypeError, 'atol is'),
    (dict(maxiter=-1), ValueError, 'maxiter is -1'), (dict(maxiter=2.5), TypeError, 'maxiter is 2.5'),
    (dict(callback=5), TypeError, 'callback'), (dict(x0='Ax'), ValueError, 'x0 is'),
])
def test_bad_arguments_of_linalg(options, error, text, A, b):
    for solver in (spla.cg, spla.gmres, spla.bicgstab):
        with pytest.raises(error, match=text):
            solver(A, b, **options)
    assert spla.gmres((A.data, A.indices, A.indptr), b, maxiter=2**40)[1] == 0


def test_triplets_out_of_range(A, b):
    coo = A.tocoo()
    for name, value in (('row', -1), ('row', 400), ('col', -7), ('col', 2**31 - 1)):
        bad = coo.copy()
        getattr(bad, name)[17] = value
        with pytest.raises(ValueError, match=rf'A\.{name}\[17\]'):
            texsolve.solve(bad, b)
    bad = coo.copy()
    bad.row = bad.row[:-1]
    with pytest.raises(ValueError, match='A has'):
        texsolve.solve(bad, b)


@pytest.mark.parametrize('options, error, text', [
    (dict(rtol=-1), ValueError, 'rtol'), (dict(rtol=1.5), ValueError, 'rtol'), (dict(rtol=float('nan')), ValueError, 'rtol'),
    (dict(rtol='x'), (TypeError, ValueError), None), (dict(atol=-1), ValueError, 'atol'),
    (dict(atol=float('nan')), ValueError, 'atol'), (dict(max_iterations=-3), ValueError, 'max_iterations'),
    (dict(method='cgx'), ValueError, 'method is \'cgx\'; it must be one of'), (dict(method=3), TypeError, 'method is 3'),
    (dict(preconditioner='x'), ValueError, 'preconditioner is'), (dict(preconditioner=sp.identity(3)), ValueError, 'M is 3 x 3'),
    (dict(precision='half'), ValueError, 'precision is'), (dict(backend='tpu'), ValueError, 'tpu'),
    (dict(backend=7), TypeError, 'backend is 7'), (dict(backend='cpu:99'), RuntimeError, 'only device 0'),
    (dict(context='cpu'), TypeError, 'context is of type str'), (dict(threads=-2), ValueError, 'threads'),
    (dict(x0=[1, 2]), ValueError, 'x0 has shape'), (dict(x0=1j), TypeError, 'x0 is complex'),
    (dict(progress=3), TypeError, 'progress is 3'), (dict(restart=10), ValueError, 'restart'),
    (dict(null_space=np.ones((3, 1))), ValueError, 'null_space has shape'), (dict(check_interval=10**6), ValueError, 'check_interval'),
    (dict(max_iterations=0), ValueError, 'max_iterations is 0'), (dict(rtol=[1e-5]), TypeError, 'rtol is .*must be a number'),
    (dict(max_iterations=3.0), TypeError, 'max_iterations is 3.0; it must be an integer'),
    (dict(preconditioner='custom'), ValueError, "preconditioner is 'custom'; it must be one of 'auto', 'none', 'jacobi'"),
    (dict(method='cg', max_iterations=2**40), ValueError, 'max_iterations is 1099511627776'),
    (dict(null_space=3.0), ValueError, 'null_space has shape'), (dict(method='c\0g'), ValueError, 'method is'),
    (dict(method='\udcff'), ValueError, 'method is'), (dict(backend='cpu\0x'), ValueError, 'backend is'),
])
def test_bad_options(options, error, text, A, b):
    with pytest.raises(error, match=text):
        texsolve.solve(A, b, **options)
    if 'x0' not in options:
        with pytest.raises(error, match=text):
            texsolve.Solver(A, **options)


def test_x0_with_nan(A, b):
    with pytest.raises(ValueError, match='NaN'):
        texsolve.solve(A, b, np.full_like(b, np.nan))


def test_bad_updates(A, b):
    s = texsolve.Solver(A, rtol=1e-9)
    for bad, error in ((A.data[:-1], ValueError), (A.data.reshape(1, -1), ValueError), (A.data * 1j, TypeError),
                       (A.data * np.nan, ValueError), (A.tocoo(), ValueError), (poisson(21), ValueError),
                       (sp.csr_matrix(A + sp.eye(400, k=3)), ValueError), (sp.csr_matrix((400, 400)), ValueError)):
        with pytest.raises(error):
            s.update(bad)
        assert residual(A, s(b), b) <= 1e-9  # the values of before


def test_rectangular(A, b):
    wide = sp.csr_matrix(np.ones((3, 7)))
    with pytest.raises(ValueError, match='b has shape'):
        texsolve.solve(wide, np.ones(7))
    with pytest.raises(ValueError):
        texsolve.solve(wide, np.ones(3), method='cg')
    with pytest.raises(ValueError, match='square'):
        spla.cg(wide, np.ones(3))
    with pytest.raises(ValueError, match='square'):
        texsolve.amg(wide)


def test_singular_and_zero(b):
    with pytest.warns(texsolve.ConvergenceWarning):
        r = texsolve.solve(sp.csr_matrix((400, 400)), b)
    assert not r.converged and np.isfinite(r.x).all()
    r = texsolve.solve(sp.csr_matrix([[3.0]]), [6.0])
    assert r.x == pytest.approx([2.0])


def test_operators(A, b):
    class Operator:
        shape = A.shape
        dtype = np.dtype(float)

        def __init__(self, matvec):
            self.matvec = matvec

    for matvec, error in ((lambda x: None, TypeError), (lambda x: 'x', TypeError), (lambda x: x * 1j, TypeError),
                          (lambda x: x[:-1], ValueError), (lambda x: 1 / 0, ZeroDivisionError), (3, TypeError)):
        with pytest.raises(error):
            texsolve.solve(Operator(matvec), b)
    with pytest.warns(texsolve.ConvergenceWarning, match='operator'):
        texsolve.solve(Operator(lambda x: x * np.nan), b)
    with pytest.raises(TypeError, match='shape'):
        texsolve.solve(type('X', (), {'matvec': None})(), b)


def test_meshes_and_problems():
    vertices, faces = np.eye(3), [[0, 1, 2]]
    for arguments, text in (((np.ones((3, 2)), faces), 'vertices has shape'), ((vertices, [[0, 1]]), 'faces has shape'),
                            ((vertices, [[0, 1, 3]]), r'faces\[0\]'), ((vertices, [[0, 1, -1]]), r'faces\[0\]'),
                            ((vertices * np.nan, faces), 'vertices has a NaN')):
        for function in (texsolve.smooth, texsolve.lscm):
            with pytest.raises(ValueError, match=text):
                function(*arguments)
    with pytest.raises(ValueError, match='area'):
        texsolve.lscm(np.ones((3, 3)), faces)
    with pytest.raises(ValueError, match='q has shape'):
        texsolve.lcp(np.eye(3), np.ones(2))
    with pytest.raises(ValueError, match='M has shape'):
        texsolve.lcp(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ValueError, match='friction'):
        texsolve.lcp(np.eye(4), np.ones(4), friction=[0.1])
    with pytest.raises(ValueError, match='a coefficient for each contact'):
        texsolve.lcp(np.eye(6), np.ones(6), friction=0.1)
    with pytest.raises(ValueError):
        texsolve.lcp(-np.eye(3), np.ones(3))
    for arguments, error in ((dict(viscosity=-1.0), ValueError), (dict(speed=1.0), TypeError), (dict(left='x'), ValueError),
                             (dict(solid=np.ones((2, 2))), ValueError), (dict(layout='x'), ValueError)):
        with pytest.raises(error):
            texsolve.Fluid(16, 16, **arguments)
    with pytest.raises(ValueError):
        texsolve.Fluid(1, 0)


def test_amg(A):
    for options, text in ((dict(near_null_space=np.ones((3, 1))), 'near_null_space has shape'), (dict(smoother='x'), 'smoother is'),
                          (dict(coordinates=np.ones((7, 2))), 'coordinates has shape'), (dict(sweeps=99), 'sweeps'),
                          (dict(near_null_space=np.ones((400, 20))), 'near_null'),
                          (dict(near_null_space=1.0), 'near_null_space has shape'), (dict(strength=-0.5), 'strength is -0.5'),
                          (dict(coordinates=np.ones((200, 2)), unknowns=3), 'unknowns is 3')):
        with pytest.raises(ValueError, match=text):
            texsolve.amg(A, **options)
    with pytest.raises(ValueError, match='diagonal'):
        texsolve.amg(A - 8 * sp.identity(400) @ sp.diags(np.arange(400) % 2))
    with pytest.raises(ValueError, match='preconditioner is 400 x 400; A has 10 rows'):
        texsolve.solve(sp.identity(10, format='csr'), np.ones(10), preconditioner=texsolve.amg(A))
    with pytest.raises(ValueError, match='cycle'):
        texsolve.amg(A).aspreconditioner(cycle='V')


def test_other_formats_are_checked_before_scipy_converts_them(A, b):
    """SciPy's conversions write out of bounds for these."""
    csc = A.tocsc()
    for name, value in (('indices', A.indices + 399), ('indices', -1 - A.indices), ('indptr', A.indptr[::-1].copy()),
                        ('indptr', A.indptr * 1000)):
        bad = csc.copy()
        setattr(bad, name, value)
        with pytest.raises(ValueError, match='A'):
            texsolve.solve(bad, b)
    bad = A.tobsr((2, 2))
    bad.indices = bad.indices + 5000
    with pytest.raises(ValueError, match='A'):
        texsolve.solve(bad, b)
    bad = A.tocoo()
    bad.row = bad.row * 1000
    with pytest.raises(ValueError, match='M.row has the index'):
        texsolve.lcp(bad, b)
    bad = broken(A, indices=A.indices * 1000)
    with pytest.raises(ValueError, match='A'):
        spla.minres(bad, b, shift=0.1)


def test_operator_without_rmatvec():
    M = sp.random(30, 10, 0.5, random_state=1) + sp.eye(30, 10)
    operator = sp.linalg.LinearOperator(M.shape, matvec=lambda x: M @ x)
    for solve in (spla.lsqr, texsolve.solve):
        with pytest.raises(NotImplementedError, match=r'A\.rmatvec: .* give the operator an rmatvec'):
            solve(operator, np.ones(30))
