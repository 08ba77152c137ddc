"""All rules together: healthy jobs, files with missing rows, files from spans, choice of rules, bounds."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.analysis.check.check import CheckFold, check_trace
from rtrace_otel.analysis.check.findings import MAX_KEPT
from rtrace_otel.analysis.check.registry import RULES, RULES_BY_CODE
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.check.rule import Severity
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.events import Row
from rtrace_otel.spans.otlp_json import traces_data
from rtrace_otel.spans.projector import Projector
from tests.analysis.check.checking import brief, checked, checked_lines, done, saved
from tests.analysis.rows import text
from tests.record_demo import DATA
from tests.report.history import dispatched, ended, published, restored, started, trace, trained

TRACE = DATA / "rollout_trace.jsonl.gz"


def demo_lines() -> list[bytes]:
    """The lines of the stored demo: a real job that was killed and restored."""
    return gzip.decompress(TRACE.read_bytes()).splitlines()


def test_a_real_job_adds_up() -> None:
    """Killed and restored: two notes, no warning, no error, and every rollout that the summary counts has a fate."""
    report = check_trace(read_events(TRACE))
    report.self_check()
    assert report.ledger is not None
    report.ledger.self_check()
    attempts = summarise(read_events(TRACE)).attempts

    assert ["RT107", "RT504"] == [one.code for one in report.findings]
    assert {Severity.INFO} == {one.severity for one in report.findings}
    assert (attempts.begun, sum(attempts.abandoned.values())) == (
        report.ledger.rollouts.generated, report.ledger.rollouts.abandoned,
    )  # fmt: skip


def test_the_real_job_trained_the_tokens_that_its_steps_say() -> None:
    """The ledger's trained tokens, counted in another way.

    A group counts with its published tokens when it is trained first. A group that run b trains again, because the kill
    took run a's step, counts with what run b generated for it: its new unmasked results.
    """
    published_tokens: dict[str, int] = {}
    group_of: dict[str, str] = {}
    results: dict[str, int] = {}
    first: dict[str, str] = {}
    trained_tokens = 0
    for row in read_events(TRACE):
        if row["event"] in {"attempt_dispatched", "attempt_resumed"}:
            group_of[row["attempt_id"]] = row["group_id"]
        elif row["event"] == "attempt_sealed" and not row["masked"]:
            group = group_of[row["attempt_id"]]
            results[group] = results.get(group, 0) + (row["tokens"] if group in first else 0)
        elif row["event"] == "group_published":
            published_tokens[row["group_id"]] = sum(row["tokens_by_version"].values())
        elif row["event"] == "train_step":
            for group in row["group_ids"]:
                trained_tokens += results.pop(group, 0) if group in first else published_tokens[group]
                first.setdefault(group, row["run"])
    ledger = check_trace(read_events(TRACE)).ledger
    assert ledger is not None

    assert trained_tokens == ledger.tokens.trained


@pytest.mark.parametrize("part", range(8))
def test_every_head_of_a_real_job_has_no_error(part: int) -> None:
    """A file that still grows, or whose job was killed at any moment, is no error."""
    lines = demo_lines()
    for end in range(1 + part, len(lines), 8 * 23):
        assert 0 == checked_lines(lines[:end]).number(Severity.ERROR), end


@pytest.mark.parametrize("first", [40, 300, 700, 1000, 1300])
def test_a_hole_in_a_real_job_is_the_only_error(first: int) -> None:
    """Twenty rows are missing: errors that this explains are warnings that say so, and the gap is named."""
    lines = demo_lines()
    report = checked_lines(lines[:first] + lines[first + 20 :])
    lowered = [one for one in report.findings if one.severity is Severity.WARNING]

    assert {"RT801"} == {one.code for one in report.findings if one.severity is Severity.ERROR}
    assert [] == [one for one in lowered if not one.message.endswith("Rows are missing here.")]


@pytest.mark.parametrize(
    ("code", "row"),
    [
        ("RT101", '{"event":"attempt_sealed","attempt_id":"%s"}'),
        ("RT202", '{"event":"group_published","group_id":"%s"}'),
    ],
)
def test_a_row_that_is_repeated_in_a_real_job_is_found(code: str, row: str) -> None:
    """One line of the file, again with a number of its own at the end of its run."""
    lines = demo_lines()
    rows = list(read_events(lines))
    event = row.split('"')[3]
    index, chosen = next((i, r) for i, r in enumerate(rows) if r["event"] == event and r["run"] == rows[-1]["run"])
    again = {**chosen, "t": rows[-1]["t"], "seq": rows[-1]["seq"] + 1}
    report = checked_lines([*lines, text(again)])

    found = [one for one in report.findings if one.code == code]
    assert [(len(lines) + 1, True)] == [(one.line, f"line {index + 1:,} already" in one.message) for one in found]


def test_missing_rows_lower_errors_to_warnings() -> None:
    """The dispatch of x is not in the file; the gap stays an error."""
    rows = [row for row in trace(started("a"), dispatched("a", "x"), done("a", "x")) if row["seq"] != 1]
    report = checked_lines(map(text, rows))

    assert [("RT801", "error"), ("RT104", "warning"), ("RT311", "warning")] == [(c, s) for c, s, _ in brief(report)]
    assert report.findings[1].message.endswith("says that it began. Rows are missing here.")


def test_missing_rows_of_an_earlier_run_count_in_a_restored_one() -> None:
    """The publication is missing in run a; run b, which goes on from it, trains the group. Run c does not."""
    rows = trace(published("a", "h"), published("a", "g"), saved("a", 0), started("b"), restored("b", 0),
                 trained("b", 1, 0, "g"), started("c"), trained("c", 1, 0, "g"))  # fmt: skip
    report = checked_lines(text(row) for row in rows if (row["run"], row["seq"]) != ("a", 1))

    assert [("b", "warning"), ("c", "error")] == sorted(
        (str(one.run), one.severity.value) for one in report.findings if one.code == "RT201"
    )


def test_a_gap_that_the_recorder_tells_of_counts_too() -> None:
    """It lost rows before it could write them; the numbers of the rows have no gap."""
    lost = {"event": "trace_gap", "run": "a", "lost": 1, "reason": "queue full"}

    assert [("RT104", "warning"), ("RT311", "warning"), ("RT805", "warning")] == [
        (c, s) for c, s, _ in brief(checked(lost, done("a", "x")))
    ]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (
            [started("b"), restored("b", 3), trained("b", 4, 3, "g")],
            "The file may not hold the rows before this restore.",
        ),
        ([started("a", from_spans=False), trained("a", 4, 3, "g")], ""),
    ],
)
def test_a_restore_from_outside_the_file(rows: list[Row], why: str) -> None:
    """What was published before it cannot be known."""
    (finding,) = [one for one in checked(*rows).findings if one.code == "RT201"]

    assert (bool(why), True) == (finding.severity is Severity.WARNING, finding.message.endswith(why))


def test_rows_without_numbers_may_lack_some() -> None:
    """Another recorder's rows: a missing event is a warning."""
    report = checked_lines([b'{"event":"seal","ts":5,"run":"a","attempt_id":"x"}'])

    assert [("RT104", "warning"), ("RT311", "warning")] == [(c, s) for c, s, _ in brief(report)]
    assert "Rows here have no sequence numbers, so some may be missing." in report.findings[0].message


