"""The drop-in: every documented name, callable as documented, and runnable on a file."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel import trace as drop_in
from rtrace_otel.trace import RefitCuts, RolloutTrace, batch_age_by_step, read_events
from tests.analysis.rows import lines, row

SIGNATURES: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "RolloutTrace": (RolloutTrace, ("path",)),
    "RolloutTrace.flush": (RolloutTrace.flush, ("self",)),
    "RolloutTrace.close": (RolloutTrace.close, ("self",)),
    "read_events": (drop_in.read_events, ("path",)),
    "RefitCuts": (RefitCuts, ()),
    "RefitCuts.record": (RefitCuts.record, ("self", "replaced_version", "new_version", "calls")),
    "RefitCuts.forget_before": (RefitCuts.forget_before, ("self", "oldest_trainable_version")),
    "RefitCuts.tokens_by_version": (RefitCuts.tokens_by_version, ("self", "call_versions")),
    "tokens_by_version": (drop_in.tokens_by_version, ("events",)),
    "batch_age_group_metrics": (drop_in.batch_age_group_metrics, ("counts",)),
    "pop_batch_age": (drop_in.pop_batch_age, ("per_group_metrics", "trained_version")),
    "batch_age_by_step": (drop_in.batch_age_by_step, ("events",)),
    "main": (drop_in.main, ()),
}
STEPS = [
    row(0, event="group_published", group_id="g", tokens_by_version={"3": 40, "4": 60}),
    row(1, event="group_published", group_id="h", tokens_by_version={"4": 50}),
    row(2, event="train_step", step=12, trained_version=5, group_ids=["g", "h"]),
    row(3, event="train_step", step=2, trained_version=4, group_ids=["h"]),
    row(4, event="train_step", step=13, trained_version=5, group_ids=[]),
]
OUTPUT = "step 2: batch age 0.0000\nstep 12: batch age 1.2667\n"


def _main(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "rtrace_otel.trace", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("name", SIGNATURES)
def test_each_documented_signature_is_callable_by_position_and_by_name(name: str) -> None:
    """Documented parameters come first, in order and by their names; whatever else there is has a default."""
    function, documented = SIGNATURES[name]
    parameters = list(inspect.signature(function).parameters.values())
    by_name = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]

    assert list(documented) == by_name[: len(documented)]
    assert [] == [p.name for p in parameters if p.name not in documented and p.default is inspect.Parameter.empty]


def test_emit_takes_the_event_by_position_or_name_and_any_fields(tmp_path: Path) -> None:
    """As documented: ``emit(event, **fields)``."""
    path = tmp_path / "rollout_trace.jsonl"
    with RolloutTrace(path) as trace:
        trace.emit("x", path=1, fields=2)
        trace.emit(event="x", path=1, fields=2)
    rows = [
        {name: value for name, value in found.items() if name not in {"t", "run", "seq"}} for found in read_events(path)
    ]

    assert [{"event": "x", "path": 1, "fields": 2}] * 2 == rows[1:3]
    assert isinstance(inspect.getattr_static(RolloutTrace, "enabled"), property)


def test_every_documented_name_and_no_other_is_exported() -> None:
    """The page lists two classes, six functions and three constants."""
    classes = {"RolloutTrace", "RefitCuts"}
    constants = {"ROLLOUT_TRACE_FILENAME", "BATCH_AGE_TOKENS_METRIC", "BATCH_AGE_VERSION_SUM_METRIC"}

    assert sorted({name for name in SIGNATURES if "." not in name} | classes | constants) == sorted(drop_in.__all__)


def test_the_constants_have_the_documented_values() -> None:
    """Log folders and dashboards of NeMo RL are found by them."""
    assert ("rollout_trace.jsonl", "batch_age/trained_tokens", "batch_age/token_version_sum") == (
        drop_in.ROLLOUT_TRACE_FILENAME, drop_in.BATCH_AGE_TOKENS_METRIC, drop_in.BATCH_AGE_VERSION_SUM_METRIC
    )  # fmt: skip


def test_read_events_takes_its_path_by_name(tmp_path: Path) -> None:
    """The documented name of the parameter is ``path``."""
    path = tmp_path / "rollout_trace.jsonl"
    path.write_bytes(lines(row(0)))
    read: Callable[..., Iterator[dict[str, Any]]] = read_events

    assert [row(0)] == list(read(path=path))


def test_a_controller_written_for_nemo_rl_runs_unchanged(tmp_path: Path) -> None:
    """Emit, flush, close, read, cut, count, age: the documented life of a trace."""
    path = tmp_path / drop_in.ROLLOUT_TRACE_FILENAME
    trace, cuts = RolloutTrace(path), RefitCuts()
    assert trace.enabled
    cuts.record(3, 4, [["c", 40]])
    counts = cuts.tokens_by_version([("c", 3, 100)])
    sums = drop_in.batch_age_group_metrics(counts)
    trace.emit("group_published", group_id="g", tokens_by_version=counts)
    trace.emit(event="train_step", step=6, trained_version=5, group_ids=["g"])
    trace.flush()
    written = [json.loads(line)["event"] for line in path.read_bytes().splitlines()]
    trace.close()
    trace.emit("too late")

    assert ["group_published", "train_step"] == [name for name in written if name != "run_started"]
    assert {"g": {3: 40, 4: 60}} == drop_in.tokens_by_version(read_events(path))
    assert {6: pytest.approx(1.4)} == batch_age_by_step(read_events(path))
    assert pytest.approx(1.4) == drop_in.pop_batch_age({name: [value] for name, value in sums.items()}, 5)


def test_without_a_path_every_call_is_a_no_op() -> None:
    """``None`` disables tracing."""
    trace = RolloutTrace(None)
    trace.emit("x", a=1)
    trace.flush()
    trace.close()

    assert not trace.enabled


def test_the_module_prints_the_age_of_each_step(tmp_path: Path) -> None:
    """By step number, on standard output, and nothing else; a step without tokens has no line."""
    path = tmp_path / "rollout_trace.jsonl"
    path.write_bytes(lines(*STEPS))

    assert (0, OUTPUT, "") == _main(str(path)) == _main(str(tmp_path)) == _main("-", stdin=lines(*STEPS))


def test_the_module_says_so_if_there_is_no_such_file(tmp_path: Path) -> None:
    """Status 1, the reason on standard error, no traceback."""
    path = tmp_path / "none.jsonl"
    message = f"error: {path}: no such file. Pass the trace file or the job's log folder\n"

    assert (1, "", message) == _main(str(path))


@pytest.mark.parametrize("arguments", [(), ("a", "b")])
def test_the_module_shows_its_usage(arguments: tuple[str, ...]) -> None:
    """Status 2 for a call that names no file, or two."""
    code, output, error = _main(*arguments)

    assert (2, "", True) == (code, output, error.startswith("usage: python -m rtrace_otel.trace FILE"))


def test_the_module_reads_damaged_files_and_says_so(tmp_path: Path) -> None:
    """Ages are printed for what can be read, and standard error says that it was not all."""
    path = tmp_path / "rollout_trace.jsonl"
    path.write_bytes(lines(*STEPS) + b'{"event":"train_st')
    code, output, error = _main(str(path))

    assert (0, OUTPUT) == (code, output)
    assert str(path) in error
