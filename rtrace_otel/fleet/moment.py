"""Points in time as people type them: a date, a date with a time, or an age."""

from __future__ import annotations

import datetime
import re
from typing import Final

from rtrace_otel.errors import RTraceError

_SECONDS: Final = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_AGE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([mhdw])", re.ASCII)


class MomentError(RTraceError):
    """A text is no point in time."""

    exit_code = 2


def moment_of(text: str, now: float) -> float:
    """The point in time, in Unix seconds.

    Args:
        text: ``2026-11-30``, ``2026-11-30T08:00`` (UTC unless it has an offset), or an age: ``90m``, ``24h``, ``7d``,
            ``2w``.
        now: What an age counts from, in Unix seconds.

    Raises:
        MomentError: It is neither.
    """
    age = _AGE.fullmatch(text.strip())
    if age is not None:
        return now - float(age[1]) * _SECONDS[age[2]]
    try:
        moment = datetime.datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
    except (ValueError, OverflowError):
        raise MomentError(f"--since: {text!r} is neither a date such as 2026-11-30 nor an age such as 7d") from None
