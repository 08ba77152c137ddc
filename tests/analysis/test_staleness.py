"""Histogram, coverage and restores: hand-made traces with the answers worked out beside them."""

from __future__ import annotations

from typing import Any

import pytest

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.age.coverage import Coverage
from rtrace_otel.analysis.age.restores import WINDOW, AgeWindow, RestoreAge
from rtrace_otel.analysis.age.staleness import Staleness, staleness
from rtrace_otel.analysis.age.versions import MAX_INSTALLED, MAX_OPEN_STEPS, VersionsInForce
from rtrace_otel.analysis.recent import Recent
from tests.analysis.staleness_rows import found, step_began
from tests.report.history import event, published, refit, restored, started, trace, trained


def test_without_rows_there_is_nothing() -> None:
    """No step, no age, no token, no restore; and the laws hold."""
    result = staleness([])
    result.self_check()

    assert Staleness(step_ages([]), (), None, {}, Coverage(), ()) == result


def test_the_ages_are_those_of_the_other_analysis() -> None:
    """What stands behind the ages does not change them."""
    rows = trace(refit("a", 3, 4, ("c", 40)), published("a", "g", None, ("c", 3, 100)), trained("a", 1, 5, "g"))

    assert step_ages(rows) == staleness(rows).ages


def test_token_ages_are_counted() -> None:
    """Step 1: 40 tokens of age 2, 60 of age 1. Step 2: 5 of age 2, 5 of age -1. Youngest first."""
    result = found(
        refit("a", 3, 4, ("c", 40)),
        published("a", "g", None, ("c", 3, 100)),
        trained("a", 1, 5, "g"),
        published("a", "h", {4: 5, 7: 5, 2: 0}),
        trained("a", 2, 6, "h"),
    )

    assert [{1: 60, 2: 40}, {-1: 5, 2: 5}] == [step.histogram for step in result.steps]
    assert [(-1, 5), (1, 60), (2, 45)] == list(result.histogram.items())


def test_a_step_trained_again_is_counted_once() -> None:
    """The later run's tokens count, not the earlier ones."""
    result = found(
        published("a", "g", {3: 100}, ("c", 3, 100)), trained("a", 1, 3, "g"),
        published("b", "h", {3: 7}), trained("b", 1, 4, "h"),
    )  # fmt: skip

    assert ({1: 7}, 7) == (result.histogram, result.coverage.known)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (trained("a", 1, 3, "g"), Coverage(known=100)),
        (trained("a", 1, 3, "g") | {"tokens": 100}, Coverage(known=100)),
        (trained("a", 1, 3, "g") | {"tokens": 99}, Coverage(known=100)),
        (trained("a", 1, 3, "g") | {"tokens": 125}, Coverage(known=100, beyond_known=25)),
        (trained("a", 1, 3, "g", "x"), Coverage(known=100, groups_without_tokens=1, uncounted_groups=1)),
        (trained("a", 1, 3, "g", "x") | {"tokens": True},
         Coverage(known=100, groups_without_tokens=1, uncounted_groups=1)),
        (trained("a", 1, 3, "g", "x") | {"tokens": 100}, Coverage(known=100, groups_without_tokens=1)),
        (trained("a", 1, 3, "g", "x") | {"tokens": 150},
         Coverage(known=100, beyond_known=50, groups_without_tokens=1)),
        (trained("a", 1, None, "g"), Coverage(no_trained_version=100)),
        (trained("a", 1, 3, "h"), Coverage(known=60, unknown_begin=40)),
        (trained("a", 1, 3, "h") | {"tokens": 110}, Coverage(known=60, unknown_begin=40, beyond_known=10)),
        (trained("a", 1, 3, "i"), Coverage(unknown_begin=5, groups_without_tokens=1, uncounted_groups=1)),
        (trained("a", 1, 3, "j"), Coverage(known=30)),
    ],
)  # fmt: skip
def test_what_has_no_age_is_counted_apart(step: dict[str, Any], expected: Coverage) -> None:
    """Group g has 100 tokens. Of h's calls one has no begin version, of i's none has. Group j published its counts."""
    result = found(
        published("a", "g", {3: 100}),
        published("a", "h", None, ("c", 3, 60), ("d", None, 40), ("e", None, -3), ("f",)),
        published("a", "i", None, ("k", None, 5)),
        published("a", "j", {3: 30}, ("l", None, 30)),
        step,
    )

    assert expected == result.coverage


@pytest.mark.parametrize(
    ("coverage", "complete", "share"),
    [
        (Coverage(), True, None),
        (Coverage(known=10), True, 1.0),
        (Coverage(known=10, groups_without_tokens=2), True, 1.0),
        (Coverage(known=75, unknown_begin=5, beyond_known=15, no_trained_version=5), False, 0.75),
        (Coverage(unknown_begin=5), False, 0.0),
        (Coverage(known=10, groups_without_tokens=2, uncounted_groups=1), False, None),
    ],
)
def test_shares(coverage: Coverage, complete: bool, share: float | None) -> None:
    """The share of tokens with an age; nobody knows it where groups are not counted."""
    assert (complete, share) == (coverage.complete, coverage.share)


