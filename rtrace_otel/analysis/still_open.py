"""What is open now, by the run that has it: attempts or groups."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from typing import Final, Generic, TypeVar

MAX_OPEN: Final = 262_144
"""Entries that are kept, at most: far more than are open at once. The run with the oldest loses its oldest first."""

_Value = TypeVar("_Value")


class StillOpen(Generic[_Value]):
    """Entries by id, each under one run, in the order in which they were opened.

    Args:
        most: Entries to keep.

    Attributes:
        forgotten: Entries that were given up because there were too many.
    """

    def __init__(self, most: int = MAX_OPEN) -> None:
        """Begin without entries."""
        self._most = most
        self._run_of: dict[str, str] = {}
        # Ordered dictionaries find their oldest entry at once, also after many were taken out at that end.
        self._by_run: OrderedDict[str, OrderedDict[str, _Value]] = OrderedDict()
        self.forgotten = 0

    def __contains__(self, name: object) -> bool:
        """Whether there is an entry of this id."""
        return name in self._run_of

    def run_of(self, name: str) -> str | None:
        """The run that has the entry of this id."""
        return self._run_of.get(name)

    def get(self, name: str) -> _Value | None:
        """The entry of this id."""
        run = self._run_of.get(name)
        return None if run is None else self._by_run[run][name]

    def put(self, run: str, name: str, value: _Value) -> str | None:
        """Open an entry, or change it; one that another run had becomes the latest of this run.

        Returns:
            The id of the entry that was given up for it, if there were too many.
        """
        if self._run_of.get(name, run) != run:
            self.pop(name)
        self._run_of[name] = run
        self._by_run.setdefault(run, OrderedDict())[name] = value
        if len(self._run_of) <= self._most:
            return None
        oldest = next(iter(next(iter(self._by_run.values()))))
        self.pop(oldest)
        self.forgotten += 1
        return oldest

    def pop(self, name: str) -> _Value | None:
        """Close the entry of this id."""
        run = self._run_of.pop(name, None)
        if run is None:
            return None
        value = self._by_run[run].pop(name)
        if not self._by_run[run]:
            del self._by_run[run]
        return value

    def count(self, run: str) -> int:
        """Entries of a run."""
        return len(self._by_run.get(run, ()))

    def oldest(self, run: str, most: int) -> Iterator[tuple[str, _Value]]:
        """The entries of a run that were opened first, at most so many."""
        return islice(self._by_run.get(run, OrderedDict[str, _Value]()).items(), most)

    def __len__(self) -> int:
        """Entries that are kept."""
        return len(self._run_of)
