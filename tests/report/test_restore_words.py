"""Every sentence about stops, in every case that it is made for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.lineage import Lineage, LineageRun
from rtrace_otel.analysis.restore_results import Barrier, Interval, RestoreReport, Stop
from rtrace_otel.report.restore_words import stop_sentences, verdict

NONE = Amount()
FATES = dict.fromkeys(Fate, NONE)
TEN = Amount(2, 10)
"""Two rollouts of 10 tokens together, all of them lost."""

STOP = Stop(
    run="a",
    ended_how="killed",
    restored_run="b",
    checkpoint_restored=True,
    checkpoint_id="c1",
    checkpoint_step=1,
    checkpoint_in_file=True,
    killed_at=20.0,
    dead_s=30.0,
    restore_s=1.0,
    first_dispatch_s=1.0,
    first_seal_s=2.0,
    first_train_step_s=3.0,
    throughput_back_s=4.0,
    steps_lost=(),
    steps_trained_again=(),
    in_flight=NONE,
    fates=FATES,
    forgotten=NONE,
    longest=(),
    interval=Interval(None, None, None, None, None),
    length_bias=None,
)
FROM_NOTHING: dict[str, Any] = {
    "checkpoint_restored": False, "checkpoint_id": None, "checkpoint_step": None, "checkpoint_in_file": False,
}  # fmt: skip


def stop(forgotten: Amount = NONE, *, changes: dict[str, Any] | None = None, **fates: Amount) -> Stop:
    """A stop with these fates and nothing else to tell."""
    fates_by = FATES | {Fate(name): amount for name, amount in fates.items()}
    return replace(STOP, fates=fates_by, forgotten=forgotten, **(changes or {}))


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


def test_each_of_several_stops() -> None:
    """Of several stops each has its own verdict; of one stop the verdict above is enough."""
    one = stop(redone=TEN)

    expected = "Stop 2 cost 2 rollouts and 10 tokens, 100 % of what was in flight or done since the checkpoint; every "
    assert [f"{expected}rollout came back."] == stop_sentences(one, 2, 3)
    assert [] == stop_sentences(one, 1, 1)


GIVEN_UP = "everything before the stop counts as given up."
SENTENCES = [
    ("no checkpoint", FROM_NOTHING, "The next run restored no checkpoint: everything before the stop was given up."),
    (
        "publication not in the file",
        {"checkpoint_in_file": False},
        "The publication of checkpoint c1 is not in this file; what was trained up to its step 1 counts as safe.",
    ),
    (
        "publication not in the file, and no id",
        {"checkpoint_in_file": False, "checkpoint_id": None},
        (
            "The publication of the restored checkpoint is not in this file; what was trained up to its step 1 "
            "counts as safe."
        ),
    ),
    (
        "publication not in the file, and no step",
        {"checkpoint_in_file": False, "checkpoint_step": None, "checkpoint_id": "c\x1b"},
        (
            "Cannot tell what was safe, because the publication of checkpoint c\\x1b is not in this file and its step "
            f"is not known; {GIVEN_UP}"
        ),
    ),
    (
        "neither id nor step",
        {"checkpoint_in_file": False, "checkpoint_step": None, "checkpoint_id": None},
        f"Cannot tell what was safe, because the next run does not say which checkpoint it restored; {GIVEN_UP}",
    ),
    (
        "overlap",
        {"dead_s": -1.5},
        "The run that stopped wrote rows for 1.5 s after the next one began; what it did then counts as lost.",
    ),
    ("one step lost", {"steps_lost": (5,)}, "Step 5 was trained after the checkpoint, and not trained again later."),
    (
        "one step trained again",
        {"steps_lost": (5,), "steps_trained_again": (5,)},
        "Step 5 was trained after the checkpoint, and trained again later.",
    ),
    (
        "all steps again",
        {"steps_lost": (5, 6), "steps_trained_again": (5, 6)},
        "Steps 5-6 were trained after the checkpoint; all of them were trained again.",
    ),
    (
        "one step again",
        {"steps_lost": (5, 6, 8), "steps_trained_again": (6,)},
        "Steps 5-6 and 8 were trained after the checkpoint; 1 of them was trained again.",
    ),
    (
        "some steps again",
        {"steps_lost": (5, 6, 7), "steps_trained_again": (5, 6)},
        "Steps 5-7 were trained after the checkpoint; 2 of them were trained again.",
    ),
    (
        "no step again",
        {"steps_lost": (5, 6)},
        "Steps 5-6 were trained after the checkpoint; none of them were trained again.",
    ),
    (
        "length bias",
        {"length_bias": 1.25},
        "What never came back had run 1.2 times as long as the rest, on average: the loss is biased to long rollouts.",
    ),
]


@pytest.mark.parametrize(("changes", "expected"), [case[1:] for case in SENTENCES], ids=[case[0] for case in SENTENCES])
def test_what_is_said_of_a_stop(changes: dict[str, Any], expected: str) -> None:
    """One sentence for each thing worth saying."""
    assert [expected] == stop_sentences(replace(STOP, **changes), 1, 1)


@pytest.mark.parametrize(
    "changes", [{"dead_s": 0.0}, {"dead_s": None}, {"length_bias": 1.24}, {"length_bias": 0.2}], ids=repr
)
def test_what_is_not_worth_a_sentence(changes: dict[str, Any]) -> None:
    """Runs that do not overlap, and no bias to long rollouts."""
    assert [] == stop_sentences(replace(STOP, **changes), 1, 1)


@pytest.mark.parametrize(
    ("lost", "again", "expected"),
    [
        ((1,), (1,), "Step 1 was trained and given up, and trained again later."),
        ((1, 2), (), "Steps 1-2 were trained and given up; none of them were trained again."),
    ],
)
def test_steps_lost_without_a_checkpoint(lost: tuple[int, ...], again: tuple[int, ...], expected: str) -> None:
    """There is no checkpoint that they could have come after."""
    changes = FROM_NOTHING | {"steps_lost": lost, "steps_trained_again": again}

    assert expected == stop_sentences(replace(STOP, **changes), 1, 1)[1]
