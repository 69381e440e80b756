"""A differentiable solve for PyTorch: x = A^-1 b with gradients to the values of A and to b.

    import texsolve.torch
    pattern = texsolve.torch.Pattern(A)                    # A: a sparse matrix in CSR; only its pattern counts
    x = texsolve.torch.solve(values, pattern, b)           # values: a tensor in the order of A.data
    loss(x).backward()                                     # values.grad, b.grad

With a gradient g of x, the adjoint system A^T l = g gives the gradient l to b and -l_i x_j to the entry a_ij. Both solves run in
the library, on the device of the tensors. The adjoint solve uses the solver of A if A is symmetric, and otherwise a solver of
A^T. Gradients can be differentiated again.
"""
from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _arrays as arrays
from . import _declarations as d
from ._arrays import Array
from ._batch import BatchResult, pattern_of, run_batch
from ._errors import ConvergenceWarning, InvalidArgumentError
from ._result import Result
from ._solver import Solver

__all__ = ['Pattern', 'solve']

BATCH_LIMIT = 2000  # unknowns: larger systems of a batch are solved one after the other


def _tensor(array: Array) -> Tensor:
    """A copy of indices as a tensor of int64, on their device."""
    owner = array.owner if array.kind in ('torch', 'cupy') else arrays.as_numpy(array)
    found: Tensor = owner if isinstance(owner, torch.Tensor) else torch.as_tensor(owner, device=(
        'cpu' if array.device is None else f'cuda:{array.device}'))
    return found.to(torch.int64, copy=True)


class _Indices:
    """A pattern and that of its transpose on one device. `to_transposed` moves the values of A to those of A^T."""

    def __init__(self, offsets: Tensor, columns: Tensor) -> None:
        size, device = offsets.numel() - 1, offsets.device
        self.columns = columns
        self.rows = torch.repeat_interleave(torch.arange(size, device=device), offsets[1:] - offsets[:-1])
        by_column = torch.sort(columns, stable=True).indices  # by column, then by row
        by_row = torch.sort(self.rows * size + columns, stable=True).indices
        self.is_symmetric = torch.equal(self.rows[by_row], columns[by_column]) and torch.equal(columns[by_row],
                                                                                           self.rows[by_column])
        csr = (columns, offsets)
        if self.is_symmetric:
            # A^T keeps the order of A, so that a symmetric A has the values of A^T
            order = torch.empty_like(by_row)
            order[by_row] = by_column
            self.to_transposed, transposed = order, csr
        else:
            counts = torch.bincount(columns, minlength=size)
            ends = torch.cat([torch.zeros(1, dtype=torch.int64, device=device), torch.cumsum(counts, 0)])
            self.to_transposed, transposed = by_column, (self.rows[by_column], ends)
        self.from_transposed = torch.empty_like(self.to_transposed)
        self.from_transposed[self.to_transposed] = torch.arange(columns.numel(), device=device)
        self.csr = (csr, transposed)