def from_spans(rows: Iterable[Row]) -> CheckReport:
    """The report of a trace that went through spans: OTLP JSON lines, as a collector writes them."""
    projector = Projector()
    spans = [span for row in rows for span in projector.add(row)]
    spans += projector.end_killed(last_too=True)
    return checked_lines(text(traces_data([(span, projector.resource(span.run))])) for span in spans)


def test_a_file_that_was_rebuilt_from_spans() -> None:
    """Rules that need lists of calls, order or all rows are skipped and named; the others find nothing."""
    report = from_spans(read_events(TRACE))
    skipped = {one.code for one in report.skipped}

    assert 0 == report.number(Severity.ERROR)
    assert {rule.code for rule in RULES if not rule.on_spans} == skipped
    assert {True} == {one.everywhere for one in report.skipped}
    assert {rule.code for rule in RULES if rule.on_spans} == set(report.rules)
    assert report.ledger is None


def test_spans_beside_a_file_of_rows() -> None:
    """Only the runs from spans are skipped; sums over all runs are not made."""
    report = checked(started("a", from_spans=True), started("b"))
    by_code = {one.code: one for one in report.skipped}

    assert (("a",), False, True) == (by_code["RT104"].runs, by_code["RT104"].everywhere, by_code["RT311"].everywhere)
    assert "RT104" in report.rules
    assert "RT311" not in report.rules


