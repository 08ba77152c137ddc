"""The fates of rollouts as a reader of the rows finds them, in the plainest way: everything is remembered.

The simulator never looks at its rows, and this never looks at the simulator: where both agree, the rows say what
happened, and the truth is what they say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rtrace_otel.events import Row
from rtrace_otel.testing.state import Key
from rtrace_otel.testing.truth import Fate


@dataclass(eq=False)
class Group:
    """A group as the rows of one run have it; attempts by generation, with whether they are sealed."""

    prompt_id: str
    epoch: int
    generations: int
    was_restored: bool
    attempts: dict[int, tuple[str, bool]] = field(default_factory=dict)
    is_published: bool = False
    is_whole: bool = False
    """It was published before the checkpoint: this run writes no row of its attempts."""

    def rollouts(self) -> list[Key]:
        """Its rollouts."""
        return [(self.prompt_id, self.epoch, index) for index in range(self.generations)]


@dataclass(eq=False)
class GivenUp:
    """A rollout that a stop gave up."""

    attempt_id: str
    was_trained: bool
    fate: Fate | None = None
    was_dropped: bool = False


@dataclass(eq=False)
class StopFound:
    """What the rows say of a stop."""

    stopped_run: str
    steps_lost: list[int]
    in_flight: set[str]
    given_up: dict[Key, GivenUp]
    firsts: dict[str, float] = field(default_factory=dict)
    trained_again: set[int] = field(default_factory=set)


Published = dict[tuple[str, int], dict[int, tuple[str, bool]]]


class Oracle:
    """Reads the rows of a job, one run after the other."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Read them all."""
        self.stops: list[StopFound] = []
        self._groups: dict[str, Group] = {}
        self._places: dict[str, tuple[Group, int]] = {}
        self._log: list[tuple[int, list[Group]]] = []
        self._started: Published | None = None
        self._checkpoints: dict[tuple[str, str], Published] = {}
        self._restored: Published = {}
        self._waiting: dict[Key, GivenUp] = {}
        self._back: dict[Key, GivenUp] = {}
        runs: dict[str, list[Row]] = {}
        for row in rows:
            runs.setdefault(row["run"], []).append(row)
        self._clean = False
        before = ""
        for run, own in runs.items():
            if before:
                self._stop(before, own)
            for row in own:
                self._read(row)
            self._clean = own[-1]["event"] == "run_ended"
            before = run

    def fates(self, stop: StopFound) -> dict[Key, tuple[str, Fate]]:
        """Attempt and fate by rollout."""
        lost = Fate.NEVER_CAME_BACK if self._clean else Fate.UNKNOWN
        return {
            key: (given.attempt_id, given.fate or (Fate.DISCARDED if given.was_dropped else lost))
            for key, given in stop.given_up.items()
        }

    def _stop(self, stopped_run: str, rows: list[Row]) -> None:
        restored = next((row for row in rows if row["event"] == "checkpoint_restored"), None)
        step = restored["step"] if restored else 0
        self._restored = self._checkpoints[restored["checkpoint_id"], restored["from_run"]] if restored else {}
        lost = [(number, groups) for number, groups in self._log if number > step]
        self._log = self._log[: len(self._log) - len(lost)]
        found = StopFound(stopped_run, [number for number, _ in lost], set(), {})
        for was_trained, groups in ((False, list(self._groups.values())), *((True, groups) for _, groups in lost)):
            for group in groups:
                for index, (attempt_id, is_sealed) in group.attempts.items():
                    key = (group.prompt_id, group.epoch, index)
                    if key not in self._waiting:
                        found.given_up[key] = GivenUp(attempt_id, was_trained)
                    if not is_sealed:
                        found.in_flight.add(attempt_id)
        self._waiting |= found.given_up
        self._groups, self._places, self._back, self._started = {}, {}, {}, None
        found.firsts = {
            event: next((row["t"] - rows[0]["t"] for row in rows if row["event"] == event), -1.0)
            for event in ("attempt_dispatched", "attempt_sealed", "train_step")
        }
        self.stops.append(found)

    def _settle(self, key: Key, fate: Fate) -> None:
        given_up = self._waiting.pop(key, None)
        if given_up is not None:
            given_up.fate = fate
            if fate in {Fate.REUSED, Fate.RESUMED}:
                self._back[key] = given_up

    def _read(self, row: Row) -> None:
        event = row["event"]
        if event == "group_reserved":
            self._reserve(row)
        elif event in {"attempt_dispatched", "attempt_resumed"}:
            self._begin(row)
        elif event == "attempt_sealed":
            group, index = self._places[row["attempt_id"]]
            group.attempts[index] = (row["attempt_id"], True)
        elif event == "attempt_abandoned":
            group, index = self._places[row["attempt_id"]]
            del group.attempts[index]
        elif event == "group_published":
            self._publish(self._groups[row["group_id"]])
        elif event == "group_discarded":
            self._discard(self._groups.pop(row["group_id"]), row["reason"])
        elif event == "train_step":
            self._train(row)
        elif event in {"checkpoint_started", "checkpoint_published"}:
            self._checkpoint(row)

    def _reserve(self, row: Row) -> None:
        group = Group(row["prompt_id"], row["epoch"], row["generations"], "origin_run" in row)
        self._groups[row["group_id"]] = group
        if group.was_restored and (group.prompt_id, group.epoch) in self._restored:
            group.attempts = dict(self._restored[group.prompt_id, group.epoch])
            group.is_whole = True

    def _begin(self, row: Row) -> None:
        attempt_id, group, index = row["attempt_id"], self._groups[row["group_id"]], row["generation_index"]
        key = (group.prompt_id, group.epoch, index)
        level = row.get("level")
        if level is None and attempt_id not in self._places:
            given_up = self._waiting.get(key)
            self._settle(key, Fate.TRAINED_AGAIN if given_up and given_up.was_trained else Fate.REDONE)
        elif level is not None:
            self._settle(key, Fate.REUSED if level == "sibling" else Fate.RESUMED)
        self._places[attempt_id] = group, index
        group.attempts[index] = (attempt_id, level == "sibling")

    def _publish(self, group: Group) -> None:
        group.is_published = True
        if group.is_whole:
            for key in group.rollouts():
                self._settle(key, Fate.REUSED)

    def _train(self, row: Row) -> None:
        groups = [self._groups.pop(group_id) for group_id in row["group_ids"]]
        for group in groups:
            for key in group.rollouts():
                self._settle(key, Fate.REUSED)
        for stop in self.stops:
            stop.trained_again |= {row["step"]} & set(stop.steps_lost)
        self._log.append((row["step"], groups))

    def _discard(self, group: Group, reason: str) -> None:
        for key in group.rollouts():
            if reason == "stale" and key in self._back:
                self._back.pop(key).fate = Fate.DISCARDED
            elif group.was_restored and key in self._waiting:
                self._waiting[key].was_dropped = True
                if reason == "stale":
                    self._settle(key, Fate.DISCARDED)

    def _checkpoint(self, row: Row) -> None:
        held = {
            (group.prompt_id, group.epoch): dict(group.attempts)
            for group in self._groups.values()
            if group.is_published or group.is_whole
        }
        if row["event"] == "checkpoint_started":
            self._started = held
        else:
            self._checkpoints[row["checkpoint_id"], row["run"]] = held if self._started is None else self._started
            self._started = None
