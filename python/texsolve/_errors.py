"""Exceptions and warnings. Each exception has the library's message, which names the argument and its value."""
from __future__ import annotations

from typing import Any

from . import _declarations as d


class Error(Exception):
    """The base of all exceptions of the library. `status` is the ts_status."""

    status = 0


class InvalidArgumentError(Error, ValueError):
    """An argument is invalid; the message names it."""


class IncompatibleError(Error, ValueError):
    """Objects do not belong together, or have different sizes."""


class OutOfMemoryError(Error, MemoryError):
    """The host or the device has too little memory."""


class UnavailableError(Error, RuntimeError):
    """A backend, a device or a function is missing in this build or on this machine."""


class UnsupportedError(Error, NotImplementedError):
    """The backend does not support the request."""


class LimitError(Error, ValueError):
    """A limit of the device or of 32-bit indices is exceeded."""


class DeviceError(Error, RuntimeError):
    """The device, its driver or a shader failed."""


class LibraryError(ImportError):
    """The shared library was not found, or is of another version than the package."""


class ConvergenceWarning(UserWarning):
    """A solve ended without reaching its tolerance."""


class PerformanceWarning(UserWarning):
    """A request works, but slowly: a function of Python runs in each iteration."""


CLASSES: dict[int, type[Error]] = {
    d.TS_ERROR_INVALID_ARGUMENT: InvalidArgumentError,
    d.TS_ERROR_OUT_OF_HOST_MEMORY: OutOfMemoryError,
    d.TS_ERROR_OUT_OF_DEVICE_MEMORY: OutOfMemoryError,
    d.TS_ERROR_UNAVAILABLE: UnavailableError,
    d.TS_ERROR_UNSUPPORTED: UnsupportedError,
    d.TS_ERROR_LIMIT: LimitError,
    d.TS_ERROR_INCOMPATIBLE: IncompatibleError,
    d.TS_ERROR_SHADER: DeviceError,
    d.TS_ERROR_DEVICE: DeviceError,
    d.TS_ERROR_UNREACHABLE: DeviceError,
}


def error_of(status: int, message: Any) -> Error:
    """The exception of a status."""
    text = message.decode('utf-8', 'replace') if isinstance(message, bytes) else str(message or '')
    error = CLASSES.get(status, Error)(text or f'status {status}')
    error.status = status
    return error
