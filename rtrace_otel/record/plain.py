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
import uuid
from collections.abc import Mapping
from typing import Any, Final

MAX_DEPTH: Final = 16
MAX_REPR: Final = 200
MAX_ARRAY: Final = 4096
MAX_BITS: Final = 14_000
"""A longer integer has more than the 4,300 digits that Python is willing to print or parse."""


def to_plain(value: Any, depth: int = 0) -> Any:
    """Turn a value into JSON types.

    Args:
        value: Anything.
        depth: How deep the value lies in the row; below ``MAX_DEPTH`` it is clipped (cycles end there).

    Returns:
        ``str``, ``int``, ``float`` (finite), ``bool``, ``None``, or a list or dict of these. NaN and the infinities
        are the strings ``NaN``, ``Infinity`` and ``-Infinity``.
    """
    try:
        return _to_plain(value, depth)
    except BaseException:  # a foreign __str__, item() or iteration may raise anything, CancelledError included
        return clipped_repr(value)


def to_id(value: Any) -> Any:
    """Turn an id of any type into a string; ``None`` stays ``None``."""
    plain = to_plain(value)
    return plain if plain is None or isinstance(plain, str) else clipped_repr(plain)


def clipped_repr(value: Any) -> str:
    """``repr`` of a value, clipped to ``MAX_REPR`` characters; says so where even that fails."""
    try:
        text = repr(value)
    except BaseException:  # a foreign __repr__ may raise anything
        return f"<{type(value).__name__} without repr>"
    return text if len(text) <= MAX_REPR else text[: MAX_REPR - 3] + "..."


def _to_plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if value.bit_length() <= MAX_BITS else f"<integer of {value.bit_length()} bits>"
    if kind is float:
        return value if math.isfinite(value) else _NON_FINITE[repr(value)]
    if depth >= MAX_DEPTH:
        return clipped_repr(value)
    if kind is list or kind is tuple:
        return [to_plain(item, depth + 1) for item in value]
    if kind is dict:
        return {_key(key): to_plain(item, depth + 1) for key, item in value.items()}
    return _uncommon(value, depth)


_NON_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _key(key: Any) -> str:
    plain = key if type(key) is str else to_plain(key)
    return plain if type(plain) is str else str(plain)


def _uncommon(value: Any, depth: int) -> Any:
    for kind, convert in _BY_TYPE:
        if isinstance(value, kind):
            return convert(value, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name), depth + 1) for f in dataclasses.fields(value)}
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array(value, depth)
    return clipped_repr(value)


def _array(value: Any, depth: int) -> Any:
    """Values of numpy and torch, recognised by their shape so that neither library is imported."""
    if tuple(value.shape) == ():
        item = value.item()
        return to_plain(float(item) if type(item) is type(value) else item, depth + 1)  # longdouble is its own item
    return to_plain(value.tolist(), depth + 1) if math.prod(value.shape) <= MAX_ARRAY else clipped_repr(value)


def _members(value: Any, depth: int) -> list[Any]:
    """A set in a stable order, so that equal rows are equal bytes."""
    items = [to_plain(item, depth + 1) for item in value]
    return sorted(items, key=lambda item: (type(item).__name__, str(item)))


_BY_TYPE: Final = (
    (enum.Enum, lambda value, depth: to_plain(value.value, depth + 1)),
    (str, lambda value, _: str.__str__(value)),
    (bool, lambda value, _: bool(value)),
    (int, lambda value, _: int.__int__(value)),
    (float, lambda value, depth: _to_plain(float.__float__(value), depth)),
    (uuid.UUID, lambda value, _: str(value)),
    (os.PathLike, lambda value, depth: to_plain(os.fspath(value), depth + 1)),
    (datetime.timedelta, lambda value, _: value.total_seconds()),
    ((datetime.date, datetime.time), lambda value, _: value.isoformat()),
    (decimal.Decimal, lambda value, _: str(value)),
    ((bytes, bytearray, memoryview), lambda value, _: bytes(value).decode("utf-8", "replace")),
    ((set, frozenset), _members),
    ((list, tuple), lambda value, depth: [to_plain(item, depth + 1) for item in value]),
    (Mapping, lambda value, depth: {_key(key): to_plain(item, depth + 1) for key, item in value.items()}),
)
