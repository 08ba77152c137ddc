"""How the values of metrics with different units are shown in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rtrace_otel.report.numbers import age, count, decimal, seconds

_SHOWS: Final[Mapping[str, Callable[[float], str]]] = {
    "s": seconds,
    "attempt-seconds": seconds,
    "versions": lambda value: count(value) if isinstance(value, int) else age(value),
    "share": lambda value: f"{decimal(100 * value)} %",
    "tokens/s": decimal,
}


def shown(value: float | None, unit: str) -> str:
    """A value in its unit; ``-`` for none.

    Args:
        value: The value.
        unit: ``s``, ``attempt-seconds``, ``versions``, ``share``, ``tokens/s``, or of something that is counted.
    """
    if value is None:
        return "-"
    if unit in _SHOWS:
        return _SHOWS[unit](value)
    return count(int(value)) if float(value).is_integer() else decimal(value)


def shown_difference(value: float | None, unit: str) -> str:
    """A difference of two values in their unit, with its sign; shares differ by percentage points."""
    if value is None:
        return "-"
    text = shown(abs(value), unit)
    if unit == "share":
        text = text.replace("%", "points")
    return f"{'-' if value < 0 else '+' if value else ''}{text}"
