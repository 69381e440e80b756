"""The functions of scipy.sparse.linalg."""
import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import texsolve
import texsolve.linalg as spla
from conftest import convection, poisson, residual


@pytest.mark.parametrize('name', ['cg', 'minres', 'bicgstab', 'gmres'])
def test_solvers(name, A, b):
    solver = getattr(spla, name)
    x, info = solver(A, b, rtol=1e-9)
    assert info == 0 and residual(A, x, b) <= 1e-9
    x, info = solver(A, b, tol=1e-6)
    assert info == 0 and residual(A, x, b) <= 1e-6
    assert solver(A, b.reshape(-1, 1), rtol=1e-6)[0].shape == b.shape
    assert solver(A, b, x, rtol=1e-5)[1] == 0
    assert solver(A.toarray(), b, rtol=1e-6)[1] == 0
    with pytest.warns(texsolve.ConvergenceWarning):
        x, info = solver(A, b, rtol=1e-12, maxiter=1, M='none')
    assert info > 0
    with pytest.raises(TypeError, match='tol and rtol'):
        solver(A, b, tol=1e-3, rtol=1e-3)
    for bad in (b[:-1], np.c_[b, b]):
        with pytest.raises(ValueError, match='b has shape'):
            solver(A, bad)
    with pytest.raises(ValueError, match='x0 has shape'):
        solver(A, b, b[:-1])


@pytest.mark.parametrize('name', ['cg', 'bicgstab', 'gmres', 'minres'])
def test_preconditioners(name, A, b):
    solver = getattr(spla, name)
    for M in (texsolve.amg(A), texsolve.amg(A).aspreconditioner(), texsolve.preconditioner(A, 'jacobi'), 'jacobi',
              sp.diags(1 / A.diagonal()), np.diag(1 / A.diagonal())):
        x, info = solver(A, b, rtol=1e-9, M=M)
        assert info == 0 and residual(A, x, b) <= 1e-9
    with pytest.warns(texsolve.PerformanceWarning, match='function of Python'):
        x, info = solver(A, b, rtol=1e-9, M=sla.LinearOperator(A.shape, matvec=lambda r: r / 4))
    assert info == 0 and residual(A, x, b) <= 1e-9
    with pytest.raises(ValueError, match='M is 3 x 3'):
        solver(A, b, M=sp.identity(3))


@pytest.mark.parametrize('name', ['cg', 'bicgstab', 'minres'])
def test_callback_gets_iterates(name, A, b):
    seen = []
    x, info = getattr(spla, name)(A, b, rtol=1e-8, callback=lambda xk: seen.append(xk), M='jacobi')
    residuals = [residual(A, xk, b) for xk in seen]
    assert info == 0 and len(seen) > 5
    assert residuals[-1] <= 1e-6 and residuals[0] > 1e-2
    assert len({id(xk) for xk in seen}) == len(seen)  # each is an array of its own


def test_callbacks_of_gmres():
    A = convection(300)
    b = np.ones(300)
    numbers, iterates = [], []
    x, info = spla.gmres(A, b, rtol=1e-8, restart=5, callback=numbers.append, callback_type='pr_norm', M='none')
    assert info == 0 and numbers[-1] <= 1.01e-8 and all(isinstance(number, float) for number in numbers)
    x, info = spla.gmres(A, b, rtol=1e-8, restart=5, callback=iterates.append, callback_type='x', M='none')
    residuals = [residual(A, xk, b) for xk in iterates]
    assert info == 0 and residuals == sorted(residuals, reverse=True) and residuals[-1] <= 1e-8
    with pytest.raises(ValueError, match='callback_type'):
        spla.gmres(A, b, callback_type='y')


def test_operators(A, b):
    for op in (sla.aslinearoperator(A), spla.LinearOperator(A.shape, lambda x: A @ x), spla.aslinearoperator(A)):
        x, info = spla.cg(op, b, rtol=1e-9)
        assert info == 0 and residual(A, x, b) <= 1e-9


def test_shift(A, b):
    shifted = A - 0.3 * sp.identity(A.shape[0])
    for given in (A, A.toarray(), sla.aslinearoperator(A)):
        x, info = spla.minres(given, b, shift=0.3, rtol=1e-9)
        assert info == 0 and residual(shifted, x, b) <= 1e-9


def test_not_symmetric_is_reported():
    A = convection(50)
    with pytest.warns(texsolve.ConvergenceWarning, match='not symmetric'):
        x, info = spla.cg(A, np.ones(50))
    assert info < 0


def test_scipy_uses_our_preconditioner(A, b):
    name = 'rtol' if 'rtol' in inspect.signature(sla.cg).parameters else 'tol'
    x, info = sla.cg(A, b, M=texsolve.amg(A).aspreconditioner(), atol=0, **{name: 1e-9})
    assert info == 0 and residual(A, x, b) <= 1e-8


@pytest.mark.parametrize('damp', [0.0, 0.7])
def test_lsqr(damp):
    A = sp.csr_matrix(sp.random(60, 20, 0.3, random_state=1) + sp.eye(60, 20))
    b = np.random.default_rng(1).standard_normal(60)
    ours, theirs = spla.lsqr(A, b, damp, atol=1e-12, btol=1e-12), sla.lsqr(A, b, damp, atol=1e-12, btol=1e-12)
    assert np.abs(ours[0] - theirs[0]).max() < 1e-9
    assert ours[3] == pytest.approx(theirs[3], rel=1e-9) and ours[4] == pytest.approx(theirs[4], rel=1e-9)
    assert ours[8] == pytest.approx(theirs[8], rel=1e-9) and ours[1] == 2 and len(ours) == len(theirs)
    with pytest.raises(NotImplementedError, match='calc_var'):
        spla.lsqr(A, b, calc_var=True)


def test_types(A, b):
    x, info = spla.cg(A.astype(np.float32), b.astype(np.float32))
    assert x.dtype == np.float32
    with pytest.raises(TypeError, match='complex'):
        spla.cg(A * 1j, b)
    assert spla.cg(poisson(5).astype(int).toarray(), np.arange(25))[1] == 0
