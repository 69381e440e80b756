"""texsolve.torch: gradients by differences (gradcheck), without gradients, in batches, and where the tensors are."""
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import texsolve
from conftest import convection, poisson

torch = pytest.importorskip('torch', reason='PyTorch is not installed')
import texsolve.torch  # noqa: E402



def has_cuda():
    try:
        return torch.cuda.is_available() and texsolve.Context('cuda').backend.startswith('cuda')
    except RuntimeError:
        return False


needs_cuda = pytest.mark.skipif(not has_cuda(), reason='no CUDA device, or a library without CUDA')


def matrices():
    """A symmetric matrix; one with a symmetric pattern; one with neither; one with entries that are added and not sorted."""
    rng = np.random.default_rng(5)
    uneven = sp.random(12, 12, 0.2, 'csr', random_state=rng) + 4 * sp.identity(12)
    coo = convection(9).tocoo()
    order = rng.permutation(coo.nnz)
    order = order[np.argsort(coo.row[order], kind='stable')]
    twice = np.repeat(order, 2)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(coo.row[twice], minlength=9))))
    added = sp.csr_matrix((coo.data[twice] / 2, coo.col[twice], offsets), (9, 9))
    return {'symmetric': poisson(4), 'convection': convection(10), 'uneven': sp.csr_matrix(uneven), 'added': added}


def gradcheck(function, inputs, check=torch.autograd.gradcheck):
    """A second gradient may have other bits: a solver begins with the method that succeeded in its last solve."""
    return check(function, inputs, nondet_tol=1e-9)


def gradgradcheck(function, inputs):
    return gradcheck(function, inputs, torch.autograd.gradgradcheck)


def values_of(A, requires_grad=True):
    return torch.tensor(A.data, dtype=torch.float64, requires_grad=requires_grad)


def random(*shape, requires_grad=True):
    return torch.tensor(np.random.default_rng(11).standard_normal(shape), requires_grad=requires_grad)


def batch_of(A, count):
    rng = np.random.default_rng(2)
    return torch.tensor(A.data * (1 + 0.1 * rng.random((count, A.nnz))), requires_grad=True)


@pytest.mark.parametrize('name', ['symmetric', 'convection', 'uneven', 'added'])
@pytest.mark.parametrize('columns', [(), (1,), (3,)])
def test_gradcheck(name, columns):
    A = matrices()[name]
    pattern = texsolve.torch.Pattern(A, rtol=1e-13)
    b = random(A.shape[0], *columns)
    x = texsolve.torch.solve(values_of(A), pattern, b)
    assert np.allclose(A @ x.detach().numpy(), b.detach().numpy(), atol=1e-10)
    assert gradcheck(lambda v, r: texsolve.torch.solve(v, pattern, r), (values_of(A), b))


@pytest.mark.parametrize('name', ['symmetric', 'uneven', 'added'])
def test_second_derivatives(name):
    A = matrices()[name]
    pattern = texsolve.torch.Pattern(A, rtol=1e-13)
    assert gradgradcheck(lambda v, r: texsolve.torch.solve(v, pattern, r), (values_of(A), random(A.shape[0])))


@pytest.mark.parametrize('name', ['symmetric', 'convection', 'uneven', 'added'])
@pytest.mark.parametrize('shape', ['shared', 'one', 'columns'])
def test_batch_gradcheck(name, shape):
    A = matrices()[name]
    n = A.shape[0]
    pattern = texsolve.torch.Pattern(A, rtol=1e-13)
    b = random(*{'shared': (n,), 'one': (3, n), 'columns': (3, n, 2)}[shape])
    values = batch_of(A, 3)
    x = texsolve.torch.solve(values, pattern, b)
    assert x.shape == ((3, n) if b.dim() < 3 else (3, n, 2))
    for k in range(3):
        matrix = sp.csr_matrix((values[k].detach().numpy(), A.indices, A.indptr), A.shape)
        right = b.detach().numpy() if b.dim() == 1 else b[k].detach().numpy()
        assert np.allclose(matrix @ x[k].detach().numpy(), right, atol=1e-9)
    assert gradcheck(lambda v, r: texsolve.torch.solve(v, pattern, r), (values, b))


