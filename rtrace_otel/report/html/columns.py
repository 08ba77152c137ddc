"""Columns of numbers and texts, packed so that a browser unpacks them fast and they take little room.

A packed table is a gzip of: the length of a JSON header (4 bytes, little-endian), the header, then the columns one
after the other. Numbers of a column lie in byte planes (all lowest bytes, then all second bytes, ...), because
neighbours differ little and gzip finds that. ``assets/columns.js`` unpacks it.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import struct
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rtrace_otel.analysis.checked import number

_WIDTHS: Final = {1: "B", 2: "H", 4: "I"}
_MAX_STORED: Final = 2**32 - 2
_MAX_EXACT: Final = 2**53
"""Larger whole numbers are not exact in a browser."""


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """A column as bytes, and how to read them.

    Attributes:
        header: JSON values: ``kind`` (``steps``, ``floats`` or ``texts``) and what it needs.
        planes: The bytes.
        rows: How many values.
        part: Packs some of the values as a column of their own.
    """

    header: Mapping[str, Any]
    planes: bytes
    rows: int
    part: Callable[[slice], PackedColumn]


Columns: TypeAlias = Mapping[str, PackedColumn]


def numbers(values: Sequence[float | None], unit: float = 1.0) -> PackedColumn:
    """A column of numbers in whole multiples of a unit; the browser sees NaN for ``None``.

    Args:
        values: What to store; what is not finite is unknown.
        unit: Accuracy: 1 for whole numbers, 0.001 for times in milliseconds. A range of more than four billion units
            is stored as floats instead.
    """
    places = [_place(value, unit) for value in values]
    known = [place for place in places if place is not None]
    low, high = (min(known), max(known)) if known else (0, 0)
    if high - low > _MAX_STORED or max(abs(low), abs(high)) > _MAX_EXACT:
        return floats(values)
    width = next(width for width in _WIDTHS if high - low + 1 < 256**width)
    stored = array(_WIDTHS[width], (0 if place is None else place - low + 1 for place in places))
    return PackedColumn(
        {"kind": "steps", "base": low, "unit": unit, "width": width},
        _planes(stored, width),
        len(values),
        lambda some: numbers(values[some], unit),
    )


def floats(values: Sequence[float | None]) -> PackedColumn:
    """A column of numbers as they are (64 bits); the browser sees NaN for ``None``."""
    stored = array("d", (math.nan if (known := number(value)) is None else known for value in values))
    return PackedColumn(
        {"kind": "floats", "width": 8}, _planes(stored, 8), len(values), lambda some: floats(values[some])
    )


def texts(values: Sequence[str | None], show: Callable[[str], str] = str) -> PackedColumn:
    """A column of texts as a table of the different ones; the browser sees ``null`` for ``None``.

    Args:
        values: What to store.
        show: Applied to each different text once.
    """
    places: dict[str, int] = {}
    stored = array("I", (0 if value is None else places.setdefault(value, len(places)) + 1 for value in values))
    width = next(width for width in _WIDTHS if len(places) < 256**width)
    return PackedColumn(
        {"kind": "texts", "width": width, "texts": [show(text) for text in places]},
        _planes(array(_WIDTHS[width], stored), width),
        len(values),
        lambda some: texts(values[some], show),
    )


def pack(columns: Columns) -> str:
    """A table of columns of the same length, as base64 of a gzip.

    Raises:
        ValueError: The columns have different lengths.
    """
    rows = {column.rows for column in columns.values()}
    if len(rows) > 1:
        raise ValueError(f"columns must have the same length: { {name: c.rows for name, c in columns.items()} }")
    header = {
        "rows": max(rows, default=0),
        "columns": [{"name": name, **column.header} for name, column in columns.items()],
    }
    return _compressed(_with_header(header, b"".join(column.planes for column in columns.values())))


def pack_json(value: Any) -> str:
    """A JSON value as base64 of a gzip."""
    return _compressed(_json(value))


def _with_header(header: Any, body: bytes) -> bytes:
    text = _json(header)
    return struct.pack("<I", len(text)) + text + body


def _json(value: Any) -> bytes:
    # What is no number for JavaScript must not get here: a page that cannot be parsed shows nothing at all.
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _compressed(data: bytes) -> str:
    # No time stamp: the same trace gives the same page.
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")


def _place(value: float | None, unit: float) -> int | None:
    known = number(value)
    if known is None:
        return None
    # Beyond that the column is stored as floats whatever its unit, and dividing could overflow.
    return round(known) if abs(known) > _MAX_EXACT else round(known / unit)


def _planes(stored: array[Any], width: int) -> bytes:
    if stored.itemsize != width:
        raise ValueError(f"expected items of {width} bytes, found {stored.itemsize}")
    if sys.byteorder == "big":
        stored.byteswap()
    data = stored.tobytes()
    return b"".join(data[place::width] for place in range(width))
