"""Keeps the truth of a simulated job while it happens; it never looks at a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rtrace_otel.testing.observer import Observer
from rtrace_otel.testing.settings import Ending, Stop
from rtrace_otel.testing.state import Attempt, Group, Key, Snapshot
from rtrace_otel.testing.truth import AttemptTruth, Fate, RolloutFate, StepTruth, StopTruth, Truth, Work, total


@dataclass(slots=True, eq=False)
class _GivenUp:
    attempt: Attempt
    was_trained: bool
    fate: Fate | None = None
    tokens_kept: int = 0
    was_dropped: bool = False
    """Its group was brought back and discarded before it was dispatched; a later run can bring it back once more."""


@dataclass(slots=True, eq=False)
class _Step:
    step: int
    run: str
    label: int
    groups: Sequence[Group]


@dataclass(slots=True, eq=False)
class _Stop:
    how: Stop
    stopped_run: str
    killed_at: float
    checkpoint_id: str | None
    steps_lost: tuple[int, ...]
    in_flight: Work
    rollouts: list[_GivenUp]
    restored_run: str = ""
    is_restored: bool = False
    began_at: float = 0.0
    firsts: dict[str, float] = field(default_factory=dict)
    trained_again: set[int] = field(default_factory=set)


class Books(Observer):
    """Everything that is true of the job so far. Memory grows with it."""

    def __init__(self) -> None:
        """Begin before the first run."""
        self._runs: list[str] = []
        self._attempts: list[Attempt] = []
        self._steps: list[_Step] = []
        self._timeline: list[_Step] = []
        self._stops: list[_Stop] = []
        self._waiting: dict[Key, _GivenUp] = {}
        """Given up and not come back."""
        self._back: dict[Key, _GivenUp] = {}
        """Brought back by the present run."""

    def run_began(self, run: str, now: float) -> None:
        """A run wrote its first row."""
        self._runs.append(run)
        if self._stops:
            self._stops[-1].restored_run = run
            self._stops[-1].began_at = now

    def loaded(self) -> None:
        """The restart after a stop is complete."""
        if self._stops:
            self._stops[-1].is_restored = True

    def opened(self, attempt: Attempt) -> None:
        """Remember the attempt."""
        self._attempts.append(attempt)

    def dispatched(self, now: float) -> None:
        """The first one after a stop is of interest."""
        self._first("dispatch", now)

    def sealed(self, now: float) -> None:
        """The first one after a stop is of interest."""
        self._first("seal", now)

    def started_anew(self, key: Key) -> None:
        """What was given up is generated again."""
        given_up = self._waiting.get(key)
        if given_up is not None:
            self._settle(key, Fate.TRAINED_AGAIN if given_up.was_trained else Fate.REDONE, 0)

    def brought_back(self, key: Key, fate: Fate, tokens: int) -> None:
        """What was given up has come back, unless its group is discarded."""
        given_up = self._settle(key, fate, tokens)
        if given_up is not None:
            self._back[key] = given_up

    def trained(self, now: float, step: int, label: int, groups: Sequence[Group]) -> None:
        """A step on the present timeline; results that waited in a group that was kept whole are used."""
        self._first("train step", now)
        for stop in self._stops:
            if step in stop.steps_lost:
                stop.trained_again.add(step)
        for group in groups:
            for attempt in group.results():
                self._settle(attempt.key, Fate.REUSED, attempt.tokens)
        self._steps.append(_Step(step, self._runs[-1], label, groups))
        self._timeline.append(self._steps[-1])

    def discarded(self, group: Group, reason: str) -> None:
        """What was brought back for nothing."""
        for generation in group.generations:
            key = group.key(generation)
            if reason == "stale" and key in self._back:
                self._back.pop(key).fate = Fate.DISCARDED
            elif group.origin_run is not None and (given_up := self._waiting.get(key)) is not None:
                given_up.tokens_kept = generation.attempt.tokens if generation.attempt is not None else 0
                given_up.was_dropped = True
                if reason == "stale" and given_up.tokens_kept:
                    self._settle(key, Fate.DISCARDED, given_up.tokens_kept)

    def stopped(self, now: float, stop: Stop, run: str, snapshot: Snapshot | None, groups: Sequence[Group]) -> None:
        """Give up everything since the checkpoint."""
        step = snapshot.step if snapshot else 0
        lost = [trained for trained in self._timeline if trained.step > step]
        self._timeline = [trained for trained in self._timeline if trained.step <= step]
        attempts = [(attempt, False) for attempt in _attempts(groups)]
        attempts += [(attempt, True) for trained in lost for attempt in _attempts(trained.groups)]
        given_up = {a.key: _GivenUp(a, was_trained) for a, was_trained in attempts if a.key not in self._waiting}
        self._waiting |= given_up
        self._back = {}
        self._stops.append(
            _Stop(
                how=stop,
                stopped_run=run,
                killed_at=now,
                checkpoint_id=snapshot.checkpoint_id if snapshot else None,
                steps_lost=tuple(trained.step for trained in lost),
                in_flight=total(_work(attempt) for attempt, _ in attempts if attempt.outcome == "interrupted"),
                rollouts=list(given_up.values()),
            )
        )

    def close(self, ending: Ending) -> Truth:
        """The truth, once the job is over."""
        for trained in self._timeline:
            for attempt in _attempts(trained.groups):
                attempt.trained_in = None if attempt.masked else trained.step
        surviving = set(map(id, self._timeline))
        lost = Fate.NEVER_CAME_BACK if ending == "clean" else Fate.UNKNOWN
        return Truth(
            runs=tuple(self._runs),
            ending=ending,
            attempts=tuple(map(_attempt_truth, self._attempts)),
            steps=tuple(_step_truth(step, id(step) in surviving) for step in self._steps),
            stops=tuple(_stop_truth(stop, lost) for stop in self._stops),
        )

    def _settle(self, key: Key, fate: Fate, tokens_kept: int) -> _GivenUp | None:
        given_up = self._waiting.pop(key, None)
        if given_up is not None:
            given_up.fate = fate
            given_up.tokens_kept = tokens_kept
        return given_up

    def _first(self, what: str, now: float) -> None:
        if self._stops:
            self._stops[-1].firsts.setdefault(what, now - self._stops[-1].began_at)


def _attempts(groups: Iterable[Group]) -> Iterable[Attempt]:
    """The open (or just interrupted) and sealed attempts of groups."""
    return (g.attempt for group in groups for g in group.generations if g.attempt is not None)


def _work(attempt: Attempt, tokens_kept: int = 0) -> Work:
    return Work(1, attempt.tokens, tokens_kept, attempt.seconds)


def _attempt_truth(attempt: Attempt) -> AttemptTruth:
    prompt_id, epoch, generation_index = attempt.key
    return AttemptTruth(
        attempt_id=attempt.attempt_id,
        group_id=attempt.group_id,
        run=attempt.run,
        prompt_id=prompt_id,
        epoch=epoch,
        generation_index=generation_index,
        attempt_index=attempt.attempt_index,
        dispatched_at=attempt.opened_at,
        ended_at=attempt.ended_at,
        seconds=attempt.seconds,
        tokens=attempt.tokens,
        tokens_kept=attempt.tokens_kept,
        previous_attempt_id=attempt.previous,
        outcome=attempt.outcome,
        masked=attempt.masked,
        trained_in=attempt.trained_in,
        segments=tuple(attempt.segments()),
    )


def _step_truth(step: _Step, survives: bool) -> StepTruth:
    segments = [s for attempt in _attempts(step.groups) if not attempt.masked for s in attempt.segments()]
    tokens = sum(count for _, count in segments)
    # The version that a step updates is the number of steps before it on its timeline.
    age = step.step - 1 - sum(version * count for version, count in segments) / tokens if tokens else None
    group_ids = tuple(group.group_id for group in step.groups)
    return StepTruth(step.step, step.run, step.label, group_ids, tokens, age, survives)


def _stop_truth(stop: _Stop, lost: Fate) -> StopTruth:
    rollouts = []
    for given_up in stop.rollouts:
        fate = given_up.fate or (Fate.DISCARDED if given_up.was_dropped else lost)
        work = _work(given_up.attempt, given_up.tokens_kept)
        rollouts.append(RolloutFate(given_up.attempt.key, given_up.attempt.attempt_id, fate, work))
    return StopTruth(
        how=stop.how.how,
        stopped_run=stop.stopped_run,
        restored_run=stop.restored_run,
        checkpoint_id=stop.checkpoint_id,
        is_restored=stop.is_restored,
        killed_at=stop.killed_at,
        dead_s=stop.began_at - stop.killed_at,
        first_dispatch_s=stop.firsts.get("dispatch"),
        first_seal_s=stop.firsts.get("seal"),
        first_train_step_s=stop.firsts.get("train step"),
        steps_lost=stop.steps_lost,
        steps_trained_again=tuple(sorted(stop.trained_again)),
        in_flight=stop.in_flight,
        given_up=total(_work(given_up.attempt) for given_up in stop.rollouts),
        rollouts=tuple(rollouts),
    )
