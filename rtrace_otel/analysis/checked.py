"""Values from rows that may be damaged: each is what it should be, or ``None``."""

from __future__ import annotations

import math
from typing import Any, Final

from rtrace_otel.events import Row

MAX_TIME_S: Final = 253_402_300_800
"""The year 10000."""

MAX_INT: Final = 2**63
"""No count, step or version is as large; what is would not survive a trip through other tools."""


def time_of(row: Row) -> float | None:
    """When the row happened, in Unix seconds; ``None`` if that is no time that a clock can have shown."""
    t = row.get("t")
    if type(t) is float and 0 <= t < MAX_TIME_S:  # nearly every row, without another call
        return t
    return duration(t)


def duration(value: Any) -> float | None:
    """A number of seconds from 0 up to the year 10000, or ``None``."""
    if type(value) is float:
        return value if 0 <= value < MAX_TIME_S else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < MAX_TIME_S else None


def between(start: float | None, end: float | None) -> float | None:
    """Seconds from one moment to another; ``None`` if one is unknown or the clocks say that the end came first."""
    return None if start is None or end is None or end < start else end - start


def integer(value: Any) -> int | None:
    """A whole number of at most 63 bits, or ``None``; a truth value is none."""
    return value if type(value) is int and -MAX_INT < value < MAX_INT else None


def amount(value: Any) -> int | None:
    """A whole number that is not negative, or ``None``."""
    return value if type(value) is int and 0 <= value < MAX_INT else None


def number(value: Any) -> float | None:
    """A finite number, or ``None``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def name(value: Any) -> str | None:
    """An id or a reason as text; ``None`` stays ``None``."""
    return None if value is None else str(value)


def names(value: Any) -> list[str]:
    """A list of ids as texts, each once; empty for what is no list."""
    return list(dict.fromkeys(map(str, value))) if isinstance(value, (list, tuple)) else []
