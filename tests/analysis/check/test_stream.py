"""Rules of rows as they come: time, number, fields, and what the recorder and the reader say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.analysis.check.check import check_trace
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.reading.reader import read_events
from tests.analysis.check.checking import brief, checked, checked_lines
from tests.analysis.rows import lines, row, text
from tests.report.history import event, started, trained


def timed(*times: Any) -> CheckReport:
    """The report of a run whose rows have these times."""
    return checked_lines(text({**row(seq), "t": t}) for seq, t in enumerate(times))


def test_times_in_order_are_no_finding() -> None:
    """Equal times are in order; each run has its own."""
    assert [] == brief(timed(1.0, 1.0, 2.0))
    assert [] == brief(checked_lines([text({**row(0, "a"), "t": 5.0}), text({**row(0, "b"), "t": 1.0})]))


def test_time_that_goes_back() -> None:
    """Line 3 is half a second before line 2; line 4 is after line 3 but still before line 2."""
    report = timed(1.0, 2.0, 1.5, 1.75)

    assert [("RT701", "error", 3), ("RT701", "error", 4)] == brief(report)
    assert "The row's time 1.500000 is 0.500000 s before that of line 2." == report.findings[0].message


@pytest.mark.parametrize("odd", [None, "x", float("nan"), -5, 10**400, True, [1]], ids=repr)
def test_a_time_that_is_none_is_passed_over(odd: Any) -> None:
    """It neither goes back nor moves what comes after it."""
    assert [] == [one for one in brief(timed(1.0, odd, 2.0)) if one[0] == "RT701"]


def test_rows_of_another_recorder_may_go_back() -> None:
    """Rows without numbers come from a recorder that promises no order; the schema is not held against them either."""
    report = checked_lines([b'{"event":"dispatch","ts":5,"run":"a"}', b'{"event":"dispatch","ts":4,"run":"a"}'])

    assert [] == brief(report)
    assert {"RT701", "RT801", "RT802", "RT806"} == {one.code for one in report.skipped if one.everywhere}
    assert not {"RT701", "RT801", "RT802", "RT806"} & set(report.rules)


def test_the_clock_and_the_recorder_speak_for_themselves() -> None:
    """A stepped clock is a note, lost rows are a warning."""
    report = checked(
        event("a", "clock_adjusted", offset_s=-2.5), event("a", "trace_gap", lost=1200, reason="queue full"),
        event("a", "clock_adjusted", offset_s="x"), event("a", "trace_gap", lost=None, reason=None),
    )  # fmt: skip

    assert [
        ("RT805", 2, "The recorder lost 1,200 rows: queue full."),
        ("RT805", 4, "The recorder lost an unknown number of rows: None."),
        ("RT702", 1, "The host's clock was stepped by -2.500 s."),
        ("RT702", 3, "The host's clock was stepped."),
    ] == [(one.code, one.line, one.message) for one in report.findings if one.code != "RT806"]


def test_a_row_that_does_not_follow_the_schema() -> None:
    """Each field at fault, what is asked for and what was found; events of the user's own follow no schema."""
    report = checked(
        started("a", pid="seven"), event("a", "my_event", pid="x"), trained("a", 1, 0), trained("a", 2, None)
    )

    assert [
        ("RT806", 1, "run_started: pid: expected int, found 'seven'."),
        ("RT806", 4, "train_step: trained_version: expected int in versions, found nothing."),
    ] == [(one.code, one.line, one.message) for one in report.findings]


def test_a_row_with_very_many_problems_names_the_first() -> None:
    """All four fields of the event, and the time and number of the row, are wrong."""
    wrong = {name: [None] for name in ("group_id", "attempt_id", "prompt_id", "generation_index", "instance", "t")}
    report = checked(event("a", "attempt_dispatched", **wrong))

    assert report.findings[0].message.endswith("; and 1 more.")


def test_missing_rows() -> None:
    """Numbers 2 to 4 are missing before line 3."""
    rows = [row(0), row(1), row(5)]
    report = checked_lines(text(one) for one in rows)

    assert [("RT801", "a", 3, "3 rows are missing before this one, from sequence number 2.")] == [
        (one.code, one.run, one.line, one.message) for one in report.findings
    ]


def test_rows_out_of_order() -> None:
    """A part that was appended twice: lines 3 and 4 have numbers that lines 1 and 2 have."""
    report = checked_lines([*map(text, (row(0), row(1), row(0), row(1), row(2)))])

    assert [("RT802", "error", 3), ("RT802", "error", 4)] == [one for one in brief(report) if one[0] == "RT802"]
    assert "The row's sequence number is 0; line 2 has number 1 already." in [one.message for one in report.findings]


def test_damaged_lines() -> None:
    """A line of other output is a warning."""
    report = checked_lines([text(row(0)), b"hello", text(row(1))])

    assert [("RT803", "warning", 2)] == brief(report)
    assert "not JSON: hello" == report.findings[0].message


def test_a_torn_tail_is_a_note(tmp_path: Path) -> None:
    """Nothing that was written whole is lost."""
    path = tmp_path / "trace.jsonl"
    path.write_bytes(lines(row(0)) + b'{"event":"mark","t":1')

    assert [("RT804", "info", 2)] == brief(check_trace(read_events(path)))


def test_more_damage_than_is_kept_is_counted() -> None:
    """150 lines of other output: the reader keeps 100."""
    report = checked_lines([text(row(0)), *[b"hello"] * 150])

    assert (100, 150) == (len(report.findings), sum(report.counts["RT803"].values()))


def test_more_gaps_than_are_kept_are_counted() -> None:
    """150 gaps of one row each."""
    report = checked_lines(text(row(seq)) for seq in range(1, 301, 2))

    assert (100, 150) == (len(report.findings), sum(report.counts["RT801"].values()))


def test_a_trace_that_follows_the_schema_has_no_finding() -> None:
    """Neither of it nor of anything else."""
    assert () == checked(started("a"), trained("a", 1, 0)).findings
