#!/usr/bin/env python3
"""SciPy's own tests of its iterative solvers, run against texsolve.linalg.

  python3 scipy_suite.py [--verbose] [PATTERN]     PATTERN: a part of the names of tests, such as gmres

The tests are those of the installed SciPy, scipy/sparse/linalg/_isolve/tests, unchanged: their modules are imported after the
functions of scipy.sparse.linalg were replaced by ours. A test that goes through solvers and matrices is run once for each pair,
so that a difference is one of one pair. DIFFERENCES has every failure with its reason; a failure that is not there is an error,
and so is an entry that fits no failure.
"""
import argparse
import importlib
import logging
import re
import sys
import traceback
import warnings

import numpy
import pytest
import scipy
import scipy.sparse.linalg
import scipy.sparse.linalg._isolve as theirs

import texsolve.linalg as ours

SOLVERS = ('cg', 'bicgstab', 'gmres', 'minres')
for name in (*SOLVERS, 'lsqr'):
    setattr(theirs, name, getattr(ours, name))
    setattr(scipy.sparse.linalg, name, getattr(ours, name))

# A pattern of the names of tests, one of the error, and why texsolve.linalg does not do what the test wants.
DIFFERENCES = [
    (r'-rand-cmplx|nonsymposdef-F|test_maxiter_worsening|TestGMRES\.test_abi', 'is complex',
     'complex systems are refused, with a TypeError that '
     'says how to make them real'),
    (r'TestGMRES\.test_callback$', 'relative difference: 2.*e-08',
     'the first iterations are computed in single precision, and the test compares 10 digits'),
    (r'TestGMRES\.test_(basic|callback_type|callback_x_monotonic)', '',
     'without M the library chooses a preconditioner, with which '
     'GMRES has converged when the test wants it not to have'),
    (r'test_convergence\[bicgstab-sym-nonpd', '', 'the test wants no convergence, and the solve converges'),
    (r'test_precond_inverse', r'^\[[4-9]\]$',
     'the residual is computed from x and the solve begins in single precision: up to 9 products with the '
     'matrix where the test allows 3'),
    (r'test_reentrancy\[(cg|bicgstab|gmres)\]', 'DID NOT RAISE',
     'the test wants a RuntimeError from a solve within a solve, and it works'),
    (r'test_reentrancy\[minres\]', '', 'the solve ends at the tolerance, 1e-5, and the test wants 1e-7'),
    (r'TestGMRES\.test_atol_legacy', 'Arrays are not equal',
     "atol='legacy', which is also what SciPy 1.10 does without atol, means 0: a small b is solved too"),
    (r'test_minres\.test_singular', 'ACTUAL: -7',
     'the matrix is not symmetric, since the test sets a row to 0 and not the column; that is an error '
     'of minres here'),
]


def restore(params):
    cases, solvers = params.cases, params.solvers

    def undo():
        params.cases, params.solvers = cases, solvers
    return undo


def of_iterative(module):
    """The names and functions of test_iterative.py: each solver, with each matrix where the test has a loop over matrices."""
    params = module.params
    undo = restore(params)
    solvers = {name: getattr(ours, name) for name in SOLVERS}

    def one(test, solver, case, *arguments):
        params.cases, params.solvers = [case], [solver]
        try:
            test(*arguments)
        finally:
            undo()

    for name, solver in solvers.items():
        for case in params.cases:
            if solver in case.skip:
                continue
            label = f'{name}-{case.name}-{case.A.dtype.char}'
            for test in (module.test_maxiter, module.test_convergence, module.test_precond_dummy):
                yield f'{test.__name__}[{label}]', lambda t=test, s=solver, c=case: one(t, s, c)
            if solver in parameters(module.test_x0_equals_Mb):
                yield f'test_x0_equals_Mb[{label}]', lambda s=solver, c=case: one(module.test_x0_equals_Mb, s, c, s)
        for case in (params.Poisson1D, params.Poisson2D):
            yield f'test_precond_inverse[{name}-{case.name}]', lambda s=solver, c=case: one(module.test_precond_inverse, s, c, c)
        for test in (module.test_atol, module.test_zero_rhs, module.test_maxiter_worsening, module.test_x0_working):
            if solver in parameters(test):
                yield f'{test.__name__}[{name}]', lambda t=test, s=solver: t(s)
        yield f'test_reentrancy[{name}]', lambda s=solver: module._check_reentrancy(s, s is ours.minres)
    for name in sorted(vars(module.TestGMRES)):
        if name.startswith('test_'):
            yield f'TestGMRES.{name}', getattr(module.TestGMRES(), name)


def parameters(test):
    """The first parameter's values of pytest.mark.parametrize."""
    marks = [mark for mark in test.pytestmark if mark.name == 'parametrize']
    return [value.values[0] if hasattr(value, 'values') else value for value in marks[0].args[1]]


def of_module(module):
    """The functions of test_minres.py and test_lsqr.py."""
    for name, test in sorted(vars(module).items()):
        if name.startswith('test_') and callable(test):
            yield f'{module.__name__.rpartition(".")[2]}.{name}', test
        elif name.startswith('Test') and isinstance(test, type):
            for method in sorted(vars(test)):
                if method.startswith('test_'):
                    yield f'{name}.{method}', getattr(test(), method)


def tests():
    numpy.random.seed(1234)  # test_lsqr.py makes its problem from random numbers when it is imported
    package = 'scipy.sparse.linalg._isolve.tests'
    yield from of_iterative(importlib.import_module(f'{package}.test_iterative'))
    for name in ('test_minres', 'test_lsqr'):
        yield from of_module(importlib.import_module(f'{package}.{name}'))


def error_of(test):
    """What a test raised, in one line, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            test()
        except (Exception, pytest.fail.Exception) as error:  # noqa: B902: whatever the test raises
            return error
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('pattern', nargs='?', default='')
    parser.add_argument('--verbose', action='store_true', help='name each test and show tracebacks')
    options = parser.parse_args()
    logging.disable()
    passed, failed, counts = 0, 0, dict.fromkeys(DIFFERENCES, 0)
    for name, test in tests():
        if options.pattern not in name:
            continue
        error = error_of(test)
        entry = next((entry for entry in DIFFERENCES if re.search(entry[0], name) and re.search(entry[1], str(error))), None)
        if error is None:
            passed += 1
        elif entry:
            counts[entry] += 1
        else:
            failed += 1
            print(f'FAILED  {name}: {type(error).__name__}: {" ".join(str(error).split())[:300]}')
        if options.verbose:
            print(f'{"passed" if error is None else "differs" if entry else "FAILED"}  {name}')
            if error and not entry:
                traceback.print_exception(type(error), error, error.__traceback__)
    for (pattern, _, reason), count in counts.items():
        if count:
            print(f'differs {pattern} ({count}): {reason}')
        elif not options.pattern:
            failed += 1
            print(f'FAILED  an entry of the differences that fits no failure: {pattern}')
    print(f'SciPy {scipy.__version__}: {passed} tests pass, {sum(counts.values())} differ for the reasons above, {failed} fail')
    return int(failed > 0 or passed == 0)


if __name__ == '__main__':
    sys.exit(main())
