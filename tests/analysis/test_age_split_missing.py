"""Why a batch age has no parts: what a file does not tell, and what a missing refit row costs."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.age.split import SplitMissing
from rtrace_otel.events import Row
from tests.analysis.staleness_rows import BEGAN, GROUP, found, only_parts, parts, step_began
from tests.report.history import published, refit, started, trained


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ((BEGAN, trained("a", 1, 3, "g")), SplitMissing.NO_TOKENS),
        ((published("a", "g", None, ("c", 3, 0)), BEGAN, trained("a", 1, 3, "g")), SplitMissing.NO_TOKENS),
        ((GROUP, BEGAN, trained("a", 1, None, "g")), SplitMissing.NO_TRAINED_VERSION),
        ((published("a", "g", {3: 10}), BEGAN, trained("a", 1, 3, "g")), SplitMissing.NO_CALLS),
        ((GROUP, published("a", "h", {3: 1}), BEGAN, trained("a", 1, 3, "g", "h")), SplitMissing.NO_CALLS),
        ((GROUP, trained("a", 1, 3, "g")), SplitMissing.UNKNOWN_AT_START),
        ((published("b", "g", None, ("c", 3, 10)), BEGAN, trained("a", 1, 3, "g")),
         SplitMissing.UNKNOWN_AT_PUBLICATION),
        ((refit("a", 3, 4) | {"new_version": None}, GROUP, BEGAN, trained("a", 1, 3, "g")),
         SplitMissing.UNKNOWN_AT_PUBLICATION),
        ((published("a", "g", None, ("c", 10**400, 10)), BEGAN, trained("a", 1, 3, "g")),
         SplitMissing.NO_SENSIBLE_VERSION),
    ],
)  # fmt: skip
def test_what_cannot_be_known_is_told(rows: tuple[Row, ...], reason: SplitMissing) -> None:
    """No part is guessed: a step has all parts or none, and a reason."""
    result = found(started("a", weight_version=3), *rows)

    assert (None, reason, None) == (result.steps[0].split, result.steps[0].split_missing, result.split)


MISSING = (
    started("a", weight_version=3),
    published("a", "g", None, ("c", 3, 10)),
    BEGAN,
    trained("a", 1, 4, "g"),
)
"""A step that updates 4 and began, by the rows, on 3."""


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        (refit("a", 4, 5), SplitMissing.REFIT_MISSING),  # It replaces 4, which no row has installed.
        (refit("a", 3, 4), None),
        (refit("a", 4, 4), None),  # A run that loads weights.
        (refit("b", 4, 5), None),
        (refit("a", 3, 4) | {"replaced_version": "4"}, None),
    ],
)
def test_a_missing_refit_row_shows_at_the_next_refit(later: Row, reason: SplitMissing | None) -> None:
    """Without it the lost refit would look as if the trainer had been ahead of the servers."""
    assert reason == found(*MISSING, later).steps[0].split_missing


def test_a_missing_refit_row_leaves_other_steps_alone() -> None:
    """Only what was published or begun between the two rows is in doubt, also if it is trained later."""
    result = found(
        started("a", weight_version=3),
        published("a", "before", None, ("c", 3, 10)),
        refit("a", 3, 4),
        published("a", "between", None, ("d", 4, 10)),
        refit("a", 5, 6),
        step_began("a", 1),
        trained("a", 1, 6, "before"),
        step_began("a", 2),
        trained("a", 2, 6, "between"),
    )

    assert [None, SplitMissing.REFIT_MISSING] == [step.split_missing for step in result.steps]
    assert (0.0, 0.0, 3.0, 0.0) == parts(result.split)


def test_a_refit_that_is_tried_again_misses_none() -> None:
    """The same pair of versions twice is one refit."""
    rows = (
        started("a", weight_version=3),
        refit("a", 3, 4),
        published("a", "g", None, ("c", 4, 10)),
        refit("a", 3, 4),
        BEGAN,
    )

    assert (0.0, 0.0, 0.0, 0.0) == only_parts(*rows, trained("a", 1, 4, "g"))
