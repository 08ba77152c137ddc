"""Batch age per step: hand-made traces with the right answers worked out beside them."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.age.ages import AgeReport, StepAge, step_ages, token_age_quantile
from rtrace_otel.events import Row
from tests.report.history import event, published, refit, rounded, trace, trained


def ages(*events: Row) -> AgeReport:
    """The report on a trace, floats rounded."""
    return rounded(step_ages(trace(*events)))


def test_without_steps_there_is_nothing_to_tell() -> None:
    """A trace without training has no step, no difference, no token and no age."""
    assert AgeReport((), (), 0, None) == ages(published("a", "g", {3: 5}))
    assert AgeReport((), (), 0, None) == step_ages([])


def test_a_cut_call_is_split_and_all_three_values_agree() -> None:
    """A call paused at token 40 counts 40 tokens under the old version and the rest under the new one."""
    report = ages(
        refit("a", 3, 4, ("c", 40)),
        published("a", "g", {3: 40, 4: 60}, ("c", 3, 100)),
        trained("a", 1, 5, "g", logged=1.4),
    )
    # 5 - (3 x 40 + 4 x 60) / 100 = 1.4; of the token ages, 60 are 1 and 40 are 2.
    step = StepAge(1, "a", 5, 1.4, 1.4, 1.4, 1, 2, 2, 100, 1.0, 1, 1, 1)

    assert AgeReport((step,), (), 100, 1.4) == report


def test_tokens_weigh_not_groups() -> None:
    """The age of a step is the mean over its tokens: a large fresh group pulls it down."""
    report = ages(
        published("a", "g", {3: 40, 4: 60}),
        published("a", "h", {4: 50}),
        published("a", "i", {5: 850}),
        trained("a", 1, 5, "g", "h"),
        trained("a", 2, 5, "g", "h", "i"),
    )
    # Step 1: 5 - 560 / 150. Step 2: 5 - 4810 / 1000; 850 of its 1000 tokens have age 0, 960 at most 1.
    first = StepAge(1, "a", 5, None, round(5 - 560 / 150, 9), None, 1, 2, 2, 150, None, 2, 2, 1)
    second = StepAge(2, "a", 5, None, 0.19, None, 0, 1, 2, 1000, None, 3, 3, 1)
    mean = round(((5 - 560 / 150) * 150 + 0.19 * 1000) / 1150, 9)

    assert AgeReport((first, second), (), 1150, mean) == report


def test_version_zero_is_a_version() -> None:
    """Tokens of version 0 trained by version 0 have age 0, which is an age, not the lack of one."""
    report = ages(published("a", "g", {0: 10}, ("c", 0, 10)), trained("a", 0, 0, "g", logged=0.0))

    assert AgeReport((StepAge(0, "a", 0, 0.0, 0.0, 0.0, 0, 0, 0, 10, 0.0, 1, 1, 1),), (), 10, 0.0) == report


def test_a_mixture_with_version_zero() -> None:
    """Version 0 weighs in as any other."""
    report = ages(
        refit("a", 0, 1, ("c", 30)), published("a", "g", {0: 30, 1: 70}, ("c", 0, 100)), trained("a", 1, 2, "g")
    )

    assert StepAge(1, "a", 2, None, 1.3, 1.3, 1, 2, 2, 100, 1.0, 1, 1, 1) == report.steps[0]


def test_a_negative_age_is_kept() -> None:
    """Tokens from a version that does not exist yet give a negative age, in every column."""
    report = ages(published("a", "g", {5: 30, 7: 10}, ("c", 5, 30), ("d", 7, 10)), trained("a", 1, 4, "g", logged=-1.5))
    # 4 - (150 + 70) / 40 = -1.5; 30 tokens have age -1, 10 have age -3, so three quarters are above -3.
    step = StepAge(1, "a", 4, -1.5, -1.5, -1.5, -1, -1, -1, 40, 0.0, 1, 1, 1)

    assert AgeReport((step,), (), 40, -1.5) == report


def test_groups_without_token_data_are_counted_apart() -> None:
    """A step has the age of the groups that have data, and says how many there are of either kind."""
    report = ages(
        published("a", "g", {3: 100}),
        published("a", "h"),
        published("a", "i", {}),
        published("a", "j", {3: 0}),
        trained("a", 1, 4, "g", "h", "i", "j", "never published"),
    )

    assert AgeReport((StepAge(1, "a", 4, None, 1.0, None, 1, 1, 1, 100, None, 5, 1, 1),), (), 100, 1.0) == report


def test_a_step_without_any_token_data_has_only_its_logged_age() -> None:
    """Without tokens there is nothing to compute; what the controller logged is shown all the same."""
    report = ages(published("a", "g"), trained("a", 1, 4, "g", logged=0.5), trained("a", 2, 5))
    steps = (
        StepAge(1, "a", 4, 0.5, None, None, None, None, None, 0, None, 1, 0, 1),
        StepAge(2, "a", 5, None, None, None, None, None, None, 0, None, 0, 0, 1),
    )

    assert AgeReport(steps, (), 0, None) == report


def test_without_a_trained_version_there_is_no_age() -> None:
    """Tokens by version alone do not tell an age."""
    report = ages(published("a", "g", {3: 100}), trained("a", 1, None, "g", logged=0.5))

    assert (StepAge(1, "a", None, 0.5, None, None, None, None, None, 100, None, 1, 1, 1),) == report.steps


def test_steps_come_by_number_whatever_their_order_in_the_file() -> None:
    """The report is sorted by step."""
    report = ages(
        published("a", "g", {3: 1}), trained("a", 9, 3, "g"), trained("a", 2, 3, "g"), trained("a", 5, 3, "g")
    )

    assert [2, 5, 9] == [step.step for step in report.steps]


def test_a_discarded_group_weighs_nothing() -> None:
    """A group that was published and never trained is in no step."""
    report = ages(
        published("a", "g", {3: 100}),
        published("a", "stale", {0: 900}),
        event("a", "group_discarded", group_id="stale", reason="stale"),
        trained("a", 1, 3, "g"),
    )

    assert (100, 0.0) == (report.tokens, report.batch_age)


def test_the_mean_over_steps_is_weighted_by_tokens() -> None:
    """A long step weighs more than a short one."""
    report = ages(
        published("a", "g", {3: 10}), published("a", "h", {3: 30}), trained("a", 1, 3, "g"), trained("a", 2, 5, "h")
    )

    assert (40, 1.5) == (report.tokens, report.batch_age)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({5: 50, 4: 50}, (0, 1, 1)),  # exactly half have age 0
        ({5: 49, 4: 51}, (1, 1, 1)),
        ({5: 95, 3: 5}, (0, 0, 2)),  # exactly 95 % have age 0
        ({5: 94, 3: 6}, (0, 2, 2)),
        ({5: 19, 3: 1}, (0, 0, 2)),  # 19 of 20 are 95 %
        ({5: 1}, (0, 0, 0)),
        ({5: 1, 0: 1}, (0, 5, 5)),
        ({0: 1, 1: 0, 5: 0}, (5, 5, 5)),  # versions without tokens have no age
        ({7: 1, 5: 1, 3: 1}, (0, 2, 2)),
        ({5: 95 * 10**15, 3: 5 * 10**15}, (0, 0, 2)),
    ],
)
def test_quantiles_are_the_smallest_age_that_covers_their_share(
    counts: dict[int, int], expected: tuple[int, int, int]
) -> None:
    """p50, p95 and max are ages that occur: the smallest that this share of the tokens does not exceed."""
    assert expected == tuple(token_age_quantile(counts, 5, share) for share in (0.50, 0.95, 1.0))


@pytest.mark.parametrize("counts", [{}, {3: 0}, {3: 0, 4: 0}])
def test_without_tokens_there_is_no_quantile(counts: dict[int, int]) -> None:
    """No tokens: no age, at any share."""
    assert [None, None, None] == [token_age_quantile(counts, 5, share) for share in (0.0, 0.5, 1.0)]
