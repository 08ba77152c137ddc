"""The report of ``rtrace check``: whole texts for small results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtrace_otel.analysis.check.findings import Finding
from rtrace_otel.analysis.check.ledger import Balance, Ledger
from rtrace_otel.analysis.check.results import CheckReport, Skipped
from rtrace_otel.analysis.check.rule import Severity
from rtrace_otel.report.check import check_document, check_json, next_blocks, verdict
from rtrace_otel.report.document import Facts, Sentence
from rtrace_otel.report.formats import to_csv, to_markdown

RUN_A, RUN_B = "aaaaaaaa00000001", "bbbbbbbb00000002"
HEALTHY = CheckReport(1234, (RUN_A,), ("RT101", "RT106", "RT201"), (), (), {}, None)
SEALED = Finding("RT101", Severity.ERROR, RUN_A, 1204, "Attempt x was sealed; it was sealed in line 12 already.")
OPEN = Finding("RT106", Severity.WARNING, RUN_B, 7, "Attempt y was dispatched here and is open.")
LEDGER = Ledger(
    Balance(generated=10, trained=4, masked=1, discarded=2, abandoned=1, lost=1, open=1, unmatched=1),
    Balance(generated=1000, trained=700, masked=300, discarded=0, abandoned=0, lost=0, open=0, unmatched=0),
    2,
)
BROKEN = CheckReport(
    1234,
    (RUN_A, RUN_B),
    ("RT101", "RT106", "RT201"),
    (Skipped("RT104", (RUN_B,), False, "rebuilt from spans"), Skipped("RT105", (RUN_B,), False, "rebuilt from spans")),
    (SEALED, OPEN),
    {"RT101": {Severity.ERROR: 1}, "RT106": {Severity.WARNING: 3}},
    LEDGER,
)


def counted(**counts: dict[Severity, int]) -> CheckReport:
    """A report with these counts."""
    return replace(HEALTHY, counts=counts)


THREE = "3 rules over 1,234 rows"
FOUR = "attempt sealed twice (RT101), attempt abandoned twice (RT102), attempt sealed and abandoned (RT103)"


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (HEALTHY, f"Everything adds up: {THREE}, no finding."),
        (counted(RT107={Severity.INFO: 2}), f"Everything adds up: {THREE}, no error and no warning; 2 notes."),
        (
            counted(RT106={Severity.WARNING: 1}),
            f"No error, 1 warning: attempt open in a run that ended (RT106). {THREE}.",
        ),
        (
            counted(**{f"RT10{n}": {Severity.ERROR: 1} for n in (1, 2, 3, 4)}, RT201={Severity.ERROR: 2}),
            f"6 errors: {FOUR}, attempt sealed without dispatch (RT104) and 1 more rule. {THREE}.",
        ),
        (replace(HEALTHY, rules=()), "Nothing was checked: no rule is left to judge 1,234 rows."),
        (replace(HEALTHY, rows=1, rules=("RT101",)), "Everything adds up: 1 rule over 1 row, no finding."),
    ],
)
def test_the_verdict(report: CheckReport, sentence: str) -> None:
    """Good or bad, in one sentence; the worst comes first."""
    assert sentence == verdict(report)


def test_markdown() -> None:
    """Verdict, findings, books, what was skipped."""
    expected = """\
# Check of t.jsonl

1 error, 3 warnings: attempt sealed twice (RT101) and attempt open in a run that ended (RT106, 3 times). 3 rules over \
1,234 rows.

## Findings

| severity | code | line | run | title | message |
| --- | --- | ---: | --- | --- | --- |
| error | RT101 | 1,204 | aaaaaaaa | attempt sealed twice | Attempt x was sealed; it was sealed in line 12 already. |
| warning | RT106 | 7 | bbbbbbbb | attempt open in a run that ended | Attempt y was dispatched here and is open. |

## Where it went

