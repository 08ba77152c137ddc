"""What one run holds of the timeline: its groups, its open attempts, and what it finished between checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from rtrace_otel.analysis.ledger.pace import RunPace
from rtrace_otel.analysis.ledger.work import Amount, Ended, Occurrence, PromptGroup, Rollout, amount_of_results

Entry = TypeVar("Entry")

NOTHING: Final = Amount()


@dataclass(frozen=True, slots=True)
class Restored:
    """What a run says of the checkpoint that it went on from.

    Attributes:
        checkpoint_id: Its name.
        step: Its step.
        from_run: The run that published it.
        seconds: How long the restore took.
        groups: The groups that it brought back, if it says.
    """

    checkpoint_id: str | None
    step: int | None
    from_run: str | None
    seconds: float | None
    groups: frozenset[str] | None = None


@dataclass(slots=True, eq=False)
class Window:
    """What was finished between one checkpoint and the next. Windows are kept to the end, so they are small.

    Attributes:
        finished: Groups trained or discarded, oldest first, with the time.
        steps: Steps trained, with the time.
        forgotten: Rollouts of further groups trained, which were too many to remember.
        given_up: Whether a restore went back behind it.
    """

    finished: list[tuple[float | None, PromptGroup]] = field(default_factory=list)
    steps: list[tuple[float | None, int]] = field(default_factory=list)
    forgotten: Amount = NOTHING
    given_up: bool = False


@dataclass(slots=True, eq=False)
class Checkpoint:
    """A checkpoint that was published.

    Attributes:
        checkpoint_id: Its name.
        step: Its step.
        branch: The run that wrote it.
        windows_before: How many windows of that run it holds.
        taken_at: When its contents were taken.
        place: Number of the row that says so, if there is one.
        published_at: When it was complete.
    """

    checkpoint_id: str
    step: int | None
    branch: Branch
    windows_before: int
    taken_at: float | None
    place: int | None
    published_at: float | None

    def holds(self, turn: Occurrence) -> bool:
        """Whether the prompt's turn had come when the contents were taken."""
        if turn.place is None:
            return False
        if self.place is not None:
            return turn.place < self.place
        return self.taken_at is None or turn.began_at is None or turn.began_at <= self.taken_at


@dataclass(slots=True)
class _Cut:
    """Where a checkpoint divides what is finished.

    Attributes:
        t: When its contents were taken.
        place: Number of the row that says so, if there is one.
        groups: Groups finished since.
        steps: Steps trained since.
    """

    t: float | None
    place: int | None = None
    groups: int = 0
    steps: int = 0


