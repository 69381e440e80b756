"""Sparse linear systems on CPUs and GPUs: the Python package of texsolve.

    import texsolve
    r = texsolve.solve(A, b)      # A: a sparse matrix of SciPy, CuPy or PyTorch
    r.x, r.converged, r.residual

texsolve.Solver is for many solves with one pattern, texsolve.solve_batch for many small systems in one call, texsolve.amg for
algebraic multigrid. texsolve.linalg has the functions of scipy.sparse.linalg, texsolve.torch a solve that PyTorch differentiates.
"""
import importlib
from typing import TYPE_CHECKING, Any

from ._context import Context
from ._declarations import VERSION
from ._errors import (ConvergenceWarning, DeviceError, Error, IncompatibleError, InvalidArgumentError, LibraryError, LimitError,
                      OutOfMemoryError, PerformanceWarning, UnavailableError, UnsupportedError)
from ._preconditioner import Preconditioner, preconditioner
from ._progress import Progress
from ._result import Result
from ._solver import Solver, solve

if TYPE_CHECKING:
    from ._amg import MultilevelSolver, amg
    from ._batch import BatchResult, solve_batch
    from ._fluid import Fluid, Source
    from ._lcp import lcp
    from ._mesh import lscm, smooth

__version__ = '.'.join(map(str, VERSION))

__all__ = ['BatchResult', 'Context', 'ConvergenceWarning', 'DeviceError', 'Error', 'Fluid', 'IncompatibleError',
           'InvalidArgumentError', 'LibraryError', 'LimitError', 'MultilevelSolver', 'OutOfMemoryError', 'PerformanceWarning',
           'Preconditioner', 'Progress', 'Result', 'Solver', 'Source', 'UnavailableError', 'UnsupportedError', 'amg', 'lcp',
           'lscm', 'preconditioner', 'smooth', 'solve', 'solve_batch']

# What many programs do not use is imported when it is first named.
_LATER = {'MultilevelSolver': '_amg', 'amg': '_amg', 'BatchResult': '_batch', 'solve_batch': '_batch', 'Fluid': '_fluid',
          'Source': '_fluid', 'lcp': '_lcp', 'lscm': '_mesh', 'smooth': '_mesh'}


def __getattr__(name: str) -> Any:
    if name in ('linalg', 'torch'):
        return importlib.import_module(f'{__name__}.{name}')
    if name not in _LATER:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    found = globals()[name] = getattr(importlib.import_module(f'{__name__}.{_LATER[name]}'), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, 'linalg', 'torch'})