- **rollouts**: 10 generated = 4 trained + 1 masked + 2 discarded + 1 abandoned + 1 lost with a killed run + 1 open or \
in a waiting group + 1 of ends without an open attempt; left over: -1
- **tokens**: 1,000 generated = 700 trained + 300 masked or dropped; nothing is left over
- **unknown**: tokens of 2 rollouts: no row tells them

## Rules that were skipped

- **rebuilt from spans**: RT104, RT105; in 1 run (bbbbbbbb)
"""
    assert expected == to_markdown(check_document(BROKEN, "t.jsonl"))


def test_csv() -> None:
    """One line for each finding, with raw values; a file without findings has the heading."""
    heading = "severity,code,line,run,title,message\n"
    row = f"error,RT101,1204,{RUN_A},attempt sealed twice,Attempt x was sealed; it was sealed in line 12 already.\n"

    assert heading + row == to_csv(check_document(replace(BROKEN, findings=(SEALED,)), "t"))
    assert heading == to_csv(check_document(HEALTHY, "t"))


def test_a_terminal_gets_findings_as_facts() -> None:
    """Name and place on the left, the message wraps; the run is named where there are several."""
    facts = next(block for block in check_document(BROKEN, "t", for_terminal=True).blocks if isinstance(block, Facts))

    assert (
        ("error RT101, line 1,204", "Attempt x was sealed; it was sealed in line 12 already. Run aaaaaaaa."),
        ("warning RT106, line 7", "Attempt y was dispatched here and is open. Run bbbbbbbb."),
        ("... RT106", "2 more; --format json has the first 100."),
    ) == facts.pairs


def test_a_terminal_shows_ten_of_one_code() -> None:
    """Twelve are kept, 150 were counted: 140 are not shown."""
    report = replace(HEALTHY, findings=(replace(SEALED, line=None),) * 12, counts={"RT101": {Severity.ERROR: 150}})
    facts = next(block for block in check_document(report, "t", for_terminal=True).blocks if isinstance(block, Facts))

    assert [("error RT101", SEALED.message)] * 10 == list(facts.pairs[:-1])
    assert ("... RT101", "140 more; --format json has the first 100.") == facts.pairs[-1]


def test_what_was_skipped_everywhere() -> None:
    """A file that was rebuilt from spans as a whole."""
    report = replace(HEALTHY, skipped=(Skipped("RT104", (RUN_A,), True, "rebuilt from spans"),))
    facts = next(block for block in check_document(report, "t", for_terminal=True).blocks if isinstance(block, Facts))

    assert (("rebuilt from spans", "RT104; everywhere"),) == facts.pairs


def test_json_has_everything() -> None:
    """Raw values of all that the table shows, and of what it cuts short."""
    data = check_json(BROKEN)

    assert (1, 3, 0, 1234) == (data["errors"], data["warnings"], data["infos"], data["rows"])
    assert {"severity": "error", "code": "RT101", "line": 1204, "run": RUN_A, "title": "attempt sealed twice",
            "message": SEALED.message} == data["findings"][0]  # fmt: skip
    assert [
        {"code": "RT101", "title": "attempt sealed twice", "severity": "error", "findings": 1},
        {"code": "RT106", "title": "attempt open in a run that ended", "severity": "warning", "findings": 3},
    ] == data["counts"]
    assert (-1, 0, 2) == (
        data["ledger"]["rollouts"]["residual"], data["ledger"]["tokens"]["residual"], data["ledger"]["without_tokens"],
    )  # fmt: skip
    assert check_json(HEALTHY)["ledger"] is None


def test_what_to_type_next() -> None:
    """The meaning of the worst finding; nothing where there is none."""
    blocks = [block for block in next_blocks(BROKEN) if isinstance(block, Sentence)]

    assert [("plain", "What a code means:"), ("command", "rtrace definitions RT101")] == [
        (b.tone, b.text) for b in blocks
    ]
    assert () == next_blocks(HEALTHY)
