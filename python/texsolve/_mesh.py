"""Triangle meshes: smoothing by mean-curvature flow (texsolve/mesh.h), and least-squares conformal maps."""
from __future__ import annotations

import ctypes
import warnings
from typing import Any

import numpy as np

from . import _arrays as arrays
from . import _declarations as d
from . import _matrix
from ._context import Context, Handle, context_for
from ._errors import ConvergenceWarning
from ._interrupts import Interrupts
from ._library import describe, lib, value_of
from ._solver import solve


def _mesh(vertices: Any, faces: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    points = arrays.as_numpy(arrays.floats('vertices', vertices))
    triangles = arrays.as_numpy(arrays.indices('faces', faces))
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 3:
        raise ValueError(f'vertices has shape {points.shape}; expected (n, 3) with at least 3 vertices')
    if triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) < 1:
        raise ValueError(f'faces has shape {triangles.shape}; expected (m, 3) with at least 1 triangle')
    if triangles.min() < 0 or triangles.max() >= len(points):
        bad = int(np.argmax(((triangles < 0) | (triangles >= len(points))).any(axis=1)))
        raise ValueError(f'faces[{bad}] is {triangles[bad].tolist()}; there are {len(points)} vertices')
    return points, np.ascontiguousarray(triangles, np.int32)


def smooth(vertices: Any, faces: Any, time_step: float | None = None, *, steps: int = 1, constrained: Any = None,
           boundary: str = 'fixed', preconditioner: str = 'auto', rtol: float = 1e-5, backend: str = 'auto', threads: int = 0,
           context: Context | None = None) -> np.ndarray[Any, Any]:
    """Moves the vertices by implicit mean-curvature flow and returns their new positions, float32 or float64 as they were.

    time_step    in squared units of the vertices. Default: the square of the mean edge's length
    constrained  (n,) flags: vertices that do not move
    boundary     'fixed', or 'flow': the boundary moves by its own curvature
    """
    points, triangles = _mesh(vertices, faces)
    if boundary not in ('fixed', 'flow'):
        raise ValueError(f'boundary is {boundary!r}; it must be \'fixed\' or \'flow\'')
    if not np.isfinite(points).all():
        raise ValueError('vertices has a NaN or an infinity')
    if time_step is None:
        corners = points[triangles]
        time_step = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean()) ** 2
    desc = d.ts_mesh_flow_desc(vertices=len(points), triangles=len(triangles),
                               triangle_vertices=triangles.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
                               boundary=d.TS_MESH_BOUNDARY_FLOW if boundary == 'flow' else d.TS_MESH_BOUNDARY_FIXED)
    describe(desc.solver, rtol=rtol)
    desc.solver.preconditioner_kind = value_of('preconditioner_kind', preconditioner, 'preconditioner')
    if constrained is not None:
        flags = np.ascontiguousarray(np.asarray(constrained) != 0, np.uint8)
        if flags.shape != (len(points),):
            raise ValueError(f'constrained has shape {flags.shape}; expected ({len(points)},)')
        desc.constrained = flags.ctypes.data_as(ctypes.POINTER(ctypes.c_ubyte))
    found = np.empty_like(points)
    with context_for(None, backend, threads, context, is_short=True) as used:
        flow = Handle(used, 'ts_mesh_flow_destroy', lib.ts_mesh_flow_create, used.pointer, ctypes.byref(desc))
        three = d.ts_vector_desc(components=3)
        x = Handle(used, 'ts_vector_destroy', lib.ts_vector_create, lib.ts_mesh_flow_get_space(flow.pointer),
                   ctypes.byref(three))
        used.check(lib.ts_vector_write(x.pointer, arrays.wrap('vertices', points)))
        result = d.ts_mesh_flow_result()
        for step in range(steps):
            if Interrupts.active is not None and Interrupts.active.error is not None:
                break
            if used.check(lib.ts_mesh_flow_step(flow.pointer, x.pointer, time_step, ctypes.byref(result))):
                warnings.warn(f'step {step}: {result.message.decode("utf-8", "replace")}', ConvergenceWarning, 2)
                break
        used.check(lib.ts_vector_read(x.pointer, arrays.wrap('x', found).writable()))
    return found


