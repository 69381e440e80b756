"""Ctrl+C during a call of the library.

A signal's handler runs between two instructions of Python, which during a call of the library means: within a callback. An
exception there would be lost, so handlers are wrapped. The exception is kept, the callback stops the solve, and the exception
is raised when the library has returned and its objects are in order.
"""
from __future__ import annotations

import _signal  # signal.signal makes enumerators of its arguments, which takes 20 us
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """A region in which exceptions of the handler of SIGINT are kept in `error`, and raised at its end."""

    _is_active = False  # only the main thread changes it

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self._handler: Any = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        try:
            self._handler(number, frame)
        except BaseException as error:  # noqa: B902: whatever the application's handler raises
            self.error = error

    def __enter__(self) -> Interrupts:
        if Interrupts._is_active or threading.current_thread() is not threading.main_thread():
            return self
        handler = _signal.getsignal(_signal.SIGINT)
        if not callable(handler):
            return self
        self._handler = handler
        try:
            _signal.signal(_signal.SIGINT, self._handle)
        except ValueError:  # not the main interpreter
            self._handler = None
            return self
        Interrupts._is_active = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._handler is not None:
            Interrupts._is_active = False
            _signal.signal(_signal.SIGINT, self._handler)
            self._handler = None
        if self.error is not None:
            kept, self.error = self.error, None
            raise kept from error
