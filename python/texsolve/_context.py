"""Contexts, which are devices with their objects, and handles of these objects.

Only one thread at a time may use a context of the library, so each has a lock. Handles are destroyed when they are collected,
which may happen in any thread and during a solve. A handle that cannot be destroyed then is put aside until the context is
free. After a fork the child has neither the threads nor the devices of its parent: its copies of objects only raise.
"""
from __future__ import annotations

import collections
import ctypes
import functools
import os
import sys
import threading
import weakref
from types import TracebackType
from typing import Any, Callable

from . import _declarations as d
from ._errors import error_of
from ._interrupts import POLL_SECONDS, FinalizerInterrupts, Interrupts, poll
from ._library import describe, encoded, lib, value_of

_generation = 0  # changes in the child of a fork


def _log(level: int, message: bytes, user: Any) -> None:
    import logging
    severity = {d.TS_LOG_LEVEL_WARNING: logging.WARNING, d.TS_LOG_LEVEL_INFO: logging.INFO}
    logger = logging.getLogger('texsolve')
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())  # otherwise a program that does not use logging prints warnings to stderr
    logger.log(severity.get(level, logging.DEBUG), '%s', message.decode('utf-8', 'replace'))


_log_callback = d.ts_log_fn(_log)


def _destroy(function: str, reference: ctypes.c_void_p) -> None:
    getattr(lib, function)(reference)


def _destroy_all(retired: collections.deque[tuple[str, ctypes.c_void_p]]) -> None:
    while retired:
        _destroy(*retired.popleft())


def _destroy_context(reference: ctypes.c_void_p, retired: collections.deque[tuple[str, ctypes.c_void_p]],
                     generation: int) -> None:
    if generation != _generation:
        return
    with FinalizerInterrupts():
        _destroy_all(retired)
        _destroy('ts_context_destroy', reference)


class Context:
    """A device: 'auto', 'cpu', 'cuda', 'cuda:1', 'gl', 'multi:cpu+cpu', ... as in ts_context_desc.backend.

    Functions and classes that take `backend` use a context that they share. An own context is for solves in several threads
    at once, and for limits of its own.
    """

    def __init__(self, backend: str = 'auto', *, threads: int = 0, max_device_bytes: int = 0, partition: str = 'auto') -> None:
        if not isinstance(backend, str):
            raise TypeError(f'backend is {backend!r}; it must be a str such as \'cpu\' or \'cuda:1\'')
        desc = d.ts_context_desc(backend=encoded('backend', backend), log=_log_callback, log_level=d.TS_LOG_LEVEL_WARNING)
        describe(desc, threads=threads, max_device_bytes=max_device_bytes)
        if partition != 'auto':
            desc.partition = value_of('partition', partition, 'partition')
        pointer = ctypes.c_void_p()
        self.generation = _generation
        self.lock = threading.RLock()
        self.depth = 0  # entries of the thread that has the lock
        self.retired: collections.deque[tuple[str, ctypes.c_void_p]] = collections.deque()
        with Interrupts():
            status = lib.ts_context_create(ctypes.byref(desc), ctypes.byref(pointer))
            if status < 0:
                raise error_of(status, lib.ts_last_error(None))
            finalizer = weakref.finalize(self, _destroy_context, pointer, self.retired, _generation)
            finalizer.atexit = False  # at exit other threads may be in the library; the system takes everything back
        self.pointer: int = pointer.value or 0
        lib.ts_context_set_poll(self.pointer, poll, None, POLL_SECONDS)
        info = self.info()
        self.backend: str = info.backend.decode()
        self.device: str = info.device.decode()

    def __repr__(self) -> str:
        return f'texsolve.Context({self.backend!r}: {self.device})'

    def enter(self, region: Interrupts) -> Context:
        """Waits until no other thread uses the context. The exception of the caller's region ends the wait."""
        if self.generation != _generation:
            raise RuntimeError('this object was created before a fork and cannot be used in the child process; create it '
                               'there')
        if not self.lock.acquire(blocking=False):
            while not self.lock.acquire(timeout=POLL_SECONDS):
                if region.error is not None:
                    raise region.error
        self.depth += 1
        return self

    def enter_if_free(self) -> bool:
        """Enters the context, unless another thread or an outer call of this one uses it. The caller is in a region."""
        if self.generation != _generation or not self.lock.acquire(blocking=False):
            return False
        if self.depth:
            self.lock.release()
            return False
        self.depth = 1
        return True

    def leave(self) -> None:
        if self.retired and self.depth == 1:
            _destroy_all(self.retired)
        self.depth -= 1
        self.lock.release()

    def calls(self, stops: bool = True) -> Calls:
        """Enters the context for calls of the library, during which Ctrl+C waits."""
        return Calls(self.enter, stops)

    def check(self, status: int) -> int:
        """Raises the exception of an error. Returns TS_OK or TS_NOT_CONVERGED."""
        if status < 0:
            raise error_of(status, lib.ts_last_error(self.pointer))
        return status

    def info(self) -> Any:
        """ts_context_info."""
        info = d.ts_context_info()
        with self.calls():
            self.check(lib.ts_context_get_info(self.pointer, ctypes.byref(info)))
        return info

    def set_tuning(self, name: str, value: float) -> None:
        """Changes a measured number that controls choices of the library (ts_context_set_tuning)."""
        with self.calls():
            self.check(lib.ts_context_set_tuning(self.pointer, name.encode(), value))

    def retire(self, function: str, reference: ctypes.c_void_p) -> None:
        """Destroys an object as soon as the context is free. For finalisers."""
        with FinalizerInterrupts():
            self.retired.append((function, reference))
            if self.enter_if_free():
                self.leave()


