"""What is said of one stop besides its numbers: every sentence, in every case that it is made for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtrace_otel.report.restore_words import stop_sentences
from tests.report.stops import FROM_NOTHING, STOP, TEN, stop


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
