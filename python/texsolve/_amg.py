"""Algebraic multigrid with the interface of PyAMG's smoothed_aggregation_solver."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

import numpy as np

from . import _arrays as arrays
from . import _declarations as d
from . import _matrix
from ._context import Context, Handle, context_for
from ._library import describe, lib, value_of
from ._preconditioner import Preconditioner
from ._result import Result, table
from ._solver import Solver


class Level:
    """One level of a hierarchy; level 0 is the matrix."""

    __slots__ = ('rows', 'entries', 'eigenvalue')

    def __init__(self, rows: int, entries: int, eigenvalue: float) -> None:
        self.rows = rows
        self.entries = entries
        self.eigenvalue = eigenvalue

    def __repr__(self) -> str:
        return f'<{self.rows} unknowns, {self.entries} entries>'


class MultilevelSolver:
    """A hierarchy of algebraic multigrid by smoothed aggregation.

    ml = texsolve.amg(A)
    print(ml)                            # the levels
    x = ml.solve(b, tol=1e-10, accel='cg')
    M = ml.aspreconditioner()            # for texsolve.solve, texsolve.linalg and SciPy; `ml` itself is one too
    """

    def __init__(self, matrix: _matrix.Sparse, native: Preconditioner) -> None:
        self._sparse = matrix
        self.native_preconditioner = native
        self._solvers: dict[Any, Solver] = {}
        self.shape = native.shape
        self.dtype = native.dtype
        self.result: Result | None = None

    @property
    def context(self) -> Context:
        return self.native_preconditioner.context

    def _info(self) -> Any:
        info = d.ts_amg_info()
        with self.context.calls() as context:
            context.check(lib.ts_preconditioner_get_amg_info(self.native_preconditioner.handle.pointer, ctypes.byref(info)))
        return info

    @property
    def levels(self) -> Sequence[Level]:
        """The levels, the finest first."""
        found = []
        info = d.ts_amg_level_info()
        with self.context.calls() as context:
            for number in range(self._info().levels):
                context.check(lib.ts_preconditioner_get_amg_level(self.native_preconditioner.handle.pointer, number,
                                                                  ctypes.byref(info)))
                found.append(Level(info.rows, info.entries, info.eigenvalue))
        return found

    def operator_complexity(self) -> float:
        """Entries of all levels / entries of A."""
        return float(self._info().operator_complexity)

    def grid_complexity(self) -> float:
        """Rows of all levels / rows of A."""
        return float(self._info().grid_complexity)

    def update(self, values: Any) -> None:
        """Recomputes the hierarchy for new values in the same pattern; aggregates and patterns are kept."""
        if isinstance(values, (np.ndarray, list)) or getattr(values, 'ndim', 0) == 1:
            found = arrays.floats('values', values)
            if found.shape != (self._sparse.columns.count,):
                raise ValueError(f'values has shape {found.shape}; expected ({self._sparse.columns.count},), the entries of A')
            matrix = self._sparse.with_values(found)
        else:
            matrix = _matrix.of('values', values)
        with self.context.calls() as context:
            matrix.update(self.native_preconditioner.matrix)
            context.check(lib.ts_preconditioner_update(self.native_preconditioner.handle.pointer))
        self._sparse = matrix
        self._solvers.clear()

    def solve(self, b: Any, x0: Any = None, tol: float = 1e-5, maxiter: int = 100, accel: str | None = None,
              callback: Any = None, residuals: list[float] | None = None, return_info: bool = False) -> Any:
        """Solves A x = b to ||b - A x|| <= tol ||b||, in at most `maxiter` cycles.

        Without `accel` cycles run on their own; with 'cg', 'gmres', 'bicgstab', 'minres' or 'idr' a cycle is the preconditioner.
        `residuals` receives the history, relative to the first residual. callback(texsolve.Progress) runs at each check.
        With `return_info` the result is (x, info): info is 0, or the number of iterations if the tolerance was missed.
        """
        method = 'richardson' if accel is None else accel
        key = (method, tol, maxiter)
        solver = None if callback else self._solvers.get(key)
        if solver is None:
            progress = (lambda state: (callback(state), None)[1]) if callback else None
            solver = Solver(self._sparse, method=method, preconditioner=self, rtol=tol, max_iterations=maxiter,
                            progress=progress)
            if not callback:
                self._solvers[key] = solver
        self.result = solver.solve(b, x0)
        if residuals is not None:
            residuals[:] = [1.0, *self.result.history]
        info = 0 if self.result.converged else max(self.result.iterations, 1)
        return (self.result.x, info) if return_info else self.result.x

    def aspreconditioner(self, cycle: str | None = None) -> Preconditioner:
        """One cycle as a preconditioner, with `shape`, `dtype` and `matvec` as a LinearOperator. `cycle` must be None: the
        argument `visits` of texsolve.amg selects V- and W-cycles."""
        if cycle is not None:
            raise ValueError('cycle has to be None: texsolve.amg(A, visits=1) makes V-cycles, visits=2 W-cycles')
        return self.native_preconditioner

    def matvec(self, r: Any) -> Any:
        """One cycle for A z = r, from z = 0."""
        return self.native_preconditioner.matvec(r)

    def __str__(self) -> str:
        levels, info = self.levels, self._info()
        entries = sum(level.entries for level in levels)
        lines = ['MultilevelSolver', f'Number of Levels:     {len(levels)}',
                 f'Operator Complexity:  {info.operator_complexity:6.3f}', f'Grid Complexity:      {info.grid_complexity:6.3f}',
                 f'Backend:              {self.context.backend}', '  level   unknowns     nonzeros']
        for number, level in enumerate(levels):
            lines.append(f'{number:6} {level.rows:11} {level.entries:12} [{level.entries / entries:6.2%}]')
        return '\n'.join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        levels, info = self.levels, self._info()
        rows = [(str(number), str(level.rows), str(level.entries), f'{level.entries / level.rows:.1f}')
                for number, level in enumerate(levels)]
        widest = 360
        bars = ''.join(
            f'<rect x="{(400 - max(widest * level.rows / levels[0].rows, 1)) / 2:.1f}" y="{4 + 18 * number}" height="14" '
            f'width="{max(widest * level.rows / levels[0].rows, 1):.1f}" fill="#1f77b4"/>' for number, level in enumerate(levels))
        return (table(rows, ('level', 'unknowns', 'entries', 'entries per row'))
                + f'<p>Operator complexity {info.operator_complexity:.3f}, grid complexity {info.grid_complexity:.3f}, set-up '
                  f'{info.seconds:.3g} s on {self.context.backend}</p>'
                + f'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="{8 + 18 * len(levels)}" role="img" '
                  f'aria-label="unknowns of each level">{bars}</svg>')


def amg(A: Any, near_null_space: Any = None, *, coordinates: Any = None, unknowns: int = 0, strength: float | None = None,
        smoother: str = 'auto', sweeps: int = 0, visits: int = 0, max_levels: int = 0, coarsest: int = 0,
        backend: str = 'auto', threads: int = 0, context: Context | None = None) -> MultilevelSolver:
    """A hierarchy of algebraic multigrid for A, as PyAMG's smoothed_aggregation_solver(A, B=near_null_space).

    near_null_space  (n, k): vectors that A almost maps to 0, such as rigid-body motions. Default: constants
    coordinates      (nodes, 2 or 3): the near-null space is that of rigid-body motions
    unknowns         unknowns of each node of a mesh, in consecutive rows
    strength         threshold for strong couplings; 0: all are strong
    smoother         'chebyshev', 'chebyshev4', 'jacobi' or 'l1-jacobi'; `sweeps` is its degree
    visits           1: V-cycles; 2: W-cycles below the second level, the default

    The other arguments are those of ts_amg_desc, which has all defaults.
    """
    matrix = _matrix.of('A', A)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f'A is {matrix.shape[0]} x {matrix.shape[1]}; algebraic multigrid needs a square matrix')
    desc = describe(d.ts_amg_desc(), sweeps=sweeps, visits=visits, max_levels=max_levels, coarsest=coarsest, unknowns=unknowns)
    if strength is not None:
        describe(desc, strength=-1.0 if strength == 0 else strength)
        if strength < 0:
            raise ValueError(f'strength is {strength}; it must be at least 0')
    if smoother != 'auto':
        desc.smoother = value_of('amg_smoother', smoother, 'smoother')
    keep: list[Any] = []
    if near_null_space is not None:
        vectors = arrays.floats('near_null_space', near_null_space)
        if len(vectors.shape) not in (1, 2) or vectors.shape[0] != matrix.shape[0]:
            raise ValueError(f'near_null_space has shape {vectors.shape}; expected ({matrix.shape[0]}, vectors)')
        desc.near_null_vectors = vectors.shape[1] if len(vectors.shape) == 2 else 1
        desc.near_null = vectors
        keep.append(vectors)
    if coordinates is not None:
        points = arrays.floats('coordinates', coordinates)
        if len(points.shape) != 2 or points.shape[1] not in (2, 3) or points.count != matrix.shape[0]:
            raise ValueError(f'coordinates has shape {points.shape}; expected (nodes, 2) or (nodes, 3) with one number for each '
                             f'of the {matrix.shape[0]} unknowns')
        if unknowns not in (0, points.shape[1]):
            raise ValueError(f'unknowns is {unknowns}; with coordinates it is their number per node, {points.shape[1]}')
        desc.dimensions = desc.unknowns = points.shape[1]
        desc.coordinates = points
        keep.append(points)
    outer = d.ts_preconditioner_desc(kind=d.TS_PRECONDITIONER_AMG, amg=ctypes.pointer(desc))
    with context_for(matrix.device, backend, threads, context) as used:
        handle = matrix.create(used, d.ts_matrix_desc(keep_host_copy=int(matrix.device is None)), False)
        made = Handle(used, 'ts_preconditioner_destroy', lib.ts_preconditioner_create, handle.pointer, ctypes.byref(outer))
    return MultilevelSolver(matrix, Preconditioner(handle, made, matrix.shape, matrix.values.dtype))
