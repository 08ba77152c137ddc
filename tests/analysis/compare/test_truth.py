"""What a comparison says of two jobs equals what the simulated jobs know of themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.compare.compare import CompareReport, Comparison, compare
from rtrace_otel.analysis.compare.gates import judge, parse_gate
from rtrace_otel.analysis.compare.measure import measure
from rtrace_otel.analysis.compare.values import NO_TOKENS, Known
from rtrace_otel.cli.main import main
from rtrace_otel.testing import Fate, Simulation, SimulationSettings, Truth, simulate
from tests.analysis.ledger.histories import LATE_STEP, histories, tells_enough

ENOUGH: Final = settings(
    max_examples=125, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
"""Two tests of two histories each: five hundred in all."""

COST: Final = {Fate.REDONE, Fate.TRAINED_AGAIN, Fate.DISCARDED, Fate.NEVER_CAME_BACK}
"""Fates whose rollouts a stop cost."""


def lost_tokens(truth: Truth) -> int:
    """Tokens of rollouts that stops cost, and of resumed ones what was not kept."""
    rollouts = [rollout for stop in truth.stops for rollout in stop.rollouts]
    cost = sum(rollout.work.tokens for rollout in rollouts if rollout.fate in COST)
    resumed = [rollout.work for rollout in rollouts if rollout.fate is Fate.RESUMED]
    return cost + sum(work.tokens - min(work.tokens, work.tokens_kept) for work in resumed)


def batch_age(truth: Truth) -> float | None:
    """Token-weighted, over the steps as they were trained last."""
    last = {step.step: step for step in truth.steps}
    aged = [(step.tokens, step.batch_age) for step in last.values() if step.batch_age is not None]
    tokens = sum(count for count, _ in aged)
    return sum(count * age for count, age in aged) / tokens if tokens else None


TRUE: Final[dict[str, Callable[[Truth], float | None]]] = {
    "steps_trained": lambda truth: len(truth.steps),
    "trained_tokens": lambda truth: sum(step.tokens for step in truth.steps if step.survives),
    "batch_age": batch_age,
    "stops": lambda truth: len(truth.stops),
    "dead_s": lambda truth: sum(stop.dead_s for stop in truth.stops),
    "in_flight_at_stops": lambda truth: sum(stop.in_flight.rollouts for stop in truth.stops),
    "lost_rollouts": lambda truth: sum(rollout.fate in COST for stop in truth.stops for rollout in stop.rollouts),
    "lost_tokens": lost_tokens,
    "never_came_back": lambda truth: sum(stop.fates[Fate.NEVER_CAME_BACK].rollouts for stop in truth.stops),
    "steps_trained_again": lambda truth: sum(len(stop.steps_trained_again) for stop in truth.stops),
    "abandoned_tokens": lambda truth: sum(a.tokens for a in truth.attempts if a.outcome == "abandoned"),
}
"""The metrics that a simulated job knows of itself."""


def job(given_settings: SimulationSettings) -> Simulation:
    """A history whose rows tell enough; weight versions go on, so that an age is what it says."""
    simulation = simulate(replace(given_settings, version_restarts=False))
    assume(tells_enough(simulation.rows, simulation.truth))
    return simulation


def compared(a: Simulation, b: Simulation) -> CompareReport:
    """The comparison, whose own laws hold."""
    report = compare(measure(a.rows, "a"), measure(b.rows, "b"))
    report.self_check()
    return report


@given(histories(), histories())
@example(LATE_STEP, replace(LATE_STEP, seed=18, stops=()))
@ENOUGH
def test_both_sides_and_their_ratio_are_true(one: SimulationSettings, other: SimulationSettings) -> None:
    """Each value is true, or a bound or unknown where it says so; and the change is that of the truths."""
    a, b = job(one), job(other)
    rows = {metric.metric.name: metric for metric in compared(a, b).metrics}

    for name, true in TRUE.items():
        in_a, in_b = true(a.truth), true(b.truth)
        assert_is(rows[name], in_a, in_b)


def assert_is(row: Comparison, in_a: float | None, in_b: float | None) -> None:
    """The two values are the true ones, and so is what is said of their relation."""
    for true, said in ((in_a, row.a), (in_b, row.b)):
        if said.number is None:
            assert not true or said.missing == NO_TOKENS, row.metric.name
        elif said.known is Known.AT_LEAST:
            assert (true or 0) >= said.number - 1e-6, row.metric.name
        else:
            assert true == pytest.approx(said.number, abs=1e-4), row.metric.name
    if in_a is not None and in_b is not None and is_exact(row):
        assert in_b - in_a == pytest.approx(row.difference, abs=1e-3)
        assert abs(in_a) < 1e-3 or in_b / in_a - 1 == pytest.approx(row.relative, abs=1e-3)


def is_exact(row: Comparison) -> bool:
    """Whether both values are known, and as more than bounds."""
    values = (row.a, row.b)
    return all(value.number is not None and value.known is Known.EXACT for value in values)


@given(histories(), histories(), st.integers(0, 200), st.sampled_from(sorted(TRUE)))
@ENOUGH
def test_limits_are_broken_where_the_truth_breaks_them(
    one: SimulationSettings, other: SimulationSettings, per_cent: int, name: str
) -> None:
    """A change in per cent, and one in the metric's unit, of a metric of which more is worse or neither."""
    a, b = job(one), job(other)
    report = compared(a, b)
    row = next(metric for metric in report.metrics if metric.metric.name == name)
    in_a, in_b = TRUE[name](a.truth), TRUE[name](b.truth)
    if in_a is None or in_b is None or not is_exact(row):
        return

    for text, limit in (
        (f"{name}:+{per_cent}%", in_a * (1 + per_cent / 100)),
        (f"{name}:+{per_cent}", in_a + per_cent),
        (f"{name}:>{per_cent}", per_cent),
    ):
        if 0 < abs(in_b - limit) < 1e-3:
            continue  # what floats lose
        assert [text] * (in_b > limit) == [failure.gate.text for failure in judge(report, [parse_gate(text)])]


@pytest.mark.parametrize("seed", range(4))
def test_the_exit_status_follows_the_truth(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two files as the simulator writes them: status 3 at one rollout less than were really lost, else 0."""
    paths = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    jobs = [simulate(SimulationSettings(seed=seed + stops, stops=stops)) for stops in (1, 2)]
    for path, simulation in zip(paths, jobs, strict=True):
        Path(path).write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in simulation.rows))
    lost = int(TRUE["lost_rollouts"](jobs[1].truth) or 0)

    for limit, status in ((lost - 1, 3), (lost, 0)):
        with pytest.raises(SystemExit) as stop:
            main(["compare", *paths, "--fail-on", f"lost_rollouts:>{limit}"])
        assert status == stop.value.code
    assert lost > 0
    assert capsys.readouterr().out
