"""The report of a comparison: its table, its sentences, and its JSON."""

from __future__ import annotations

from typing import Any

import pytest

from rtrace_otel.analysis.compare.compare import CompareReport, Comparison, Side, compare
from rtrace_otel.analysis.compare.gates import judge, parse_gate
from rtrace_otel.analysis.compare.measure import measure
from rtrace_otel.analysis.compare.metrics import METRICS_BY_NAME
from rtrace_otel.analysis.compare.values import NO_AGES, NO_TOKENS, ONE_RUN, Known, Value
from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.cli.terminal import Medium, render_terminal
from rtrace_otel.report.compare import Gated, compare_document, compare_json, failure_lines, verdict_sentences
from rtrace_otel.report.compare_words import notes
from rtrace_otel.report.formats import to_csv
from rtrace_otel.report.units import shown, shown_difference
from tests.analysis.compare.jobs import KILLED, A, B

ONE = "Of 1 metric with a better direction, B is worse in"
REST = f"dead_s (both: {NO_TOKENS}); stops (B: {NO_TOKENS})."


def one(name: str, a: float | Value | None, b: float | Value | None) -> Comparison:
    """A metric with these values; a number is exact."""
    metric = METRICS_BY_NAME[name]
    found = [value if isinstance(value, Value) else Value(value, missing=None if value is not None else NO_TOKENS)
             for value in (a, b)]  # fmt: skip
    return Comparison(metric, *found)


def report(*metrics: Comparison, a: Side | None = None, b: Side | None = None) -> CompareReport:
    """A comparison with these metrics."""
    return CompareReport(a or Side("a", None, 9, 0, 0), b or Side("b", None, 9, 0, 0), metrics)


SEVERAL = report(
    one("lasted_s", 10.0, 60.0),
    one("batch_age", 1.0, 1.5),
    one("stops", 0, 1),
    one("lost_tokens", Value(2000, Known.AT_LEAST), 500),
    one("wasted_share", Value(0.2, Known.ABOUT), 0.15),
    one("refusals", 3, 3),
    one("checkpoint_s", None, 2.0),
)


def test_the_report_of_a_wide_terminal() -> None:
    """What changed most comes first, a change from 0 before all others; then what is unknown, the table, the notes."""
    assert WIDE == render_terminal(compare_document(Gated(SEVERAL)), Medium(120, False))


WIDE = """\
Comparison of A (a) and B (b)

Of 5 metrics with a better direction, B is worse in 2 and better in 2. Most for the worse: stops from 0 to 1
and batch_age from 1.000 to 1.500 (+50.0 %). Most for the better: lost_tokens from >= 2,000 to 500 (-75.0 %)
and wasted_share from ~ 20.0 % to 15.0 % (-25.0 %).

Cannot be compared: checkpoint_s (A: no row says how many tokens).

Metrics
metric                   A           B    difference   relative   verdict   better   what it is
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
lasted_s            10.0 s   1 min 0 s       +50.0 s   +500.0 %   -         -        first row to last row
batch_age            1.000       1.500        +0.500    +50.0 %   worse     lower    mean age of trained tokens
stops                    0           1            +1          -   worse     lower    stops that a run went on from
lost_tokens    >=    2,000         500        -1,500    -75.0 %   better    lower    tokens that stops cost
wasted_share    ~   20.0 %      15.0 %   -5.0 points    -25.0 %   better    lower    wasted tokens, of all tokens
refusals                 3           3             0        0 %   same      lower    dispatches refused
checkpoint_s             -       2.0 s             -          -   -         lower    time of checkpoints

A lasted 10.0 s and B 1 min 0 s: amounts grow with the time, so compare rates, shares and ages.

>= marks lower bounds: rows do not say everything, and what they say is compared.

~ marks shares and rates of lower bounds.
"""


def test_a_narrow_terminal_keeps_values_and_verdicts() -> None:
    """At 80 columns, units and titles go first."""
    lines = render_terminal(compare_document(Gated(SEVERAL)), Medium(80, False)).splitlines()
    (heading,) = [line for line in lines if line.startswith("metric ")]

    assert ["metric", "A", "B", "difference", "relative", "verdict"] == heading.split()
    assert 80 >= max(map(len, lines))


def test_the_table_has_raw_values_in_csv() -> None:
    """With how well each is known, and nothing for what is not."""
    assert CSV == to_csv(compare_document(Gated(SEVERAL)))


