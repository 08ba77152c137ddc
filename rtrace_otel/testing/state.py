"""What the simulated controller owns: groups, their generations, attempts and model calls, and its checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Key: TypeAlias = tuple[str, int, int]
"""Prompt id, its occurrence (epoch) and the generation index: what a rollout is, in whichever run."""

Outcome: TypeAlias = Literal["sealed", "abandoned", "interrupted", "open"]
"""``interrupted``: open when its run was stopped. ``open``: its run still runs."""


@dataclass(slots=True, eq=False)
class Call:
    """One model call.

    Attributes:
        call_id: The attempt's id and the turn.
        begin_label: Weight version when it began, as the run counts.
        tokens: Tokens that it will make, or has made once it is over.
        rate: Tokens per second.
        began: When, on the servers' clock, which stands still while a refit pauses it.
        counted: Tokens that are in ``segments``.
        segments: Versions (counted from the job's start) and how many tokens each made, in order.
    """

    call_id: str
    begin_label: int
    tokens: int
    rate: float
    began: float = 0.0
    counted: int = 0
    segments: list[tuple[int, int]] = field(default_factory=list)

    def count_to(self, tokens: int, version: int) -> None:
        """Tokens up to this number that are not counted yet were made by this version."""
        if tokens <= self.counted:
            return
        made = tokens - self.counted
        if self.segments and self.segments[-1][0] == version:
            made += self.segments.pop()[1]
        self.segments.append((version, made))
        self.counted = tokens

    def stored(self, tokens: int) -> Call:
        """Its first tokens, as a checkpoint holds them."""
        kept = Call(self.call_id, self.begin_label, tokens, self.rate)
        for version, count in self.segments:
            kept.count_to(min(kept.counted + count, tokens), version)
        return kept


@dataclass(slots=True, eq=False)
class Attempt:
    """One rollout attempt, and all that is true of it.

    Attributes:
        attempt_id: Its id.
        key: The rollout that it is an attempt at.
        group_id: Its group.
        run: Its run.
        attempt_index: Attempts before it.
        opened_at: When it was first dispatched or resumed.
        plan: Tokens of each turn.
        rate: Tokens per second.
        fails_in: The turn in which a server error ends it.
        calls: Those that are over, also those that were kept from an earlier attempt.
        call: The one that runs.
        turn: Complete turns.
        partial: Tokens kept of the turn after these.
        tokens_kept: Tokens that it did not generate itself.
        previous: The attempt that it goes on from.
        running_since: Since when it runs; ``None`` while it does not.
        seconds: How long it ran, once it does not run any more.
        outcome: How it ended.
        ended_at: When; ``None`` if it has not.
        masked: Whether training masks its result out.
        reward: Its reward.
        trained_in: The step, on the timeline that survives, that its group was trained in.
    """

    attempt_id: str
    key: Key
    group_id: str
    run: str
    attempt_index: int
    opened_at: float
    plan: list[int]
    rate: float
    fails_in: int | None = None
    calls: list[Call] = field(default_factory=list)
    call: Call | None = None
    turn: int = 0
    partial: int = 0
    tokens_kept: int = 0
    previous: str | None = None
    running_since: float | None = None
    seconds: float = 0.0
    outcome: Outcome = "open"
    ended_at: float | None = None
    masked: bool = False
    reward: float | None = None
    trained_in: int | None = None

    @property
    def tokens(self) -> int:
        """Tokens of the calls that are over."""
        return sum(call.tokens for call in self.calls)

    def segments(self) -> Iterator[tuple[int, int]]:
        """Versions and token counts over all its calls."""
        for call in self.calls:
            yield from call.segments

    def stop_running(self, now: float) -> None:
        """It does not run any more."""
        if self.running_since is not None:
            self.seconds += now - self.running_since
            self.running_since = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What a checkpoint holds of an attempt that was open."""

    previous: str
    calls: list[Call]
    plan: list[int]
    rate: float
    turn: int
    partial: int


@dataclass(slots=True, eq=False)
class Generation:
    """One sibling of a group.

    Attributes:
        index: Its place in the group.
        attempt_index: Attempts before the next or present one.
        attempt: The attempt that is open or sealed.
        kept: In a checkpoint: what it holds of an open attempt.
        failures: Attempts that failed in this run.
    """

    index: int
    attempt_index: int = 0
    attempt: Attempt | None = None
    kept: Kept | None = None
    failures: int = 0

    @property
    def is_sealed(self) -> bool:
        """Whether it has its result."""
        return self.attempt is not None and self.attempt.outcome == "sealed"


@dataclass(slots=True, eq=False)
class Group:
    """All generations of one prompt.

    Attributes:
        group_id: Its id.
        prompt_id: Index in the dataset.
        epoch: Which occurrence of the prompt.
        start_version: Version (counted from the job's start) when it was reserved.
        start_label: The same as the run counts.
        generations: The siblings.
        origin_run: The run that reserved it, if that is not this one.
        unsealed: Generations without a result.
        calls: ``call_versions``, once published.
        counts: ``tokens_by_version``, once published.
        is_closed: Whether it was discarded.
    """

    group_id: str
    prompt_id: str
    epoch: int
    start_version: int
    start_label: int
    generations: list[Generation]
    origin_run: str | None = None
    unsealed: int = 0
    calls: list[list[object]] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    is_closed: bool = False

    def key(self, generation: Generation) -> Key:
        """What the generation is in every run."""
        return self.prompt_id, self.epoch, generation.index

    def results(self) -> Iterator[Attempt]:
        """The sealed attempts."""
        for generation in self.generations:
            if generation.attempt is not None and generation.is_sealed:
                yield generation.attempt


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a checkpoint holds.

    Attributes:
        checkpoint_id: Its name.
        run: The run that took it.
        step: Last step trained; also the version, counted from the job's start.
        cursor: Prompts taken from the dataset so far.
        spares: Spare prompts taken so far.
        ready: Published groups that wait for training.
        in_flight: Groups that are still generating.
    """

    checkpoint_id: str
    run: str
    step: int
    cursor: int
    spares: int
    ready: list[Group]
    in_flight: list[Group]

    @property
    def group_ids(self) -> list[str]:
        """Every group that it holds."""
        return [group.group_id for group in (*self.ready, *self.in_flight)]
