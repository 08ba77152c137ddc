"""The verdict on the stops of a file, in every case that it is made for."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.ledger.work import Amount
from rtrace_otel.analysis.lineage import Lineage, LineageRun
from rtrace_otel.analysis.restore_results import Barrier, RestoreReport, Stop
from rtrace_otel.report.restore_words import verdict
from tests.report.stops import FROM_NOTHING, TEN, stop


def report(*stops: Stop, runs: int = 2, rows_lost: int = 0) -> RestoreReport:
    """A report on these stops."""
    lineage = Lineage(tuple(LineageRun(str(n), 0, "clean", None, None, None, None, (), ()) for n in range(runs)))
    return RestoreReport(stops, lineage, Barrier(0, None, 0, 0, 0.0, 0.0), rows_lost)


SINCE = "of what was in flight or done since the checkpoint"
ENDS = "because the file ends before the job does"
FAR = "because training them lay too far back to be remembered one by one"
VERDICTS = [
    (
        "all comes back",
        [stop(redone=TEN, reused=Amount(1, 10, True, 10))],
        f"This stop cost 2 rollouts and 10 tokens, 50 % {SINCE}; every rollout came back.",
    ),
    (
        "one of each",
        [stop(redone=Amount(1, 1), never_came_back=Amount(1, 1), unknown=Amount(1, 2))],
        (
            f"This stop cost 2 rollouts and 2 tokens, 50 % {SINCE}; 1 rollout never came back; cannot tell "
            f"what becomes of 1 more rollout, {ENDS}."
        ),
    ),
    (
        "all lost for good",
        [stop(never_came_back=TEN)],
        f"This stop cost 2 rollouts and 10 tokens, 100 % {SINCE}; 2 rollouts never came back.",
    ),
    (
        "all unknown",
        [stop(unknown=TEN)],
        f"This stop cost no rollout and no token; cannot tell what becomes of 2 rollouts, {ENDS}.",
    ),
    (
        "forgotten",
        [stop(TEN, unknown=TEN, redone=Amount(1, 10))],
        (f"This stop cost 1 rollout and 10 tokens, 50 % {SINCE}; cannot tell what became of 2 more rollouts, {FAR}."),
    ),
    (
        "forgotten and unknown",
        [stop(TEN, unknown=Amount(3, 15))],
        (
            f"This stop cost no rollout and no token; cannot tell what becomes of 1 rollout, {ENDS}; cannot "
            f"tell what became of 2 rollouts, {FAR}."
        ),
    ),
    (
        "discarded",
        [stop(discarded=TEN), stop(discarded=Amount(1, 5))],
        (
            "These 2 stops cost 3 rollouts and 15 tokens, 100 % of what was in flight or done since the "
            "checkpoints; every rollout came back, and 3 of them were discarded then."
        ),
    ),
    (
        "one discarded",
        [stop(discarded=Amount(1, 5), never_came_back=Amount(1, 5))],
        (
            f"This stop cost 2 rollouts and 10 tokens, 100 % {SINCE}; 1 rollout never came back; 1 rollout "
            "came back and was discarded."
        ),
    ),
    (
        "nothing was there",
        [stop()],
        "This stop cost no rollout: none was in flight or done since the checkpoint, as far as the file tells.",
    ),
    (
        "nothing was there, and no checkpoint",
        [stop(changes=FROM_NOTHING)],
        ("This stop cost no rollout: none was in flight or done before the stop, as far as the file tells."),
    ),
    (
        "all was kept",
        [stop(reused=Amount(2, 10, True, 10))],
        "This stop cost no rollout and no token; every rollout came back.",
    ),
    (
        "only tokens",
        [stop(resumed=Amount(2, 10, True, 9))],
        f"This stop cost no rollout and 1 token, 10 % {SINCE}; every rollout came back.",
    ),
    (
        "tokens unknown of what resumed",
        [stop(resumed=Amount(2, 10, False, 10))],
        ("This stop cost no rollout, and tokens whose number the file does not tell; every rollout came back."),
    ),
    (
        "tokens unknown of what was lost",
        [stop(redone=Amount(1, 0, False), reused=Amount(1, 5, True, 5))],
        ("This stop cost 1 rollout, and tokens whose number the file does not tell; every rollout came back."),
    ),
    (
        "no tokens, and that is exact",
        [stop(redone=Amount(1, 0))],
        "This stop cost 1 rollout and 0 tokens; every rollout came back.",
    ),
    (
        "at least",
        [stop(redone=Amount(1, 5, False), reused=Amount(1, 5, True, 5))],
        (f"This stop cost 1 rollout and at least 5 tokens, 50 % of the tokens known {SINCE}; every rollout came back."),
    ),
    (
        "exact of an inexact whole",
        [stop(trained_again=Amount(1, 5), unknown=Amount(1, 5, False))],
        (
            f"This stop cost 1 rollout and 5 tokens, 50 % of the tokens known {SINCE}; cannot tell what "
            f"becomes of 1 more rollout, {ENDS}."
        ),
    ),
    (
        "no checkpoint",
        [stop(never_came_back=TEN, changes=FROM_NOTHING)],
        (
            "This stop cost 2 rollouts and 10 tokens, 100 % of what was in flight or done before the stop; "
            "2 rollouts never came back."
        ),
    ),
    (
        "several, one without a checkpoint",
        [stop(redone=TEN), stop(redone=TEN, changes=FROM_NOTHING)],
        "These 2 stops cost 4 rollouts and 20 tokens, 100 % of what was in flight or done; every rollout came back.",
    ),
]


@pytest.mark.parametrize(("stops", "expected"), [case[1:] for case in VERDICTS], ids=[case[0] for case in VERDICTS])
def test_the_verdict(stops: list[Stop], expected: str) -> None:
    """Cost, share of what was at risk, and what is gone for good."""
    assert expected == verdict(report(*stops))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (0, "No stop in this file: no run did any work."),
        (1, "No stop in this file: its one run did not go on with the job of another."),
        (2, "No stop in this file: 2 runs, none of which went on with the job of another."),
    ],
)
def test_no_stop(runs: int, expected: str) -> None:
    """However many runs there are."""
    assert expected == verdict(report(runs=runs))


@pytest.mark.parametrize(
    ("lost", "words"),
    [(1, "1 row was lost while recording"), (1200, "1,200 rows were lost while recording")],
)
def test_rows_that_were_lost(lost: int, words: str) -> None:
    """They say that numbers can be wrong, with and without a stop."""
    end = f" {words}, so the numbers can be wrong."
    assert verdict(report(stop())) + end == verdict(report(stop(), rows_lost=lost))
    assert verdict(report()) + end == verdict(report(rows_lost=lost))