class Pattern:
    """The pattern of a square matrix, with the solvers for it. They stay for the next solve.

    pattern  a sparse matrix in CSR of SciPy, CuPy or PyTorch, or a tuple (indices, indptr). Duplicate entries are added
    options  those of texsolve.Solver: method, preconditioner ('auto', 'amg', ..., or None), rtol, max_iterations, backend, ...
             Default of rtol: 1e-10 for float64, 1e-6 for float32. Gradients have errors of this size

    `result` and `adjoint_result` describe the last solves with A and with A^T.
    """

    def __init__(self, pattern: Any, **options: Any) -> None:
        given = options.get('preconditioner', 'auto')
        if given is not None and not isinstance(given, str):
            raise TypeError(f'preconditioner is of type {type(given).__name__}; expected a name, since A^T needs one too')
        offsets, columns, self.size = pattern_of('pattern', pattern)
        first, second = _tensor(offsets), _tensor(columns)
        if first.device != second.device:
            raise ValueError('the arrays of pattern are on several devices')
        self.entries = second.numel()
        if int(first[0]) != 0 or int(first[-1]) != self.entries or bool((first[1:] < first[:-1]).any()):
            raise ValueError(f'pattern.indptr has to ascend from 0 to {self.entries}, the number of columns')
        if self.entries and (int(second.min()) < 0 or int(second.max()) >= self.size):
            raise ValueError(f'pattern.indices has columns from {int(second.min())} to {int(second.max())}; expected 0 to '
                             f'{self.size - 1}')
        self.options = options
        self.result: Result | BatchResult | None = None
        self.adjoint_result: Result | BatchResult | None = None
        self._base = (first, second)
        self._indices: dict[torch.device, _Indices] = {}
        self._solvers: dict[Any, tuple[Solver, Tensor]] = {}
        self._lock = threading.RLock()  # CUDA's gradients are computed in other threads

    def __repr__(self) -> str:
        return f'<texsolve.torch.Pattern of {self.size} x {self.size} with {self.entries} entries>'

    def indices(self, device: torch.device) -> _Indices:
        with self._lock:
            found = self._indices.get(device)
            if found is None:
                found = self._indices[device] = _Indices(self._base[0].to(device), self._base[1].to(device))
            return found

    def _options(self, dtype: torch.dtype) -> dict[str, Any]:
        return {'rtol': 1e-10 if dtype == torch.float64 else 1e-6, **self.options}

    def _solver(self, values: Tensor, is_transposed: bool) -> Solver:
        """A solver with these values: one that has them, otherwise the one of A or of A^T."""
        indices = self.indices(values.device)
        key = (values.device, values.dtype)
        for side in (is_transposed, not is_transposed) if indices.is_symmetric else (is_transposed,):
            solver, known = self._solvers.get((*key, side), (None, None))
            # values may change without a new version, through NumPy and `data`, so the numbers are compared
            if solver is not None and known is not None and torch.equal(known, values):
                return solver
        solver, known = self._solvers.pop((*key, is_transposed), (None, None))  # an exception leaves no solver
        if solver is None:
            columns, offsets = indices.csr[is_transposed]
            solver = Solver((values, columns, offsets), **self._options(values.dtype))
            known = values.detach().clone()
        else:
            solver.update(values)
            assert known is not None
            known.copy_(values)
        self._solvers[(*key, is_transposed)] = (solver, known)
        return solver

    def _solve_one(self, values: Tensor, b: Tensor, x0: Tensor | None, is_transposed: bool) -> Tensor:
        with self._lock:
            result = self._solver(values, is_transposed).solve(b, x0)
            self._keep(result, is_transposed)
        found: Tensor = result.x
        return found

    def _keep(self, result: Result | BatchResult, is_transposed: bool) -> None:
        if is_transposed:
            self.adjoint_result = result
        else:
            self.result = result

    def _solve_batch(self, values: Tensor, b: Tensor, x0: Tensor | None, is_transposed: bool) -> Tensor:
        options = self._options(values.dtype)
        known = {'method', 'preconditioner', 'rtol', 'max_iterations', 'backend', 'threads', 'context'}
        if (self.size > BATCH_LIMIT or not known.issuperset(options) or options.get('method', 'auto') not in (
                'auto', 'cg', 'bicgstab') or options.get('preconditioner') not in ('auto', 'jacobi', 'none', None)):
            return torch.stack([self._solve_one(values[k], b[k], None if x0 is None else x0[k], is_transposed)
                                for k in range(len(values))])
        csr = self.indices(values.device).csr[is_transposed]
        if b.dim() == 2:
            result = run_batch(csr, values, b, x0, **options)
            if not result.converged.all():
                self._solve_missed(result, values, b, is_transposed)
            self._keep(result, is_transposed)
            found: Tensor = result.x
            return found
        return torch.stack([self._solve_batch(values, b[:, :, column], None if x0 is None else x0[:, :, column], is_transposed)
                            for column in range(b.shape[2])], dim=2)

    def _solve_missed(self, result: BatchResult, values: Tensor, b: Tensor, is_transposed: bool) -> None:
        """Solves the systems that the batch did not. Their Solver may use all methods, if the caller did not choose one."""
        if (result.code == d.TS_REASON_NAN_INPUT).any():
            raise InvalidArgumentError(result.message)
        if {'method', 'preconditioner', 'max_iterations'} & set(self.options):
            warnings.warn(result.message, ConvergenceWarning, 2)
            return
        for k in map(int, np.flatnonzero(~result.converged)):
            result.x[k] = self._solve_one(values[k], b[k], None, is_transposed)
            one = self.adjoint_result if is_transposed else self.result
            assert isinstance(one, Result)
            result.converged[k], result.code[k], result.residual[k] = one.converged, one.code, one.residual
            result.iterations[k] += one.iterations
        if result.converged.all():
            result.message = ''

    def solve(self, values: Tensor, b: Tensor, x0: Tensor | None, is_transposed: bool) -> Tensor:
        """A^-1 b, or A^-T b; `values` is in the order of the matrix that is solved with."""
        if values.dim() == 2 and len(values) == 0:
            return torch.empty_like(b)
        return (self._solve_one if values.dim() == 1 else self._solve_batch)(values, b, x0, is_transposed)


