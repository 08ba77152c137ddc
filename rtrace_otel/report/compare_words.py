"""The sentences of ``rtrace compare``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from rtrace_otel.analysis.compare.compare import CompareReport, Comparison, Side, Verdict
from rtrace_otel.analysis.compare.values import Known, Value
from rtrace_otel.report.numbers import change, listed, percent, plural, seconds
from rtrace_otel.report.units import shown

MOST: Final = 3
"""Changes that the verdict names in each direction."""

LENGTHS_DIFFER: Final = 0.1
"""Relative difference of the two times from which amounts cannot be compared without a thought."""


MARKS: Final[Mapping[Known, str]] = {Known.EXACT: "", Known.AT_LEAST: ">=", Known.ABOUT: "~"}
"""How people see what is not exact."""


def marked(value: Value, unit: str) -> str:
    """A value in its unit, with its mark."""
    return f"{MARKS[value.known]} {shown(value.number, unit)}".lstrip()


def change_sentences(report: CompareReport) -> list[str]:
    """How many metrics are better and worse, and which of them changed most."""
    worse, better = report.number(Verdict.WORSE), report.number(Verdict.BETTER)
    same = [one for one in report.metrics if one.verdict is Verdict.SAME and one.metric.better is not None]
    judged = worse + better + len(same)
    if not judged:
        return ["No metric with a better direction can be compared."]
    if not worse and not better:
        return [f"B is the same as A in {plural(judged, 'metric')} with a better direction."]
    head = f"Of {plural(judged, 'metric')} with a better direction, B is worse in {worse} and better in {better}."
    return [" ".join([head, *_most(report, Verdict.WORSE, "worse"), *_most(report, Verdict.BETTER, "better")])]


def unknown_sentences(report: CompareReport) -> list[str]:
    """What cannot be compared, by reason."""
    by_reason: dict[str, list[str]] = {}
    for one in report.metrics:
        reasons = {side: value.missing for side, value in (("A", one.a), ("B", one.b)) if value.missing is not None}
        if len(set(reasons.values())) == 1:
            where = "both" if len(reasons) == 2 else next(iter(reasons))
            by_reason.setdefault(f"{where}: {next(iter(reasons.values()))}", []).append(one.metric.name)
        elif reasons:
            text = ", ".join(f"{side}: {why}" for side, why in reasons.items())
            by_reason.setdefault(text, []).append(one.metric.name)
    if not by_reason:
        return []
    told = "; ".join(f"{listed(names)} ({why})" for why, names in by_reason.items())
    return [f"Cannot be compared: {told}."]


def notes(report: CompareReport) -> list[str]:
    """What one should know before one trusts the differences."""
    values = [value for one in report.metrics for value in (one.a, one.b)]
    found = _lengths(report)
    if any(value.known is Known.AT_LEAST for value in values):
        found.append(">= marks lower bounds: rows do not say everything, and what they say is compared.")
    if any(value.known is Known.ABOUT for value in values):
        found.append("~ marks shares and rates of lower bounds.")
    if any(one.metric.name in _AGES for one in report.metrics):
        for name, side in (("A", report.a), ("B", report.b)):
            found += _without_tokens(name, side)
    negative = [one.metric.name for one in report.metrics if _is_negative(one)]
    if negative:
        found.append(f"Negative, which is a fault of the file and not better: {listed(negative)}.")
    return found


_AGES: Final = ("batch_age", "batch_age_p95")


def _most(report: CompareReport, verdict: Verdict, word: str) -> list[str]:
    found = [one for one in report.metrics if one.verdict is verdict]
    found.sort(key=lambda one: math.inf if one.relative is None else abs(one.relative), reverse=True)
    if not found:
        return []
    told = [_changed(one) for one in found[:MOST]]
    return [f"Most for the {word}: {listed(told)}."]


def _changed(one: Comparison) -> str:
    unit, share = one.metric.unit, one.relative
    by = "" if share is None else f" ({change(share)})"
    return f"{one.metric.name} from {marked(one.a, unit)} to {marked(one.b, unit)}{by}"


def _lengths(report: CompareReport) -> list[str]:
    lasted = next((one for one in report.metrics if one.metric.name == "lasted_s"), None)
    if lasted is None or lasted.a.number is None or lasted.b.number is None:
        return []
    a, b = lasted.a.number, lasted.b.number
    if abs(b - a) <= LENGTHS_DIFFER * max(a, b):
        return []
    return [f"A lasted {seconds(a)} and B {seconds(b)}: amounts grow with the time, so compare rates, shares and ages."]


def _without_tokens(name: str, side: Side) -> list[str]:
    if not side.groups_without_tokens:
        return []
    share = percent(side.groups_without_tokens / side.groups)
    groups = f"{side.groups_without_tokens:,} of {plural(side.groups, 'trained group')}"
    return [f"{name}: {groups} ({share}) have no token data and are in no batch age."]


def _is_negative(one: Comparison) -> bool:
    return any(value.number is not None and value.number < 0 for value in (one.a, one.b))
