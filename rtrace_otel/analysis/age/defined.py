"""Staleness of every step under chosen definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtrace_otel.analysis.age.ages import TrainedStep
from rtrace_otel.analysis.age.definitions import Definition, GroupFacts, StepFacts, value_of
from rtrace_otel.analysis.age.group_origins import OriginFold
from rtrace_otel.analysis.age.trained_groups import TrainedGroup
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class DefinedAges:
    """Staleness under one definition.

    Attributes:
        definition: How it is measured.
        steps: Its value by step number, ascending; ``None`` where the trace cannot tell it.
    """

    definition: Definition
    steps: Mapping[int, float | None]

    @property
    def known(self) -> int:
        """Steps with a value."""
        return sum(value is not None for value in self.steps.values())

    @property
    def mean(self) -> float | None:
        """Plain mean over the steps with a value, as a logger shows it; ``None`` without any."""
        values = [value for value in self.steps.values() if value is not None]
        return sum(values) / len(values) if values else None


class DefinitionFold:
    """Builds :class:`DefinedAges` row by row. Memory grows with the steps.

    Args:
        definitions: Which ones.
    """

    def __init__(self, definitions: Sequence[Definition]) -> None:
        """Begin with no row seen."""
        self._definitions = definitions
        self._origins = OriginFold()
        self._iterations: dict[int, tuple[str, int]] = {}
        self._steps: dict[int, list[float | None]] = {}

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        self._origins.add(row)

    def trained(self, step: TrainedStep) -> None:
        """Take a step when it is trained; one that is trained again replaces what it was."""
        age = step.age
        self._origins.step_trained(age.run, age.step)
        if age.trained_version is None:
            self._steps[age.step] = [None] * len(self._definitions)
            return
        if self._iterations.get(age.trained_version, ("", 0))[0] != age.run:
            self._iterations[age.trained_version] = (age.run, age.step)
        facts = StepFacts(
            step=age.step,
            trained_version=age.trained_version,
            counts=step.counts,
            groups=[self._facts(name, group) for name, group in zip(step.group_ids, step.settled, strict=True)],
            version_at_start=step.start.version,
            version_at_end=step.version_at_end,
            iterations={
                version: self._iterations[version][1] for version in step.counts if version in self._iterations
            },
        )
        self._steps[age.step] = [value_of(definition, facts) for definition in self._definitions]

    def result(self) -> tuple[DefinedAges, ...]:
        """The ages so far, one entry per definition."""
        steps = sorted(self._steps.items())
        return tuple(
            DefinedAges(definition, {step: values[place] for step, values in steps})
            for place, definition in enumerate(self._definitions)
        )

    def _facts(self, group_id: str, trained: TrainedGroup | None) -> GroupFacts:
        origin = self._origins.of(group_id)
        if origin is None:
            return GroupFacts(trained, None, None, None, None)
        return GroupFacts(
            trained,
            origin.reserved_version,
            origin.dispatched_version,
            self._origins.scheduled_step(origin),
            tuple(origin.episodes.values()) if origin.sealed else None,
        )
