"""Ctrl+C during calls of the library.

A signal's handler runs between two instructions of Python, which during a call of the library means: within a callback. An
exception there would be lost, so handlers are wrapped. The exception is kept, the callback stops the call, and the exception
is raised when the library has returned and its objects are in order. The callbacks are those of solves with `progress`, and the
poll function of the context (ts_context_set_poll).
"""
from __future__ import annotations

import _signal  # signal.signal makes enumerators of its arguments, which takes 20 us
import os
import threading
import time
from _thread import get_ident, interrupt_main, start_new_thread
from types import FrameType, TracebackType
from typing import Any

from . import _declarations as d

POLL_SECONDS = 0.02  # short for a person, and longer than small solves: a call of a cold function takes 20 to 50 us

_main: int = threading.main_thread().ident or 0


class Interrupts:
    """A region in which exceptions of the handler of SIGINT are kept in `error`, and raised at its end. Within a region, another
    one is the outer one. Every call that may call the poll function has to be in a region. If not `stops` it is not stopped."""

    active: Interrupts | None = None  # only the main thread changes it

    error: BaseException | None = None
    stops = True
    _handler: Any = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        try:
            self._handler(number, frame)
        except BaseException as error:  # noqa: B902: whatever the application's handler raises
            self.error = error

    def __enter__(self) -> Interrupts:
        if get_ident() != _main:
            return self
        if Interrupts.active is not None:
            return Interrupts.active
        handler = _signal.getsignal(_signal.SIGINT)
        if not callable(handler):
            return self
        self._handler = handler
        Interrupts.active = self
        try:
            _signal.signal(_signal.SIGINT, self._handle)
        except ValueError:  # not the main interpreter
            self._handler = Interrupts.active = None
        except BaseException:  # a signal just before
            self._handler = Interrupts.active = None
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._handler is not None:
            Interrupts.active = None
            _signal.signal(_signal.SIGINT, self._handler)
            self._handler = None
        if self.error is not None:
            kept, self.error = self.error, None
            raise kept from error


class FinalizerInterrupts(Interrupts):
    """A region in a finaliser. Python drops exceptions of finalisers, and with them a Ctrl+C, so the signal is sent again when
    the finaliser has returned. An outer region keeps the exception as usual."""

    _came = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._came = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        if self._came:
            start_new_thread(_interrupt_soon, ())  # threading.Thread takes a lock that the finalised thread may have


def _interrupt_soon() -> None:
    time.sleep(0.001)
    if hasattr(_signal, 'pthread_kill'):
        _signal.pthread_kill(_main, _signal.SIGINT)  # unlike interrupt_main it ends a system call
    else:
        interrupt_main()


def current() -> Interrupts:
    """The region that this thread is in; otherwise one without an error."""
    active = Interrupts.active
    return active if active is not None and get_ident() == _main else Interrupts()


def _poll(user: Any) -> int:
    active = Interrupts.active
    return 1 if active is not None and active.error is not None and active.stops and get_ident() == _main else 0


poll = d.ts_poll_fn(_poll)  # for all contexts


def _after_fork() -> None:
    global _main
    _main = threading.main_thread().ident or 0
    Interrupts.active = None


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)
