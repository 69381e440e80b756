"""solve() and Solver: A x = b, and least squares."""
from __future__ import annotations

import ctypes
import functools
import time
import warnings
from typing import Any

import numpy as np

from . import _arrays as arrays
from . import _matrix, _progress
from . import _declarations as d
from ._arrays import Array
from ._context import Context, Handle, context_for
from ._errors import ConvergenceWarning, IncompatibleError, InvalidArgumentError, error_of
from ._interrupts import Interrupts, current
from ._library import describe, lib, text_of, value_of
from ._preconditioner import Given, Preconditioner, keeps_host_copy
from ._progress import ProgressOption
from ._result import Result, Stage


@functools.lru_cache(64, typed=True)
def _known_numbers(rtol: float, atol: float, max_iterations: int | None, restart: int, check_interval: int) -> Any:
    """A ts_solver_desc with these numbers, to be copied."""
    if not isinstance(rtol, (int, float, np.floating)):
        raise TypeError(f'rtol is {rtol!r}; it must be a number from 0 to below 1')
    if not 0 <= rtol < 1:
        raise ValueError(f'rtol is {rtol!r}; it must be a number from 0 to below 1')
    if max_iterations is not None and max_iterations == 0:
        raise ValueError('max_iterations is 0; it must be at least 1, or None for the default')
    return describe(d.ts_solver_desc(), rtol=-1.0 if rtol == 0 else float(rtol), atol=atol, restart=restart,
                    max_iterations=max_iterations or 0, check_interval=check_interval, keep_history=1)


class Options:
    """The options of a solve, checked for their types. The library checks their values."""

    native: Preconditioner | None = None  # an object of the library

    def __init__(self, method: str, preconditioner: Any, rtol: float, atol: float, max_iterations: int | None,
                 precision: str, restart: int, check_interval: int, null_space: Any, symmetric: bool | None) -> None:
        numbers = rtol, atol, max_iterations, restart, check_interval
        try:
            known = _known_numbers(*numbers)
        except TypeError:  # also of what has no hash
            known = _known_numbers.__wrapped__(*numbers)
        self.rtol = float(rtol)
        self.desc = desc = d.ts_solver_desc.from_buffer_copy(known)
        if method != 'auto':
            desc.method = value_of('method', method, 'method')
        if precision != 'auto':
            desc.precision = value_of('precision', precision, 'precision')
        self.preconditioner = preconditioner
        if preconditioner is None:
            desc.preconditioner_kind = d.TS_PRECONDITIONER_NONE
        elif not isinstance(preconditioner, str):
            native = getattr(preconditioner, 'native_preconditioner', preconditioner)
            self.native = native if isinstance(native, Preconditioner) else None
        elif preconditioner != 'auto':
            desc.preconditioner_kind = value_of('preconditioner_kind', preconditioner, 'preconditioner')
        self.null_space = None if null_space is None else arrays.floats('null_space', null_space)
        self.symmetric = symmetric


