"""What a solve reports while it runs: to a callback of the application, to a terminal or to a notebook."""
from __future__ import annotations

import math
import sys
import time
from typing import Any, Callable, NamedTuple, Union

from . import _declarations as d
from ._interrupts import Interrupts


class Progress(NamedTuple):
    """The state of a solve at a check."""

    iteration: int
    residual: float  # relative, from the recurrence of the method; NaN if the method does not compute it
    seconds: float  # since the solve began


_START = Progress(0, math.nan, 0.0)
ProgressOption = Union[bool, Callable[[Progress], Any], None]


def bar_text(progress: Progress, rtol: float, width: int = 24) -> str:
    """One line: how much of the way to the tolerance is done, on a logarithmic scale."""
    residual = progress.residual
    part = 0.0
    if residual > 0 and math.isfinite(residual) and 0 < rtol < 1:
        part = min(max(math.log(residual) / math.log(rtol), 0.0), 1.0)
    filled = int(part * width)
    rate = progress.iteration / progress.seconds if progress.seconds > 0 else 0.0
    return (f'{part:4.0%}|{"#" * filled}{"." * (width - filled)}| {progress.iteration} iterations, residual {residual:.1e} '
            f'[{progress.seconds:.1f} s, {rate:.3g}/s]')


class Bar:
    """Shows the progress: a line that is replaced in a terminal, an output that is updated in a notebook, otherwise nothing."""

    interval = 0.1  # seconds between two updates

    def __init__(self, rtol: float) -> None:
        self.rtol = rtol
        self.shown = 0.0
        self.output: Any = None
        shell = getattr(sys.modules.get('IPython'), 'get_ipython', lambda: None)()
        self.in_notebook = getattr(shell, 'kernel', None) is not None
        stream = sys.stderr
        self.in_terminal = not self.in_notebook and stream is not None and stream.isatty()

    def __call__(self, progress: Progress) -> None:
        if progress.seconds - self.shown >= self.interval:
            self.show(progress)

    def show(self, progress: Progress) -> None:
        self.shown = progress.seconds
        text = bar_text(progress, self.rtol)
        if self.in_notebook:
            from IPython.display import Code, display
            if self.output is None:
                self.output = display(Code(text), display_id=True)
            else:
                self.output.update(Code(text))
        elif self.in_terminal:
            sys.stderr.write(f'\r{text}\x1b[K')
            sys.stderr.flush()

    def close(self, progress: Progress) -> None:
        if self.in_notebook or self.in_terminal:
            self.show(progress)
        if self.in_terminal:
            sys.stderr.write('\n')
            sys.stderr.flush()


class Watcher:
    """Follows one solve: keeps its history, calls the application, and stops it after an exception or Ctrl+C."""

    error: BaseException | None = None
    interrupts: Interrupts | None = None
    at_iterate: Callable[[], Any] | None = None  # called at every check
    at_numbers: Callable[[float], Any] | None = None  # called for each number of the history
    last: Progress

    def __init__(self, progress: ProgressOption, rtol: float) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f'progress is {progress!r}; it must be a bool or a function of one argument')
        self.report: Callable[[Progress], Any] | None = progress if callable(progress) else None
        self.bar = Bar(rtol) if progress is True else None
        self.is_quiet = not (self.report or self.bar)

    def restart(self, interrupts: Interrupts) -> None:
        self.history: list[float] = []
        self.error = None
        self.interrupts = interrupts
        self.begin = time.perf_counter()
        self.last = _START

    def take(self, state: Any) -> int:
        """A check of the library. Returns 1 to stop the solve."""
        try:
            if self.is_quiet:
                # The usual case, often once in an iteration of 50 us.
                count = state.count
                if count == 1:
                    self.history.append(state.history[0])
                else:
                    self.history += state.history[:count]
            else:
                self.history += state.history[:state.count]
                if self.at_numbers:
                    for number in state.history[:state.count]:
                        self.at_numbers(number)
                self.last = Progress(state.iteration, state.relative_residual, time.perf_counter() - self.begin)
                if self.bar:
                    self.bar(self.last)
                if self.at_iterate:
                    self.at_iterate()
                if self.report and self.report(self.last) is True:
                    return 1
        except BaseException as error:  # noqa: B902: raised again by the caller of the solve
            self.error = error
            return 1
        return 1 if self.interrupts is not None and self.interrupts.error is not None else 0

    def finish(self) -> None:
        """After the solve: ends the bar, and raises what the application's function raised."""
        if self.bar:
            self.bar.close(self.last)
        self.interrupts = None
        if self.error is not None:
            error, self.error = self.error, None
            raise error


_watchers: dict[int, Watcher] = {}


def _take(state: Any, user: Any) -> int:
    return _watchers[user].take(state.contents)


# One callback serves all solvers: `user` is the number of the watcher.
callback = d.ts_progress_fn(_take)


class Registration:
    """Passes calls with `number` on to the watcher, as long as this object lives."""

    __slots__ = ('number',)

    def __init__(self, watcher: Watcher) -> None:
        self.number = id(watcher)
        _watchers[self.number] = watcher

    def __del__(self) -> None:
        _watchers.pop(self.number, None)
