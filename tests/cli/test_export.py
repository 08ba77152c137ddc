"""``rtrace export``: OTLP JSON Lines and Chrome trace."""

from __future__ import annotations

import errno
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.cli import streaming
from rtrace_otel.spans.projector import project
from tests.cli.conftest import JOB, RUN_B
from tests.cli.program import Run, strict_json, write


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


def test_chrome_trace_has_every_span(job: Path, run: Run, tmp_path: Path) -> None:
    """Attempts and groups begin once and end once, not before they began; the others have a length.

    Beside the spans stand two runs and three stretches of the stop: dead, until the first dispatch and step.
    """
    run("export", job, "--to", "chrome-trace", "-o", tmp_path / "trace.json")
    events = strict_json((tmp_path / "trace.json").read_text())["traceEvents"]
    begun = {event["id2"]["local"]: event["ts"] for event in events if event["ph"] == "b"}
    ended = {event["id2"]["local"]: event["ts"] for event in events if event["ph"] == "e"}
    complete = [event["name"] for event in events if event["ph"] == "X"]
    beside = [name for name in complete if name.startswith(("run ", "stopped ", "until "))]
    assert begun.keys() == ended.keys()
    assert all(begun[key] <= ended[key] for key in begun)
    assert 2 + 3 == len(beside)
    assert len(expected_ids()) == len(begun) + len(complete) - len(beside)
    assert ["rtrace"] == [event["args"]["name"] for event in events if event["name"] == "process_name"]


def test_chrome_trace_has_the_counters(job: Path, run: Run, tmp_path: Path) -> None:
    """The same as those of the Perfetto trace; times are in microseconds."""
    run("export", job, "--to", "chrome-trace", "-o", tmp_path / "trace.json")
    events = strict_json((tmp_path / "trace.json").read_text())["traceEvents"]
    ages = [(event["ts"], event["args"]["value"]) for event in events if event["name"] == "batch age (versions)"]
    assert [(1005e6, 0), (1018e6, 1.375)] == ages


def test_chrome_trace_is_json_whatever_a_file_holds(run: Run, tmp_path: Path) -> None:
    """No number that JSON lacks is written."""
    rows = [{**row, "seconds": float("nan"), "mine": [float("inf"), 1.0]} for row in JOB]
    done = run("export", write(tmp_path, rows), "--to", "chrome-trace", "-q")
    assert (0, "") == (done.code, done.err)
    assert strict_json(done.out)["traceEvents"]


def test_perfetto_file(job: Path, run: Run, tmp_path: Path) -> None:
    """One that ends in .gz holds the same, packed; nothing else is left behind."""
    for name in ("job.pftrace", "job.pftrace.gz"):
        done = run("export", job, "--to", "perfetto", "-o", tmp_path / name)
        assert (0, f"{len(expected_ids())} spans written to {tmp_path}/{name}\n") == (done.code, done.err)
    plain = (tmp_path / "job.pftrace").read_bytes()
    assert plain == gzip.decompress((tmp_path / "job.pftrace.gz").read_bytes())
    assert {"job.pftrace", "job.pftrace.gz", job.name} == {path.name for path in tmp_path.iterdir()}
    assert 0o644 == (tmp_path / "job.pftrace").stat().st_mode & 0o777 | 0o644


def test_perfetto_of_a_part(job: Path, run: Run, tmp_path: Path) -> None:
    """One step has its own spans, and no counters, runs or stops."""
    run("export", job, "--to", "perfetto", "--step", 5, "-o", tmp_path / "step.pftrace")
    packets = Trace.FromString((tmp_path / "step.pftrace").read_bytes()).packet
    names = {packet.track_descriptor.name for packet in packets if packet.HasField("track_descriptor")}
    assert {"", "job: train steps", "rollout attempts", "rollout groups"} == names


