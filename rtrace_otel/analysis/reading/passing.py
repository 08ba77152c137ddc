"""Lines that cannot hold a row which is asked for: told without decoding them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from rtrace_otel.analysis.reading.dialect import may_stand_for
from rtrace_otel.events import EVENTS_BY_NAME

_FAMILIES: Final = ("attempt_", "group_")
"""How names of frequent events begin."""

_COMMON: Final = ("attempt_dispatched", "attempt_sealed", "attempt_abandoned", "group_admitted", "group_reserved")
"""The most frequent events, which are looked for first."""

_ALWAYS_READ: Final = frozenset({"run_started"})
"""Its ``from_spans`` decides how later rows of its run are read."""


class Passing:
    """Tells which lines to read for some events.

    A line is passed over if it begins with ``{"event":"NAME"``, where NAME is an event of the vocabulary that nobody
    asked for, and has no other brace that opens. Whatever damage it has, it holds at most one row, and that row's event
    is NAME: rows begin with a brace, and an object with two events is no row (see ``is_of_two``). The same holds of all
    names that begin as no event that is asked for does. To compare a line with two texts takes a third of the time
    of looking for its name among many, so most lines are told by that.

    Args:
        events: The events that are asked for.

    Attributes:
        wanted: How a line with a row of these events begins, as this package writes it.
    """

    def __init__(self, events: Collection[str]) -> None:
        """Prepare the beginnings of lines."""
        names = dict.fromkeys((*_COMMON, *EVENTS_BY_NAME))
        skipped = [name for name in names if name not in events and name not in _ALWAYS_READ]
        self.wanted = tuple(f'{{"event":"{name}"'.encode() for name in events)
        self._beginnings = tuple(f'{{"event":"{name}"'.encode() for name in skipped)
        self._family = _range_of(events)

    def read(self, lines: list[bytes]) -> list[bytes]:
        """Those of the lines that must be read."""
        if self._family is not None:
            first, behind = self._family
            lines = [line for line in lines if not first <= line < behind or line.rfind(b"{")]
        passed = self._beginnings
        return [line for line in lines if line.rfind(b"{") or not line.startswith(passed)]


def _range_of(events: Collection[str]) -> tuple[bytes, bytes] | None:
    """Between which texts lines begin with the names of a family of which nobody asked for any."""
    asked_for = {*events, *_ALWAYS_READ}
    for family in _FAMILIES:
        if not may_stand_for(family, asked_for):
            first = f'{{"event":"{family}'.encode()
            return first, first[:-1] + bytes([first[-1] + 1])
    return None
