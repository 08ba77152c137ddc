"""Text on a terminal: how wide it is, and what of it fits."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

ELLIPSIS: Final = "\u2026"
_BLOCKS: Final = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_UNKNOWN: Final = "\u00b7"
_FAR: Final = 1e300


def cells(text: str) -> int:
    """Columns that a text takes: two for a wide character, none for one that is drawn over another."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def clipped(text: str, width: int) -> str:
    """The text, with its end left out if it is wider than this many columns."""
    if cells(text) <= width:
        return text
    kept, used = [], 1
    for character in text:
        used += _cells_of(character)
        if used > width:
            break
        kept.append(character)
    return ("".join(kept).rstrip() + ELLIPSIS)[: max(width, 0)]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to this many columns, at its right or, for numbers, at its left."""
    padding = " " * (width - cells(text))
    return padding + text if right else text + padding


def sparkline(values: Sequence[float | None]) -> str:
    """One character per value, higher for a greater one; a dot where there is none.

    The scale goes from the least value, or 0 if all are above it, to the greatest: a curve that is flat near the
    bottom is one of values near 0.
    """
    values = [None if value is None else max(-_FAR, min(value, _FAR)) for value in values]
    known = [value for value in values if value is not None]
    if not known:
        return _UNKNOWN * len(values)
    low, high = min(0.0, *known), max(0.0, *known)
    span = (high - low) or 1.0
    top = len(_BLOCKS) - 1
    return "".join(_UNKNOWN if value is None else _BLOCKS[round(top * (value - low) / span)] for value in values)