@pytest.mark.parametrize('option', [{'preconditioner': 'ilu'}, {'method': 'gmres'}])
def test_batch_with_another_solver(option):
    A = matrices()['uneven']
    pattern = texsolve.torch.Pattern(A, rtol=1e-13, **option)
    values, b = batch_of(A, 2), random(2, A.shape[0])
    assert gradcheck(lambda v, r: texsolve.torch.solve(v, pattern, r), (values, b))
    assert isinstance(pattern.result, texsolve.Result)


def saddle(n):
    """An indefinite matrix with zeros on its diagonal, which neither conjugate gradients nor BiCGSTAB with Jacobi solve well."""
    rng = np.random.default_rng(8)
    B = sp.random(n // 2, n, 0.3, random_state=rng) + sp.eye(n // 2, n)
    A = sp.bmat([[sp.diags(10.0 ** rng.uniform(-4, 4, n)), B.T], [B, None]]).tocsr()
    A.sort_indices()
    return A


def test_batch_falls_back_to_all_methods():
    hard, count = saddle(100), 3
    values = torch.tensor(np.stack([hard.data] * count), requires_grad=True)
    b = random(count, hard.shape[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        alone = texsolve.solve_batch(hard, values, b, rtol=1e-9)
    assert not alone.converged.any() and len(caught) == 1, 'the matrix has become easy'
    pattern = texsolve.torch.Pattern(hard, rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        x = texsolve.torch.solve(values, pattern, b)
        x.sum().backward()
    assert pattern.result.converged.all() and pattern.adjoint_result.converged.all() and pattern.result.message == ''
    right = np.stack([spla.spsolve(hard.tocsc(), b[k].detach().numpy()) for k in range(count)])
    assert np.allclose(x.detach().numpy(), right, rtol=1e-4, atol=1e-6 * abs(right).max())
    assert pattern.result.residual.max() <= 1e-9
    # a chosen method is kept
    with pytest.warns(texsolve.ConvergenceWarning):
        texsolve.torch.solve(values, texsolve.torch.Pattern(hard, rtol=1e-9, method='bicgstab'), b)


@pytest.mark.parametrize('count', [1, 3])
def test_nan_is_an_error(count):
    A = poisson(4)
    values = torch.tensor(A.data).repeat(count, 1) if count > 1 else torch.tensor(A.data)
    values[..., 5] = np.nan
    with pytest.raises(texsolve.InvalidArgumentError, match='(?i)nan'):
        texsolve.torch.solve(values, A, random(*((count, 16) if count > 1 else (16,))))


def test_gradient_is_the_formula_of_the_adjoint():
    A = convection(50)
    pattern = texsolve.torch.Pattern(A, rtol=1e-12)
    values, b = values_of(A), random(50)
    texsolve.torch.solve(values, pattern, b).pow(2).sum().backward()
    x = spla.spsolve(A.tocsc(), b.detach().numpy())
    adjoint = spla.spsolve(A.T.tocsc(), 2 * x)
    coo = A.tocoo()
    assert np.allclose(b.grad.numpy(), adjoint, rtol=1e-8)
    assert np.allclose(values.grad.numpy(), -adjoint[coo.row] * x[coo.col], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize('of_values,of_b', [(True, False), (False, True), (False, False)])
def test_requires_grad_on_either_side(of_values, of_b):
    A = matrices()['uneven']
    pattern = texsolve.torch.Pattern(A)
    values, b = values_of(A, of_values), random(A.shape[0], requires_grad=of_b)
    x = texsolve.torch.solve(values, pattern, b)
    assert x.requires_grad == (of_values or of_b)
    if x.requires_grad:
        x.sum().backward()  # the gradient of a sum is one number with strides of 0
    assert (values.grad is not None) == of_values and (b.grad is not None) == of_b


def test_no_grad():
    A = poisson(5)
    pattern = texsolve.torch.Pattern(A)
    with torch.no_grad():
        x = texsolve.torch.solve(values_of(A), pattern, random(25))
    assert not x.requires_grad and pattern.adjoint_result is None


def test_symmetric_matrix_has_one_solver():
    """The adjoint solve uses the preconditioner of A; after a step of an optimizer both follow."""
    A = poisson(6)
    pattern = texsolve.torch.Pattern(A)
    values, b = values_of(A), random(36)
    for _ in range(3):
        x = texsolve.torch.solve(values, pattern, b)
        x.sum().backward()
        assert np.allclose(A @ x.detach().numpy(), b.detach().numpy(), atol=1e-8)
        with torch.no_grad():
            values.mul_(1.5)
        A = A * 1.5
    assert len(pattern._solvers) == 1
    unsymmetric = texsolve.torch.Pattern(convection(30))
    texsolve.torch.solve(values_of(convection(30)), unsymmetric, random(30)).sum().backward()
    assert len(unsymmetric._solvers) == 2


def test_values_that_change_behind_the_version_counter():
    A = poisson(5)
    pattern = texsolve.torch.Pattern(A)
    numbers = A.data.copy()
    values, b = torch.from_numpy(numbers), random(25, requires_grad=False)
    first = texsolve.torch.solve(values, pattern, b)
    numbers *= 2
    assert torch.allclose(texsolve.torch.solve(values, pattern, b), first / 2)


def test_two_solves_in_one_graph():
    """The values of the first solve have to be those of its gradient, though the solver had others since."""
    A = convection(12)
    pattern = texsolve.torch.Pattern(A, rtol=1e-13)

    def twice(values, b):
        return texsolve.torch.solve(values * 2, pattern, texsolve.torch.solve(values, pattern, b))
    assert gradcheck(twice, (values_of(A), random(12)))


def test_float32_and_start():
    A = poisson(10)
    pattern = texsolve.torch.Pattern(A)
    values = torch.tensor(A.data, dtype=torch.float32, requires_grad=True)
    b = torch.ones(100)
    x = texsolve.torch.solve(values, pattern, b)
    assert x.dtype == torch.float32
    assert np.allclose(A @ x.detach().numpy().astype(float), 1, atol=1e-4)
    x.sum().backward()
    assert values.grad.dtype == torch.float32
    texsolve.torch.solve(values, pattern, b, x0=x)
    assert pattern.result.iterations <= 1
    many = values.detach().expand(2, -1)
    assert torch.allclose(texsolve.torch.solve(many, pattern, b, x0=torch.stack([x, x]).detach()), x.detach(), atol=1e-4)


@pytest.mark.filterwarnings('ignore:Sparse CSR tensor support')
def test_patterns():
    A = convection(20)
    values, b = values_of(A, False), random(20, requires_grad=False)
    x = texsolve.torch.solve(values, A, b)
    csr = torch.sparse_csr_tensor(torch.tensor(A.indptr), torch.tensor(A.indices), values, A.shape)
    for given in (csr, (A.indices, A.indptr), (torch.tensor(A.indices), torch.tensor(A.indptr)), sp.csr_array(A)):
        assert torch.equal(texsolve.torch.solve(values, given, b), x)
    indices = A.indices.copy()
    pattern = texsolve.torch.Pattern((indices, A.indptr))
    indices[:] = 0  # the pattern has a copy
    assert torch.equal(texsolve.torch.solve(values, pattern, b), x)


def test_missed_tolerance_warns_forward_and_backward():
    A = poisson(30)
    pattern = texsolve.torch.Pattern(A, method='cg', preconditioner=None, max_iterations=3)
    with pytest.warns(texsolve.ConvergenceWarning):
        x = texsolve.torch.solve(values_of(A), pattern, random(900))
    with pytest.warns(texsolve.ConvergenceWarning):
        x.sum().backward()
    assert not pattern.result.converged and not pattern.adjoint_result.converged


@pytest.mark.parametrize('change,message', [
    (dict(values=[1.0]), 'values is of type list'),
    (dict(values=torch.ones(3)), 'values is torch.float32'),
    (dict(values=torch.ones(3, dtype=torch.float64)), 'values has shape'),
    (dict(b=torch.ones(7, dtype=torch.float64)), r'b has shape \(7,\); expected \(9,\) or \(9, k\)'),
    (dict(b=torch.ones(9, dtype=torch.int64)), 'b has elements of type torch.int64'),
    (dict(x0=torch.ones(8, dtype=torch.float64)), 'x0 has shape'),
    (dict(A=poisson(3).tocsc()), 'pattern is a matrix in csc'),
    (dict(A=(np.array([9]), np.array([0, 1]))), 'pattern.indices has columns from 9 to 9'),
    (dict(A=(np.array([0, 0]), np.array([0, 2, 1]))), 'pattern.indptr has to ascend'),
    (dict(A=np.ones((3, 3))), 'pattern is of type ndarray'),
    (dict(preconditioner=poisson(3)), 'preconditioner is of type'),
    (dict(preconditioner='ilo'), "preconditioner is 'ilo'"),
])
def test_bad_arguments(change, message):
    A = poisson(3)
    given = {'values': values_of(A), 'A': A, 'b': random(9), **change}
    with pytest.raises((TypeError, ValueError), match=message):
        texsolve.torch.solve(given.pop('values'), given.pop('A'), given.pop('b'), **given)


def test_learning_finds_the_coefficients():
    """Gradient descent on the values: a diagonal that was changed is found again from solutions."""
    A = poisson(5)
    pattern = texsolve.torch.Pattern(A)
    on_diagonal = torch.tensor(A.tocoo().row == A.tocoo().col)
    b = random(25, 4, requires_grad=False)
    truth = torch.tensor(np.random.default_rng(4).random(25))
    base = values_of(A, False)

    def values(more):
        return base.index_add(0, on_diagonal.nonzero()[:, 0], more)
    with torch.no_grad():
        target = texsolve.torch.solve(values(truth), pattern, b)
    guess = torch.zeros(25, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([guess], max_iter=60, line_search_fn='strong_wolfe', tolerance_grad=1e-12,
                                  tolerance_change=1e-14)

    def loss():
        optimizer.zero_grad()
        value = (texsolve.torch.solve(values(guess), pattern, b) - target).pow(2).sum()
        value.backward()
        return value
    optimizer.step(loss)
    assert torch.allclose(guess, truth, atol=1e-3)


@needs_cuda
@pytest.mark.parametrize('name', ['symmetric', 'convection', 'uneven'])
def test_cuda(name):
    A = matrices()[name]
    pattern = texsolve.torch.Pattern(A, rtol=1e-13)
    values, b = (t.detach().cuda().requires_grad_() for t in (values_of(A), random(A.shape[0])))
    x = texsolve.torch.solve(values, pattern, b)
    assert x.device == values.device and pattern.result.backend.startswith('cuda')
    assert gradcheck(lambda v, r: texsolve.torch.solve(v, pattern, r), (values, b))
    many = torch.stack([values.detach(), 2 * values.detach()]).requires_grad_()
    assert gradcheck(lambda v, r: texsolve.torch.solve(v, pattern, r), (many, b))


@needs_cuda
def test_cuda_side_stream():
    """The solve waits for the stream on which the tensors are written."""
    A = poisson(100)
    pattern = texsolve.torch.Pattern(A, rtol=1e-8)
    values = values_of(A, False).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy = torch.ones(4000, 4000, device='cuda')
        for _ in range(20):
            busy = busy @ busy * 1e-4
        b = torch.ones(10000, dtype=torch.float64, device='cuda') + 0 * busy[0, 0].double().nan_to_num()
        x = texsolve.torch.solve(values, pattern, b)
    stream.synchronize()
    assert np.allclose(A @ x.cpu().numpy(), 1, atol=1e-5)


def test_no_warning_in_a_right_solve():
    A = convection(40)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        texsolve.torch.solve(values_of(A), A, random(40)).sum().backward()
