"""Any Python value in its natural JSON form, without ever raising.

It runs on the batch worker. A value that has no JSON form becomes a clipped ``repr``; one odd value never costs
its row.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import math
import os
import reprlib
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

MAX_DEPTH: Final = 16
MAX_REPR: Final = 200
MAX_ARRAY: Final = 4096
MAX_NODES: Final = 200_000
MAX_BITS: Final = 14_000
"""A longer integer has more than the 4,300 digits that Python is willing to print or parse."""


def to_plain(value: Any) -> Any:
    """Turn a value into JSON types.

    Args:
        value: Anything. What is deeper than ``MAX_DEPTH`` or beyond ``MAX_NODES`` values is clipped; cycles end there.

    Returns:
        ``str``, ``int``, ``float`` (finite), ``bool``, ``None``, or a list or dict of these. NaN and the infinities
        are the strings ``NaN``, ``Infinity`` and ``-Infinity``.
    """
    return _Plainer().plain(value, 0)


def to_id(value: Any) -> Any:
    """Turn an id of any type into a string; ``None`` stays ``None``."""
    plain = to_plain(value)
    return plain if plain is None or isinstance(plain, str) else clipped_repr(plain)


def clipped_repr(value: Any) -> str:
    """``repr`` of a value, clipped to ``MAX_REPR`` characters; says so where even that fails."""
    try:
        text = _short.repr(value)
    except BaseException:  # a foreign __repr__ may raise anything
        return f"<{type(value).__name__} without repr>"
    return text if len(text) <= MAX_REPR else text[: MAX_REPR - 3] + "..."


class _Short(reprlib.Repr):
    """Looks into a container only so far: one that holds itself twice has a ``repr`` without end."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxstring = self.maxother = self.maxlong = MAX_REPR


_short = _Short()


class _Plainer:
    """Makes one value plain, with a budget for the values within it."""

    def __init__(self) -> None:
        self._left = MAX_NODES

    def plain(self, value: Any, depth: int) -> Any:
        self._left -= 1
        try:
            return self._plain(value, depth)
        except BaseException:  # a foreign __str__, item() or iteration may raise anything, CancelledError included
            return clipped_repr(value)

    def _plain(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return value if value.bit_length() <= MAX_BITS else f"<integer of {value.bit_length()} bits>"
        if kind is float:
            return value if math.isfinite(value) else _NON_FINITE[repr(value)]
        if depth >= MAX_DEPTH or self._left < 0:
            return clipped_repr(value)
        if kind is list or kind is tuple:
            return [self.plain(item, depth + 1) for item in value]
        if kind is dict:
            return {self._key(key): self.plain(item, depth + 1) for key, item in value.items()}
        return self._uncommon(value, depth)

    def _key(self, key: Any) -> str:
        plain = key if type(key) is str else self.plain(key, MAX_DEPTH - 1)
        return plain if type(plain) is str else str(plain)

    def _uncommon(self, value: Any, depth: int) -> Any:
        for kind, convert in _SCALARS:
            if isinstance(value, kind):
                return self.plain(convert(value), depth)
        if isinstance(value, (set, frozenset)):
            return self._members(value, depth)
        if isinstance(value, (list, tuple)):
            return [self.plain(item, depth + 1) for item in value]
        if isinstance(value, Mapping):
            return {self._key(key): self.plain(item, depth + 1) for key, item in value.items()}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: self.plain(getattr(value, f.name), depth + 1) for f in dataclasses.fields(value)}
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return self._array(value, depth)
        return clipped_repr(value)

    def _array(self, value: Any, depth: int) -> Any:
        """Values of numpy and torch, recognised by their shape so that neither library is imported."""
        if tuple(value.shape) == ():
            item = value.item()
            return self.plain(
                float(item) if type(item) is type(value) else item, depth + 1
            )  # longdouble is its own item
        return self.plain(value.tolist(), depth + 1) if math.prod(value.shape) <= MAX_ARRAY else clipped_repr(value)

    def _members(self, value: Any, depth: int) -> list[Any]:
        """A set in a stable order, so that equal rows are equal bytes."""
        items = [self.plain(item, depth + 1) for item in value]
        return sorted(items, key=lambda item: (type(item).__name__, str(item)))


_NON_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_SCALARS: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (enum.Enum, lambda value: value.value),
    (str, str.__str__),
    (bool, bool),
    (int, int.__int__),
    (float, float.__float__),
    (uuid.UUID, str),
    (os.PathLike, os.fspath),
    (datetime.timedelta, datetime.timedelta.total_seconds),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (decimal.Decimal, str),
    ((bytes, bytearray, memoryview), lambda value: bytes(value).decode("utf-8", "replace")),
)
"""Types with one natural form; the first that fits wins."""
