"""Several analyses in one pass: each is given the rows of the events that it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from rtrace_otel.analysis.reading.narrowing import only
from rtrace_otel.events import Row

Take: TypeAlias = Callable[[Row], object]


@dataclass(frozen=True, slots=True)
class Part:
    """What takes part in a pass.

    Attributes:
        take: Called with each row in file order, as the ``add`` of a fold.
        events: The events that it needs; ``None`` for all.
    """

    take: Take
    events: Collection[str] | None = None


def together(events: Iterable[Row], *parts: Part) -> None:
    """Give every row of a source to those that need it, in one pass.

    Args:
        events: Rows in file order. A reader passes over events that nobody needs.
        parts: Who takes part, in the order in which each row goes round.
    """
    needed = [part.events for part in parts]
    named = {event for found in needed if found is not None for event in found}
    for_all = tuple(part.take for part in parts if part.events is None)
    takers = {
        event: tuple(part.take for part in parts if part.events is None or event in part.events) for event in named
    }
    for row in events if for_all else only(events, named):
        for take in takers.get(row.get("event", ""), for_all):
            take(row)