def test_calls_without_a_begin_do_not_replace_what_the_same_run_published() -> None:
    """A run that publishes a group again without versions has still published the first ones; another run has not."""
    rows = (published("a", "g", {3: 100}), published("a", "g", None, ("c", None, 7)), trained("a", 1, 3, "g"))
    assert Coverage(known=100) == found(*rows).coverage

    again = (published("a", "g", {3: 100}), published("b", "g", None, ("c", None, 7)), trained("b", 1, 3, "g"))
    assert Coverage(unknown_begin=7, groups_without_tokens=1, uncounted_groups=1) == found(*again).coverage


def test_before_and_after_a_restore() -> None:
    """Six steps of age 1 and one token each, but the sixth has age 3 and 3 tokens; then a restore and two steps.

    Before: steps 2-6, (1 + 1 + 1 + 1 + 3 x 3) / 7. After: steps 5 and 6, (2 x 4 + 0 x 1) / 5.
    """
    before = [
        row for step in range(1, 6) for row in (published("a", f"g{step}", {0: 1}), trained("a", step, 1, f"g{step}"))
    ]
    result = found(
        *before,
        published("a", "g6", {0: 3}), trained("a", 6, 3, "g6"),
        restored("b", 4),
        published("b", "h5", {0: 4}), trained("b", 5, 2, "h5"),
        published("b", "h6", {3: 1}), trained("b", 6, 3, "h6"),
    )  # fmt: skip

    expected = RestoreAge(
        run="b",
        checkpoint_id="ckpt-4",
        step=4,
        before=AgeWindow((2, 3, 4, 5, 6), ("a",), 7, 13 / 7),
        after=AgeWindow((5, 6), ("b",), 5, 8 / 5),
    )
    assert (expected,) == result.restores
    assert 8 / 5 - 13 / 7 == result.restores[0].change


def test_only_the_first_steps_after_a_restore_count() -> None:
    """Later ones, and steps of other runs, do not."""
    rows = [
        row for step in range(1, 9) for row in (published("b", f"g{step}", {0: 1}), trained("b", step, 0, f"g{step}"))
    ]
    result = found(restored("b", 0), trained("a", 90, 1), *rows)

    assert (tuple(range(1, WINDOW + 1)), ("b",)) == (result.restores[0].after.steps, result.restores[0].after.runs)


def test_each_restore_has_its_own_windows() -> None:
    """A second restore looks back over both runs; a step trained again is looked at as it was trained last."""
    result = found(
        published("a", "g", {0: 1}), trained("a", 1, 1, "g"), trained("a", 2, 1),
        restored("b", 1),
        published("b", "h", {0: 1}), trained("b", 2, 5, "h"),
        restored("c", 1) | {"checkpoint_id": None, "step": "x"},
    )  # fmt: skip
    first, second = result.restores

    assert ((1, 2), ("a",), 1, 1.0) == (
        first.before.steps,
        first.before.runs,
        first.before.tokens,
        first.before.batch_age,
    )
    assert AgeWindow((1, 2), ("a", "b"), 2, 3.0) == second.before
    assert RestoreAge("c", None, None, second.before, AgeWindow((), (), 0, None)) == second
    assert second.change is None


def test_steps_without_a_version_have_no_age_on_either_side() -> None:
    """They are named, and weigh nothing."""
    result = found(published("a", "g", {0: 4}), trained("a", 1, None, "g"), restored("b", 1))

    assert AgeWindow((1,), ("a",), 0, None) == result.restores[0].before


def test_what_is_remembered_of_refits_is_bounded() -> None:
    """Beyond the bound the oldest refit is forgotten, and a step that began before it has an unknown version."""
    versions = VersionsInForce()
    for version in range(MAX_INSTALLED + 1):
        versions.refitted(event("a", "weight_sync", new_version=version, t=float(version)))
    ended = event("a", "train_step", step=1, t=float(MAX_INSTALLED))

    assert 1 == versions.at_start_of(ended | {"seconds": MAX_INSTALLED - 1}).version
    assert versions.at_start_of(ended | {"seconds": MAX_INSTALLED}).version is None


def test_what_is_remembered_of_begun_steps_is_bounded() -> None:
    """Steps that never ended belong to killed runs; the oldest are forgotten."""
    versions = VersionsInForce()
    versions.started(started("a", weight_version=3))
    for step in range(MAX_OPEN_STEPS + 1):
        versions.step_begun(step_began("a", step))

    starts = [versions.at_start_of(trained("a", step, 3)).version for step in (0, 1)]
    assert [None, 3] == starts


def test_the_latest_entries_are_kept() -> None:
    """An entry that is put again is young again."""
    recent: Recent[int] = Recent(2)
    for name, value in (("x", 1), ("y", 2), ("x", 3), ("z", 4)):
        recent.put(name, value)

    assert (2, 3, None, 4) == (len(recent), recent.get("x"), recent.get("y"), recent.get("z"))
    assert (4, None) == (recent.pop("z"), recent.pop("z"))