class System:
    """A matrix with its solver in one context."""

    watcher: _progress.Watcher | None = None
    solver: Handle | None = None

    def __init__(self, context: Context, A: Any, options: Options, progress: ProgressOption, borrow: bool,
                 components: int = 0) -> None:
        self.context = context
        self.options = options
        self.functions: list[_matrix.Function] = []
        self.keep: list[Any] = [options.native]
        if progress is not None and progress is not False:
            self.watch(progress)
        desc = d.ts_matrix_desc(components=components)
        native, given = options.native, options.preconditioner
        if native is not None:
            if native.shape[0] != int(A.shape[0]):
                raise IncompatibleError(f'preconditioner is {native.shape[0]} x {native.shape[1]}; A has {A.shape[0]} rows')
            desc.row_space = lib.ts_matrix_get_row_space(native.matrix.pointer)
            options.desc.preconditioner = native.handle.pointer
        if isinstance(A, _matrix.Sparse):
            if isinstance(given, str) and given != 'auto':
                desc.keep_host_copy = keeps_host_copy(given, A)
            self.dtype = A.values.dtype
            self.shape = A.shape
            self.matrix = A.create(context, desc, borrow)
        else:
            self.matrix, self.functions = _matrix.create_operator(context, A, bool(options.symmetric))
            self.dtype = np.dtype(np.float64)
            self.shape = (int(A.shape[0]), int(A.shape[1]))
        if given is not None and native is None and not isinstance(given, str):
            custom = Given(context, self.matrix, self.shape[0], given)
            self.functions += custom.functions
            self.keep.append(custom)
            options.desc.preconditioner = custom.handle.pointer
        if options.null_space is not None:
            null = options.null_space
            null_desc = d.ts_null_space_desc(count=null.count // self.shape[0], vectors=null)
            if len(null.shape) not in (1, 2) or null.shape[0] != self.shape[0]:
                raise ValueError(f'null_space has shape {null.shape}; expected ({self.shape[0]}, vectors)')
            options.desc.null_space = ctypes.pointer(null_desc)

    def watch(self, progress: ProgressOption = None) -> _progress.Watcher:
        """A watcher is called in each check. Before the solver is created."""
        self.watcher = watcher = _progress.Watcher(progress, self.options.rtol)
        watcher.is_quiet = False
        self.registration = _progress.Registration(watcher)
        desc = self.options.desc
        desc.keep_history, desc.progress, desc.progress_user = 0, _progress.callback, self.registration.number
        return watcher

    def opened(self) -> Handle:
        """The solver. Its creation includes the set-up of the preconditioner."""
        if self.solver is None:
            self.solver = Handle(self.context, 'ts_solver_destroy', lib.ts_solver_create, self.matrix.pointer,
                                 self.options.desc)
        return self.solver

    def close(self) -> None:
        """Destroys the objects of the library now, rather than when they are collected."""
        if self.solver is not None:
            self.solver.destroy()
        self.matrix.destroy()

    def solve(self, b: Array, x: Array, starts: bool) -> Result:
        """Solves for all columns of b. `x` holds the starting values if `starts`, and receives the solution. The caller has
        entered the context, with a region for Ctrl+C. `seconds` of the result and `x` are the caller's."""
        watcher = self.watcher
        if watcher is not None or self.functions:
            interrupts = current()
            for function in self.functions:
                function.error = None
                function.interrupts = interrupts
            if watcher is not None:
                watcher.restart(interrupts)
        result = d.ts_result()
        x.read_only = 0
        # The set-up and the solve replace what is in the caches of the processor, so Python runs before and after both.
        start = x if starts else d.ts_array()
        solver = self.opened().pointer
        status: int = lib.ts_solver_solve_arrays(solver, b, start, x, result)
        if status < 0:
            for function in self.functions:
                function.raise_error()
            raise error_of(status, lib.ts_last_error(self.context.pointer))
        if watcher is not None:
            watcher.finish()
            history = watcher.history
        else:
            count = ctypes.c_int()
            history = lib.ts_solver_get_history(solver, count)[:count.value]
        if result.reason == d.TS_REASON_NAN_INPUT:
            error = InvalidArgumentError(result.message.decode())
            error.status = d.TS_ERROR_INVALID_ARGUMENT
            raise error
        return self.describe(solver, result, history)

    def describe(self, solver: int, result: Any, history: list[float]) -> Result:
        """The result of the library as one of Python."""
        info = d.ts_preconditioner_info()
        pointer = lib.ts_solver_get_preconditioner(solver)
        if pointer:
            status = lib.ts_preconditioner_get_info(pointer, info)
            if status < 0:
                self.context.check(status)
        found = Result.__new__(Result)
        found.converged = result.reason <= d.TS_REASON_FIXED_ITERATIONS
        found.code = result.reason
        found.reason = text_of('reason', result.reason)
        found.message = result.message.decode('utf-8', 'replace')
        found.residual = result.relative_residual
        found.attainable_residual = result.attainable_residual
        found.iterations = result.iterations
        found.seconds_setup = info.seconds_setup
        found.method = text_of('method', result.method)
        found.preconditioner = text_of('preconditioner_kind', info.kind) if pointer else 'none'
        found.choice = (info.choice or b'').decode('utf-8', 'replace')
        found.precision = text_of('precision', result.precision)
        found.history = history
        found.backend = self.context.backend
        stages = lib.ts_solver_get_stage_count(solver)
        if stages > 1:
            found.stages = [self.stage(number) for number in range(stages)]
        return found

    def stage(self, number: int) -> Stage:
        info = d.ts_stage_info()
        self.context.check(lib.ts_solver_get_stage(self.opened().pointer, number, ctypes.byref(info)))
        return Stage(text_of('method', info.method), text_of('preconditioner_kind', info.preconditioner), info.iterations,
                     info.relative_residual, (info.message or b'').decode('utf-8', 'replace'))


def _right_hand_side(b: Any, rows: int) -> Array:
    found = arrays.wrap('b', b)
    if found.dtype not in arrays.FLOATS:
        found = arrays.to_floats('b', found, b)
    shape = found.shape
    if len(shape) not in (1, 2) or shape[0] != rows or 0 in shape:
        hint = '; pass b.T' if len(shape) == 2 and shape[1] == rows else ''
        raise ValueError(f'b has shape {shape}; expected ({rows},) or ({rows}, k), since A has {rows} rows{hint}')
    return found


def _start(x0: Any, x: Array) -> None:
    """Copies the starting values to x."""
    start = arrays.cast(arrays.floats('x0', x0), x.dtype)
    if start.shape != x.shape:
        raise ValueError(f'x0 has shape {start.shape}; expected {x.shape}')
    arrays.copy_into(x, start)


def _warn(result: Result, stacklevel: int) -> None:
    if result.code != d.TS_REASON_STOPPED:
        warnings.warn(f'{result.message or result.reason} (residual {result.residual:.1e})', ConvergenceWarning, stacklevel)


def solve(A: Any, b: Any, x0: Any = None, *, method: str = 'auto', preconditioner: Any = 'auto', rtol: float = 1e-5,
          atol: float = 0.0, max_iterations: int | None = None, precision: str = 'auto', restart: int = 0,
          check_interval: int = 0, null_space: Any = None, symmetric: bool | None = None, progress: ProgressOption = None,
          backend: str = 'auto', threads: int = 0, context: Context | None = None) -> Result:
    """Solves A x = b, or min ||A x - b|| if A is not square. The result has `x`, `converged`, `residual`, ...

    A     a sparse matrix or array of SciPy, CuPy or PyTorch, a tuple (data, indices, indptr), or a LinearOperator
    b     (n,) or (n, k), of NumPy, CuPy, PyTorch or any library with DLPack; x is where b is
    x0    the start; default: 0

    method, preconditioner, rtol, atol, max_iterations, precision, restart, check_interval and null_space are those of
    ts_solver_desc. `preconditioner` may also be texsolve.amg(A), a matrix, a LinearOperator or a function of Python. `symmetric`
    says that a LinearOperator is. `progress` is True for a bar, or a function that gets a texsolve.Progress at every check and
    may return True to stop. A solve that misses its tolerance gives a ConvergenceWarning.
    """
    begin = time.perf_counter()
    matrix = _matrix.of('A', A, True)
    found = _right_hand_side(b, int(matrix.shape[0]))
    is_single = found.dtype == arrays.FLOAT and isinstance(matrix, _matrix.Sparse) and matrix.values.dtype == arrays.FLOAT
    x = arrays.empty_like(found, (int(matrix.shape[1]), *found.shape[1:]), arrays.FLOAT if is_single else arrays.DOUBLE)
    if x0 is not None:
        _start(x0, x)
    options = Options(method, preconditioner, rtol, atol, max_iterations, precision, restart, check_interval, null_space,
                      symmetric)
    if options.native is not None:
        context = options.native.context
    device = found.device if found.device is not None else getattr(matrix, 'device', None)
    with context_for(device, backend, threads, context, is_short=True) as used:
        components = min(found.shape[1], 4) if len(found.shape) == 2 else 1
        system = System(used, matrix, options, progress, True, components)
        try:
            result = system.solve(found, x, x0 is not None)
        finally:
            system.close()
    result.x = arrays.result_of(x, found)
    result.seconds = time.perf_counter() - begin
    if not result.converged:
        _warn(result, 3)
    return result


class Solver:
    """A matrix with its solver, for many right-hand sides and for new values in one pattern.

    s = texsolve.Solver(A, method='cg', rtol=1e-10)
    x = s(b)           # s.result has the residual, the iterations, ...
    s.update(values)   # A.data, or a matrix with the same pattern
    x = s(b, out=x)    # no memory is allocated

    The solver has copies of the matrix. The arguments are those of texsolve.solve. One thread at a time uses a solver; others
    wait. Solvers in different contexts run at once.
    """

    def __init__(self, A: Any, *, method: str = 'auto', preconditioner: Any = 'auto', rtol: float = 1e-5, atol: float = 0.0,
                 max_iterations: int | None = None, precision: str = 'auto', restart: int = 0, check_interval: int = 0,
                 null_space: Any = None, symmetric: bool | None = None, progress: ProgressOption = None,
                 backend: str = 'auto', threads: int = 0, context: Context | None = None) -> None:
        matrix = _matrix.of('A', A, True)
        options = Options(method, preconditioner, rtol, atol, max_iterations, precision, restart, check_interval, null_space,
                          symmetric)
        if options.native is not None:
            context = options.native.context
        with context_for(getattr(matrix, 'device', None), backend, threads, context) as used:
            self._system = System(used, matrix, options, progress, False)
            self._system.opened()
        self.shape: tuple[int, int] = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.result: Result | None = None
        self._pattern = self._copy_pattern(matrix)

    @staticmethod
    def _copy_pattern(matrix: Any) -> Any:
        """The pattern for update(values), which must stay when the caller changes the matrix."""
        if not isinstance(matrix, _matrix.Sparse):
            return None
        if matrix.device is not None:
            return matrix
        rows, columns = (arrays.wrap('A', np.array(arrays.as_numpy(part))) for part in (matrix.rows, matrix.columns))
        return _matrix.Sparse(matrix.name, matrix.shape, rows, columns, matrix.values, matrix.is_csr)

    @property
    def context(self) -> Context:
        return self._system.context

    def update(self, values: Any) -> None:
        """Replaces the values: an array in the order of A.data, or a matrix with the pattern of A. The preconditioner follows
        in the next solve."""
        if self._pattern is None:
            with self.context.calls() as context:
                context.check(lib.ts_operator_update(self._system.matrix.pointer, None))
            return
        if hasattr(values, 'tocsr') or isinstance(values, tuple) or getattr(values, 'layout', None) is not None and (
                'sparse' in str(values.layout)):
            matrix = _matrix.of('values', values)
            if matrix.shape != self.shape:
                raise ValueError(f'values is {matrix.shape[0]} x {matrix.shape[1]}; A is {self.shape[0]} x {self.shape[1]}')
            if matrix.is_csr != self._pattern.is_csr:
                raise ValueError('values is a matrix in another format than A; convert it to that of A')
        else:
            found = arrays.floats('values', values)
            count = self._pattern.columns.count
            if found.shape != (count,):
                raise ValueError(f'values has shape {found.shape}; expected ({count},), the entries of A')
            matrix = self._pattern.with_values(found)
        with self.context.calls():
            matrix.update(self._system.matrix)

    def solve(self, b: Any, x0: Any = None, *, out: Any = None) -> Result:
        """Solves for b and returns a Result. `out` receives x instead of a new array."""
        begin = time.perf_counter()
        found = _right_hand_side(b, self.shape[0])
        shape = (self.shape[1], *found.shape[1:])
        is_single = self._system.dtype == arrays.FLOAT == found.dtype
        x = arrays.empty_like(found, shape, arrays.FLOAT if is_single else arrays.DOUBLE) if out is None else self._out(out, shape)
        if x0 is not None and x0 is not out:
            _start(x0, x)
        with self.context.calls():
            result = self._system.solve(found, x, x0 is not None)
        result.seconds = time.perf_counter() - begin
        result.x = arrays.result_of(x, found) if out is None else out
        self.result = result
        if not result.converged:
            _warn(result, 4)
        return result

    @staticmethod
    def _out(out: Any, shape: tuple[int, ...]) -> Array:
        x = arrays.wrap('out', out)
        if x.shape != shape or x.dtype not in arrays.FLOATS:
            raise ValueError(f'out has shape {x.shape} and type {x.dtype}; expected {shape} and float32 or float64')
        if isinstance(out, np.ndarray) and (x.owner is not out or not out.flags.writeable):
            raise ValueError('out must be contiguous, writeable and in this machine\'s byte order')
        return x

    def __call__(self, b: Any, x0: Any = None, *, out: Any = None) -> Any:
        """Solves for b and returns x. `result` has the rest."""
        return self.solve(b, x0, out=out).x

    def __repr__(self) -> str:
        last = f': {self.result.message or self.result.reason}' if self.result else ''
        return f'<texsolve.Solver of {self.shape[0]} x {self.shape[1]} on {self.context.backend}{last}>'
