"""The demo, killed and restored, as it arrived in Jaeger."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.demo.settings import DemoSettings
from rtrace_otel.demo.supervisor import DemoResult, run_demo
from rtrace_otel.events import Row
from rtrace_otel.spans.projector import project
from tests.integration.chain import Chain, Found, SpanKey, chain
from tests.server_process import get_text
from tests.servers import eventually, need_binaries

BUSY: Final = DemoSettings(groups_in_flight=24, failure_rate=0.15)
"""A kill finds rollouts which the checkpoint knows of and which have not ended; some that are resumed fail."""


@dataclass(frozen=True)
class Job:
    """A demo and what became of its spans, before anything was replayed."""

    chain: Chain
    result: DemoResult
    events: list[Row]
    runs: tuple[str, ...]
    spans: list[Found]
    spans_file: Path
    metrics: str

    def named(self, name: str) -> list[Found]:
        """The spans of one name."""
        return [span for span in self.settled if span.name == name]

    @cached_property
    def settled(self) -> list[Found]:
        """All spans but orphans."""
        orphans = orphans_in(self.spans, self.events)
        return [span for span in self.spans if span.key not in orphans]

    @cached_property
    def by_key(self) -> dict[SpanKey, Found]:
        """The spans by their ids."""
        return {span.key: span for span in self.spans}


@pytest.fixture(autouse=True, scope="package")
def clean_environment() -> Iterator[None]:
    """Nothing outside the tests says where spans go; and no demo is run where there is no server to send to."""
    need_binaries()
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("OTEL_")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="package")
def job(tmp_path_factory: pytest.TempPathFactory, clean_environment: None) -> Iterator[Job]:  # noqa: ARG001 - comes first
    """The demo, run once, with the collector named as users name it."""
    folder = tmp_path_factory.mktemp("demo")
    with chain() as running:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.otelcol.otlp_http)
            result = run_demo(folder, BUSY, lambda _: None, steps_after_checkpoint=1, into_step=0.9)
        events = list(read_events(result.trace))
        runs = tuple(dict.fromkeys(event["run"] for event in events))
        # At once: the collector forgets a job that has been silent for five minutes.
        metrics = eventually(
            lambda: get_text(f"http://{running.otelcol.metrics}/metrics"),
            lambda text: _has_metrics(text, runs[-1]),
            seconds=60.0,
        )
        spans = eventually(running.spans, lambda found: _all_there(found, events, result))
        copy = folder / "collector.jsonl"
        eventually(running.keys_in_file, lambda keys: len(keys) >= len(spans))
        copy.write_bytes(running.otelcol.spans_file.read_bytes())
        yield Job(running, result, events, runs, spans, copy, metrics)


def _has_metrics(text: str, run: str) -> bool:
    """Whether a run has trained a step, as the collector offers it to Prometheus."""
    return any(line.startswith("rtrace_batch_age{") and run in line for line in text.splitlines())


def _all_there(found: list[Found], events: list[Row], result: DemoResult) -> bool:
    calls = {span.tags.get("gen_ai.request.id") for span in found}
    return result.truth.keys() <= calls and projected_keys(events) <= {span.key for span in found}


def projected_keys(events: list[Row]) -> set[SpanKey]:
    """The ids of all spans that the rows give."""
    return {(f"{span.trace_id:032x}", f"{span.span_id:016x}") for span, _ in project(events)}


def orphans_in(spans: list[Found], events: list[Row]) -> set[SpanKey]:
    """Requests of attempts whose rows died with a run: made just before the kill, after its last row.

    The file promises rows older than the batch interval, so nobody but the server knows of such an attempt.
    """
    known = {span.key for span in spans}
    ended = {event["run"] for event in events if event["event"] == "run_ended"}
    last_us = {event["run"]: event["t"] * 1e6 for event in events}
    kills = [at for run, at in last_us.items() if run not in ended]
    return {
        span.key
        for span in spans
        if span.name == "llm_request"
        and span.parent not in known
        and any(-5_000 < span.start_us - at < 500_000 for at in kills)
    }
