"""Which tokens are known, from calls, from counts, from either; and the share of them that a refit cut."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.age.ages import StepAge, step_ages
from rtrace_otel.events import Row
from tests.report.history import event, published, refit, rounded, trace, trained


def only_step(*events: Row) -> StepAge:
    """The one step of a trace, floats rounded."""
    (step,) = rounded(step_ages(trace(*events))).steps
    return step


@pytest.mark.parametrize(
    ("cuts", "tokens", "age", "p95"),
    [
        ([(40, 3, 4), (70, 4, 5)], 100, 6 - (3 * 40 + 4 * 30 + 5 * 30) / 100, 3),
        ([(0, 3, 4)], 100, 2.0, 2),
        ([(80, 3, 4)], 60, 3.0, 3),
        ([(40, 3, 4), (80, 4, 5)], 60, 6 - (3 * 40 + 4 * 20) / 60, 3),
        ([(40, 3, 4), (40, 3, 4)], 100, 6 - (3 * 40 + 4 * 60) / 100, 3),
        ([(40, 3, 4), (55, 3, 4)], 100, 6 - (3 * 55 + 4 * 45) / 100, 3),
        ([(40, 3, 4), (40, 4, 5)], 100, 6 - (3 * 40 + 5 * 60) / 100, 3),
        ([(100, 3, 4)], 100, 3.0, 3),
        ([(40, 3, 5)], 100, 6 - (3 * 40 + 5 * 60) / 100, 3),
        ([(40, 3, 3)], 100, 3.0, 3),
        ([], 100, 3.0, 3),
    ],
    ids=["twice", "before its first token", "beyond the end", "second beyond", "retried", "retried later",
         "no token between", "at its end", "version jump", "loaded weights", "never"],
)  # fmt: skip
def test_calls_are_split_at_the_refits(cuts: list[tuple[int, int, int]], tokens: int, age: float, p95: int) -> None:
    """The recomputed age of one call that began on version 3, trained by version 6."""
    syncs = [refit("a", old, new, ("c", position)) for position, old, new in cuts]
    step = only_step(*syncs, published("a", "g", None, ("c", 3, tokens)), trained("a", 1, 6, "g"))

    assert (round(age, 9), p95, tokens) == (step.recomputed, step.p95, step.tokens)


def test_the_cut_share_counts_the_tokens_of_calls_in_several_parts() -> None:
    """Calls paused before their first token, at their end, or beyond it are in one piece; so are others."""
    step = only_step(
        refit("a", 3, 4, ("cut", 10), ("early", 0), ("late", 20), ("beyond", 99)),
        published(
            "a", "g", {3: 50, 4: 50}, *((call, 3, 20) for call in ("cut", "early", "late", "beyond")), ("new", 4, 20)
        ),
        trained("a", 1, 4, "g"),
    )
    # 20 of 100 tokens; 10 + 20 + 20 tokens of version 3 have age 1, the rest have age 0.
    assert StepAge(1, "a", 4, None, 0.5, 0.5, 0, 1, 1, 100, 0.2, 1, 1, 1) == step


def test_the_cut_share_is_one_of_all_tokens() -> None:
    """Where only some groups name their calls, the share is still one of the step's tokens."""
    step = only_step(
        refit("a", 3, 4, ("cut", 10)),
        published("a", "g", {3: 10, 4: 10}, ("cut", 3, 20)),
        published("a", "h", {4: 60}),
        trained("a", 1, 4, "g", "h"),
    )

    assert StepAge(1, "a", 4, None, 0.125, 0.125, 0, 1, 1, 80, 0.25, 2, 2, 1) == step


def test_without_calls_the_counts_are_all_there_is() -> None:
    """No ``call_versions``: nothing can be recomputed, and whether calls were cut is not known."""
    step = only_step(refit("a", 3, 4, ("c", 40)), published("a", "g", {3: 40, 4: 60}), trained("a", 1, 4, "g"))

    assert StepAge(1, "a", 4, None, 0.4, None, 0, 1, 1, 100, None, 1, 1, 1) == step


def test_without_counts_nothing_was_published() -> None:
    """No ``tokens_by_version``: the age is recomputed from the calls, and no published one is made up."""
    step = only_step(
        refit("a", 3, 4, ("c", 40)), published("a", "g", None, ("c", 3, 100)), trained("a", 1, 4, "g", logged=0.4)
    )

    assert StepAge(1, "a", 4, 0.4, None, 0.4, 0, 1, 1, 100, 1.0, 1, 1, 1) == step


def test_empty_counts_do_not_hide_the_calls() -> None:
    """A controller that publishes empty counts and names its calls has token data."""
    step = only_step(published("a", "g", {}, ("c", 3, 100)), trained("a", 1, 4, "g"))

    assert StepAge(1, "a", 4, None, None, 1.0, 1, 1, 1, 100, 0.0, 1, 1, 1) == step


def test_a_group_sealed_with_counts_counts() -> None:
    """Where only the sealing carries token counts, they are the group's."""
    step = only_step(event("a", "group_sealed", group_id="g", tokens_by_version={3: 100}), trained("a", 1, 4, "g"))

    assert StepAge(1, "a", 4, None, 1.0, None, 1, 1, 1, 100, None, 1, 1, 1) == step


def test_a_publication_without_counts_keeps_those_of_its_sealing() -> None:
    """The run that sealed the group with counts publishes it without: the counts stand."""
    sealing = event("a", "group_sealed", group_id="g", tokens_by_version={3: 100})
    step = only_step(sealing, published("a", "g"), trained("a", 1, 4, "g", logged=1.0))

    assert StepAge(1, "a", 4, 1.0, 1.0, None, 1, 1, 1, 100, None, 1, 1, 1) == step


def test_a_publication_refines_the_counts_of_its_sealing() -> None:
    """Counts given twice are the later ones, not their sum."""
    sealing = event("a", "group_sealed", group_id="g", tokens_by_version={3: 100})
    step = only_step(sealing, published("a", "g", {3: 40, 4: 40}), trained("a", 1, 4, "g"))

    assert StepAge(1, "a", 4, None, 0.5, None, 0, 1, 1, 80, None, 1, 1, 1) == step


def test_a_sealing_without_counts_takes_nothing_away() -> None:
    """Rows of the same group without token data do not erase what is known."""
    step = only_step(published("a", "g", {3: 100}), event("a", "group_sealed", group_id="g"), trained("a", 1, 4, "g"))

    assert (1.0, 100) == (step.published, step.tokens)


def test_ids_that_are_numbers_match_ids_that_are_texts() -> None:
    """Files of other recorders hold numbers as ids; they are the same ids."""
    step = only_step(
        event("a", "weight_sync", replaced_version=3, new_version=4, calls=[[7, 40]]),
        event("a", "group_published", group_id=12, tokens_by_version={3: 40, 4: 60}, call_versions=[["7", 3, 100]]),
        event("a", "train_step", step=1, trained_version=4, group_ids=["12"]),
    )

    assert StepAge(1, "a", 4, None, 0.4, 0.4, 0, 1, 1, 100, 1.0, 1, 1, 1) == step


def test_further_columns_of_calls_are_ignored() -> None:
    """Recorders may add columns behind the documented ones."""
    step = only_step(
        refit("a", 3, 4, ("c", 40, "instance-1")),
        published("a", "g", {3: 40, 4: 60}, ("c", 3, 100, "instance-1")),
        trained("a", 1, 4, "g"),
    )

    assert (0.4, 0.4, 1.0) == (step.published, step.recomputed, step.cut_share)
