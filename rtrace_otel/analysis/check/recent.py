"""A mapping that keeps its latest entries only: what ended long ago is let go, so that memory stays flat."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

MAX_RECENT: Final = 50_000
"""Ended attempts and settled groups that are remembered: those of the last checkpoints, with room to spare."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """The latest entries by the time at which they were put.

    Args:
        limit: How many entries to keep.

    Attributes:
        dropped: Whether any entry was let go; then "not found" does not mean "never put".
    """

    def __init__(self, limit: int = MAX_RECENT) -> None:
        """Begin empty."""
        self._limit = limit
        self._entries: OrderedDict[_Key, _Value] = OrderedDict()
        self.dropped = False

    def __len__(self) -> int:
        """Entries kept."""
        return len(self._entries)

    def get(self, key: _Key) -> _Value | None:
        """The entry, if it is kept."""
        return self._entries.get(key)

    def put(self, key: _Key, value: _Value) -> None:
        """Keep an entry as the latest one; the oldest one goes if there is no room."""
        entries = self._entries
        if key in entries:
            entries.move_to_end(key)
        entries[key] = value
        if len(entries) > self._limit:
            entries.popitem(last=False)
            self.dropped = True