class Calls:
    """A context that is entered, in a region for Ctrl+C: an exception between two of its steps would leave it entered."""

    __slots__ = ('enter', 'interrupts', 'used')

    def __init__(self, enter: Callable[[Interrupts], Context], stops: bool = True) -> None:
        self.enter = enter
        self.interrupts = Interrupts()
        if not stops:
            self.interrupts.stops = False

    def __enter__(self) -> Context:
        region = self.interrupts.__enter__()
        try:
            self.used = self.enter(region)
        except BaseException:
            self.interrupts.__exit__(None, None, None)
            raise
        return self.used

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.used.leave()
        self.interrupts.__exit__(kind, error, trace)


def _retire(context: Context, function: str, reference: ctypes.c_void_p) -> None:
    if context.generation == _generation:
        context.retire(function, reference)


class Handle:
    """An object of the library, which keeps its context: what create(*arguments, &handle) made."""

    __slots__ = ('context', 'pointer', '_reference', '_function')

    def __init__(self, context: Context, destroy: str, create: Callable[..., int], *arguments: Any) -> None:
        self.context = context
        self.pointer: int = 0
        self._function = destroy
        self._reference = reference = ctypes.c_void_p()
        status = create(*arguments, reference)
        if status < 0:
            context.check(status)
        self.pointer = reference.value or 0

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At exit other threads may be in the library, and the system takes everything back. Python handles signals before the
        # first instruction of a function, so that a Ctrl+C just before this one is lost, as with every __del__.
        if self.pointer and not is_finalizing():
            self.pointer = 0
            _retire(self.context, self._function, self._reference)

    def destroy(self) -> None:
        """Destroys the object now, rather than when it is collected. The caller has entered the context."""
        if self.pointer:
            self.pointer = 0
            getattr(lib, self._function)(self._reference)


_shared: dict[tuple[str, int], list[Context]] = {}
_shared_lock = threading.Lock()


def shared(backend: str, threads: int = 0) -> Context:
    """The context that objects of one backend share."""
    if not isinstance(backend, str):
        raise TypeError(f'backend is {backend!r}; it must be a str such as \'cpu\' or \'cuda:1\'')
    contexts = _shared.get((backend, threads))
    if contexts:
        return contexts[0]
    with _shared_lock:
        contexts = _shared.setdefault((backend, threads), [])
        if not contexts:
            contexts.append(Context(backend, threads=threads))
        return contexts[0]


def _enter_shared(backend: str, threads: int, region: Interrupts) -> Context:
    return shared(backend, threads).enter(region)


def _enter_free(backend: str, threads: int, region: Interrupts) -> Context:
    first = shared(backend, threads)
    if first.enter_if_free():
        return first
    contexts = _shared[backend, threads]
    for context in tuple(contexts):
        if context.enter_if_free():
            return context
    context = Context(first.backend if backend == 'auto' else backend, threads=threads)
    context.enter(region)
    contexts.append(context)
    return context


def context_for(device: int | None, backend: str, threads: int, context: Context | None, is_short: bool = False) -> Calls:
    """Enters the context to use: the caller's; that of the arrays' CUDA device; or one of the backend. A short use, of one
    call, takes a context that no other thread uses."""
    if context is not None:
        if not isinstance(context, Context):
            raise TypeError(f'context is of type {type(context).__name__}; expected a texsolve.Context')
        return Calls(context.enter)
    if device is not None and backend == 'auto':
        backend = f'cuda:{device}'
    return Calls(functools.partial(_enter_free if is_short else _enter_shared, backend, threads))


def _forget_parent() -> None:
    global _generation, _shared_lock
    _generation += 1
    _shared_lock = threading.Lock()
    _shared.clear()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_forget_parent)
