"""One pass over the groups and attempts of a file for several analyses of it."""

from __future__ import annotations

from collections.abc import Iterator

from rtrace_otel.analysis.flow.flow import Ended, Flow
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.events import Row


class FlowTap:
    """Gives the same as a :class:`Flow` to several takers, each of whom asks for every row.

    Whoever gives out the rows calls :meth:`advance` with a row before the takers see it.

    Args:
        runs: The runs, if each row is added to them before it comes here.
    """

    def __init__(self, runs: RunFold | None = None) -> None:
        """Begin with no row seen."""
        self._flow = Flow(runs)
        self._latest: list[Ended] = []

    @property
    def calls_name_attempts(self) -> bool:
        """Whether the calls of refits could be told to belong to attempts."""
        return self._flow.calls_name_attempts

    def advance(self, row: Row) -> None:
        """Take the next row of the file."""
        self._latest = self._flow.add(row)

    def add(self, row: Row) -> list[Ended]:  # noqa: ARG002 - the row of the latest advance
        """What ended with the latest row."""
        return self._latest

    def still_open(self) -> Iterator[Ended]:
        """What no row has ended."""
        return self._flow.still_open()