def _plane(points: np.ndarray[Any, Any], triangles: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """The corners of each triangle in its plane as complex numbers, and its area."""
    first, second, third = (points[triangles[:, k]].astype(np.float64) for k in range(3))
    edge, other = second - first, third - first
    length = np.linalg.norm(edge, axis=1)
    normal = np.linalg.norm(np.cross(edge, other), axis=1)
    bad = np.flatnonzero(~(normal > 0))
    if len(bad):
        raise ValueError(f'faces[{bad[0]}] has no area')
    along = (edge * other).sum(axis=1) / length
    corners = np.stack([np.zeros_like(length) + 0j, length + 0j, along + 1j * normal / length], axis=1)
    return corners, normal / 2


def _far_apart(points: np.ndarray[Any, Any], triangles: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Two vertices far from each other, on the boundary if there is one."""
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    rim = np.unique(unique[counts == 1])
    if len(rim) < 2:
        rim = np.unique(triangles)
    one = rim[np.argmax(np.linalg.norm(points[rim] - points[rim].mean(axis=0), axis=1))]
    two = rim[np.argmax(np.linalg.norm(points[rim] - points[one], axis=1))]
    return int(one), int(two)


def lscm(vertices: Any, faces: Any, pins: Any = None, *, rtol: float = 1e-8, backend: str = 'auto', threads: int = 0,
         context: Context | None = None) -> np.ndarray[Any, Any]:
    """Texture coordinates (n, 2) that preserve angles as well as possible: a least-squares conformal map (Levy, Petitjean, Ray
    and Maillot 2002).

    pins  {vertex: (u, v), ...}, at least two. Default: two vertices of the boundary that are far apart, at their distance. The
          mesh must be connected, with a boundary; vertices without triangles get NaN
    """
    points, triangles = _mesh(vertices, faces)
    if not np.isfinite(points).all():
        raise ValueError('vertices has a NaN or an infinity')
    corners, area = _plane(points, triangles)
    if pins is None:
        one, two = _far_apart(points, triangles)
        pins = {one: (0.0, 0.0), two: (float(np.linalg.norm(points[one] - points[two])), 0.0)}
    fixed = np.array(sorted(int(vertex) for vertex in pins), dtype=np.int64)
    if len(fixed) < 2 or fixed[0] < 0 or fixed[-1] >= len(points):
        raise ValueError(f'pins has the vertices {fixed.tolist()}; expected at least two of 0 to {len(points) - 1}')
    uv = np.full((len(points), 2), np.nan)
    uv[fixed] = [pins[int(vertex)] for vertex in fixed]
    # E is the sum over triangles of |W_1 U_1 + W_2 U_2 + W_3 U_3|^2 / (4 area) with the opposite edges W: a hermitian 3 x 3 block
    # of each triangle, as a real block of 6 x 6 in u and v.
    opposite = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)
    block = np.conj(opposite)[:, :, None] * opposite[:, None, :] / (4 * area)[:, None, None]
    unknown = np.full(len(points), -1, np.int64)
    used = np.setdiff1d(np.unique(triangles), fixed)
    if len(used) == 0:
        return uv
    unknown[used] = np.arange(len(used))
    row, column = np.broadcast_arrays(triangles[:, :, None], triangles[:, None, :])
    parts = [(0, 0, block.real), (0, 1, -block.imag), (1, 0, block.imag), (1, 1, block.real)]
    rows = np.concatenate([(2 * unknown[row] + i).ravel() for i, _, _ in parts])
    columns = np.concatenate([(2 * unknown[column] + j).ravel() for _, j, _ in parts])
    values = np.concatenate([part.ravel() for _, _, part in parts])
    is_free = np.concatenate([(unknown[row] >= 0).ravel()] * 4)
    is_known = np.concatenate([(unknown[column] < 0).ravel()] * 4)
    known = np.concatenate([uv[column, j].ravel() for _, j, _ in parts])
    moved = is_free & is_known
    b = np.bincount(rows[moved], -values[moved] * known[moved], 2 * len(used))
    both = is_free & ~is_known
    size = 2 * len(used)
    entries, places = np.unique(rows[both] * size + columns[both], return_inverse=True)
    sums = np.bincount(places, values[both])
    matrix = _matrix._triplets('A', (size, size), entries // size, entries % size, sums)
    result = solve(matrix, b, method='cg', rtol=rtol, backend=backend, threads=threads, context=context)
    uv[used] = result.x.reshape(-1, 2)
    return uv
