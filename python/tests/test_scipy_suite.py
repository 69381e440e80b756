"""SciPy's own tests of its iterative solvers, run against texsolve.linalg. DIFFERENCES lists what is deliberate: each entry must
fail, so that the list stays true."""
import importlib.util
import pathlib
import unittest.mock
import warnings

import numpy as np
import pytest
import scipy
import scipy.sparse.linalg._isolve as isolve

import texsolve
import texsolve.linalg as spla

TESTS = pathlib.Path(isolve.__file__).parent / 'tests'
OURS = {name: getattr(spla, name) for name in ('cg', 'bicgstab', 'gmres', 'minres')}

pytestmark = [
    pytest.mark.skipif(not (TESTS / 'test_iterative.py').exists() or not scipy.__version__.startswith('1.10.'),
                       reason='needs the tests of SciPy 1.10, as Debian 12 has them'),
    pytest.mark.filterwarnings('ignore::texsolve.ConvergenceWarning', 'ignore::texsolve.PerformanceWarning',
                               'ignore::DeprecationWarning'),
]


def load(name):
    """A module of SciPy's tests, with our solvers in the place of SciPy's."""
    path = TESTS / f'{name}.py'
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(f'scipy.sparse.linalg._isolve.tests.ours_{name}', path)
    module = importlib.util.module_from_spec(spec)
    with unittest.mock.patch.multiple(isolve, **OURS), unittest.mock.patch.object(scipy.sparse.linalg, 'lsqr', spla.lsqr):
        spec.loader.exec_module(module)
    return module


iterative, minres, lsqr = load('test_iterative'), load('test_minres'), load('test_lsqr')

COMPLEX = 'complex systems are refused'
PRODUCTS = 'the residual is computed from x, which takes more products; M runs in single precision'
AUTO = 'without M a preconditioner is chosen, so that the iterates are others'
# A part of the identifier of a test, and why it fails.
DIFFERENCES = {
    'cmplx': COMPLEX,
    '-nonsymposdef-F': COMPLEX,
    'test_x0_equals_Mb': COMPLEX,
    'test_maxiter_worsening': COMPLEX,
    'gmres-test_abi': COMPLEX,
    'precond_inverse-bicgstab': PRODUCTS,
    'convergence-bicgstab-sym-nonpd-d': 'SciPy expects that bicgstab fails, and it solves the system',
    'gmres-test_basic': AUTO,
    'gmres-test_callback': 'the first iterations compute in single precision; test_callback_x_monotonic expects SciPy\'s iterates',
    'gmres-test_atol_legacy': 'SciPy 1.10 took tol for atol at the start, which it has given up since',
    'test_minres-test_singular': 'the matrix is not symmetric, which is reported',
}


def name_of(case, counts):
    kind = np.dtype(case.A.dtype).char
    return f'{case.name}-{kind}'


def collect():
    """(identifier, function, arguments) of each test for each of our solvers and each matrix."""
    found = []
    if iterative is None:
        return found
    cases = list(iterative.params.cases)
    for check in ('maxiter', 'convergence', 'precond_dummy'):
        for name, solver in OURS.items():
            for case in cases:
                if solver in case.skip or (check == 'maxiter' and solver in case.nonconvergence):
                    continue
                function = getattr(iterative, f'check_{check}')
                arguments = (solver, case) if check != 'convergence' else (solver, case)
                found.append((f'{check}-{name}-{name_of(case, None)}', function, arguments))
    for name in ('Poisson1D',):  # of Poisson2D each application of M takes seconds
        case = getattr(iterative.params, name)
        for solver_name, solver in OURS.items():
            if solver in case.skip or solver_name == 'minres':
                continue
            found.append((f'precond_inverse-{solver_name}-{name}', lambda case=case, solver=solver: inverse(case, solver), ()))
    for test in ('test_atol', 'test_zero_rhs', 'test_maxiter_worsening', 'test_x0_working', 'test_x0_equals_Mb'):
        for name, solver in OURS.items():
            if test in ('test_atol', 'test_x0_equals_Mb') and name == 'minres' or (
                    test == 'test_maxiter_worsening' and name != 'gmres'):
                continue  # SciPy does not run them either
            found.append((f'{test}-{name}', getattr(iterative, test), (solver,)))
    for test in ('test_basic', 'test_callback', 'test_abi', 'test_atol_legacy', 'test_defective_precond_breakdown',
                 'test_defective_matrix_breakdown', 'test_callback_type', 'test_callback_x_monotonic', 'test_restrt_dep'):
        found.append((f'gmres-{test}', lambda test=test: getattr(iterative.TestGMRES(), test)(), ()))
    for module in (minres, lsqr):
        for test in sorted(vars(module)):
            if test.startswith('test_'):
                found.append((f'{module.__name__.rpartition("ours_")[2]}-{test}', getattr(module, test), ()))
    return found


def inverse(case, solver):
    with unittest.mock.patch.object(iterative.params, 'solvers', [solver]):
        getattr(iterative.test_precond_inverse, '__wrapped__', iterative.test_precond_inverse)(case)


@pytest.mark.parametrize('identifier, function, arguments', [pytest.param(*item, id=item[0]) for item in collect()])
def test_of_scipy(identifier, function, arguments, request):
    reason = next((text for key, text in DIFFERENCES.items() if key in identifier), None)
    if reason:
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    function(*arguments)
