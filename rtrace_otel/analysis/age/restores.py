"""Batch age before each stop and after the restore that followed it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from rtrace_otel.analysis.age.ages import TrainedStep
from rtrace_otel.events import Row

WINDOW: Final = 5
"""Steps that are looked at before a stop, and after a restore."""


@dataclass(frozen=True, slots=True)
class AgeWindow:
    """Some steps in a row.

    Attributes:
        steps: Their numbers, in the order in which they were trained.
        runs: The runs that trained them, each once.
        tokens: Tokens with an age.
        batch_age: Token-weighted mean over these steps; ``None`` without tokens.
    """

    steps: tuple[int, ...]
    runs: tuple[str, ...]
    tokens: int
    batch_age: float | None


@dataclass(frozen=True, slots=True)
class RestoreAge:
    """Batch age on both sides of a restore.

    Attributes:
        run: The run that went on from the checkpoint.
        checkpoint_id: Name of the checkpoint, if the row has it.
        step: Step of the checkpoint, if the row has it.
        before: The last steps in the file before the restore, as they were trained then.
        after: The first steps that the run trained after it.
    """

    run: str
    checkpoint_id: str | None
    step: int | None
    before: AgeWindow
    after: AgeWindow

    @property
    def change(self) -> float | None:
        """How much older the steps after the restore are; ``None`` if one side has no age."""
        before, after = self.before.batch_age, self.after.batch_age
        return None if before is None or after is None else after - before


@dataclass(frozen=True, slots=True)
class _Step:
    step: int
    run: str
    tokens: int
    age_sum: int


@dataclass(slots=True)
class _Restore:
    run: str
    checkpoint_id: str | None
    step: int | None
    before: tuple[_Step, ...]
    after: list[_Step] = field(default_factory=list)


class RestoreFold:
    """Collects the restores of a file. Memory grows with the restores."""

    def __init__(self) -> None:
        """Begin with no restore."""
        self._recent: OrderedDict[int, _Step] = OrderedDict()
        self._restores: list[_Restore] = []
        self._latest: dict[str, _Restore] = {}

    def restored(self, row: Row) -> None:
        """Take a ``checkpoint_restored`` row."""
        name, step = row.get("checkpoint_id"), row.get("step")
        restore = _Restore(
            str(row.get("run", "")),
            None if name is None else str(name),
            step if type(step) is int else None,
            tuple(self._recent.values()),
        )
        self._restores.append(restore)
        self._latest[restore.run] = restore

    def trained(self, step: TrainedStep) -> None:
        """Take a step when it is trained."""
        version = step.age.trained_version
        tokens = 0 if version is None else step.age.tokens
        versions = sum(version * count for version, count in step.counts.items())
        entry = _Step(step.age.step, step.age.run, tokens, 0 if version is None else version * tokens - versions)
        self._recent.pop(entry.step, None)
        self._recent[entry.step] = entry
        if len(self._recent) > WINDOW:
            self._recent.popitem(last=False)
        restore = self._latest.get(entry.run)
        if restore is not None and len(restore.after) < WINDOW:
            restore.after.append(entry)

    def result(self) -> tuple[RestoreAge, ...]:
        """The restores so far, in file order."""
        return tuple(
            RestoreAge(
                restore.run, restore.checkpoint_id, restore.step, _window(restore.before), _window(restore.after)
            )
            for restore in self._restores
        )


def _window(steps: Iterable[_Step]) -> AgeWindow:
    steps = tuple(steps)
    tokens = sum(step.tokens for step in steps)
    try:
        age = sum(step.age_sum for step in steps) / tokens if tokens else None
    except OverflowError:
        age = None
    return AgeWindow(tuple(step.step for step in steps), tuple(dict.fromkeys(step.run for step in steps)), tokens, age)
