"""The first so many of a stream in some order, without keeping the rest."""

from __future__ import annotations

import heapq
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

_Rank: TypeAlias = tuple[bool, float, int]
"""Whether the key is known, the key, and how early the item came; greater is better."""


class Top(Generic[T]):
    """Keeps the first items in the order of a key; of equal keys, the item that came first.

    Args:
        limit: How many to keep; 0 keeps all.
        descending: Whether great keys come first.
    """

    def __init__(self, limit: int, *, descending: bool) -> None:
        """Begin without items."""
        self._limit = limit
        self._descending = descending
        self._heap: list[tuple[_Rank, T]] = []
        self._seen = 0

    def add(self, key: float | None, item: T) -> None:
        """Take an item; one whose key is unknown comes after all others, in either order."""
        self._seen += 1
        rank: _Rank = (key is not None, (key or 0.0) * (1 if self._descending else -1), -self._seen)
        if not self._limit or len(self._heap) < self._limit:
            heapq.heappush(self._heap, (rank, item))
        else:
            heapq.heappushpop(self._heap, (rank, item))

    def result(self) -> tuple[T, ...]:
        """The items, first in order first."""
        return tuple(item for _, item in sorted(self._heap, key=lambda entry: entry[0], reverse=True))
