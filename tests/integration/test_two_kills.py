"""A job that is killed again soon after its restore: the same groups in three runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.demo import supervisor
from rtrace_otel.demo.settings import DemoSettings
from rtrace_otel.events import ROLLOUT_TRACE_FILENAME, Row
from tests.cli.program import rtrace
from tests.integration.chain import Found, chain
from tests.integration.conftest import orphans_in, projected_keys
from tests.integration.rows import attempts_in, group_ids_in
from tests.servers import BUILD_TIMEOUT_S, eventually

pytestmark = [pytest.mark.timeout(BUILD_TIMEOUT_S), pytest.mark.usefixtures("clean_environment")]

SETTINGS = DemoSettings(steps=6, checkpoint_every=2, groups_in_flight=24)


def _run_and_kill_twice(folder: Path) -> list[Row]:
    """Killed after the first checkpoint, and again before the restored run has made one of its own."""
    with supervisor._server(folder, SETTINGS) as url:
        for step in (3, 4):
            with supervisor._controller(folder, url, replace(SETTINGS, dies_in_step=step)) as controller:
                supervisor._await_kill(controller)
        with supervisor._controller(folder, url, SETTINGS) as controller:
            assert 0 == controller.wait(supervisor.DEADLINE_S)
    return list(read_events(folder / ROLLOUT_TRACE_FILENAME))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Row], list[Found]]]:
    """The rows of the job, and what Jaeger has after the rest was replayed."""
    folder = tmp_path_factory.mktemp("twice")
    with chain() as running:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.otelcol.otlp_http)
            events = _run_and_kill_twice(folder)
        result = rtrace("replay", folder, "--only-undelivered", "--endpoint", running.otelcol.otlp_http)
        assert (0, "") == (result.code, result.err)
        expected = projected_keys(events)
        yield events, eventually(running.spans, lambda spans: expected <= {span.key for span in spans})


def test_every_span_of_three_runs_is_there_once(shown: tuple[list[Row], list[Found]]) -> None:
    """What the runs sent, what they sent of the run before, and the replayed rest are together each span once."""
    events, spans = shown
    assert Counter(projected_keys(events)) == Counter(span.key for span in spans if span.name != "llm_request")
    assert {} == {key: n for key, n in Counter(span.key[1] for span in spans).items() if n > 1}


def test_a_group_of_three_runs_is_one_trace(shown: tuple[list[Row], list[Found]]) -> None:
    """With one root for each run; some groups went through all three."""
    events, spans = shown
    traces: dict[str, set[str]] = {}
    roots = []
    for span in spans:
        if "rtrace.group_id" in span.tags:
            traces.setdefault(span.tags["rtrace.group_id"], set()).add(span.key[0])
        if span.name == "rollout.group":
            roots.append((span.tags["rtrace.group_id"], span.tags["rtrace.run_id"]))
    assert {1} == {len(ids) for ids in traces.values()}
    expected = group_ids_in(events)
    assert sorted((group_id, run) for group_id, runs in expected.items() for run in runs) == sorted(roots)
    assert 3 == max(len(runs) for runs in expected.values())


def test_everything_resolves(shown: tuple[list[Row], list[Found]]) -> None:
    """Parents and links lead to spans that are there, and requests to attempts of their own run's group."""
    events, spans = shown
    orphans = orphans_in(spans, events)
    spans = [span for span in spans if span.key not in orphans]
    by_key = {span.key: span for span in spans}
    assert [] == [(s.name, reference) for s in spans for reference in s.references if reference.to not in by_key]
    requests = [by_key[span.parent] for span in spans if span.name == "llm_request" and span.parent]
    assert {"rollout.attempt"} == {parent.name for parent in requests}


def test_attempts_of_both_kills_are_there(shown: tuple[list[Row], list[Found]]) -> None:
    """Each attempt that either kill cut off is an error that says so, in the run that it belongs to."""
    events, spans = shown
    killed = sorted((a.run, a.attempt_id) for a in attempts_in(events) if a.outcome == "interrupted")
    assert 2 == len({run for run, _ in killed})
    assert killed == sorted(
        (str(span.tags["rtrace.run_id"]), str(span.tags["rtrace.attempt_id"]))
        for span in spans
        if span.name == "rollout.attempt"
        and span.tags.get("rtrace.truncated") is True
        and "run killed" == span.tags.get("otel.status_description")
    )
