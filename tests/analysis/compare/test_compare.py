"""Changes and verdicts: worked out by hand, and the same seen from both sides."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.compare.compare import CompareReport, Comparison, Side, Verdict, compare
from rtrace_otel.analysis.compare.measure import Measures, measure
from rtrace_otel.analysis.compare.metrics import METRICS, METRICS_BY_NAME, Metric
from rtrace_otel.analysis.compare.values import Value
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.compare.jobs import A, B

MIRRORED: Final = {
    Verdict.BETTER: Verdict.WORSE,
    Verdict.WORSE: Verdict.BETTER,
    Verdict.SAME: Verdict.SAME,
    Verdict.NEITHER: Verdict.NEITHER,
}


def one(name: str, a: float | None, b: float | None) -> Comparison:
    """A metric with these values."""
    return Comparison(
        METRICS_BY_NAME[name], *(Value(value, missing="why" if value is None else None) for value in (a, b))
    )


@pytest.mark.parametrize(
    ("name", "a", "b", "difference", "relative", "verdict"),
    [
        ("lost_tokens", 100, 150, 50, 0.5, Verdict.WORSE),
        ("lost_tokens", 150, 100, -50, -1 / 3, Verdict.BETTER),
        ("tokens_per_s", 8.0, 2.0, -6.0, -0.75, Verdict.WORSE),
        ("tokens_per_s", 2.0, 8.0, 6.0, 3.0, Verdict.BETTER),
        ("rollouts", 10, 12, 2, 0.2, Verdict.NEITHER),
        ("rollouts", 10, 10, 0, 0.0, Verdict.SAME),
        ("stops", 0, 0, 0, 0.0, Verdict.SAME),
        ("stops", 0, 3, 3, None, Verdict.WORSE),
        ("stops", 3, 0, -3, -1.0, Verdict.BETTER),
        ("dead_s", 0.3, 0.1 + 0.2, 0.1 + 0.2 - 0.3, (0.1 + 0.2 - 0.3) / 0.3, Verdict.SAME),
        ("stops", None, 3, None, None, Verdict.NEITHER),
        ("stops", 3, None, None, None, Verdict.NEITHER),
        ("batch_age", 1.0, -3.0, -4.0, -4.0, Verdict.NEITHER),
        ("batch_age", -2.0, 1.0, 3.0, 1.5, Verdict.NEITHER),
    ],
)
def test_one_metric(
    name: str, a: float | None, b: float | None, difference: float | None, relative: float | None, verdict: Verdict
) -> None:
    """B minus A, as a share of A's size; less is better or worse by the metric; negative values are never better."""
    found = one(name, a, b)

    assert (difference, relative, verdict) == (found.difference, found.relative, found.verdict)


def test_the_two_jobs() -> None:
    """B is worse in six metrics and better in none; see the values of both jobs.

    Neither better nor worse are the time, the tokens, the attempt time, and rows missing, which nobody counted.
    """
    report = compare(measure(A, "a"), measure(B, "b"))
    report.self_check()
    worse = [found.metric.name for found in report.metrics if found.verdict is Verdict.WORSE]

    assert ["tokens_per_s", "batch_age", "batch_age_p95", "trainer_waiting_share", "wasted_share", "refusals"] == worse
    assert (6, 0, 15, 4) == tuple(report.number(verdict) for verdict in (
        Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.NEITHER,
    ))  # fmt: skip
    assert (Side("a", None, len(A), 1, 0), Side("b", None, len(B), 1, 0)) == (report.a, report.b)


def test_only_some_metrics() -> None:
    """In the order of the registry; no name stands for all of them."""
    report = compare(measure(A, "a"), measure(B, "b"))

    assert ["batch_age", "stops"] == [found.metric.name for found in report.only({"stops", "batch_age"}).metrics]
    assert report == report.only(())


JOBS: Final = tuple(
    measure(simulate(settings).rows, str(number))
    for number, settings in enumerate(
        (
            SimulationSettings(steps=6, stops=0),
            SimulationSettings(steps=6, stops=1),
            SimulationSettings(steps=6, stops=2, seed=1, keeps="nothing"),
        )
    )
)


def check_mirror(there: Comparison, back: Comparison) -> None:
    """What is better from one side is worse from the other, by as much."""
    assert MIRRORED[there.verdict] is back.verdict
    assert (there.difference is None) == (back.difference is None)
    if there.difference is not None and back.difference is not None:
        assert -there.difference == back.difference
    if None not in (there.relative, back.relative):
        sizes = [(one_way.relative or 0.0) * abs(one_way.a.number or 0.0) for one_way in (there, back)]
        assert pytest.approx(sizes[0], rel=1e-9, abs=1e-12) == -sizes[1]


@pytest.mark.parametrize("first", JOBS, ids=lambda job: job.source)
@pytest.mark.parametrize("second", JOBS, ids=lambda job: job.source)
def test_simulated_jobs_in_both_orders(first: Measures, second: Measures) -> None:
    """Every metric of a job without faults of the file is known, and both orders mirror each other."""
    there, back = compare(first, second), compare(second, first)
    there.self_check()

    assert ["rows_missing"] == [found.metric.name for found in there.metrics if found.difference is None]
    for one_way, other_way in zip(there.metrics, back.metrics, strict=True):
        check_mirror(one_way, other_way)


def test_a_job_is_the_same_as_itself() -> None:
    """No metric is better or worse."""
    for job in JOBS:
        report = compare(job, job)
        assert (0, 0) == (report.number(Verdict.WORSE), report.number(Verdict.BETTER))


def test_more_stops_are_worse() -> None:
    """The simulator knows that the second job was stopped once, and the first never."""
    worse = {found.metric.name for found in compare(JOBS[0], JOBS[1]).metrics if found.verdict is Verdict.WORSE}

    assert {"stops", "dead_s", "in_flight_at_stops", "lost_tokens", "lost_rollouts"} <= worse


NUMBERS: Final = st.one_of(st.none(), st.integers(0, 10**12), st.floats(0.001, 1e12))


@given(st.sampled_from(METRICS), NUMBERS, NUMBERS)
def test_any_two_values_mirror_each_other(metric: Metric, a: float | None, b: float | None) -> None:
    """And the change leads from the first value to the second."""
    there, back = one(metric.name, a, b), one(metric.name, b, a)

    check_mirror(there, back)
    side = Side("f", None, 1, 0, 0)
    CompareReport(side, side, (there,)).self_check()
