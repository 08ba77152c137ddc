"""The parts of a batch age: hand-made traces with each part worked out beside them."""

from __future__ import annotations

from typing import Any

import pytest

from rtrace_otel.analysis.age.split import SplitMissing, SplitSums, add_splits
from tests.analysis.staleness_rows import BEGAN, GROUP, found, only_parts, parts, step_began
from tests.report.history import published, refit, restored, started, trained


def test_each_refit_counts_in_the_part_in_which_it_came() -> None:
    """Five refits: one in the call, one before the publication, two in the queue, one ahead of the servers.

    The call makes 40 tokens on version 3 and 60 on version 4. The group is published on 5, the step begins on 7 and
    updates 8. In call: 40 tokens are one version older than the last one, so 40 / 100. In group: 5 - 4. In queue:
    7 - 5. Train lag: 8 - 7. Batch age: 8 - (3 x 40 + 4 x 60) / 100 = 4.4.
    """
    result = found(
        started("a", weight_version=3),
        refit("a", 3, 4, ("c", 40)),
        refit("a", 4, 5),
        published("a", "g", None, ("c", 3, 100)),
        refit("a", 5, 6),
        refit("a", 6, 7),
        step_began("a", 1),
        trained("a", 1, 8, "g"),
    )

    assert (0.4, 1.0, 2.0, 1.0) == parts(result.steps[0].split)
    assert (0.4, 1.0, 2.0, 1.0) == parts(result.split)
    assert 4.4 == result.ages.steps[0].recomputed


def test_on_policy_every_part_is_zero() -> None:
    """Version 0 is a version, and 0 an age."""
    rows = (started("a", weight_version=0), published("a", "g", None, ("c", 0, 10)), step_began("a", 1))

    assert (0.0, 0.0, 0.0, 0.0) == only_parts(*rows, trained("a", 1, 0, "g"))


def test_tokens_weigh_not_calls_and_not_groups() -> None:
    """30 tokens wait one version in their group, 10 wait none: 30 / 40; the queue is one version for all."""
    rows = (
        started("a", weight_version=3),
        published("a", "g", None, ("c", 3, 10)),
        refit("a", 3, 4),
        published("a", "h", None, ("d", 3, 30)),
        refit("a", 4, 5),
        step_began("a", 1),
    )
    # In queue: g waits 2 versions, h 1: (10 x 2 + 30 x 1) / 40.
    assert (0.0, 0.75, 1.25, 0.0) == only_parts(*rows, trained("a", 1, 5, "g", "h"))


def test_the_split_over_all_steps_weighs_tokens() -> None:
    """90 tokens of age 1 in the queue and 10 tokens of age 0: 0.9."""
    result = found(
        started("a", weight_version=3),
        published("a", "g", None, ("c", 3, 90)),
        refit("a", 3, 4),
        published("a", "h", None, ("d", 4, 10)),
        step_began("a", 1),
        trained("a", 1, 4, "g"),
        step_began("a", 2),
        trained("a", 2, 4, "h"),
    )

    assert [(0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 0.0)] == [parts(step.split) for step in result.steps]
    assert (0.0, 0.0, 0.9, 0.0) == parts(result.split)


def test_a_refit_whose_row_follows_the_publication() -> None:
    """The call went on with version 4 before its group was published, so 4 was in force then, whatever the row order.

    By the order of the rows the group would be published on 3, and the parts would be in group -1 and in queue +1.
    """
    rows = (
        started("a", weight_version=3),
        published("a", "g", None, ("c", 3, 100)),
        refit("a", 3, 4, ("c", 40)),
        step_began("a", 1),
    )

    assert (0.4, 0.0, 0.0, 0.0) == only_parts(*rows, trained("a", 1, 4, "g"))


def test_a_refit_that_paused_a_call_at_its_end_came_after_the_publication() -> None:
    """The call had all its tokens when it was paused: the group has none of version 4, and waits in the queue."""
    rows = (
        started("a", weight_version=3),
        published("a", "g", None, ("c", 3, 100)),
        refit("a", 3, 4, ("c", 100)),
        step_began("a", 1),
    )

    assert (0.0, 0.0, 1.0, 0.0) == only_parts(*rows, trained("a", 1, 4, "g"))


def test_a_call_that_began_before_the_row_of_its_version() -> None:
    """The call began on 4, so 4 was in force when its group was published."""
    rows = (
        started("a", weight_version=3),
        published("a", "g", None, ("c", 4, 100)),
        refit("a", 3, 4),
        refit("a", 4, 5),
        step_began("a", 1),
    )

    assert (0.0, 0.0, 1.0, 0.0) == only_parts(*rows, trained("a", 1, 5, "g"))


def test_negative_parts_are_shown_as_they_are() -> None:
    """Tokens of a version that the run never had: published on 3, they are 4 versions ahead of it."""
    rows = (started("a", weight_version=3), published("a", "g", None, ("c", 7, 10)), step_began("a", 1))

    assert (0.0, -4.0, 0.0, -1.0) == only_parts(*rows, trained("a", 1, 2, "g"))