class _Solve(torch.autograd.Function):
    """x = A^-1 b for (values, b, x0, pattern, is_transposed). If `is_transposed`, A is the transpose of the pattern's matrix."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any, **_: Any) -> Any:
        values, b, x0, pattern, is_transposed = arguments
        x = pattern.solve(values, b, x0, is_transposed)
        ctx.pattern, ctx.is_transposed = pattern, is_transposed
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        values, x = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        indices = pattern.indices(values.device)
        order = indices.from_transposed if ctx.is_transposed else indices.to_transposed
        adjoint = _Solve.apply(values.index_select(-1, order), gradients[0], None, pattern, not ctx.is_transposed)
        to_values = None
        if ctx.needs_input_grad[0]:
            rows, columns = indices.rows, indices.columns
            if ctx.is_transposed:  # entry e of A is entry to_transposed[e] of the pattern, with its row and column exchanged
                rows, columns = columns[indices.to_transposed], rows[indices.to_transposed]
            axis = values.dim() - 1  # of the unknowns
            to_values = -adjoint.index_select(axis, rows) * x.index_select(axis, columns)
            if x.dim() > values.dim():
                to_values = to_values.sum(-1)
        return to_values, adjoint if ctx.needs_input_grad[1] else None, None, None, None


def _check(name: str, tensor: Any) -> Tensor:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f'{name} is of type {type(tensor).__name__}; expected a tensor: torch.as_tensor({name})')
    if tensor.layout != torch.strided:
        raise TypeError(f'{name} is a tensor of layout {tensor.layout}; expected a dense tensor')
    if tensor.dtype not in (torch.float32, torch.float64):
        raise TypeError(f'{name} has elements of type {tensor.dtype}; expected float32 or float64')
    return tensor


def solve(values: Tensor, pattern: Any, b: Tensor, *, x0: Tensor | None = None, **options: Any) -> Tensor:
    """Solves A x = b; x has gradients to `values` and `b`.

    values   (entries,): the values of A in the order of the pattern; or (batch, entries), a matrix for each system
    pattern  a texsolve.torch.Pattern, which keeps its solvers for the next call; or what Pattern(pattern, **options) takes
    b        (n,) or (n, k). With a batch of matrices (n,), which belongs to all of them, (batch, n) or (batch, n, k)
    x0       the start, in the shape of x; default: 0. It has no gradient

    A batch of matrices with up to 2000 unknowns is solved in one call, by conjugate gradients or BiCGSTAB with Jacobi. Systems for
    which that fails are then solved one by one, by all methods, unless the pattern has a method or a preconditioner.
    A solve that misses its tolerance gives a ConvergenceWarning, in the backward pass too.
    """
    if not isinstance(pattern, Pattern):
        pattern = Pattern(pattern, **options)
    elif options:
        raise TypeError(f'{next(iter(options))!r} is an option of Pattern: texsolve.torch.Pattern(A, {next(iter(options))}=...)')
    values, b = _check('values', values), _check('b', b)
    if values.dtype != b.dtype or values.device != b.device:
        raise TypeError(f'values is {values.dtype} on {values.device} and b is {b.dtype} on {b.device}; they have to agree')
    if values.dim() not in (1, 2) or values.shape[-1] != pattern.entries:
        raise ValueError(f'values has shape {tuple(values.shape)}; expected ({pattern.entries},), the entries of the pattern, or '
                         f'(batch, {pattern.entries})')
    if values.dim() == 2 and b.dim() == 1:
        b = b.expand(len(values), -1)
    lead = tuple(values.shape[:-1]) + (pattern.size,)
    if b.dim() not in (len(lead), len(lead) + 1) or tuple(b.shape[:len(lead)]) != lead:
        texts = [str(shape).replace("'", '') for shape in (lead, lead + ('k',))]
        raise ValueError(f'b has shape {tuple(b.shape)}; expected {texts[0]} or {texts[1]}')
    if x0 is not None:
        x0 = _check('x0', x0).detach()
        if x0.shape != b.shape or x0.device != b.device:
            raise ValueError(f'x0 has shape {tuple(x0.shape)} on {x0.device}; expected {tuple(b.shape)} on {b.device}')
        x0 = x0.to(b.dtype)
    found: Tensor = _Solve.apply(values, b, x0, pattern, False)
    return found
