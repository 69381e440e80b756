"""The shared library: found and opened at the first use.

The order: the file in TEXSOLVE_LIBRARY; libtexsolve.so next to this file, as a wheel has it; the system's.
"""
from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _declarations as d
from ._errors import LibraryError, UnavailableError

_SONAME = f'libtexsolve.so.{d.VERSION[0]}.{d.VERSION[1]}'


def _candidates() -> list[str]:
    given = os.environ.get('TEXSOLVE_LIBRARY')
    if given:
        return [given]
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, name) for name in (_SONAME, 'libtexsolve.so')]
    return [path for path in beside if os.path.exists(path)] or [_SONAME, 'libtexsolve.so']


def _open() -> ctypes.CDLL:
    reasons = []
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reasons.append(str(error))
    raise LibraryError(f'libtexsolve.so was not found: {"; ".join(reasons)}. Install the library, or set TEXSOLVE_LIBRARY '
                       f'to its file')


def _check_version(library: ctypes.CDLL) -> None:
    try:
        function = library.ts_version
    except AttributeError:
        raise LibraryError(f'{library._name} is not texsolve: it has no function ts_version') from None
    function.restype = ctypes.c_char_p
    version = (function() or b'').decode('ascii', 'replace')
    if version.split('.')[:2] != [str(part) for part in d.VERSION[:2]]:
        raise LibraryError(f'{library._name} has version {version}; this package needs {d.VERSION[0]}.{d.VERSION[1]}')


class Library:
    """The functions of the headers as attributes. Each gets its types when it is first used."""

    _opened: ctypes.CDLL | None = None

    def opened(self) -> ctypes.CDLL:
        if self._opened is None:
            library = _open()
            _check_version(library)
            self._opened = library
        return self._opened

    def __getattr__(self, name: str) -> Any:
        if name not in d.FUNCTIONS:
            raise AttributeError(name)
        try:
            function = getattr(self.opened(), name)
        except AttributeError:
            raise UnavailableError(f'{name} is not in this build of the library') from None
        function.restype, function.argtypes = d.FUNCTIONS[name]
        setattr(self, name, function)
        return function


lib: Any = Library()


_texts: dict[tuple[str, int], str] = {}


def text_of(name: str, value: int) -> str:
    """The text of an enumerator: text_of('method', 1) is 'cg'."""
    known = _texts.get((name, value))
    if known is not None:
        return known
    text: bytes | None = getattr(lib, f'ts_{name}_{"text" if name == "reason" else "name"}')(value)
    found = text.decode() if text else str(value)
    return _texts.setdefault((name, value), found)


def describe(desc: Any, **fields: Any) -> Any:
    """Sets fields of a struct. ctypes would cut off the upper bits of large integers."""
    for name, value in fields.items():
        try:
            setattr(desc, name, value)
        except TypeError:
            kind = 'an integer' if isinstance(value, float) else 'a number'
            raise TypeError(f'{name} is {value!r}; it must be {kind}') from None
        if isinstance(value, int) and getattr(desc, name) != value:
            raise ValueError(f'{name} is {value}, which is out of range')
    return desc


def encoded(argument: str, text: str) -> bytes:
    """The text for the library, which reads up to the first zero byte."""
    try:
        found = text.encode()
    except UnicodeEncodeError:
        found = b'\0'
    if b'\0' in found:
        raise ValueError(f'{argument} is {text!r}; it has a character that no name has')
    return found


# Preconditioners that need functions or spaces of the application.
_NOT_BY_NAME = {'preconditioner_kind': ('custom', 'multigrid')}


def value_of(name: str, text: Any, argument: str) -> int:
    """The enumerator with this text. `argument` is the caller's name for it."""
    hidden = _NOT_BY_NAME.get(name, ())
    if isinstance(text, str) and text not in hidden:
        value: int = getattr(lib, f'ts_{name}_from_name')(encoded(argument, text))
        if value >= 0:
            return value
    texts = [(getattr(lib, f'ts_{name}_name')(value) or b'').decode() for value in range(32)]
    known = ', '.join(repr(known) for known in texts if known and known not in hidden)
    error = ValueError if isinstance(text, str) else TypeError
    raise error(f'{argument} is {text!r}; it must be one of {known}')