def test_a_group_of_an_earlier_run_was_published_on_that_runs_version() -> None:
    """Run a publishes on 4, run b restores and trains on 6: two versions in the queue."""
    rows = (
        started("a", weight_version=4),
        published("a", "g", None, ("c", 4, 10)),
        restored("b", 5),
        refit("b", 6, 6),
        step_began("b", 6),
    )

    assert (0.0, 0.0, 2.0, 0.0) == only_parts(*rows, trained("b", 6, 6, "g"))


def test_a_later_refit_of_another_run_does_not_move_the_publication() -> None:
    """Run a publishes tokens of 4 on 3; run b installs 4. Only rows of the publishing run tell its version."""
    rows = (
        started("a", weight_version=3),
        published("a", "g", None, ("c", 4, 10)),
        refit("b", 3, 4),
        step_began("b", 1),
    )

    assert (0.0, -1.0, 1.0, 0.0) == only_parts(*rows, trained("b", 1, 4, "g"))


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1.5, (0.0, 0.0, 1.0, 0.0)),  # The step began at 1002.5, between the refit to 4 and the refit to 5.
        (2.0, (0.0, 0.0, 1.0, 0.0)),  # Exactly when 4 was installed.
        (2.5, (0.0, 0.0, 0.0, 1.0)),  # Before it.
        (0, (0.0, 0.0, 2.0, -1.0)),  # Now.
        (99.0, SplitMissing.UNKNOWN_AT_START),  # Before the run.
        (-1.0, SplitMissing.UNKNOWN_AT_START),
        (float("nan"), SplitMissing.UNKNOWN_AT_START),
        (float("inf"), SplitMissing.UNKNOWN_AT_START),
        (10**400, SplitMissing.UNKNOWN_AT_START),
        (True, SplitMissing.UNKNOWN_AT_START),
        ("1.5", SplitMissing.UNKNOWN_AT_START),
        (None, SplitMissing.UNKNOWN_AT_START),
    ],
)
def test_without_its_start_a_step_began_seconds_before_its_end(seconds: Any, expected: Any) -> None:
    """Times: run 1000, publication 1001, refit to 4 at 1002, to 5 at 1003, step ends at 1004."""
    rows = (
        started("a", weight_version=3),
        published("a", "g", None, ("c", 3, 10)),
        refit("a", 3, 4),
        refit("a", 4, 5),
        trained("a", 1, 4, "g") | {"seconds": seconds},
    )

    assert expected == only_parts(*rows)


@pytest.mark.parametrize("t", [None, "x", True, -1.0, float("nan"), 10**400])
def test_without_a_time_the_start_is_unknown(t: Any) -> None:
    """A refit at an odd time may have come before the step or after it; so may the end of a step at an odd time."""
    rows = (started("a", weight_version=3), published("a", "g", None, ("c", 3, 10)), refit("a", 3, 4))
    step = trained("a", 1, 4, "g") | {"seconds": 0.5}

    assert SplitMissing.UNKNOWN_AT_START == only_parts(*rows[:2], rows[2] | {"t": t}, step)
    assert SplitMissing.UNKNOWN_AT_START == only_parts(*rows, step | {"t": t})


def test_the_start_of_another_step_or_run_is_not_this_ones() -> None:
    """Only a start of the same run and number counts, and only once."""
    rows = (started("a", weight_version=3), published("a", "g", None, ("c", 3, 10)))

    assert SplitMissing.UNKNOWN_AT_START == only_parts(*rows, step_began("a", 2), trained("a", 1, 3, "g"))
    assert SplitMissing.UNKNOWN_AT_START == only_parts(*rows, step_began("b", 1), trained("a", 1, 3, "g"))
    once = found(*rows, step_began("a", 1), trained("a", 1, 3, "g"), trained("a", 1, 3, "g"))
    assert SplitMissing.UNKNOWN_AT_START == once.steps[0].split_missing


def test_a_group_without_tokens_does_not_stand_in_the_way() -> None:
    """What weighs nothing needs no parts."""
    rows = (started("a", weight_version=3), GROUP, published("a", "h"), BEGAN)

    assert (0.0, 0.0, 0.0, 0.0) == only_parts(*rows, trained("a", 1, 3, "g", "h"))


def test_the_version_of_a_run_is_that_of_its_latest_refit() -> None:
    """The refit counts, not the version at which the run started, even if the rows come the wrong way round."""
    rows = (refit("a", 4, 5), started("a", weight_version=3), published("a", "g", None, ("c", 5, 10)), BEGAN)

    assert (0.0, 0.0, 0.0, 0.0) == only_parts(*rows, trained("a", 1, 5, "g"))


def test_a_step_trained_again_has_the_later_split() -> None:
    """The split over all steps has the step once."""
    result = found(
        started("a", weight_version=3),
        GROUP,
        BEGAN,
        trained("a", 1, 3, "g"),
        refit("b", 5, 5),
        published("b", "h", None, ("d", 4, 30)),
        step_began("b", 1),
        trained("b", 1, 5, "h"),
    )

    assert (0.0, 1.0, 0.0, 0.0) == parts(result.split)
    assert result.split is not None
    assert 30 == result.split.tokens


def test_no_splits_add_up_to_none() -> None:
    """Without tokens there is no mean."""
    assert add_splits([]) is None
    assert SplitSums(0, 0, 0, 0, 0).means() is None
