"""The outcome of a solve, and its table and curve in notebooks."""
from __future__ import annotations

import math
from typing import Any, Sequence

CONVERGED = ('converged', 'the starting value already solves the system', 'the fixed number of iterations was done')


class Stage:
    """One stage of method 'auto' (ts_stage_info)."""

    __slots__ = ('method', 'preconditioner', 'iterations', 'residual', 'message')

    def __init__(self, method: str, preconditioner: str, iterations: int, residual: float, message: str) -> None:
        self.method = method
        self.preconditioner = preconditioner
        self.iterations = iterations
        self.residual = residual
        self.message = message

    def __repr__(self) -> str:
        return f'{self.method} with {self.preconditioner}: {self.iterations} iterations, residual {self.residual:.1e}'


class Result:
    """What a solve found.

    x              the solution, where b was
    converged      whether x meets the tolerance; it is computed from x
    reason         why the solve ended, such as 'converged'
    message        the same in one line, with the row, column or number concerned
    residual       ||b - A x|| / ||b||, computed from x; for least squares ||A^T (b - A x)|| / ||A^T b||
    iterations     iterations that contributed to x
    seconds        wall-clock time of the call
    seconds_setup  time of the preconditioner's last set-up
    method         'cg', 'minres', ...
    preconditioner 'amg', 'jacobi', ...; `choice` says why auto chose it
    precision      'single', 'mixed' or 'double', at the end
    history        a number for each iteration, of the method's own measure, relative to the start
    stages         the stages of method 'auto'
    attainable_residual  the smallest residual that the precision can reach, estimated
    """

    x: Any = None
    converged = False
    reason = ''
    message = ''
    residual = math.nan
    iterations = 0
    seconds = 0.0
    seconds_setup = 0.0
    method = ''
    preconditioner = ''
    choice = ''
    precision = ''
    history: Sequence[float] = ()
    stages: Sequence[Stage] = ()
    attainable_residual = math.nan
    code = 0
    backend = ''

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        text = self.message or self.reason
        return (f'<texsolve.Result: {text}; {self.method} with {self.preconditioner}, {self.iterations} iterations, residual '
                f'{self.residual:.1e}, {self.seconds:.3g} s>')

    def _rows(self) -> list[tuple[str, str]]:
        rows = [('converged', 'yes' if self.converged else 'no'), ('reason', self.message or self.reason),
                ('residual', f'{self.residual:.2e}'), ('iterations', str(self.iterations)), ('seconds', f'{self.seconds:.3g}'),
                ('method', self.method), ('preconditioner', self.preconditioner), ('precision', self.precision),
                ('backend', self.backend)]
        if len(self.stages) > 1:
            rows.append(('stages', '; '.join(map(repr, self.stages))))
        return rows

    def _repr_html_(self) -> str:
        return table(self._rows()) + curve(self.history)


def table(rows: Sequence[tuple[str, ...]], head: Sequence[str] = ()) -> str:
    """An HTML table of texts."""
    import html

    def row(cells: Sequence[str], tag: str) -> str:
        return '<tr>' + ''.join(f'<{tag} style="text-align:left">{html.escape(cell)}</{tag}>' for cell in cells) + '</tr>'
    return '<table>' + (row(head, 'th') if head else '') + ''.join(row(cells, 'td') for cells in rows) + '</table>'


def curve(history: Sequence[float], width: int = 420, height: int = 160) -> str:
    """The history as SVG: the number of each iteration on a logarithmic scale."""
    points = [(i + 1, math.log10(value)) for i, value in enumerate(history) if 0 < value < math.inf]
    if len(points) < 2:
        return ''
    left, right, top, bottom = 44, width - 8, 8, height - 24
    low, high = math.floor(min(y for _, y in points)), math.ceil(max(y for _, y in points))
    high = max(high, low + 1)
    last = max(x for x, _ in points)

    def at(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * x / last, top + (bottom - top) * (high - y) / (high - low)

    step = max(1, len(points) // 400)
    line = ' '.join(f'{x:.1f},{y:.1f}' for x, y in (at(*point) for point in points[::step] + points[-1:]))
    marks = ''
    for exponent in range(low, high + 1, max(1, (high - low) // 4)):
        y = at(0, exponent)[1]
        marks += (f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                  f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">1e{exponent}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-size="11" '
            f'font-family="sans-serif" role="img" aria-label="residual of each iteration">{marks}'
            f'<polyline fill="none" stroke="#1f77b4" stroke-width="1.5" points="{line}"/>'
            f'<text x="{right}" y="{height - 6}" text-anchor="end">iteration {last}</text></svg>')
