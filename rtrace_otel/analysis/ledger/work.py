"""Rollouts and prompt groups while they are followed: what is known of each, and where it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Fate(StrEnum):
    """What became of a rollout that a stop took away from its run."""

    REUSED = "reused"
    RESUMED = "resumed"
    REDONE = "redone"
    TRAINED_AGAIN = "trained_again"
    DISCARDED = "discarded"
    NEVER_CAME_BACK = "never_came_back"
    UNKNOWN = "unknown"


class Ended(StrEnum):
    """How a rollout stands."""

    OPEN = "open"
    SEALED = "sealed"
    ABANDONED = "abandoned"


@dataclass(slots=True, eq=False)
class Rollout:
    """One attempt.

    Attributes:
        attempt_id: Its id; a redispatch after a refusal keeps it.
        run: The run that dispatched it.
        generation: Which of its group's generations.
        group: Its prompt group.
        running_since: When it was dispatched last; ``None`` while it is refused or has ended.
        ran_s: Seconds that it ran until then.
        tokens: Tokens that it is known to have generated, kept ones included.
        exact: Whether that is all of them.
        inherited: Of these, tokens that an earlier attempt generated, which this one continues.
        ended: How it stands.
        reason: Why it was abandoned.
        masked: Whether training masks it out.
        ended_at: When it was sealed or abandoned.
        calls: Tokens of its running calls at the last refit.
        booked: The account that it is booked in, as disposition and reason.
        copy: The same result in the group that a restore kept it in.
        taken: What the last stop that took it says of it.
    """

    attempt_id: str
    run: str
    generation: str
    group: PromptGroup
    running_since: float | None = None
    ran_s: float = 0.0
    tokens: int = 0
    exact: bool = False
    inherited: int = 0
    ended: Ended = Ended.OPEN
    reason: str | None = None
    masked: bool = False
    ended_at: float | None = None
    calls: dict[str, int] | None = None
    booked: tuple[str, str | None] | None = None
    copy: Rollout | None = None
    taken: Loss | None = None

    def dispatch(self, t: float | None) -> None:
        """It runs from now on."""
        if self.running_since is None:
            self.running_since = t

    def pause(self, t: float | None) -> None:
        """It was refused, or ended."""
        if self.running_since is not None and t is not None:
            self.ran_s += max(t - self.running_since, 0.0)
        self.running_since = None

    def seconds(self, until: float | None) -> float:
        """Seconds that it ran, until its end or the time given."""
        if self.running_since is None or until is None:
            return self.ran_s
        return self.ran_s + max(until - self.running_since, 0.0)

    def tell_copies(self) -> None:
        """Its end became known only after a restore had kept it: its copies are the same result."""
        copy = self.copy
        while copy is not None:
            copy.ran_s, copy.tokens, copy.exact = self.ran_s, self.tokens, self.exact
            copy.ended_at, copy.masked = self.ended_at, self.masked
            copy = copy.copy

    def saw_call(self, call_id: str, tokens: int) -> None:
        """A refit says how far one of its calls is: it has at least these tokens."""
        if self.calls is None:
            self.calls = {}
        more = tokens - self.calls.get(call_id, 0)
        if more > 0:
            self.tokens += more
            self.calls[call_id] = tokens


@dataclass(slots=True, eq=False)
class Loss:
    """A rollout that a stop took away from its run.

    Attributes:
        rollout: The rollout, as it stood.
        stop: Number of the stop, among those of the file.
        fate: What became of it, once that is known.
        tokens_carried: Its tokens that came back without being generated again.
        lives_on: Whether it came back whole, and is booked wherever that ends.
        dropped: Whether its group was brought back and discarded before it was dispatched; a later restore may undo it.
    """

    rollout: Rollout
    stop: int = 0
    fate: Fate | None = None
    tokens_carried: int = 0
    lives_on: bool = False
    dropped: bool = False

    @property
    def tokens_kept(self) -> int:
        """Tokens that came back and were not discarded afterwards."""
        return 0 if self.fate is Fate.DISCARDED else self.tokens_carried

    def fate_if(self, finished: bool) -> Fate:
        """The fate that is known, or what its absence means.

        Args:
            finished: Whether the job ended; if not, nobody knows yet.
        """
        if self.fate is not None:
            return self.fate
        if self.dropped:
            return Fate.DISCARDED
        return Fate.NEVER_CAME_BACK if finished else Fate.UNKNOWN


@dataclass(slots=True, eq=False)
class Occurrence:
    """A prompt's turn in the dataset: the same one before and after a restore, whatever its group is called.

    Attributes:
        order: Number of the row that first named it, among the rows of the file.
        place: The same on the present timeline; ``None`` while it has not come there.
        began_at: Time of that row.
        prompt_id: The prompt.
        epoch: Pass over the dataset, if the file says.
        missing: What stops took away and what has not come back, by generation.
        group_ids: The groups that stood for it when a stop took it.
        results: Sealed results of a group that had been discarded when a stop took it: its checkpoint may hold them.
    """

    order: int
    place: int | None
    began_at: float | None
    prompt_id: str | None
    epoch: object
    missing: dict[str, list[Loss]] = field(default_factory=dict)
    group_ids: set[str] = field(default_factory=set)
    results: dict[str, Rollout] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class PromptGroup:
    """A prompt group of one run.

    Attributes:
        group_id: Its id.
        occurrence: The prompt's turn that it belongs to.
        rollouts: Its attempts that were not abandoned; damaged rows can begin two under one id.
        brought_back: Whether a restore brought it back, rather than its prompt coming round again.
        trained: Whether a step of its run trained it.
        discarded: Why it was discarded.
        came_back: What it went on with of what stops had taken.
        place: Place of its turn on the timeline of its run.
        began_at: When its turn began there.
    """

    group_id: str
    occurrence: Occurrence
    rollouts: list[Rollout] = field(default_factory=list)
    brought_back: bool = False
    trained: bool = False
    discarded: str | None = None
    came_back: list[Loss] = field(default_factory=list)
    place: int | None = None
    began_at: float | None = None

    def let_go(self, settled: Callable[[Rollout], bool]) -> list[Rollout]:
        """Let go of the attempts that nothing asks for any more, and give them.

        An attempt and its group refer to each other: what is only dropped waits for a search for such cycles.
        """
        gone: list[Rollout] = []
        left: list[Rollout] = []
        for rollout in self.rollouts:
            (gone if settled(rollout) else left).append(rollout)
        self.rollouts = left
        return gone


@dataclass(frozen=True, slots=True)
class Amount:
    """Rollouts, and what they generated.

    Attributes:
        rollouts: How many.
        tokens: Tokens that they generated, at least.
        tokens_exact: Whether that is all of them.
        tokens_kept: Of these, tokens that a restore kept.
        attempt_seconds: Seconds that they ran, added up.
    """

    rollouts: int = 0
    tokens: int = 0
    tokens_exact: bool = True
    tokens_kept: int = 0
    attempt_seconds: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        """Both together."""
        return Amount(
            self.rollouts + other.rollouts,
            self.tokens + other.tokens,
            self.tokens_exact and other.tokens_exact,
            self.tokens_kept + other.tokens_kept,
            self.attempt_seconds + other.attempt_seconds,
        )

    @property
    def tokens_lost(self) -> int:
        """Tokens generated and not kept."""
        return self.tokens - self.tokens_kept


def amount_of(losses: Iterable[Loss], until: float | None = None) -> Amount:
    """What lost rollouts had generated; those that had not ended ran until the time given."""
    number = tokens = kept = 0
    seconds, exact = 0.0, True
    for loss in losses:
        number += 1
        tokens += loss.rollout.tokens
        kept += loss.tokens_kept
        exact = exact and loss.rollout.exact
        seconds += loss.rollout.seconds(until)
    return Amount(number, tokens, exact, kept, seconds)


def amount_of_results(rollouts: Iterable[Rollout]) -> Amount:
    """What the sealed ones among these generated, with nothing kept by a restore."""
    number = tokens = 0
    seconds, exact = 0.0, True
    for rollout in rollouts:
        if rollout.ended is Ended.SEALED:
            number += 1
            tokens += rollout.tokens
            exact = exact and rollout.exact
            seconds += rollout.ran_s
    return Amount(number, tokens, exact, 0, seconds)
