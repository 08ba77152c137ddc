"""Numbers that a row may hold, checked: a file can hold anything."""

from __future__ import annotations

import math
from typing import Final

MAX_TIME_S: Final = 253_402_300_800
"""The year 10000."""

MAX_SECONDS: Final = 1e9
"""Longer durations are no durations."""

MAX_TOKENS: Final = 10**15
"""More tokens in one count are no tokens."""


def moment_of(t: object) -> float | None:
    """A time that a clock can have shown, in Unix seconds; ``None`` for anything else."""
    if isinstance(t, bool) or not isinstance(t, (int, float)):
        return None
    return float(t) if 0 <= t < MAX_TIME_S else None


def seconds_of(value: object) -> float | None:
    """A duration in seconds, or ``None``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and 0 <= value < MAX_SECONDS else None


def tokens_of(value: object) -> int | None:
    """A number of tokens, or ``None``."""
    return value if type(value) is int and 0 <= value < MAX_TOKENS else None
