"""One side of a comparison: the results of all analyses in one pass, of all runs or of one."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.compare.compare import Verdict, compare
from rtrace_otel.analysis.compare.measure import ChosenRun, MeasureFold, Measures, measure
from rtrace_otel.analysis.compare.metrics import METRICS, METRICS_BY_NAME
from rtrace_otel.analysis.compare.values import NOT_COUNTED, ONE_RUN, Value
from rtrace_otel.analysis.reading.damage import ReadReport, SeqGap, Tally
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.compare.jobs import KILLED, A, B, job


def read(rows: Iterable[Row], *gaps: SeqGap, gap_count: int | None = None) -> ReadReport:
    """What a reader of the rows met."""
    runs = {str(row["run"]): 1 for row in rows}
    count = len(gaps) if gap_count is None else gap_count
    missing = sum(gap.missing for gap in gaps)
    return Tally("f", runs=runs, gaps=list(gaps), gap_count=count, rows_missing=missing).report()


def chosen(head: str, rows: list[Row]) -> Measures:
    """The measures of one run of the rows."""
    fold = ChosenRun(head)
    for row in rows:
        fold.add(row)
    return fold.result(read(rows))


def test_the_pass_gives_what_each_analysis_gives_alone() -> None:
    """On a job with two stops."""
    rows = simulate(SimulationSettings(steps=6, stops=2)).rows
    found = measure(rows, "f")
    found.self_check()

    assert (summarise(rows), restore_report(rows), waste_report(rows), train_steps(rows)) == (
        found.summary, found.restore, found.waste, found.steps,
    )  # fmt: skip
    assert staleness(rows).histogram == found.token_ages


def test_one_run_of_several() -> None:
    """Interleaved rows of another run change nothing but what is told of stops."""
    rows = [row for pair in zip(A, B, strict=False) for row in pair] + B[len(A) :]
    alone, found = measure(A, "f"), chosen("a", rows)
    told = {metric.name: metric.value(found) for metric in METRICS if not metric.of_stops}

    assert "a" == found.run
    assert {name: METRICS_BY_NAME[name].value(alone) for name in told} | {"rows_missing": Value(0)} == told


def test_what_one_run_does_not_show() -> None:
    """What a stop took is not known, on either side, and never 0."""
    report = compare(chosen("k", KILLED), chosen("l", KILLED))
    report.self_check()
    unknown = {one.metric.name for one in report.metrics if one.a.missing == ONE_RUN == one.b.missing}

    assert {metric.name for metric in METRICS if metric.of_stops} == unknown
    assert {Verdict.NEITHER} == {one.verdict for one in report.metrics if one.metric.name in unknown}


def test_groups_of_an_earlier_run_have_no_tokens() -> None:
    """Run b trains a group that run a published; its rows alone do not say its tokens."""
    rows = [*A[:-2], A[-2] | {"run": "b"}, A[-1] | {"run": "b"}]
    one, whole = chosen("b", rows), measure(rows, "f")

    assert (1, 0) == tuple(compare(found, found).a.groups_without_tokens for found in (one, whole))


def test_a_head_that_two_runs_have() -> None:
    """Both are named."""
    rows = job("abc1", 80) + job("abd2", 80)

    with pytest.raises(TraceFileError, match="more than one run has an id that begins with 'ab': abc1, abd2"):
        chosen("ab", rows)
    assert "abd2" == chosen("abd", rows).run


@pytest.mark.parametrize("order", [("r", "r1"), ("r1", "r")])
def test_the_whole_id_means_that_run(order: tuple[str, str]) -> None:
    """Also if another run begins alike, before it or after it."""
    rows = [row for run in order for row in job(run, 80 if run == "r" else 30)]
    found = chosen("r", rows)

    assert ("r", 80) == (found.run, METRICS_BY_NAME["trained_tokens"].value(found).number)


def test_a_head_that_no_run_has() -> None:
    """The runs of the file are named, five of them at most."""
    rows = [row for number in range(7) for row in job(f"run{number}", 80)[:1]]

    with pytest.raises(TraceFileError, match=re.escape("'x'. Its runs: run0, run1, run2, run3, run4 and 2 more")):
        chosen("x", rows)


def test_missing_rows_of_one_run() -> None:
    """Those of other runs do not count; where a gap was not kept, nobody can tell whose it was."""
    gaps = (SeqGap("a", 3, 1, 4), SeqGap("b", 9, 1, 2))
    fold = MeasureFold()
    for row in A:
        fold.add(row)

    assert 4 == fold.result("f", "a", read(A, *gaps)).gap_rows
    assert 6 == fold.result("f", None, read(A, *gaps)).gap_rows
    metric = METRICS_BY_NAME["rows_missing"]
    assert Value(None, missing=NOT_COUNTED) == metric.value(fold.result("f", "a", read(A, *gaps, gap_count=3)))
