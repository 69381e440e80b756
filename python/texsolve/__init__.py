"""Sparse linear systems on CPUs and GPUs: the Python package of texsolve.

    import texsolve
    r = texsolve.solve(A, b)      # A: a sparse matrix of SciPy, CuPy or PyTorch
    r.x, r.converged, r.residual

texsolve.Solver is for many solves with one pattern, texsolve.amg for algebraic multigrid, texsolve.linalg has the functions of
scipy.sparse.linalg.
"""
from ._amg import MultilevelSolver, amg
from ._context import Context
from ._declarations import VERSION
from ._errors import (ConvergenceWarning, DeviceError, Error, IncompatibleError, InvalidArgumentError, LibraryError, LimitError,
                      OutOfMemoryError, PerformanceWarning, UnavailableError, UnsupportedError)
from ._fluid import Fluid, Source
from ._lcp import lcp
from ._mesh import lscm, smooth
from ._preconditioner import Preconditioner, preconditioner
from ._progress import Progress
from ._result import Result
from ._solver import Solver, solve

__version__ = '.'.join(map(str, VERSION))

__all__ = ['Context', 'ConvergenceWarning', 'DeviceError', 'Error', 'Fluid', 'IncompatibleError', 'InvalidArgumentError',
           'LibraryError', 'LimitError', 'MultilevelSolver', 'OutOfMemoryError', 'PerformanceWarning', 'Preconditioner',
           'Progress', 'Result', 'Solver', 'Source', 'UnavailableError', 'UnsupportedError', 'amg', 'lcp', 'lscm',
           'preconditioner', 'smooth', 'solve']
