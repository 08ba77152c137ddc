"""Two files, or two runs of one, side by side: every metric, its change, and which of the two is better."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rtrace_otel.analysis.checked import number
from rtrace_otel.analysis.compare.measure import Measures
from rtrace_otel.analysis.compare.metrics import METRICS, Metric
from rtrace_otel.analysis.compare.values import Value

TOLERANCE: Final = 1e-9
"""Relative difference up to which two values are the same: what floats lose."""


class Verdict(StrEnum):
    """How the second value is, compared with the first."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    NEITHER = "-"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric on both sides.

    Attributes:
        metric: What is compared.
        a: Its first value.
        b: Its second value.
    """

    metric: Metric
    a: Value
    b: Value

    @property
    def difference(self) -> float | None:
        """``b - a`` in the metric's unit; ``None`` if one of them is not known."""
        if self.a.number is None or self.b.number is None:
            return None
        return self.b.number - self.a.number

    @property
    def relative(self) -> float | None:
        """The difference as a share of the first value's size; of 0, only no difference is a share of it."""
        if self.a.number is None or self.difference is None:
            return None
        if not self.a.number:
            return 0.0 if not self.difference else None
        return number(self.difference / abs(self.a.number))

    @property
    def verdict(self) -> Verdict:
        """How the second value is. ``-`` if nobody knows, if neither direction is better, or if a value is negative.

        A negative value is a fault of the file, so that less of it is not better.
        """
        if self.a.number is None or self.b.number is None:
            return Verdict.NEITHER
        if math.isclose(self.a.number, self.b.number, rel_tol=TOLERANCE):
            return Verdict.SAME
        if self.metric.better is None or min(self.a.number, self.b.number) < 0:
            return Verdict.NEITHER
        return Verdict.BETTER if (self.b.number > self.a.number) == (self.metric.better == "higher") else Verdict.WORSE


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two things that are compared.

    Attributes:
        source: Name of the file.
        run: The run whose rows alone count; ``None`` for all runs.
        rows: Rows that count.
        groups: Groups that the steps trained on.
        groups_without_tokens: Those of them without token data; they are in no batch age.
    """

    source: str
    run: str | None
    rows: int
    groups: int
    groups_without_tokens: int


@dataclass(frozen=True, slots=True)
class CompareReport:
    """A comparison.

    Attributes:
        a: The first side.
        b: The second side.
        metrics: In the order of the registry.
    """

    a: Side
    b: Side
    metrics: tuple[Comparison, ...]

    def only(self, names: Collection[str]) -> CompareReport:
        """The same with these metrics only; with all of them if no name is given."""
        chosen = tuple(one for one in self.metrics if not names or one.metric.name in names)
        return CompareReport(self.a, self.b, chosen)

    def number(self, verdict: Verdict) -> int:
        """How many metrics have a verdict."""
        return sum(one.verdict is verdict for one in self.metrics)

    def self_check(self) -> None:
        """Every metric once, with a value or a reason on each side, and changes that lead from one to the other.

        Raises:
            AssertionError: That is not so.
        """
        names = [one.metric.name for one in self.metrics]
        assert len(names) == len(set(names)), names
        for one in self.metrics:
            for value in (one.a, one.b):
                assert (value.number is None) == (value.missing is not None), one
                assert value.number is None or math.isfinite(value.number), one
            if one.a.number is None or one.b.number is None:
                assert (one.difference, one.relative, one.verdict) == (None, None, Verdict.NEITHER), one
            elif one.relative is not None:
                led = one.a.number + one.relative * abs(one.a.number)
                size = max(abs(one.a.number), abs(one.b.number))
                assert math.isclose(led, one.b.number, rel_tol=TOLERANCE, abs_tol=TOLERANCE * size), one


def compare(a: Measures, b: Measures) -> CompareReport:
    """Compare two files, or two runs.

    Args:
        a: The first, which is compared with.
        b: The second, which is judged.
    """
    return CompareReport(_side(a), _side(b), tuple(Comparison(one, one.value(a), one.value(b)) for one in METRICS))


def _side(measures: Measures) -> Side:
    steps = measures.summary.ages.steps
    groups = sum(step.groups for step in steps)
    without = groups - sum(step.groups_with_tokens for step in steps)
    return Side(measures.source, measures.run, measures.summary.rows, groups, without)
