"""Fields of a row as the rules take them: checked, or ``None``. Rows come from files that can be damaged."""

from __future__ import annotations

from typing import Any, Final

from rtrace_otel.events import Row

MAX_WHOLE: Final = 10**15
"""Larger tokens, versions and steps are none."""

MAX_ID: Final = 60
"""Characters of an id that a message repeats."""


def whole(value: Any) -> int | None:
    """A count, step or version: an int from 0 that can have been counted; ``None`` for anything else."""
    return value if type(value) is int and 0 <= value < MAX_WHOLE else None


def identity(row: Row, field: str) -> str | None:
    """The id in a field, as text; ``None`` if the row has none."""
    value = row.get(field)
    if type(value) is str:  # nearly every row
        return value
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def identities(value: Any) -> list[str]:
    """The ids in a list; a field that is no list has none."""
    if not isinstance(value, (list, tuple)):
        return []
    return [str(item) for item in value if isinstance(item, (str, int)) and not isinstance(item, bool)]


def named(text: object) -> str:
    """A text of the file as a message repeats it: a very long one is cut."""
    shown = str(text)
    return shown if len(shown) <= MAX_ID else shown[: MAX_ID - 3] + "..."
