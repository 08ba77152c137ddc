"""What is known of how a group came about: the versions and the step at its start, and its episodes.

Other frameworks measure staleness from these moments; see :mod:`rtrace_otel.analysis.age.definitions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rtrace_otel.analysis.age.versions import VersionsInForce
from rtrace_otel.analysis.recent import Recent
from rtrace_otel.events import Row


@dataclass(slots=True)
class GroupOrigin:
    """How a group came about.

    Attributes:
        run: The run that reserved it first.
        reserved_version: Version in force when it was admitted, else reserved.
        dispatched_version: Version in force when its first attempt was dispatched.
        step_before: Last step of the run when the group was reserved; ``None`` if it had trained and restored none.
        sealed: Whether an attempt was sealed, masked or not.
        episodes: Version at the begin of each sealed attempt that is not masked, by generation; ``None`` if unknown.
    """

    run: str
    reserved_version: int | None = None
    dispatched_version: int | None = None
    step_before: int | None = None
    sealed: bool = False
    episodes: dict[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Attempt:
    group_id: str
    generation: str
    version: int | None


class OriginFold:
    """Follows groups and attempts row by row. What has not been touched for the longest is forgotten at a bound."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._versions = VersionsInForce()
        self._groups: Recent[GroupOrigin] = Recent()
        self._attempts: Recent[_Attempt] = Recent()
        self._last_step: dict[str, int] = {}
        self._first_step: dict[str, int] = {}
        self._handlers: dict[Any, Callable[[Row], object]] = {
            "run_started": self._versions.started,
            "weight_sync": self._versions.refitted,
            "group_reserved": self._reserve,
            "group_admitted": self._admit,
            "group_discarded": lambda row: self._groups.pop(str(row.get("group_id"))),
            "attempt_dispatched": self._dispatch,
            "attempt_resumed": self._resume,
            "attempt_sealed": self._seal,
            "attempt_abandoned": lambda row: self._attempts.pop(str(row.get("attempt_id"))),
            "checkpoint_restored": self._restore,
        }

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        handler = self._handlers.get(row.get("event"))
        if handler is not None:
            handler(row)

    def step_trained(self, run: str, step: int) -> None:
        """Take a step when it is trained."""
        self._first_step.setdefault(run, step)
        self._last_step[run] = step

    def of(self, group_id: str) -> GroupOrigin | None:
        """What is known of a group."""
        return self._groups.get(group_id)

    def scheduled_step(self, origin: GroupOrigin) -> int | None:
        """The step under way when the group was reserved: the one after the run's last, else the run's first."""
        if origin.step_before is not None:
            return origin.step_before + 1
        return self._first_step.get(origin.run)

    def _reserve(self, row: Row) -> None:
        """A restore that reserves a group again does not make it younger."""
        group_id, run = str(row.get("group_id")), str(row.get("run", ""))
        if row.get("origin_run") not in (None, run) and self._groups.get(group_id) is not None:
            return
        self._groups.put(group_id, GroupOrigin(run, self._version(row), None, self._last_step.get(run)))

    def _admit(self, row: Row) -> None:
        origin = self._groups.get(str(row.get("group_id")))
        if origin is None or origin.run != str(row.get("run", "")) or origin.dispatched_version is not None:
            return
        if type(row.get("weight_version")) is int:
            origin.reserved_version = row["weight_version"]

    def _dispatch(self, row: Row) -> None:
        group_id, version = str(row.get("group_id")), self._version(row)
        self._attempts.put(str(row.get("attempt_id")), _Attempt(group_id, str(row.get("generation_index")), version))
        origin = self._groups.get(group_id)
        if origin is not None and origin.dispatched_version is None:
            origin.dispatched_version = version

    def _resume(self, row: Row) -> None:
        """An attempt that goes on has begun when the one before it began."""
        before = self._attempts.get(str(row.get("previous_attempt_id")))
        if before is not None and row.get("level") != "sibling":
            self._attempts.put(str(row.get("attempt_id")), before)

    def _seal(self, row: Row) -> None:
        attempt = self._attempts.pop(str(row.get("attempt_id")))
        origin = self._groups.get(attempt.group_id) if attempt is not None else None
        if attempt is None or origin is None:
            return
        origin.sealed = True
        if row.get("masked") is True:
            origin.episodes.pop(attempt.generation, None)
        else:
            origin.episodes[attempt.generation] = attempt.version

    def _restore(self, row: Row) -> None:
        if type(row.get("step")) is int:
            self._last_step[str(row.get("run", ""))] = row["step"]

    def _version(self, row: Row) -> int | None:
        """The version that the row states, else the one in force."""
        stated = row.get("weight_version")
        return stated if type(stated) is int else self._versions.now(str(row.get("run", ""))).version
