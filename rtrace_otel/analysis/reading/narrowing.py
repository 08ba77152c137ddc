"""Reading only the events that a question needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

from rtrace_otel.events import Row

Shaped = TypeVar("Shaped")


@runtime_checkable
class Narrowable(Protocol):
    """A source of rows that can pass over events which nobody asked for, at less cost than giving them."""

    def only(self, events: Collection[str]) -> Iterator[Row]:
        """The rows of these events, in file order."""

    def shaped(self, decoder: msgspec.json.Decoder[Any], events: Collection[str]) -> Iterator[Any]:
        """The same, as the decoder gives them where it can, else as dicts."""


def only(events: Iterable[Row], names: Collection[str]) -> Iterable[Row]:
    """Rows for a question that needs some events only.

    Args:
        events: Rows in file order; a reader passes over the other events, any other iterable gives them all.
        names: The events that the question needs.
    """
    return events.only(names) if isinstance(events, Narrowable) else events


def shaped(
    events: Iterable[Row], decoder: msgspec.json.Decoder[Shaped], names: Collection[str]
) -> Iterable[Row | Shaped]:
    """Rows for a question that needs some fields of some events only.

    Args:
        events: As for :func:`only`; only a reader gives structs.
        decoder: See :mod:`rtrace_otel.analysis.reading.shapes`.
        names: The events that the question needs.
    """
    return events.shaped(decoder, names) if isinstance(events, Narrowable) else events
