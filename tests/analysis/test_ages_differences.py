"""Where the logged, the published and the recomputed age differ, and the reason that is given."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.age.ages import AgeDifference, DifferenceKind, step_ages
from rtrace_otel.events import Row
from tests.report.history import event, published, refit, rounded, started, trace, trained

LOST, NOT_APPLIED, OTHERWISE = (
    DifferenceKind.CUTS_LOST_IN_RESTORE,
    DifferenceKind.CUTS_NOT_APPLIED,
    DifferenceKind.LOGGED_OTHERWISE,
)


def differences(*events: Row) -> tuple[AgeDifference, ...]:
    """The differences of a trace, floats rounded."""
    return rounded(step_ages(trace(*events))).differences


def test_values_that_agree_give_no_difference() -> None:
    """Three equal values confirm one another."""
    assert () == differences(
        refit("a", 3, 4, ("c", 40)),
        published("a", "g", {3: 40, 4: 60}, ("c", 3, 100)),
        trained("a", 1, 4, "g", logged=0.4),
    )


def test_cuts_lost_in_a_restore_are_named_with_the_run_that_had_them() -> None:
    """The call was cut by the run that stopped, and published by the restored one without the cut."""
    found = differences(
        started("a"),
        refit("a", 4, 5, ("c1", 100), ("other", 7)),
        started("b"),
        published("b", "g", {4: 300}, ("c1", 4, 300)),
        trained("b", 6, 6, "g", logged=2.0),
    )

    assert (AgeDifference(LOST, "b", (6,), 0.666666667, 0.666666667, 1, ("a",)),) == found


def test_cuts_that_the_same_run_left_out_are_no_restores_fault() -> None:
    """The run that recorded the cut published the call as if it had none."""
    found = differences(
        started("a"),
        refit("a", 4, 5, ("c1", 100)),
        published("a", "g", {4: 300}, ("c1", 4, 300)),
        trained("a", 6, 6, "g", logged=2.0),
    )

    assert (AgeDifference(NOT_APPLIED, "a", (6,), 0.666666667, 0.666666667, 0, ()),) == found


def test_counts_newer_than_the_calls_allow_are_too_young() -> None:
    """Published counts with a cut that no refit row has: the sign says that they are too young."""
    found = differences(published("a", "g", {4: 100, 5: 300}, ("c1", 4, 400)), trained("a", 6, 6, "g"))

    assert (AgeDifference(NOT_APPLIED, "a", (6,), -0.75, -0.75, 0, ()),) == found


def test_a_logged_age_that_does_not_follow_from_the_counts() -> None:
    """The controller logged something else than its own counts give."""
    found = differences(published("a", "g", {3: 100}), trained("a", 1, 4, "g", logged=1.5))

    assert (AgeDifference(OTHERWISE, "a", (1,), 0.5, 0.5, 0, ()),) == found


def test_a_step_can_differ_in_both_ways() -> None:
    """Logged beside published, and published beside recomputed, are two findings."""
    found = differences(
        refit("a", 4, 5, ("c1", 100)),
        published("b", "g", {4: 400}, ("c1", 4, 400)),
        trained("b", 6, 6, "g", logged=2.5),
    )

    assert {
        AgeDifference(LOST, "b", (6,), 0.75, 0.75, 1, ("a",)),
        AgeDifference(OTHERWISE, "b", (6,), 0.5, 0.5, 0, ()),
    } == set(found)


@pytest.mark.parametrize("logged", [1.0, 1.0000001, 1.0 - 5e-7, 1, None])
def test_rounding_is_no_difference(logged: float | None) -> None:
    """A logged age may have been rounded, or be missing."""
    assert () == differences(published("a", "g", {3: 100}), trained("a", 1, 4, "g", logged=logged))


def test_a_difference_in_the_third_digit_is_one() -> None:
    """What the report shows with three digits and differs there is told."""
    found = differences(published("a", "g", {3: 100}), trained("a", 1, 4, "g", logged=1.001))

    assert [(OTHERWISE, 0.001)] == [(difference.kind, difference.largest) for difference in found]


def test_steps_of_one_run_and_reason_are_told_together() -> None:
    """Numbers, the least and the greatest difference, and all calls; another run is another difference."""
    found = differences(
        refit("a", 4, 5, ("c1", 50), ("c2", 100), ("c3", 100)),
        published("b", "g", {4: 100}, ("c1", 4, 100)),
        published("b", "h", {4: 400}, ("c2", 4, 200), ("c3", 4, 200)),
        published("b", "i", {5: 10}, ("fine", 5, 10)),
        trained("b", 9, 6, "g"),
        trained("b", 6, 6, "g", "h", "i"),
        trained("b", 7, 6, "i"),
        published("c", "k", {4: 400}, ("c2", 4, 400)),
        trained("c", 11, 6, "k"),
    )
    # Step 6: 50 + 200 of 510 tokens are one version too old. Step 9: 50 of 100. Step 11: 300 of 400.
    assert (
        AgeDifference(LOST, "b", (6, 9), round(250 / 510, 9), 0.5, 4, ("a",)),
        AgeDifference(LOST, "c", (11,), 0.75, 0.75, 1, ("a",)),
    ) == found


def test_every_run_whose_cuts_were_lost_is_named_once() -> None:
    """Two stops before one publication: both runs are named, in the order of the file."""
    found = differences(
        refit("a", 3, 4, ("c1", 10), ("c2", 10)),
        refit("b", 4, 5, ("c3", 10)),
        published("c", "g", {3: 40, 4: 20}, ("c1", 3, 20), ("c2", 3, 20), ("c3", 4, 20)),
        trained("c", 6, 6, "g"),
    )

    assert (AgeDifference(LOST, "c", (6,), 0.5, 0.5, 3, ("a", "b")),) == found


def test_only_calls_whose_cuts_matter_explain_a_difference() -> None:
    """A call paused at its end or beyond it was in one piece: losing that cut changed nothing."""
    found = differences(
        refit("a", 4, 5, ("cut", 100), ("done", 100), ("trimmed", 150)),
        published("b", "g", {4: 400}, ("cut", 4, 200), ("done", 4, 100), ("trimmed", 4, 100)),
        trained("b", 6, 6, "g"),
    )

    assert (AgeDifference(LOST, "b", (6,), 0.25, 0.25, 1, ("a",)),) == found


def test_a_restored_controller_that_kept_its_cuts_differs_in_nothing() -> None:
    """Cuts that a checkpoint carried over are not lost."""
    assert () == differences(
        refit("a", 4, 5, ("c1", 100)), published("b", "g", {4: 100, 5: 200}, ("c1", 4, 300)), trained("b", 6, 6, "g")
    )


def test_a_step_trained_again_has_the_later_differences_only() -> None:
    """The earlier training of a step is gone, with what was wrong with it."""
    assert () == differences(
        published("a", "g", {3: 100}),
        trained("a", 1, 4, "g", logged=9.0),
        trained("b", 1, 4, "g", logged=1.0),
    )


def test_a_call_that_both_runs_cut_has_lost_the_first_cut() -> None:
    """An inference server may keep a call running through a restart of the controller."""
    found = differences(
        refit("a", 4, 5, ("c1", 100)),
        refit("b", 5, 6, ("c1", 200)),
        published("b", "g", {4: 200, 6: 200}, ("c1", 4, 400)),
        trained("b", 7, 7, "g"),
    )

    assert (AgeDifference(LOST, "b", (7,), 0.25, 0.25, 1, ("a",)),) == found


def test_call_ids_that_are_numbers_find_their_run() -> None:
    """Files of other recorders hold numbers as ids: the reason is the same."""
    found = differences(
        event("a", "weight_sync", replaced_version=4, new_version=5, calls=[[7, 100]]),
        event("b", "group_published", group_id="g", tokens_by_version={4: 400}, call_versions=[[7, 4, 400]]),
        trained("b", 6, 6, "g"),
    )

    assert (AgeDifference(LOST, "b", (6,), 0.75, 0.75, 1, ("a",)),) == found


def test_a_logged_age_is_held_against_the_recomputed_one_where_no_counts_were_published() -> None:
    """Only calls are in the file, and the controller had lost their cuts: the difference is told all the same."""
    found = differences(
        refit("a", 4, 5, ("c1", 100)),
        published("b", "g", None, ("c1", 4, 400)),
        trained("b", 6, 6, "g", logged=2.0),
    )

    assert [("b", (6,), 0.75)] == [(difference.run, difference.steps, difference.largest) for difference in found]
