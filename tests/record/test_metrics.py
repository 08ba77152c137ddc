"""Metrics from rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader

from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.spans.conventions import METRICS


def values(reader: InMemoryMetricReader) -> dict[str, dict[tuple[tuple[str, Any], ...], float]]:
    """Every metric's values by attributes; of a histogram, the sum."""
    data = reader.get_metrics_data()
    assert data is not None
    return {
        metric.name: {
            tuple(sorted((point.attributes or {}).items())): point.sum
            if isinstance(point, HistogramDataPoint)
            else point.value  # type: ignore[union-attr]
            for point in metric.data.data_points
        }
        for of_resource in data.resource_metrics
        for of_scope in of_resource.scope_metrics
        for metric in of_scope.metrics
    }


@pytest.fixture
def reader() -> InMemoryMetricReader:
    """What reads the metrics."""
    return InMemoryMetricReader()


@pytest.fixture
def provider(reader: InMemoryMetricReader) -> MeterProvider:
    """A provider with that reader."""
    return MeterProvider([reader], shutdown_on_exit=False)


def test_small_history(file: Path, reader: InMemoryMetricReader, provider: MeterProvider) -> None:
    """Every metric has the value that the history gives it."""
    with RolloutTrace(file, meter_provider=provider) as trace:
        trace.group_reserved("g", "1")
        trace.group_reserved("h", "2")
        for attempt in "abcd":
            trace.attempt_dispatched("g", attempt, "1", 0)
        trace.attempt_refused("a", "busy")
        trace.attempt_dispatched("g", "a", "1", 0)
        trace.attempt_sealed("a", tokens=10)
        trace.attempt_sealed("b", tokens=5, masked=True)
        trace.attempt_abandoned("c", "server error", tokens=3)
        trace.weight_sync(1, 1, seconds=9.0)
        trace.weight_sync(1, 2, calls=[("k", 5), ("l", 0)], seconds=0.5)
        trace.checkpoint_published("c1", 1, seconds=2.0)
        trace.checkpoint_restored("c1", 1, seconds=4.0)
        trace.train_step(1, 2, ["g"], batch_age=1.5, tokens=10)
        trace.emit("trace_gap", lost=7, reason="test")
    assert {
        "rtrace.attempts": {
            (("rtrace.outcome", "sealed"),): 2,
            (("rtrace.outcome", "abandoned"), ("rtrace.reason", "server error")): 1,
            (("rtrace.outcome", "refused"), ("rtrace.reason", "busy")): 1,
        },
        "rtrace.tokens": {
            (("rtrace.fate", "sealed"),): 10,
            (("rtrace.fate", "masked"),): 5,
            (("rtrace.fate", "abandoned"),): 3,
            (("rtrace.fate", "trained"),): 10,
        },
        "rtrace.attempts.open": {(): 1},
        "rtrace.groups.open": {(): 1},
        "rtrace.queue.rows": {(): 0},
        "rtrace.steps": {(): 1},
        "rtrace.batch_age": {(): 1.5},
        "rtrace.batch_age.trained_tokens": {(): 10},
        "rtrace.batch_age.token_ages": {(): 15.0},
        "rtrace.refit.duration": {(): 0.5},
        "rtrace.refit.calls": {(): 2},
        "rtrace.checkpoint.duration": {(("rtrace.phase", "publish"),): 2.0, (("rtrace.phase", "restore"),): 4.0},
        "rtrace.rows.lost": {(): 7},
        "rtrace.spans.not_delivered": {(): 0},
    } == values(reader)


def test_names_and_attributes_are_those_of_the_conventions(
    file: Path, reader: InMemoryMetricReader, provider: MeterProvider
) -> None:
    """No metric and no attribute that is not documented."""
    with RolloutTrace(file, meter_provider=provider) as trace:
        trace.attempt_dispatched("g", "x", "1", 0)
        trace.attempt_abandoned("x", "r", tokens=1)
        trace.checkpoint_published("c", 1, seconds=1.0)
    documented = {metric.name: set(metric.attributes) for metric in METRICS}
    found = {name: {key for attributes in points for key, _ in attributes} for name, points in values(reader).items()}
    assert {} == {name: keys for name, keys in found.items() if not keys <= documented.get(name, set())}
    assert found.keys() <= documented.keys()


def test_reasons_stay_few(file: Path, reader: InMemoryMetricReader, provider: MeterProvider) -> None:
    """Reasons that hold ids do not become a series each, and every attempt is counted."""
    with RolloutTrace(file, meter_provider=provider) as trace:
        for number in range(500):
            trace.attempt_dispatched("g", f"x{number}", "1", 0)
            trace.attempt_abandoned(f"x{number}", f"request {number} failed")
    found = values(reader)["rtrace.attempts"]
    assert 500 == sum(found.values())
    assert len(found) <= 40


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("attempt_sealed", {"attempt_id": "x", "tokens": "many"}),
        ("attempt_sealed", {"attempt_id": "x", "tokens": float("nan")}),
        ("attempt_sealed", {"attempt_id": "x", "tokens": -1}),
        ("attempt_abandoned", {"attempt_id": "x", "reason": ["a"]}),
        ("train_step", {"step": 1, "group_ids": 5, "batch_age": "old", "tokens": None}),
        ("train_step", {"step": 1, "group_ids": [], "batch_age": True, "tokens": 2**70}),
        ("weight_sync", {"replaced_version": 1, "new_version": 2, "calls": 5, "seconds": "long"}),
        ("trace_gap", {"lost": "some"}),
    ],
)
def test_odd_rows_cost_no_other(
    file: Path, reader: InMemoryMetricReader, provider: MeterProvider, event: str, fields: dict[str, object]
) -> None:
    """An odd row does not disturb what is counted after it."""
    with RolloutTrace(file, meter_provider=provider) as trace:
        trace.emit(event, **fields)
        trace.weight_sync(3, 4, calls=[("k", 1)], seconds=1.0)
    found = values(reader)
    assert ({(): 1}, {(): 1.0}) == (found["rtrace.refit.calls"], found["rtrace.refit.duration"])


def test_step_is_counted_though_its_groups_are_odd(
    file: Path, reader: InMemoryMetricReader, provider: MeterProvider
) -> None:
    """A stalled job is told by the rate of steps, so each step counts."""
    with RolloutTrace(file, meter_provider=provider) as trace:
        trace.emit("train_step", step=1, trained_version=1, group_ids=5, batch_age=2.0, tokens=10)
    found = values(reader)
    assert ({(): 1}, {(): 2.0}) == (found["rtrace.steps"], found["rtrace.batch_age"])
