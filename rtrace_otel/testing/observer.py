"""Where the simulated job reports what it does. This one listens to nothing; the books keep the truth."""

from __future__ import annotations

from collections.abc import Sequence

from rtrace_otel.testing.settings import Stop
from rtrace_otel.testing.state import Attempt, Group, Key, Snapshot
from rtrace_otel.testing.truth import Fate


class Observer:
    """Is told of everything that happens, when it happens. Times are in Unix seconds."""

    def run_began(self, run: str, now: float) -> None:
        """A run wrote its first row."""

    def loaded(self) -> None:
        """The run has restored what it goes on from, or starts the job over."""

    def opened(self, attempt: Attempt) -> None:
        """An attempt was dispatched for the first time, or resumed; its later changes are made in this object."""

    def dispatched(self, now: float) -> None:
        """An ``attempt_dispatched`` row was written."""

    def sealed(self, now: float) -> None:
        """An ``attempt_sealed`` row was written."""

    def started_anew(self, key: Key) -> None:
        """A rollout was dispatched from the start."""

    def brought_back(self, key: Key, fate: Fate, tokens: int) -> None:
        """A restore brought back a result or so many tokens."""

    def trained(self, now: float, step: int, label: int, groups: Sequence[Group]) -> None:
        """A step was trained; ``label`` is the version that it updated, as the run counts."""

    def discarded(self, group: Group, reason: str) -> None:
        """A group was discarded."""

    def stopped(self, now: float, stop: Stop, run: str, snapshot: Snapshot | None, groups: Sequence[Group]) -> None:
        """A run was stopped with these groups, none of them trained; the next run restores this."""
