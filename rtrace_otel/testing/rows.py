"""Rows as they would stand in the file, and ids that look random but follow from the seed."""

from __future__ import annotations

import random
from typing import Any, Final

from rtrace_otel.events import Row

_MASK: Final = (1 << 48) - 1
_ODD: Final = 0x9E37_79B9_7F4B


class Ids:
    """Ids of twelve hexadecimal digits; no two are equal.

    Args:
        seed: The same seed gives the same ids.
    """

    def __init__(self, seed: int) -> None:
        """Begin with the first id."""
        self._number = random.Random(f"ids/{seed}").getrandbits(48)  # noqa: S311 - ids, not secrets

    def new(self) -> str:
        """The next id: counting on in steps of an odd number meets every value once before any comes again."""
        self._number = (self._number + _ODD) & _MASK
        return format(self._number, "012x")


class RowWriter:
    """The rows of one run.

    Args:
        run: Its id.

    Attributes:
        run: As above.
        rows: Written and not yet taken.
        count: Rows written in all; the next row's ``seq``.
    """

    __slots__ = ("count", "rows", "run")

    def __init__(self, run: str) -> None:
        """Begin with no row."""
        self.run = run
        self.rows: list[Row] = []
        self.count = 0

    def write(self, event: str, t: float, /, **fields: Any) -> None:
        """Write one event that happens at ``t`` (Unix seconds)."""
        self.rows.append({"event": event, "t": t, "run": self.run, "seq": self.count, **fields})
        self.count += 1

    def take(self) -> list[Row]:
        """The rows since the last call."""
        rows, self.rows = self.rows, []
        return rows