BROKEN = trace(
    started("a"), dispatched("a", "x"), done("a", "x", 1), done("a", "x", 1), dispatched("a", "y"), ended("a")
)


def test_only_the_rules_that_are_wanted() -> None:
    """The others neither find nor count."""
    report = check_trace(read_events([text(row) for row in BROKEN]), codes=["RT106", "RT101"])
    report.self_check()

    assert ("RT101", "RT106") == report.rules
    assert [("RT101", 4), ("RT106", 5)] == [(one.code, one.line) for one in report.findings]
    assert (1, 1, 0) == tuple(report.number(severity) for severity in Severity)


def test_findings_are_bounded_and_counted() -> None:
    """150 results without a beginning: 100 are kept."""
    report = checked(*(done("a", f"x{number}") for number in range(150)))

    assert (MAX_KEPT, {Severity.ERROR: 150}) == (
        sum(one.code == "RT104" for one in report.findings), report.counts["RT104"],
    )  # fmt: skip


def test_the_worst_come_first() -> None:
    """Errors, warnings, notes; then by code, then by line."""
    found = checked_lines(map(text, BROKEN)).findings

    assert [("error", "RT101"), ("error", "RT311"), ("error", "RT312"), ("warning", "RT106")] == [
        (one.severity.value, one.code) for one in found
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"findings": ()},
        {"counts": {}},
        {"rules": ("RT101",)},
        {"counts": {"RT101": {Severity.ERROR: 2}}},
    ],
    ids=["a finding less", "no counts", "a rule less", "a count more"],
)
def test_the_check_of_a_report_can_fail(wrong: dict[str, Any]) -> None:
    """Findings, counts and rules that do not agree are caught."""
    report = check_trace(read_events([text(row) for row in BROKEN]), codes=["RT106", "RT101"])
    with pytest.raises(AssertionError):
        replace(report, **wrong).self_check()


def test_a_ledger_that_disagrees_with_its_finding_is_caught() -> None:
    """A difference without RT311 or RT312 is a fault of the check itself."""
    report = checked_lines(map(text, BROKEN))
    counts = {code: number for code, number in report.counts.items() if code not in {"RT311", "RT312"}}
    findings = tuple(one for one in report.findings if one.code in counts)
    with pytest.raises(AssertionError):
        replace(report, counts=counts, findings=findings).self_check()


def test_lines_are_physical_lines(tmp_path: Path) -> None:
    """Blank lines and two rows in one line do not shift the numbers."""
    rows = [text(row) for row in trace(started("a"), done("a", "x"), done("a", "y"))]
    path = tmp_path / "t.jsonl"
    path.write_bytes(rows[0] + b"\n\n" + rows[1] + rows[2] + b"\n")
    report = check_trace(read_events(path))

    assert [3, 3] == [one.line for one in report.findings if one.code == "RT104"]


def test_every_code_has_a_rule() -> None:
    """The handlers report no code that the registry does not have, and every code of it is reported somewhere."""
    folder = Path(check_trace.__code__.co_filename).parent
    sources = "".join(path.read_text() for path in folder.glob("*.py") if not path.name.startswith("rules_of"))

    assert [] == [code for code in RULES_BY_CODE if f'"{code}"' not in sources]


def test_asking_early_changes_nothing() -> None:
    """A fold that is asked while the file grows says each time what a check of the file so far says.

    The file has a hole and a kill: findings come with the rows, at their end, and from the reader.
    """
    lines = demo_lines()
    lines = lines[:500] + lines[520:]
    reader = read_events(lines)
    fold = CheckFold()
    for number, row in enumerate(reader, 1):
        fold.add(row, reader.line)
        if number % 97 == 0 or number == len(lines):
            assert checked_lines(lines[:number]) == fold.result(reader.report)
    assert fold.result(reader.report) == fold.result(reader.report)
    assert fold.result(reader.report).findings
