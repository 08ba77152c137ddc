"""What a row descends from: runs restored from checkpoints, and processes forked from others.

A *life* is a stretch of a run from its start, or from a restore, to its end or to the next restore. A life that was
restored descends from the life that published the checkpoint, up to the checkpoint's step: what that life trained
later is not part of its timeline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from rtrace_otel.analysis.check.recent import Recent
from rtrace_otel.analysis.check.values import identity, whole
from rtrace_otel.events import Row

MAX_CHECKPOINTS: Final = 1_024
"""Published checkpoints that are remembered, the latest ones."""


@dataclass(slots=True, eq=False)
class Life:
    """A stretch of a run between restores; compared by identity.

    Attributes:
        run: The run.
        process: The run at the top of its forks: one controller, however many processes it has.
        timeline: Number shared by the lives between which nothing was restored.
        parent: What it descends from, if that is in the file.
        restored_step: Step of the checkpoint that it was restored from; ``None`` if it was forked or started anew.
        known: Whether the file holds what it descends from, or it descends from nothing.
        installed: Newest weight version that a refit installed on its timeline so far; ``None`` before the first.
        from_spans: Whether its rows were rebuilt from spans.
        numbered: Whether its rows have sequence numbers.
    """

    run: str
    process: str
    timeline: int
    parent: Life | None = None
    restored_step: int | None = None
    known: bool = True
    installed: int | None = None
    from_spans: bool = False
    numbered: bool = False

    def ancestry(self) -> Iterator[tuple[Life, float]]:
        """The life itself and what it descends from, each with the last step of it that still counts."""
        limit, life, seen = math.inf, self, {id(self)}
        yield life, limit
        while life.parent is not None and id(life.parent) not in seen:
            if life.restored_step is not None:
                limit = min(limit, life.restored_step)
            life = life.parent
            seen.add(id(life))
            yield life, limit

    def has_on_its_timeline(self, other: Life, step: int | None) -> bool | None:
        """Whether a step of another life is part of this one's past.

        Args:
            other: The life that trained the step.
            step: The step, if its row says.

        Returns:
            ``None`` if the file cannot tell.
        """
        last = self
        for last, limit in self.ancestry():
            if last is other or last.timeline == other.timeline:
                return True if limit == math.inf else None if step is None else step <= limit
        return False if last.known else None


class Place(NamedTuple):
    """Where a row stands.

    Attributes:
        life: The life that wrote it.
        line: Its physical line in the file, from 1.
    """

    life: Life
    line: int


class _Saved(NamedTuple):
    life: Life
    step: int | None
    installed: int | None


_OF_LIVES: Final = frozenset({"weight_sync", "run_started", "checkpoint_published", "checkpoint_restored"})
"""Events that change what later rows descend from."""


class Lineage:
    """Follows runs, restores and forks row by row."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._lives: dict[str, Life] = {}
        self._timelines = 0
        self._by_run: Recent[tuple[str, str], _Saved] = Recent(MAX_CHECKPOINTS)
        self._by_name: Recent[str, _Saved] = Recent(MAX_CHECKPOINTS)

    @property
    def lives(self) -> tuple[Life, ...]:
        """The latest life of each run, in the order in which the runs begin."""
        return tuple(self._lives.values())

    def add(self, row: Row) -> Life:
        """Take the next row of the file; the life that it belongs to."""
        run, event = row["run"], row["event"]
        life = self._lives.get(run)
        if life is None:
            life = self._lives[run] = Life(run, run, self._new_timeline())
        if not life.numbered and type(row.get("seq")) is int:
            life.numbered = True
        if event not in _OF_LIVES:
            return life
        if event == "weight_sync":
            _install(life, whole(row.get("new_version")))
        elif event == "run_started":
            self._start(life, row)
        elif event == "checkpoint_published":
            self._save(life, row)
        elif event == "checkpoint_restored":
            life = self._lives[run] = self._restore(life, row)
        return life

    def _new_timeline(self) -> int:
        self._timelines += 1
        return self._timelines

    def _start(self, life: Life, row: Row) -> None:
        life.from_spans = row.get("from_spans") is True
        forked_from = identity(row, "parent_run")
        if forked_from is None or forked_from == life.run or life.parent is not None:
            return
        parent = self._lives.get(forked_from)
        if parent is None:
            life.known = False
        elif all(ancestor is not life for ancestor, _ in parent.ancestry()):
            life.parent, life.process, life.timeline = parent, parent.process, parent.timeline
            _install(life, parent.installed)

    def _save(self, life: Life, row: Row) -> None:
        checkpoint = identity(row, "checkpoint_id")
        if checkpoint is not None:
            saved = _Saved(life, whole(row.get("step")), life.installed)
            self._by_run.put((life.run, checkpoint), saved)
            self._by_name.put(checkpoint, saved)

    def _restore(self, before: Life, row: Row) -> Life:
        checkpoint, from_run = identity(row, "checkpoint_id") or "", identity(row, "from_run")
        saved = self._by_name.get(checkpoint) if from_run is None else self._by_run.get((from_run, checkpoint))
        parent = saved.life if saved else self._lives.get(from_run) if from_run is not None else None
        step = whole(row.get("step"))
        if step is None and saved is not None:
            step = saved.step
        life = Life(
            run=before.run,
            process=before.process,
            timeline=self._new_timeline(),
            parent=parent,
            restored_step=step,
            known=parent is not None and step is not None,
            installed=before.installed,
            from_spans=before.from_spans,
            numbered=before.numbered,
        )
        if step is None:
            life.parent = None
        elif parent is not None:
            _install(life, saved.installed if saved else parent.installed)
        return life


def _install(life: Life, version: int | None) -> None:
    if version is not None and (life.installed is None or version > life.installed):
        life.installed = version
