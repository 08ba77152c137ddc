"""Which attempts or groups to look at, in which order, and how many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from rtrace_otel.analysis.flow.records import AttemptRecord, GroupRecord
from rtrace_otel.analysis.top import Top

DEFAULT_LIMIT: Final = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """What to look at; every condition that is given must hold.

    Attributes:
        prompt: Prompt id, whole: prompts are numbers, and 1 is not the head of 17.
        group: Head of the group id.
        run: Head of the run id.
        step: Step that trained it.
        outcome: How it ended.
        reason: Part of the reason, in any case.
        open_only: Only what is open or was interrupted.
        sort: Name of the key to sort by.
        descending: Whether great values come first.
        limit: How many to keep; 0 keeps all.
    """

    prompt: str | None = None
    group: str | None = None
    run: str | None = None
    step: int | None = None
    outcome: str | None = None
    reason: str | None = None
    open_only: bool = False
    sort: str = "time"
    descending: bool = False
    limit: int = DEFAULT_LIMIT

    def takes(self, record: AttemptRecord | GroupRecord) -> bool:
        """Whether a record meets every condition."""
        return (
            (self.prompt is None or record.prompt_id == self.prompt)
            and (self.group is None or (record.group_id or "").startswith(self.group))
            and (self.run is None or record.run.startswith(self.run))
            and (self.step is None or record.trained_step == self.step)
            and (self.outcome is None or record.outcome == self.outcome)
            and (self.reason is None or self.reason.casefold() in (record.reason or "").casefold())
            and (not self.open_only or record.waiting_for is not None)
        )


R = TypeVar("R", bound=AttemptRecord | GroupRecord)


class Chosen(Generic[R]):
    """The records that a choice takes: how many of each outcome, and the first of them in its order.

    Args:
        choice: What to look at.
        keys: The values that a record can be sorted by; an unknown value comes last.

    Raises:
        ValueError: There is no such key, or the limit is negative.
    """

    def __init__(self, choice: Choice, keys: Mapping[str, Callable[[R], float | None]]) -> None:
        """Begin without records."""
        if choice.sort not in keys:
            raise ValueError(f"cannot sort by {choice.sort!r}; one of {', '.join(keys)}")
        if choice.limit < 0:
            raise ValueError(f"limit must be >= 0: {choice.limit}")
        self._choice = choice
        self._keys = keys
        self._top: Top[R] = Top(choice.limit, descending=choice.descending)
        self.by_outcome: dict[str, int] = {}

    def add(self, record: R) -> bool:
        """Take a record; whether it was chosen."""
        if not self._choice.takes(record):
            return False
        outcome = str(record.outcome)
        self.by_outcome[outcome] = self.by_outcome.get(outcome, 0) + 1
        self._top.add(self._keys[self._choice.sort](record), record)
        return True

    def copy(self) -> Chosen[R]:
        """The same records again, to go on separately."""
        other = Chosen(self._choice, self._keys)
        for record in self.records():
            other.add(record)
        other.by_outcome = dict(self.by_outcome)
        return other

    def records(self) -> tuple[R, ...]:
        """The first records in order."""
        return self._top.result()
