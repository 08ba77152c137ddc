"""``rtrace export``: OTLP JSON Lines and Chrome trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from rtrace_otel.analysis.reader import read_events
from rtrace_otel.spans.projector import project
from tests.cli.conftest import JOB, RUN_B
from tests.cli.program import Run, strict_json


def documents(*paths: Path) -> list[Any]:
    """Every line of OTLP JSON files."""
    return [strict_json(line) for path in paths for line in path.read_text().splitlines()]


def spans_in(*paths: Path) -> list[dict[str, Any]]:
    """The spans of OTLP JSON files."""
    return [
        span
        for document in documents(*paths)
        for of_resource in document["resourceSpans"]
        for of_scope in of_resource["scopeSpans"]
        for span in of_scope["spans"]
    ]


def span_ids(*paths: Path) -> list[str]:
    """Their span ids, sorted."""
    return sorted(span["spanId"] for span in spans_in(*paths))


def expected_ids(run: str = "") -> list[str]:
    """Span ids of the job, sorted."""
    return sorted(f"{span.span_id:016x}" for span, _ in project(JOB) if span.run.startswith(run))


def test_otlp_json_has_every_span(job: Path, run: Run, tmp_path: Path) -> None:
    """Every line is ``resourceSpans``, and all spans are there once."""
    done = run("export", job, "--to", "otlp-json", "-o", tmp_path / "spans.jsonl")
    keys = {key for document in documents(tmp_path / "spans.jsonl") for key in document}
    assert (0, {"resourceSpans"}, expected_ids()) == (done.code, keys, span_ids(tmp_path / "spans.jsonl"))


def test_otlp_json_is_traces_data(job: Path, run: Run, tmp_path: Path) -> None:
    """The protobuf library takes every line, strictly."""
    run("export", job, "--to", "otlp-json", "-o", tmp_path / "spans.jsonl")
    for document in documents(tmp_path / "spans.jsonl"):
        ParseDict(document, TracesData(), ignore_unknown_fields=False)


def test_otlp_json_comes_back(job: Path, run: Run, tmp_path: Path) -> None:
    """Analysing the exported file gives the published ages of the job."""
    run("export", job, "--to", "otlp-json", "-o", tmp_path / "spans.jsonl")
    answers = [json.loads(run("age", path, "--format", "json").out) for path in (job, tmp_path / "spans.jsonl")]
    ages = [[(step["step"], step["logged"], step["published"]) for step in answer["steps"]] for answer in answers]
    assert ages[0] == ages[1]


def test_split_by_bytes(job: Path, run: Run, tmp_path: Path) -> None:
    """No file is larger than asked for, and together they have every span."""
    limit = 4_000
    done = run("export", job, "--to", "otlp-json", "-o", tmp_path / "spans.jsonl", "--max-bytes", limit)
    files = sorted(path for path in tmp_path.glob("spans*.jsonl"))
    assert (0, expected_ids()) == (done.code, span_ids(*files))
    assert [] == [path.stat().st_size for path in files if path.stat().st_size > limit]


def test_selection_by_run(job: Path, run: Run, tmp_path: Path) -> None:
    """``--run`` leaves the other runs out."""
    run("export", job, "--to", "otlp-json", "--run", "bbbb", "-o", tmp_path / "s.jsonl")
    assert expected_ids(RUN_B) == span_ids(tmp_path / "s.jsonl")


def test_selection_by_step(job: Path, run: Run, tmp_path: Path) -> None:
    """``--step`` gives the step, its group and the group's attempts."""
    run("export", job, "--to", "otlp-json", "--step", 5, "-o", tmp_path / "s.jsonl")
    assert ["rollout.attempt", "rollout.group", "train.step"] == sorted(
        span["name"] for span in spans_in(tmp_path / "s.jsonl")
    )


def test_selection_by_group(job: Path, run: Run, tmp_path: Path) -> None:
    """``--group`` gives the group and its attempts in all runs."""
    run("export", job, "--to", "otlp-json", "--group", "f", "-o", tmp_path / "s.jsonl")
    assert ["rollout.attempt", "rollout.group"] == sorted(span["name"] for span in spans_in(tmp_path / "s.jsonl"))


def test_standard_output(job: Path, run: Run) -> None:
    """Without ``-o`` the lines go to standard output."""
    done = run("export", job, "--to", "otlp-json", "-q")
    rows = list(read_events(done.out.encode().splitlines()))
    assert (0, "") == (done.code, done.err)
    assert len(rows) > 10


def test_chrome_trace_pairs_up(job: Path, run: Run, tmp_path: Path) -> None:
    """Every span begins once and ends once, not before it began, in the process of its run."""
    run("export", job, "--to", "chrome-trace", "-o", tmp_path / "trace.json")
    events = strict_json((tmp_path / "trace.json").read_text())["traceEvents"]
    begun = {(event["pid"], event["id2"]["local"]): event["ts"] for event in events if event["ph"] == "b"}
    ended = {(event["pid"], event["id2"]["local"]): event["ts"] for event in events if event["ph"] == "e"}
    assert (begun.keys(), len(expected_ids())) == (ended.keys(), len(begun))
    assert all(begun[key] <= ended[key] for key in begun)
    assert 2 == sum(event["ph"] == "M" for event in events)


@pytest.mark.parametrize("arguments", [(), ("--to", "zipkin"), ("--to", "otlp-json", "--max-bytes", "x")])
def test_bad_arguments(job: Path, run: Run, arguments: tuple[str, ...]) -> None:
    """A wrong argument is a usage error."""
    assert 2 == run("export", job, *arguments).code
