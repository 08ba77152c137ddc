"""Refits and checkpoints one by one: what each held up, and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rtrace_otel.analysis.checked import amount, between, duration, integer, name, names, time_of
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class Refit:
    """One weight sync that installed another version. What no row says is ``None``.

    Attributes:
        run: The run.
        ended: When the new version was in force, in Unix seconds.
        seconds: How long it took.
        replaced_version: The version before.
        new_version: The version after.
        calls: Model calls that it paused.
        tokens: Tokens that these calls had generated.
    """

    run: str
    ended: float | None
    seconds: float | None
    replaced_version: int | None
    new_version: int | None
    calls: int | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint that was published. What no row says is ``None``.

    Attributes:
        run: The run.
        checkpoint_id: Its name.
        step: Its training step.
        ended: When it was published, in Unix seconds.
        seconds: From its start to its publication.
        groups: Prompt groups that it holds.
        refusals: Dispatches of the run refused between its start and its publication.
    """

    run: str
    checkpoint_id: str | None
    step: int | None
    ended: float | None
    seconds: float | None
    groups: int | None
    refusals: int | None


@dataclass(frozen=True, slots=True)
class Pauses:
    """The refits and checkpoints of a file, in file order."""

    refits: tuple[Refit, ...]
    checkpoints: tuple[Checkpoint, ...]


def pauses(events: Iterable[Row]) -> Pauses:
    """The refits and checkpoints of a file, in one pass.

    Args:
        events: Rows in file order, of all runs. Memory grows with the refits, checkpoints and runs, not with the rows.
    """
    fold = PausesFold()
    for row in events:
        fold.add(row)
    return fold.result()


@dataclass(slots=True)
class _Begun:
    at: float | None
    refusals: int = 0


class PausesFold:
    """Builds :class:`Pauses` row by row."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._refits: list[Refit] = []
        self._checkpoints: list[Checkpoint] = []
        self._syncs: dict[str, float | None] = {}
        self._begun: dict[str, _Begun] = {}

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        event, run = row["event"], row["run"]
        if event == "attempt_refused":
            if run in self._begun:
                self._begun[run].refusals += 1
        elif event == "weight_sync_started":
            self._syncs[run] = time_of(row)
        elif event == "weight_sync":
            self._refit(row, self._syncs.pop(run, None))
        elif event == "checkpoint_started":
            self._begun[run] = _Begun(time_of(row))
        elif event == "checkpoint_published":
            self._publish(row, self._begun.pop(run, None))

    def result(self) -> Pauses:
        """What was met so far."""
        return Pauses(tuple(self._refits), tuple(self._checkpoints))

    def _refit(self, row: Row, started: float | None) -> None:
        if row.get("replaced_version") == row.get("new_version"):
            return  # a run reports the weights that it loaded
        ended, seconds = time_of(row), duration(row.get("seconds"))
        calls = row.get("calls")
        listed = calls if isinstance(calls, (list, tuple)) else None
        self._refits.append(
            Refit(
                run=row["run"],
                ended=ended,
                seconds=between(started, ended) if seconds is None else seconds,
                replaced_version=integer(row.get("replaced_version")),
                new_version=integer(row.get("new_version")),
                calls=None if listed is None else len(listed),
                tokens=None if listed is None else sum(map(_tokens, listed)),
            )
        )

    def _publish(self, row: Row, begun: _Begun | None) -> None:
        ended, seconds = time_of(row), duration(row.get("seconds"))
        groups = row.get("groups")
        self._checkpoints.append(
            Checkpoint(
                run=row["run"],
                checkpoint_id=name(row.get("checkpoint_id")),
                step=integer(row.get("step")),
                ended=ended,
                seconds=between(begun.at, ended) if seconds is None and begun is not None else seconds,
                groups=len(names(groups)) if isinstance(groups, (list, tuple)) else None,
                refusals=None if begun is None else begun.refusals,
            )
        )


def _tokens(call: Any) -> int:
    known = amount(call[1]) if isinstance(call, (list, tuple)) and len(call) > 1 else None
    return known or 0
