"""Reading only the events that a question needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol, runtime_checkable

from rtrace_otel.events import Row


@runtime_checkable
class Narrowable(Protocol):
    """A source of rows that can pass over events which nobody asked for, at less cost than giving them."""

    def only(self, events: Collection[str]) -> Iterator[Row]:
        """The rows of these events, in file order."""


def only(events: Iterable[Row], names: Collection[str]) -> Iterable[Row]:
    """Rows for a question that needs some events only.

    Args:
        events: Rows in file order; a reader passes over the other events, any other iterable gives them all.
        names: The events that the question needs.
    """
    return events.only(names) if isinstance(events, Narrowable) else events