CSV = """\
name,a_known,a,b_known,b,difference,relative,verdict,better,unit,title
lasted_s,exact,10.0,exact,60.0,50.0,5.0,-,,s,first row to last row
batch_age,exact,1.0,exact,1.5,0.5,0.5,worse,lower,versions,mean age of trained tokens
stops,exact,0,exact,1,1,,worse,lower,stops,stops that a run went on from
lost_tokens,at least,2000,exact,500,-1500,-0.75,better,lower,tokens,tokens that stops cost
wasted_share,about,0.2,exact,0.15,-0.05000000000000002,-0.25000000000000006,better,lower,share,"wasted tokens, of all \
tokens"
refusals,exact,3,exact,3,0,0.0,same,lower,dispatches,dispatches refused
checkpoint_s,,,exact,2.0,,,-,lower,s,time of checkpoints
"""


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ([one("rollouts", 1, 2)], ["No metric with a better direction can be compared."]),
        ([one("stops", 2, 2), one("rollouts", 1, 1)], ["B is the same as A in 1 metric with a better direction."]),
        (
            [one("stops", 4, 5)],
            [f"{ONE} 1 and better in 0. Most for the worse: stops from 4 to 5 (+25.0 %)."],
        ),
        (
            [one("batch_age", None, Value(None, missing=NO_AGES)), one("dead_s", None, None), one("stops", 1, None)],
            [
                "No metric with a better direction can be compared.",
                f"Cannot be compared: batch_age (A: {NO_TOKENS}, B: {NO_AGES}); {REST}",
            ],
        ),
        ([], ["No metric with a better direction can be compared."]),
    ],
)
def test_verdicts(metrics: list[Comparison], expected: list[str]) -> None:
    """In words: how many are worse and better, the greatest changes, and what is unknown by reason."""
    assert expected == verdict_sentences(Gated(report(*metrics)))


def test_three_changes_are_named_in_each_direction() -> None:
    """The greatest by relative change: 5, 4 and 3 times as much."""
    names = ("stops", "refusals", "lost_rollouts", "never_came_back")
    (text,) = verdict_sentences(
        Gated(report(*(one(name, 10, 10 * times) for name, times in zip(names, (2, 3, 4, 5), strict=True))))
    )

    assert text.endswith(
        "Most for the worse: never_came_back from 10 to 50 (+400.0 %), lost_rollouts from 10 to 40 (+300.0 %) and "
        "refusals from 10 to 30 (+200.0 %)."
    )


@pytest.mark.parametrize(
    ("limits", "metric", "sentence", "lines"),
    [
        (["stops:+0"], one("stops", 1, 1), "The limit is kept.", []),
        (["stops:+0", "stops:>3"], one("stops", 1, 1), "2 of 2 limits are kept.", []),
        (
            ["lost_tokens:+5%"],
            one("lost_tokens", 100, Value(90, Known.AT_LEAST)),
            "The limit is kept, lost_tokens as far as rows tell.",
            [],
        ),
        (
            ["lost_tokens:+5%"],
            one("lost_tokens", 100, Value(2000, Known.AT_LEAST)),
            "The limit is not kept. lost_tokens:+5%: B has >= 2,000, above the limit of 105 (A has 100).",
            ["not kept: lost_tokens:+5%: B has >= 2,000, above the limit of 105 (A has 100)"],
        ),
        (
            ["tokens_per_s:<50", "tokens_per_s:-50%"],
            one("tokens_per_s", 40.0, 30.0),
            "1 of 2 limits is not kept. tokens_per_s:<50: B has 30.0, below the limit of 50.0 (A has 40.0).",
            ["not kept: tokens_per_s:<50: B has 30.0, below the limit of 50.0 (A has 40.0)"],
        ),
        (
            ["stops:>1"],
            one("stops", None, 2),
            "The limit is not kept. stops:>1: B has 2, above the limit of 1.",
            ["not kept: stops:>1: B has 2, above the limit of 1"],
        ),
        (
            ["stops:+1"],
            one("stops", Value(None, missing=ONE_RUN), 2),
            f"The limit is not kept. stops:+1: cannot be judged, stops of A: {ONE_RUN}.",
            [f"not kept: stops:+1: cannot be judged, stops of A: {ONE_RUN}"],
        ),
    ],
)
def test_limits(limits: list[str], metric: Comparison, sentence: str, lines: list[str]) -> None:
    """The first sentence says which are not kept and why; standard error has a line for each."""
    gates, compared = [parse_gate(text) for text in limits], report(metric)
    failures = judge(compared, gates)

    assert sentence == verdict_sentences(Gated(compared, gates, failures))[0]
    assert lines == failure_lines(failures)