def test_a_picture_takes_its_name_when_it_is_whole(
    job: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up leaves the file of before, and no half of a new one."""
    (tmp_path / "job.pftrace").write_text("before")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(streaming, "_copy", full)
    done = run("export", job, "--to", "perfetto", "-o", tmp_path / "job.pftrace")
    assert (1, "before") == (done.code, (tmp_path / "job.pftrace").read_text())
    assert f"error: {tmp_path}/job.pftrace: cannot be written: No space left on device\n" == done.err
    assert {"job.pftrace", job.name} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("form", ["perfetto", "chrome-trace"])
def test_a_picture_does_not_replace_its_trace(job: Path, run: Run, form: str) -> None:
    """Whatever name the trace goes by."""
    before = job.read_bytes()
    done = run("export", job.parent, "--to", form, "-o", job)
    assert (1, before) == (done.code, job.read_bytes())
    assert "is the trace itself" in done.err


@pytest.mark.parametrize("form", ["perfetto", "chrome-trace"])
def test_a_picture_of_nothing(job: Path, run: Run, form: str, tmp_path: Path) -> None:
    """A run that is not there is named, and no file is written."""
    done = run("export", job, "--to", form, "--run", "nope", "-o", tmp_path / "out")
    assert (1, False) == (done.code, (tmp_path / "out").exists())
    assert "no span is what was asked for" in done.err


@pytest.mark.parametrize(
    "arguments",
    [(), ("--to", "zipkin"), ("--to", "chrome-trace", "--flow-step", "5"), ("--to", "otlp-json", "--max-bytes", "x")],
)
def test_bad_arguments(job: Path, run: Run, arguments: tuple[str, ...]) -> None:
    """A wrong argument is a usage error."""
    assert 2 == run("export", job, *arguments).code


def test_pictures_into_a_folder(job: Path, run: Run, tmp_path: Path) -> None:
    """One file each; the folder is made."""
    done = run("export", job, "--to", "png", "-o", tmp_path / "a" / "b")
    names = {path.name for path in (tmp_path / "a" / "b").iterdir()}
    assert (0, {"timeline.png", "batch-age.png", "rates.png", "waste.png", "stops.png"}) == (done.code, names)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "a" / "b").iterdir())


def test_pictures_in_one_file(job: Path, run: Run, tmp_path: Path) -> None:
    """Its name says of which kind."""
    done = run("export", job, "--to", "png", "-o", tmp_path / "job.SVG")
    assert (0, f"written: {tmp_path}/job.SVG\n") == (done.code, done.err)
    assert b"<svg" in (tmp_path / "job.SVG").read_bytes()


@pytest.mark.parametrize(
    "arguments", [(), ("-o", "-"), ("-o", "job.jpg"), ("-o", "x.png", "--step", "1"), ("-o", "x.png", "--open")]
)
def test_pictures_with_bad_arguments(job: Path, run: Run, arguments: tuple[str, ...]) -> None:
    """They are no spans, and no text for standard output."""
    assert 2 == run("export", job, "--to", "png", *arguments).code


def test_pictures_of_nothing(run: Run, tmp_path: Path) -> None:
    """A run that did nothing cannot be drawn."""
    done = run("export", write(tmp_path, JOB[:1]), "--to", "png", "-o", tmp_path / "out")
    assert (1, False) == (done.code, (tmp_path / "out").exists())
    assert "nothing to draw" in done.err


def test_pictures_without_matplotlib(job: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra."""
    for name in [name for name in sys.modules if name.startswith("rtrace_otel.report.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("export", job, "--to", "png", "-o", tmp_path / "out")
    assert 1 == done.code
    assert "rtrace export --to png needs matplotlib. Install it with: pip install 'rtrace-otel[plot]'" in done.err


@pytest.mark.parametrize("time", [4e9, 1e300, None])
def test_an_odd_time_does_not_stretch_a_picture(run: Run, tmp_path: Path, time: float | None) -> None:
    """The file that Perfetto opens has the moments of the job; a note says how many rows were put elsewhere."""
    rows = [{**row, "t": time} if row["event"] == "attempt_sealed" else row for row in JOB]
    trace, name = write(tmp_path, rows), tmp_path / "trace.json"
    done = run("export", trace, "--to", "chrome-trace", "-o", name)
    moments = [event["ts"] / 1e6 for event in json.loads(name.read_text())["traceEvents"] if "ts" in event]
    odd = sum(row["event"] == "attempt_sealed" for row in JOB)

    assert 0 == done.code
    assert min(row["t"] for row in JOB) - 1 <= min(moments) <= max(moments) <= max(row["t"] for row in JOB) + 1
    assert f"note: {odd} rows without a sensible time" in done.err
