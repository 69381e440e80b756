"""Fluid flow in two dimensions (texsolve/fluid.h)."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

import numpy as np

from . import _arrays as arrays
from . import _declarations as d
from ._context import Context, Handle, context_for
from ._library import describe, lib, value_of

_SIDES = ('left', 'right', 'bottom', 'top')
_PARAMETERS = ('time_step', 'viscosity', 'buoyancy', 'smoke_weight', 'vorticity_confinement', 'dye_decay', 'temperature_decay')


def _boundary(name: str, given: Any) -> Any:
    """A boundary by its kind, such as 'outlet', or a wall with its velocity, such as ('wall', 1.0, 0.0)."""
    parts = (given,) if isinstance(given, str) else tuple(given)
    boundary = d.ts_fluid_boundary(kind=value_of('fluid_boundary', parts[0], name))
    if len(parts) == 3:
        boundary.velocity[:] = [float(parts[1]), float(parts[2])]
    elif len(parts) != 1:
        raise ValueError(f'{name} is {given!r}; expected a kind, or (kind, horizontal velocity, vertical velocity)')
    return boundary


class Source:
    """Sets dye, temperature or velocity in a disc, or in a rectangle if `half_height` is given, in each step."""

    def __init__(self, x: float, y: float, half_width: float, half_height: float = 0.0, *, dye: Sequence[float] | None = None,
                 temperature: float | None = None, velocity: Sequence[float] | None = None) -> None:
        self.struct = d.ts_fluid_source(x=x, y=y, half_width=half_width, half_height=half_height)
        if dye is not None:
            self.struct.dye[:] = [float(part) for part in dye]
            self.struct.sets_dye = 1
        if temperature is not None:
            self.struct.temperature, self.struct.sets_temperature = temperature, 1
        if velocity is not None:
            self.struct.velocity[:] = [float(part) for part in velocity]
            self.struct.sets_velocity = 1


class Fluid:
    """A fluid in a rectangle of width x height cells. Arrays of fields have the shape (height, width, components), row 0 at the
    bottom.

    fluid = texsolve.Fluid(128, 128, buoyancy=2.0)
    fluid.sources = [texsolve.Source(0.5, 0.1, 0.05, dye=(1, 1, 1), temperature=1)]
    fluid.step(60)
    picture = fluid.dye
    """

    def __init__(self, width: int, height: int, *, cell_size: float = 0.0, left: Any = 'wall', right: Any = 'wall',
                 bottom: Any = 'wall', top: Any = 'wall', solid: Any = None, layout: str = 'staggered', backend: str = 'auto',
                 threads: int = 0, context: Context | None = None, **parameters: Any) -> None:
        layouts = {'staggered': d.TS_FLUID_LAYOUT_STAGGERED, 'collocated': d.TS_FLUID_LAYOUT_COLLOCATED}
        if layout not in layouts:
            raise ValueError(f'layout is {layout!r}; it must be one of {", ".join(map(repr, layouts))}')
        numbers = self._set(self._defaults(), parameters)
        desc = d.ts_fluid_desc(layout=layouts[layout], parameters=ctypes.pointer(numbers))
        describe(desc, width=width, height=height, cell_size=cell_size)
        for name, given in zip(_SIDES, (left, right, bottom, top)):
            setattr(desc, name, _boundary(name, given))
        self.width, self.height = width, height
        flags = self._flags(solid)
        if flags is not None:
            desc.solid = flags.ctypes.data_as(ctypes.POINTER(ctypes.c_ubyte))
        with context_for(None, backend, threads, context) as used:
            self._handle = Handle(used, 'ts_fluid_destroy', lib.ts_fluid_create, used.pointer, ctypes.byref(desc))
        self.time = 0.0
        self.steps = 0

    def __repr__(self) -> str:
        return (f'<texsolve.Fluid of {self.width} x {self.height} cells on {self.context.backend}: {self.steps} steps, '
                f'{self.time:.3g} s>')

    @property
    def context(self) -> Context:
        return self._handle.context

    @staticmethod
    def _defaults() -> Any:
        numbers = d.ts_fluid_parameters()
        lib.ts_fluid_default_parameters(ctypes.byref(numbers))
        return numbers

    @staticmethod
    def _set(numbers: Any, parameters: dict[str, Any]) -> Any:
        for name, value in parameters.items():
            if name == 'gravity':
                numbers.gravity[:] = [float(part) for part in value]
            elif name in _PARAMETERS:
                setattr(numbers, name, float(value))
            else:
                raise TypeError(f'unknown parameter {name!r}; the parameters are gravity, {", ".join(_PARAMETERS)}')
        return numbers

    def _flags(self, solid: Any) -> np.ndarray[Any, Any] | None:
        if solid is None:
            return None
        flags = np.ascontiguousarray(np.asarray(solid) != 0, np.uint8)
        if flags.shape != (self.height, self.width):
            raise ValueError(f'solid has shape {flags.shape}; expected ({self.height}, {self.width})')
        return flags

    def set_parameters(self, **parameters: Any) -> None:
        """Changes parameters of later steps: time_step, viscosity, buoyancy, ..., as in ts_fluid_parameters."""
        numbers = d.ts_fluid_parameters()
        with self.context.calls(stops=False) as context:
            context.check(lib.ts_fluid_get_parameters(self._handle.pointer, ctypes.byref(numbers)))
            self._set(numbers, parameters)
            context.check(lib.ts_fluid_set_parameters(self._handle.pointer, ctypes.byref(numbers)))

    def set_walls(self, solid: Any) -> None:
        """Replaces the solid cells: (height, width) flags; None: no walls."""
        flags = self._flags(solid)
        pointer = None if flags is None else flags.ctypes.data_as(ctypes.POINTER(ctypes.c_ubyte))
        with self.context.calls(stops=False) as context:
            context.check(lib.ts_fluid_set_walls(self._handle.pointer, pointer, None))

    def set_sources(self, sources: Sequence[Source]) -> None:
        """Replaces the sources."""
        structs = (d.ts_fluid_source * max(len(sources), 1))(*[source.struct for source in sources])
        with self.context.calls(stops=False) as context:
            context.check(lib.ts_fluid_set_sources(self._handle.pointer, structs, len(sources)))

    sources = property(None, set_sources)

    def splat(self, x: float, y: float, radius: float, *, velocity: Sequence[float] = (0, 0), dye: Sequence[float] = (0, 0, 0),
              temperature: float = 0.0) -> None:
        """Adds a Gaussian to the fields."""
        with self.context.calls(stops=False) as context:
            context.check(lib.ts_fluid_splat(self._handle.pointer, x, y, radius, (ctypes.c_float * 2)(*velocity),
                                             (ctypes.c_float * 3)(*dye), temperature))

    def step(self, count: int = 1) -> None:
        """Makes steps of the time step."""
        result = d.ts_fluid_result()
        for _ in range(count):
            with self.context.calls(stops=False) as context:
                context.check(lib.ts_fluid_step(self._handle.pointer, 0, ctypes.byref(result)))
            self.time, self.steps = result.time, result.steps

    def measure(self) -> dict[str, float]:
        """Makes one step and measures its divergence, in 1/s, and the largest speed, in m/s."""
        result = d.ts_fluid_result()
        with self.context.calls(stops=False) as context:
            context.check(lib.ts_fluid_step(self._handle.pointer, d.TS_FLUID_MEASURE_DIVERGENCE, ctypes.byref(result)))
        self.time, self.steps = result.time, result.steps
        names = ('divergence_before', 'divergence_after', 'largest_before', 'largest_after', 'largest_speed')
        return {name: float(getattr(result, name)) for name in names}

    def reset(self) -> None:
        """Sets the fluid at rest, without dye."""
        with self.context.calls(stops=False) as context:
            context.check(lib.ts_fluid_reset(self._handle.pointer))
        self.time, self.steps = 0.0, 0

    def _field(self, name: str, width: int, height: int) -> np.ndarray[Any, Any]:
        with self.context.calls(stops=False) as context:
            vector = getattr(lib, f'ts_fluid_get_{name}')(self._handle.pointer)
            components = lib.ts_vector_get_components(vector)
            field = np.empty((height, width, components), np.float32)
            context.check(lib.ts_vector_read(vector, arrays.wrap(name, field).writable()))
        return field

    @property
    def velocity(self) -> np.ndarray[Any, Any]:
        """(height + 1, width + 1, 2), m/s. Staggered: on the left and on the lower face of each cell."""
        return self._field('velocity', self.width + 1, self.height + 1)

    @property
    def pressure(self) -> np.ndarray[Any, Any]:
        """(height, width), p / density in m^2/s^2."""
        return self._field('pressure', self.width, self.height)[..., 0]

    @property
    def dye(self) -> np.ndarray[Any, Any]:
        """(height, width, 3): red, green, blue."""
        return self._field('dye', self.width, self.height)[..., :3]

    @property
    def temperature(self) -> np.ndarray[Any, Any]:
        """(height, width)."""
        return self._field('dye', self.width, self.height)[..., 3]
