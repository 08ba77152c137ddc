"""Bars as columns: numbers in arrays, texts as places in tables."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rtrace_otel.analysis.flow.records import ATTEMPT_OUTCOMES, Outcome
from rtrace_otel.analysis.ledger.work import Fate
from rtrace_otel.analysis.timeline.kept import Bar
from rtrace_otel.analysis.timeline.results import NOWHERE, UNKNOWN, AttemptColumns, Tables
from rtrace_otel.analysis.timeline.states import FATES, STATES, state_of


@dataclass(frozen=True, slots=True)
class Drawn:
    """The attempts of a picture, as they come before they are put into columns.

    Attributes:
        bars: In order of their start.
        fates: What became of each one after a stop; ``None`` if no stop took it.
        lanes: The lane of each one.
    """

    bars: Sequence[Bar]
    fates: Sequence[Fate | None]
    lanes: array[int]

    def part(self, some: slice) -> Drawn:
        """Some of them."""
        return Drawn(self.bars[some], self.fates[some], self.lanes[some])


def columns_of(drawn: Drawn) -> tuple[AttemptColumns, Tables]:
    """The columns of attempts, and the texts that they mention."""
    bars, fates = drawn.bars, drawn.fates
    records = [bar.record for bar in bars]
    runs, run = _interned(record.run for record in records)
    groups, group = _interned(record.group_id for record in records)
    prompts, prompt = _interned(record.prompt_id for record in records)
    reasons, reason = _interned(record.reason for record in records)
    instances, instance = _interned(record.instance for record in records)
    levels, level = _interned(record.resumed for record in records)
    starts, ends = array("d", (bar.start for bar in bars)), array("d", (bar.end for bar in bars))
    columns = AttemptColumns(
        attempt_id=tuple(record.attempt_id for record in records),
        run=run,
        group=group,
        prompt=prompt,
        reason=reason,
        instance=instance,
        level=level,
        lane=drawn.lanes,
        outcome=array("b", (ATTEMPT_OUTCOMES.index(record.outcome) for record in records)),
        state=array("b", map(_state, bars, fates)),
        fate=array("b", (NOWHERE if found is None else FATES.index(found) for found in fates)),
        start=starts,
        end=ends,
        reserved=_numbers(bar.reserved for bar in bars),
        published=_numbers(bar.published for bar in bars),
        refused_s=_numbers(record.refused_s for record in records),
        reward=_numbers(record.reward for record in records),
        generation=_integers(record.generation_index for record in records),
        attempt_index=_integers(record.attempt_index for record in records),
        tokens=_integers(bar.tokens for bar in bars),
        tokens_kept=_integers(record.tokens_kept for record in records),
        version_start=_integers(record.version_start for record in records),
        step=_integers(record.trained_step for record in records),
        refusals=_integers(record.refusals for record in records),
    )
    return columns, Tables(runs, groups, prompts, reasons, instances, levels)


def _state(bar: Bar, fate: Fate | None) -> int:
    trained = bar.group_outcome is Outcome.TRAINED
    return STATES.index(state_of(bar.record.outcome, bar.group_outcome, trained, fate))


def _interned(texts: Iterable[str | None]) -> tuple[tuple[str, ...], array[int]]:
    places: dict[str, int] = {}
    column = array("i", (NOWHERE if text is None else places.setdefault(text, len(places)) for text in texts))
    return tuple(places), column


def _numbers(values: Iterable[float | None]) -> array[float]:
    return array("d", (math.nan if value is None else value for value in values))


def _integers(values: Iterable[int | None]) -> array[int]:
    return array("q", (UNKNOWN if value is None else value for value in values))
