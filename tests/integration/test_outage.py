"""A job whose collector is down, or goes down: the file is complete, and replay brings the rest."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.spans_of import delivered_to, numbered_spans
from rtrace_otel.demo.settings import DemoSettings
from rtrace_otel.demo.supervisor import DemoResult, run_demo
from rtrace_otel.events import Row
from rtrace_otel.spans.projector import project
from tests.cli.program import rtrace
from tests.integration.chain import Chain, SpanKey, chain, collector_for, keys_in
from tests.integration.conftest import Job, projected_keys
from tests.server_process import free_ports, refusing_port
from tests.servers import BUILD_TIMEOUT_S, eventually, jaeger

pytestmark = [pytest.mark.timeout(BUILD_TIMEOUT_S), pytest.mark.usefixtures("clean_environment")]

SHORT = DemoSettings(steps=6, checkpoint_every=2)


def _run(folder: Path, endpoint: str, say: Callable[[str], None] = lambda _: None) -> DemoResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        return run_demo(folder, SHORT, say)


def _ours(running: Chain) -> Counter[SpanKey]:
    """The spans of the job in Jaeger."""
    return Counter(span.key for span in running.spans() if span.name != "llm_request")


def _confirmed(events: list[Row]) -> set[SpanKey]:
    """The spans that the file says were delivered."""
    delivered = delivered_to(events, None)
    return {
        (f"{found.span.trace_id:032x}", f"{found.span.span_id:016x}")
        for found in numbered_spans(events)
        if found.span.run in delivered and found.number in delivered[found.span.run]
    }


def _assert_complete(result: DemoResult) -> list[Row]:
    """Nothing was lost, and the second run ended as it should; gives the rows."""
    reader = read_events(result.trace)
    events = list(reader)
    runs = dict.fromkeys(event["run"] for event in events)
    assert {run: list(range(len([e for e in events if e["run"] == run]))) for run in runs} == {
        run: [event["seq"] for event in events if event["run"] == run] for run in runs
    }
    # The kill may have torn the last line of the first run, which nobody was promised.
    assert sum(reader.report.damage_counts.values()) <= 1
    assert (2, 0, 0) == (len(runs), reader.report.rows_missing, reader.report.gap_count)
    assert ["closed"] == [event["reason"] for event in events if event["event"] == "run_ended"]
    assert list(range(1, SHORT.steps + 1)) == list(batch_age_by_step(events))
    return events


def test_a_collector_that_was_never_there(tmp_path: Path) -> None:
    """The job runs to its end, the file is complete and says that nothing was delivered; replay delivers all of it."""
    with refusing_port() as nobody:
        events = _assert_complete(_run(tmp_path, f"http://127.0.0.1:{nobody}"))
    assert [] == [event for event in events if event["event"] == "spans_delivered"]
    expected = Counter(projected_keys(events))
    with chain() as running:
        replayed = rtrace("replay", tmp_path, "--only-undelivered", "--endpoint", running.otelcol.otlp_http)
        assert (0, "") == (replayed.code, replayed.err)
        assert expected == eventually(lambda: _ours(running), lambda found: found == expected)
        known = {span.key for span in running.spans()}
        assert [] == [r for span in running.spans() for r in span.references if r.to not in known]


def test_a_replay_while_the_collector_is_down(job: Job) -> None:
    """Replay to nobody fails with the number of spans that were not accepted, and leaves the file as it was."""
    before = job.result.trace.read_bytes()
    last_s = max(event["t"] for event in job.events)
    since = datetime.datetime.fromtimestamp(last_s - 0.5, datetime.UTC).isoformat()
    wanted = [span for span, _ in project(job.events) if span.end_ns >= (last_s - 0.5) * 1e9]
    with refusing_port() as nobody:
        arguments = ("--since", since, "--endpoint", f"http://127.0.0.1:{nobody}")
        replayed = rtrace("replay", job.result.trace, *arguments, env={"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "1"})
    assert before == job.result.trace.read_bytes()
    assert wanted
    assert (1, [f"{len(wanted)} spans not accepted."]) == (
        replayed.code,
        re.findall(r"\d+ spans not accepted\.", replayed.out),
    )
    assert [str(len(wanted))] == re.findall(r"(\d+) spans not accepted", replayed.err)


def test_a_collector_that_goes_down_with_the_first_run(tmp_path: Path) -> None:
    """What was confirmed is not sent again, all else is, and Jaeger then has every span once."""
    first_file = tmp_path / "first.jsonl"
    (port,) = free_ports(1)
    with jaeger() as traces:
        with ExitStack() as first:
            collector = first.enter_context(collector_for(traces, port))
            before = Chain(traces, collector)

            def say(text: str) -> None:
                if "killed" in text:
                    confirmed = _confirmed(list(read_events(tmp_path / "job" / "rollout_trace.jsonl")))
                    eventually(lambda: confirmed <= _ours(before).keys() & set(before.keys_in_file()))
                    first_file.write_bytes(collector.spans_file.read_bytes())
                    first.close()

            events = _assert_complete(_run(tmp_path / "job", collector.otlp_http, say))
        expected, confirmed = projected_keys(events), _confirmed(events)
        assert confirmed
        assert set() == confirmed - set(keys_in(first_file))
        with collector_for(traces, port) as second:
            replayed = rtrace("replay", tmp_path / "job", "--only-undelivered", "--endpoint", second.otlp_http)
            assert (0, "") == (replayed.code, replayed.err)
            after = Chain(traces, second)
            sent = Counter(expected - confirmed)
            assert sent == eventually(lambda: Counter(after.keys_in_file()), lambda keys: keys == sent)
            assert Counter(expected) == eventually(lambda: _ours(after), lambda found: found == Counter(expected))
