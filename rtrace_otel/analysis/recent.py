"""A memory that does not grow without bound: what has not been touched for the longest goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Set as AbstractSet
from typing import Final, Generic, TypeVar

MAX_RECENT: Final = 262_144
"""Groups or attempts that are remembered, at most: far more than are open at once."""

_Value = TypeVar("_Value")


class Recent(Generic[_Value]):
    """The latest entries by id."""

    def __init__(self, most: int = MAX_RECENT) -> None:
        """Begin empty.

        Args:
            most: Entries to keep.
        """
        self._most = most
        self._entries: OrderedDict[str, _Value] = OrderedDict()

    def __len__(self) -> int:
        """Entries that are kept."""
        return len(self._entries)

    def get(self, name: str) -> _Value | None:
        """The entry of this id, if it is kept."""
        return self._entries.get(name)

    def names(self) -> AbstractSet[str]:
        """The ids of all entries."""
        return self._entries.keys()

    def put(self, name: str, value: _Value) -> None:
        """Keep an entry as the latest."""
        self._entries[name] = value
        self._entries.move_to_end(name)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def copy(self) -> Recent[_Value]:
        """The same entries again, to go on separately."""
        other: Recent[_Value] = Recent(self._most)
        other._entries = self._entries.copy()
        return other

    def pop(self, name: str) -> _Value | None:
        """Take an entry out."""
        return self._entries.pop(name, None)
