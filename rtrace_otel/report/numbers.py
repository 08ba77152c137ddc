"""How numbers, times and ids are shown to people."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

SHORT_ID = 8


def count(value: int | None) -> str:
    """A whole number with thousands separated; ``-`` for none."""
    return "-" if value is None else f"{value:,}"


def age(value: float | None) -> str:
    """An age in versions."""
    return "-" if value is None else f"{value:.3f}"


def percent(value: float | None) -> str:
    """A share, in per cent."""
    return "-" if value is None else f"{100 * value:.0f} %"


def decimal(value: float | None) -> str:
    """A number with thousands separated and one decimal."""
    return "-" if value is None else f"{value:,.1f}"


def change(value: float | None) -> str:
    """A change, in per cent of what it was: ``+12.5 %``, ``-3.0 %``, ``0 %``."""
    return "-" if value is None else f"{100 * value:+,.1f} %" if value else "0 %"


def seconds(value: float | None) -> str:
    """A duration: ``20 ms``, ``1.3 s``, ``2 min 5 s``, ``3 h 12 min``."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return f"{value} s"
    if round(1000 * value) < 1000:
        return f"{1000 * value:.0f} ms"
    if round(value, 1) < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def moment(value: float | None) -> str:
    """A point in time, in UTC, to the second."""
    if value is None:
        return "-"
    try:
        return datetime.datetime.fromtimestamp(value, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return str(value)


def shortener(ids: Iterable[str]) -> Callable[[Any], str]:
    """A function that shows the head of an id, long enough to tell these ids apart; ``-`` for none."""
    names = sorted(set(ids))
    length = SHORT_ID
    for before, after in pairwise(names):
        common = next((place for place, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
        length = max(length, common + 1)
    return lambda value: "-" if value is None else str(value)[:length]


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """``1 step``, ``2 steps``."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listed(words: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def ranges(numbers: tuple[int, ...]) -> str:
    """``5``, ``5-7``, ``5-7 and 9`` of ascending numbers."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return listed([str(first) if first == last else f"{first}-{last}" for first, last in spans])
