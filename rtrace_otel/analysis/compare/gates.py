"""Limits that a comparison must keep: how they are written, and which of them it breaks."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rtrace_otel.analysis.compare.compare import TOLERANCE, CompareReport, Comparison
from rtrace_otel.analysis.compare.metrics import METRICS_BY_NAME, Metric

Form: TypeAlias = Literal["relative", "absolute", "above", "below"]
"""``relative`` and ``absolute`` limit the change from the first value, the others the second value itself."""

FORMS: Final = "NAME:+5% or NAME:-5%, NAME:+100 or NAME:-100, NAME:>0.5 or NAME:<0.5"

NEGATIVE: Final = "is negative, which is a fault of the file"
"""Why a negative value breaks every limit."""

_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_CHANGE: Final = re.compile(rf"([+-])({_NUMBER})(%?)")
_LIMIT: Final = re.compile(rf"([<>])(-?{_NUMBER})")
_NEAR: Final = 3


class GateError(ValueError):
    """A limit is not written as it must be, or there is no such metric; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One limit.

    Attributes:
        text: As it was written.
        metric: What is limited.
        form: See :data:`Form`.
        upwards: Whether the value may not be above the limit, rather than below it.
        number: The limit, or the change that is allowed: a share for ``relative``, else in the metric's unit.
    """

    text: str
    metric: Metric
    form: Form
    upwards: bool
    number: float

    def limit(self, a: float) -> float:
        """The limit of the second value.

        Args:
            a: The first value; a limit of its own does not depend on it.
        """
        if self.form in ("above", "below"):
            return self.number
        change = abs(a) * self.number if self.form == "relative" else self.number
        return a + change if self.upwards else a - change


@dataclass(frozen=True, slots=True)
class GateFailure:
    """A limit that a comparison does not keep.

    Attributes:
        gate: The limit.
        compared: The metric on both sides.
        limit: The limit of the second value; ``None`` if it cannot be told.
        missing: Why nobody can judge; ``None`` if the second value is beyond the limit.
        side: Which side that is about: ``A``, ``B`` or ``None``.
    """

    gate: Gate
    compared: Comparison
    limit: float | None
    missing: str | None = None
    side: Literal["A", "B"] | None = None


def parse_gate(text: str) -> Gate:
    """Read a limit.

    Args:
        text: ``name:+5%`` or ``name:-5%`` (change in per cent of the first value), ``name:+100`` or ``name:-100``
            (change in the metric's unit), ``name:>0.5`` or ``name:<0.5`` (the second value itself).

    Raises:
        GateError: It is none of these, there is no such metric, or the change would be for the better.
    """
    name, colon, rest = text.partition(":")
    metric = metric_named(name)
    change, limit = _CHANGE.fullmatch(rest.strip()), _LIMIT.fullmatch(rest.strip())
    if change is not None:
        sign, digits, per_cent = change.groups()
        form: Form = "relative" if per_cent else "absolute"
        gate = Gate(text, metric, form, sign == "+", _finite(text, digits) / (100 if per_cent else 1))
        _check_direction(gate)
        return gate
    if limit is not None:
        sign, digits = limit.groups()
        return Gate(text, metric, "above" if sign == ">" else "below", sign == ">", _finite(text, digits))
    problem = f"{rest!r} is no limit" if colon else "there is no limit"
    raise GateError(f"{text!r}: {problem}; write {FORMS}")


def metric_named(name: str) -> Metric:
    """The metric of a name, in any case, with hyphens or spaces for underscores.

    Raises:
        GateError: There is none; the text says which come near.
    """
    wanted = re.sub(r"[\s\-]+", "_", name.strip().lower())
    if wanted in METRICS_BY_NAME:
        return METRICS_BY_NAME[wanted]
    near = difflib.get_close_matches(wanted, METRICS_BY_NAME, _NEAR)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(METRICS_BY_NAME)}"
    raise GateError(f"no metric is called {name.strip()!r}; {hint}")


def judge(report: CompareReport, gates: Iterable[Gate]) -> tuple[GateFailure, ...]:
    """The limits that a comparison does not keep, in the order given. What nobody knows keeps no limit.

    Args:
        report: The comparison, with every metric that is limited.
        gates: The limits.
    """
    compared = {one.metric.name: one for one in report.metrics}
    judged = (_judged(gate, compared[gate.metric.name]) for gate in gates)
    return tuple(failure for failure in judged if failure is not None)


def _judged(gate: Gate, one: Comparison) -> GateFailure | None:
    a, b = one.a.number, one.b.number
    if b is None:
        return GateFailure(gate, one, None, one.b.missing, "B")
    if a is None and gate.form in ("relative", "absolute"):
        return GateFailure(gate, one, None, one.a.missing, "A")
    limit = gate.limit(0.0 if a is None else a)
    beyond = b > limit if gate.upwards else b < limit
    if beyond and not math.isclose(b, limit, rel_tol=TOLERANCE):
        return GateFailure(gate, one, limit)
    if gate.form in ("relative", "absolute") and a is not None and min(a, b) < 0:
        return GateFailure(gate, one, limit, NEGATIVE, "A" if a < 0 else "B")
    return None


def _check_direction(gate: Gate) -> None:
    better = gate.metric.better
    if better is not None and gate.upwards == (better == "higher"):
        change = gate.text.partition(":")[2].strip().lstrip("+-")
        meant = f"{gate.metric.name}:{'-' if gate.upwards else '+'}{change}"
        raise GateError(f"{gate.text!r}: {better} is better for {gate.metric.name}; did you mean {meant}?")


def _finite(text: str, digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise GateError(f"{text!r}: the number is too large")
    return value
