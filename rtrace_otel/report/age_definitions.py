"""The report of ``rtrace age --definition``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rtrace_otel.analysis.age.defined import DefinedAges
from rtrace_otel.analysis.age.staleness import Staleness
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import age, plural, shortener
from rtrace_otel.report.staleness import coverage_blocks


def definitions_document(defined: Sequence[DefinedAges], found: Staleness, source: str) -> Document:
    """Staleness under other definitions, as a document.

    Args:
        defined: From the analysis, one entry per definition.
        found: The staleness of the file.
        source: Name of the file.
    """
    names = defined[0].definition.name if len(defined) == 1 else f"{len(defined)} definitions"
    title = f"Staleness of {source} under {names}"
    if not found.ages.steps:
        return Document(title, (Sentence("No training step in this file."), _step_table(defined, found)))
    blocks: list[Block] = [Sentence(_sentence(one), "finding") for one in defined] if len(defined) == 1 else []
    blocks += [*coverage_blocks(found.coverage), _step_table(defined, found), _definition_table(defined)]
    blocks += [Sentence(text) for text in _notes(defined)]
    return Document(title, tuple(blocks))


def definitions_json(defined: Sequence[DefinedAges]) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "definitions": [
            {
                **_record(one),
                "approximation": one.definition.approximation,
                "by_step": [{"step": step, "value": value} for step, value in one.steps.items()],
            }
            for one in defined
        ]
    }


def _sentence(one: DefinedAges) -> str:
    definition = one.definition
    if one.mean is None:
        return f"{definition.name}: the file cannot tell it for any step."
    return (
        f"{definition.metric} as {definition.framework} defines it: {one.mean:.3f} {definition.unit}, the plain mean "
        f"over {one.known} of {plural(len(one.steps), 'step')}."
    )


def _step_table(defined: Sequence[DefinedAges], found: Staleness) -> Table:
    short = shortener(step.run for step in found.ages.steps)
    columns = (
        Column("step", "step"),
        Column("run", "run", lambda run: printable(short(run)), "left", rank=98),
        Column("trained_version", "version", rank=99),
        *(
            Column(one.definition.name, one.definition.name, age, rank=2 + place if place else 0)
            for place, one in enumerate(defined)
        ),
    )
    records = [
        {
            "step": step.step,
            "run": step.run,
            "trained_version": step.trained_version,
            **{one.definition.name: one.steps.get(step.step) for one in defined},
        }
        for step in found.ages.steps
    ]
    return Table("Staleness per step, each in its own unit", columns, records)


def _definition_table(defined: Sequence[DefinedAges]) -> Table:
    columns = (
        Column("name", "definition", align="left"),
        Column("mean", "mean", age),
        Column("steps_known", "steps"),
        Column("unit", "unit", align="left"),
        Column("framework", "framework", align="left", rank=1),
        Column("weight", "weighting", align="left", rank=2),
        Column("later_clock", "from", align="left", rank=3),
        Column("earlier_clock", "back to", align="left", rank=4),
    )
    return Table("What each measures; the mean is over the steps", columns, [_record(one) for one in defined])


def _record(one: DefinedAges) -> dict[str, Any]:
    definition = one.definition
    return {
        "name": definition.name,
        "framework": definition.framework,
        "metric": definition.metric,
        "later_clock": definition.later_clock,
        "earlier_clock": definition.earlier_clock,
        "unit": definition.unit,
        "weight": definition.weight,
        "mean": one.mean,
        "steps_known": one.known,
    }


def _notes(defined: Sequence[DefinedAges]) -> list[str]:
    if len(defined) == 1:
        return [f"Approximation: {defined[0].definition.approximation}"]
    return ["One definition alone also says what it puts in the place of what a trace does not have."]