class Branch:
    """A run's own part of the timeline.

    Attributes:
        run: Its id.
        pace: How fast it lives.
        base: The checkpoint that it went on from; ``None`` if it began from nothing, or the file does not tell.
        said: What it says of the checkpoint that it restored; ``None`` if it began from nothing.
        groups: Groups that are neither trained nor discarded, by id.
        open: Attempts that have not ended, by id.
        follows: How many windows of each earlier run its timeline begins with.
        windows: What it finished, split at its checkpoints. None goes away, so that checkpoints can count them.
        linked: Turns that a group of it stands for, by their order.
        begun: Whether it has done anything.
        worked: Whether it has done more than to restore a checkpoint.
        stopped_by: Number of the stop after which a later run took over; ``None`` if none did.
        job: Number of the job that it belongs to: a file can hold one after another.
    """

    __slots__ = (
        "_cut",
        "_oldest",
        "base",
        "begun",
        "follows",
        "groups",
        "job",
        "linked",
        "open",
        "pace",
        "run",
        "said",
        "stopped_by",
        "windows",
        "worked",
    )

    def __init__(self, run: str, pace: RunPace) -> None:
        """Begin with nothing."""
        self.run = run
        self.pace = pace
        self.base: Checkpoint | None = None
        self.said: Restored | None = None
        self.groups: dict[str, PromptGroup] = {}
        self.open: dict[str, Rollout] = {}
        self.follows: dict[Branch, int] = {}
        self.windows = [Window()]
        self.linked: set[int] = set()
        self.begun = False
        self.worked = False
        self.stopped_by: int | None = None
        self.job = 0
        self._cut: _Cut | None = None
        self._oldest = 0

    @property
    def given_up(self) -> bool:
        """Whether a later run took over."""
        return self.stopped_by is not None

    def link(self, occurrence: Occurrence) -> None:
        """A group of this run stands for this turn of the prompt."""
        self.linked.add(occurrence.order)

    def comes_round(self, turn: Occurrence) -> bool:
        """Whether the run goes through this turn of the prompt again, because its dataloader went back behind it."""
        return self.base is None or not self.base.holds(turn)

    def may_hold(self, turn: Occurrence) -> bool:
        """Whether the restore may have brought this turn back in the middle."""
        if self.said is None or self.said.groups is None:
            return self.said is not None
        return not self.said.groups.isdisjoint(turn.group_ids)

    def finish(self, group: PromptGroup, t: float | None) -> None:
        """A group was trained or discarded."""
        self.windows[-1].finished.append((t, group))
        if self._cut is not None:
            self._cut.groups += 1

    def train(self, step: int | None, groups: Iterable[PromptGroup], t: float | None) -> None:
        """A step was trained, on these groups."""
        for group in groups:
            self.finish(group, t)
        if step is not None:
            self.windows[-1].steps.append((t, step))
            if self._cut is not None:
                self._cut.steps += 1

    def checkpoint_started(self, t: float | None, place: int) -> None:
        """A checkpoint is being taken: what is finished from now on is not in it."""
        self._cut = _Cut(t, place)

    def checkpoint_published(
        self, checkpoint_id: str, step: int | None, t: float | None, seconds: float | None
    ) -> Checkpoint:
        """The checkpoint is complete: what was finished before it was taken is safe."""
        window = self.windows[-1]
        cut = self._cut
        if cut is None:
            taken_at = t if t is None or seconds is None else t - seconds
            cut = _Cut(taken_at, None, _after(window.finished, taken_at), _after(window.steps, taken_at))
        after = Window(given_up=window.given_up)
        after.finished = _take_last(window.finished, cut.groups)
        after.steps = _take_last(window.steps, cut.steps)
        self._cut = None
        self.windows.append(after)
        return Checkpoint(checkpoint_id, step, self, len(self.windows) - 1, cut.t, cut.place, t)

    def take_after(self, windows: int) -> list[Window]:
        """Give up the windows after so many of them."""
        self._cut = None
        taken = [window for window in self.windows[windows:] if not window.given_up]
        for window in taken:
            window.given_up = True
        return taken

    def take_after_step(self, step: int) -> list[Window]:
        """Give up what was trained after a step, where the checkpoint itself is not in the file."""
        for place, window in enumerate(self.windows):
            later = [t for t, trained in window.steps if trained > step]
            if later and not window.given_up:
                if place + 1 == len(self.windows):
                    self.windows.append(Window())
                after = self.windows[place + 1]
                number = 0
                for t, _ in reversed(window.finished):
                    if (t or 0.0) < (later[0] or 0.0):
                        break
                    number += 1
                after.finished[:0] = _take_last(window.finished, number)
                after.steps[:0] = [entry for entry in window.steps if entry[1] > step]
                window.steps = [entry for entry in window.steps if entry[1] <= step]
                return self.take_after(place + 1)
        return []

    def bring_back(self, windows: int) -> list[Window]:
        """A restore goes on from a checkpoint that an earlier one had gone back behind: its windows count again."""
        back = [window for window in self.windows[:windows] if window.given_up]
        for window in back:
            window.given_up = False
        return back

    def live(self) -> int:
        """How many windows no restore has gone back behind; they are the first ones."""
        return sum(not window.given_up for window in self.windows)

    def forget_oldest(self) -> int:
        """Forget the oldest finished group that no stop took; the number of rollouts that it had."""
        while self._oldest < len(self.windows):
            window = self.windows[self._oldest]
            if window.finished and not window.given_up:
                _, group = window.finished.pop(0)
                if group.trained:
                    window.forgotten += amount_of_results(group.rollouts)
                number = 1 + len(group.rollouts)
                group.let_go(lambda rollout: rollout.ended is not Ended.OPEN)
                return number
            if self._oldest == len(self.windows) - 1:
                break
            self._oldest += 1
        return 0


def _take_last(entries: list[Entry], number: int) -> list[Entry]:
    """Take out the last so many, in their order."""
    place = max(len(entries) - number, 0)
    taken = entries[place:]
    del entries[place:]
    return taken


def _after(entries: Iterable[tuple[float | None, object]], t: float | None) -> int:
    """How many of these happened after a time; none if it is not known."""
    return 0 if t is None else sum(at is not None and at > t for at, _ in entries)
