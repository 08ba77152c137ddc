"""One trace of a fleet has the numbers that the commands give for it."""

from __future__ import annotations

import gzip
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.check.check import check_trace
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.fleet.analyse import MAX_FIELDS, MAX_TEXT, OTHERS, analyse, analyse_file
from rtrace_otel.fleet.numbers import Volume
from rtrace_otel.fleet.results import Failure, FileResult, decode, encode
from rtrace_otel.testing import SimulationSettings, simulate, varied_settings
from tests.cli.conftest import JOB
from tests.cli.program import lines, write
from tests.report.history import abandoned, dispatched, event, reserved, started, trace
from tests.report.hostile import hostile_trace


def _of(rows: list[dict[str, object]]) -> FileResult:
    result = analyse(read_events(lines(rows).splitlines(keepends=True)), "trace.jsonl")
    result.numbers.self_check()
    return result


def test_the_numbers_of_a_small_job() -> None:
    """One kill, one restore, two steps: 1,024 tokens of age 0; then 150 of age 2, and 250 of age 1 that refits cut.

    Rows are a second apart: 12 rows of the first run, so that its last is at 1,011 and the second run begins at 1,012.
    """
    result = _of(JOB)
    numbers = result.numbers
    assert (1, 2, len(JOB), 2, 1) == (numbers.jobs, numbers.runs, numbers.rows, numbers.steps, numbers.stops)
    assert (1.0, 0) == (numbers.dead_s, numbers.stops_untimed)
    assert {0: 1024, 1: 250, 2: 150} == numbers.ages
    assert 550 / 1424 == numbers.age_mean
    assert {"server error": Volume(1, 0, exact=False)} == numbers.abandoned
    assert ("node2", None, 1000.0, 1019.0, "clean") == (
        result.host, result.service, result.started, result.last_row, result.ended_how
    )  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_they_are_those_of_the_commands(seed: int) -> None:
    """Of any simulated job: the same stops, ages, accounts and findings as each command finds by itself."""
    rows = simulate(varied_settings(seed)).rows
    numbers = _of(rows).numbers
    restores, waste, ages = restore_report(rows), waste_report(rows), step_ages(rows)
    check = check_trace(read_events(lines(rows).splitlines(keepends=True)))
    assert len(restores.stops) == numbers.stops
    assert sum(stop.lost.tokens_lost for stop in restores.stops) == numbers.lost.tokens
    assert {f.value: a.rollouts for f, a in restores.totals.items() if a.rollouts} == {
        name: volume.rollouts for name, volume in numbers.fates.items()
    }
    assert waste.total.tokens == numbers.generated.tokens
    assert waste.total.rollouts == numbers.generated.rollouts
    assert len(ages.steps) == numbers.steps
    assert ages.tokens == sum(numbers.ages.values())
    assert sum(sum(found.values()) for found in check.counts.values()) == sum(numbers.findings.values())


def test_a_result_comes_back_as_it_was_sent() -> None:
    """Between processes and machines, and from the cache; whatever a damaged file holds."""
    for rows in (JOB, hostile_trace("\x1b[2J\ud800"), simulate(SimulationSettings(prompts=20, steps=3)).rows):
        result = _of(rows)
        assert result == decode(encode(result))
    failure = Failure("\udcff", "no")
    assert failure == decode(encode(failure))


def test_fields_of_the_run_can_be_asked_for() -> None:
    """Of the row and of its config, the latest value; long ones are clipped, deep ones and lists are not kept."""
    first = started("a", service="math", framework="nemo-rl", team="x", config={"model": "8B", "lora": False, "l": [1]})
    second = started("b", team="y" * 900, host=None)
    result = _of(trace(first, second))
    assert ("math", "node1") == (result.service, result.host)
    assert {
        "framework": "nemo-rl", "team": "y" * MAX_TEXT, "config.model": "8B", "config.lora": "False"
    } == result.fields  # fmt: skip
    assert ("8B", "8B", None, "math", "node1") == tuple(
        result.field(name) for name in ("model", "config.model", "nothing", "service", "host")
    )


def test_fields_and_reasons_are_bounded() -> None:
    """A row that says a thousand things, and a thousand reasons, keep a bounded number of them; nothing is lost."""
    attempts = [row for n in range(100) for row in (dispatched("a", f"x{n}", "g"), abandoned("a", f"x{n}", f"why {n}"))]
    many = started("a", **{f"field{n}": n for n in range(1000)})
    result = _of(trace(many, reserved("a", "g"), *attempts))
    assert MAX_FIELDS == len(result.fields)
    assert 51 == len(result.numbers.abandoned)
    assert 50 == result.numbers.abandoned[OTHERS].rollouts


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    """No file, nothing in it, no event in it: a reason each, and no exception."""
    empty, other = tmp_path / "empty.jsonl", tmp_path / "other.jsonl"
    empty.touch()
    other.write_text('{"name": "no event"}\n', encoding="utf-8")
    reason = "no rollout event in this file: it is empty. Is it a rollout trace?"
    assert Failure(str(empty), reason) == analyse_file(str(empty))
    assert Failure(str(other), "no rollout event in this file. Is it a rollout trace?") == analyse_file(str(other))
    gone = str(tmp_path / "gone.jsonl")
    assert Failure(gone, "no such file. Pass the trace file or the job's log folder") == analyse_file(gone)


def test_damage_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    """A torn tail, and a gzip that ends in the middle."""
    torn = analyse_file(str(write(tmp_path, JOB, after=b'{"event":"tr')))
    assert isinstance(torn, FileResult)
    assert (len(JOB), 1) == (torn.numbers.rows, torn.numbers.damages)
    packed = tmp_path / "rollout_trace.jsonl.gz"
    packed.write_bytes(gzip.compress(lines(JOB))[:-20])
    cut = analyse_file(str(packed))
    assert isinstance(cut, FileResult)
    assert 1 == cut.numbers.damages


def test_odd_values_do_not_stop_it() -> None:
    """Fields of the wrong type, numbers without bounds: the job is read, and its text is text."""
    odd = event("a", "run_started", service=["x"], host=7, config="none", big=10**30, nan=float("nan"))
    result = _of(trace(odd))
    assert ("['x']", "7", {"big": "1" + "0" * 30}) == (result.service, result.host, result.fields)
