"""Every PromQL query of the dashboards runs on a real Prometheus behind the shipped collector, and finds something."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.spans.conventions import METRICS
from tests.collector.conftest import Stack
from tests.collector.files import DASHBOARDS, dashboard, targets
from tests.record_demo import DATA
from tests.servers import BUILD_TIMEOUT_S, Prometheus, get_json

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

QUERIES = targets("expr")
VARIABLES = {
    "$__rate_interval": "1m",
    "$__range": "5m",
    "$service": ".*",
    "$run": ".*",
}
"""What Grafana puts in for a time of five minutes and All."""

SPAN_METRICS = {"traces_span_metrics_calls_total", "traces_span_metrics_duration_seconds"}
COLLECTOR_METRICS = {"otelcol_exporter_queue_size", "otelcol_receiver_accepted_spans"}


SUFFIXES = {"counter": "_total", "histogram": "_seconds", "gauge": ""}


def _library_metrics() -> set[str]:
    """The registry's names as Prometheus gets them."""
    return {f"{metric.name.replace('.', '_')}{SUFFIXES[metric.instrument]}" for metric in METRICS}


def _filled(expr: str) -> str:
    for name, value in VARIABLES.items():
        expr = expr.replace(name, value)
    return expr


def _metrics(expr: str) -> set[str]:
    """The metrics that a query names, histograms without the suffix of their series."""
    named = set(
        re.findall(r"\b(?:rtrace|traces_span_metrics|otelcol)_\w+", re.sub(r'=\s*"[^"]*"|by \([^)]*\)', "", expr))
    )
    labels = {label for label, _ in re.findall(r"(\w+)\s*([=!]~?)", expr)}
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in named - labels}


@cache
def _labels(prometheus: Prometheus, metric: str) -> set[str]:
    found = get_json(
        f"{prometheus.url}/api/v1/labels", **{"match[]": f'{{__name__=~"{metric}(_bucket|_sum|_count)?"}}'}
    )
    return set(found["data"])


@pytest.mark.parametrize(("place", "expr"), QUERIES, ids=[place for place, _ in QUERIES])
def test_the_query_finds_something(stack: Stack, place: str, expr: str) -> None:
    """It parses, and on the demo's data it gives at least one number that is a number."""
    filled = _filled(expr)
    assert "$" not in filled, place
    values = [float(series["value"][1]) for series in stack.query(filled)]
    assert [] != [value for value in values if math.isfinite(value)], (place, filled, values)


@pytest.mark.parametrize(("place", "expr"), QUERIES, ids=[place for place, _ in QUERIES])
def test_it_asks_for_metrics_and_labels_that_exist(stack: Stack, place: str, expr: str) -> None:
    """A label that does not exist is no error in PromQL, only an answer that is wrong."""
    metrics = _metrics(expr)
    assert metrics, place
    assert set() == metrics - _library_metrics() - SPAN_METRICS - COLLECTOR_METRICS, place
    known = set().union(*(_labels(stack.prometheus, metric) for metric in metrics))
    by = {label.strip() for group in re.findall(r"by \(([^)]*)\)", expr) for label in group.split(",")}
    matched = {label for label, _ in re.findall(r"(\w+)\s*([=!]~?)\s*\"", expr)}
    assert set() == (by | matched) - known - {"__name__"}, place


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_legends_name_labels_that_the_query_keeps(path: Path) -> None:
    """``{{label}}`` in a legend is a label that the query groups by; otherwise Grafana shows nothing there."""
    for panel in dashboard(path)["panels"]:
        for target in panel.get("targets", []):
            expr = target.get("expr", "")
            grouped = re.findall(r"by \(([^)]*)\)", expr)
            kept = (
                {label.strip() for group in grouped for label in group.split(",")} if grouped else {"job", "instance"}
            )
            assert set() == set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", ""))) - kept, panel["title"]


def test_every_metric_of_the_library_is_on_a_dashboard() -> None:
    """What a job sends can be seen without writing a query."""
    shown = set().union(*(_metrics(expr) for _, expr in QUERIES))
    assert set() == _library_metrics() - shown


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_variables_offer_the_jobs_and_runs(stack: Stack, path: Path) -> None:
    """The drop-downs are filled from what the collector exports, with or without metrics of the job's own."""
    offered = {}
    for variable in dashboard(path)["templating"]["list"]:
        ((selector, label),) = re.findall(r"^label_values\((.*), (\w+)\)$", variable["query"]["query"])
        answer = get_json(f"{stack.prometheus.url}/api/v1/label/{label}/values", **{"match[]": _filled(selector)})
        offered[variable["name"]] = answer["data"]
    runs = {row["run"] for row in read_events(DATA / "rollout_trace.jsonl.gz")}
    assert {"service": ["rtrace-demo"], "run": sorted(runs)} == offered


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_annotations_run(stack: Stack, path: Path) -> None:
    """Restores are marked on every graph; the query is one that Prometheus takes."""
    expressions = [annotation["expr"] for annotation in dashboard(path)["annotations"]["list"]]
    assert 1 == len(expressions)
    stack.query(_filled(expressions[0]))