def test_control_characters_of_a_limit_are_shown() -> None:
    """A name is found however it is written, and repeated as it was given."""
    gate = parse_gate("stops\r:>0")

    assert ["not kept: stops\\r:>0: B has 1, above the limit of 0 (A has 0)"] == failure_lines(
        judge(report(one("stops", 0, 1)), [gate])
    )


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        (report(one("stops", 1, 2)), []),
        (report(one("lasted_s", 10.0, 11.0)), []),
        (
            report(one("lasted_s", 10.0, 20.0)),
            ["A lasted 10.0 s and B 20.0 s: amounts grow with the time, so compare rates, shares and ages."],
        ),
        (report(one("lasted_s", None, 20.0)), []),
        (
            report(one("lost_tokens", Value(2, Known.AT_LEAST), 1), one("wasted_share", Value(0.1, Known.ABOUT), 1.0)),
            [
                ">= marks lower bounds: rows do not say everything, and what they say is compared.",
                "~ marks shares and rates of lower bounds.",
            ],
        ),
        (
            report(one("batch_age", -1.0, 1.0), b=Side("b", None, 9, 8, 2)),
            [
                "B: 2 of 8 trained groups (25 %) have no token data and are in no batch age.",
                "Negative, which is a fault of the file and not better: batch_age.",
            ],
        ),
        (report(one("stops", 1, 1), b=Side("b", None, 9, 8, 2)), []),
    ],
)
def test_notes(compared: CompareReport, expected: list[str]) -> None:
    """What one should know before one trusts the differences, and only where it applies."""
    assert expected == notes(compared)


def test_titles() -> None:
    """Two files by their names; two runs by as much of their ids as tells them apart."""
    runs = report(a=Side("f", "abcdefgh1", 1, 0, 0), b=Side("f", "abcdefgh2", 1, 0, 0))

    assert "Comparison of A (a) and B (b)" == compare_document(Gated(report())).title
    assert "Comparison of runs A (abcdefgh1) and B (abcdefgh2) of f" == compare_document(Gated(runs)).title


@pytest.mark.parametrize(
    ("value", "unit", "text", "difference"),
    [
        (None, "s", "-", "-"),
        (90.0, "s", "1 min 30 s", "+1 min 30 s"),
        (-0.25, "versions", "-0.250", "-0.250"),
        (3, "versions", "3", "+3"),
        (0.125, "share", "12.5 %", "+12.5 points"),
        (-0.125, "share", "-12.5 %", "-12.5 points"),
        (1234.56, "tokens/s", "1,234.6", "+1,234.6"),
        (-1234, "tokens", "-1,234", "-1,234"),
        (12.5, "tokens", "12.5", "+12.5"),
        (0, "rows", "0", "0"),
        (105.0, "tokens", "105", "+105"),
        (float("inf"), "tokens", "inf", "+inf"),
    ],
)
def test_values_in_their_units(value: float | None, unit: str, text: str, difference: str) -> None:
    """Differences have a sign; those of shares are percentage points."""
    assert (text, difference) == (shown(value, unit), shown_difference(value, unit))


def test_json_has_everything() -> None:
    """Both sides with what their readers met, every metric, the limits and the words."""
    compared, gates = compare(measure(A, "a"), measure(B, "b")), [parse_gate("batch_age:+10%")]
    gated = Gated(compared.only(["batch_age"]), gates, judge(compared, gates))
    found = compare_json(gated, (Tally("a", rows=1).report(), Tally("b", rows=2).report()))
    message = "batch_age:+10%: B has 3, above the limit of 1.100 (A has 1.000)"
    metric: dict[str, Any] = {
        "name": "batch_age", "title": "mean age of trained tokens", "unit": "versions", "better": "lower",
        "a": 1.0, "b": 3.0, "a_known": "exact", "b_known": "exact", "a_missing": None, "b_missing": None,
        "difference": 2.0, "relative": 2.0, "verdict": "worse",
    }  # fmt: skip

    assert ["a", "b", "metrics", "gates", "failures", "verdict", "notes"] == list(found)
    assert [("a", 11, 1), ("b", 12, 2)] == [
        (found[side]["source"], found[side]["rows"], found[side]["read"]["rows"]) for side in ("a", "b")
    ]
    assert ([metric], ["batch_age:+10%"], []) == (found["metrics"], found["gates"], found["notes"])
    assert [
        {"gate": "batch_age:+10%", "name": "batch_age", "a": 1.0, "b": 3.0, "limit": pytest.approx(1.1), "side": None,
         "missing": None, "message": message.replace("has 3,", "has 3.000,")}
    ] == found["failures"]  # fmt: skip
    assert found["verdict"] == " ".join(verdict_sentences(gated))


def test_a_killed_job_against_itself() -> None:
    """Lower bounds are marked on both sides, and nothing is better or worse."""
    text = render_terminal(compare_document(Gated(compare(measure(KILLED, "k"), measure(KILLED, "k")))))

    assert "lost_tokens             >=       57   >=       57            0        0 %   same" in text
    assert "B is the same as A in" in text
