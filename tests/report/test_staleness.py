"""What stands behind the batch ages, in words, tables and JSON: whole texts for small results."""

from __future__ import annotations

from typing import Any

import pytest

from rtrace_otel.analysis.age.coverage import Coverage
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.events import Row
from rtrace_otel.report.age import age_document, age_json
from rtrace_otel.report.document import Table
from rtrace_otel.report.formats import to_csv, to_markdown
from rtrace_otel.report.staleness import (
    MAX_AGES,
    coverage_blocks,
    coverage_sentence,
    staleness_document,
    staleness_json,
)
from tests.analysis.staleness_rows import step_began
from tests.report.history import published, refit, restored, started, trace, trained

ROWS = trace(
    started("a", weight_version=3),
    refit("a", 3, 4, ("c", 25)),
    published("a", "g", None, ("c", 3, 100)),
    refit("a", 4, 5),
    step_began("a", 1),
    trained("a", 1, 5, "g"),
    restored("b", 1),
    published("b", "h", {4: 100}),
    trained("b", 2, 6, "h") | {"tokens": 125},
)
"""Step 1: 25 tokens of age 2 and 75 of age 1. In call 0.25, in group 0, in queue 1. Step 2: 100 tokens of age 2."""


def test_a_report_as_markdown() -> None:
    """Coverage after the answer; then the ages, their parts, how they spread, and the restore."""
    expected = """\
# Batch age of f

Batch age 1.625 over 2 steps and 200 trained tokens (steps from 1.250 to 2.000).

Coverage 88.8 %. Without an age, and so in no mean: 25 of 225 trained tokens (25 that steps state beyond those that \
the file accounts for).

## Batch age per step, in weight versions

| step | run | version | logged | published | recomputed | p50 | p95 | max | tokens | in cut calls | groups |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 1 | a | 5 | - | - | 1.250 | 1 | 2 | 2 | 100 | 100 % | 1 |
| 2 | b | 6 | - | 2.000 | - | 2 | 2 | 2 | 100 | - | 1 |

Over 1 step, 1.250 versions of age are: 0.250 while the call still ran (in call), 0.000 until its group was published \
(in group), 1.000 until the step began (in queue), 0.000 by which the trainer was ahead (train lag).

## Where the age comes from, in weight versions

| step | batch age | in call | in group | in queue | train lag | tokens |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 1 | 1.250 | 0.250 | 0.000 | 1.000 | 0.000 | 100 |
| 2 | 2.000 | - | - | - | - | 100 |

The age of 1 of 2 steps cannot be split into parts: no call\\_versions (step 2).

## Token ages, in weight versions

| token age | tokens | share | as old or older |
| ---: | ---: | ---: | ---: |
| 1 | 75 | 38 % | 100 % |
| 2 | 125 | 62 % | 62 % |

## Batch age before each stop and after its restore

| restored | by run | steps before | age before | steps after | age after | change |
| --- | --- | --- | ---: | --- | ---: | ---: |
| ckpt-1 | b | 1 | 1.250 | 2 | 2.000 | +0.750 |
"""
    assert expected == to_markdown(staleness_document(staleness(ROWS), "f"))


def test_the_main_table_is_that_of_the_ages() -> None:
    """CSV is as it was before there was anything behind the ages."""
    found = staleness(ROWS)

    assert to_csv(age_document(found.ages, "f")) == to_csv(staleness_document(found, "f"))


def test_a_report_as_json_values() -> None:
    """The ages as they are, and every number behind them under its own name."""
    split = {"in_call": 0.25, "in_group": 0.0, "in_queue": 1.0, "train_lag": 0.0, "tokens": 100, "batch_age": 1.25}
    whole = {"known": 200, "unknown_begin": 0, "beyond_known": 25, "no_trained_version": 0, "groups_without_tokens": 0,
             "uncounted_groups": 0, "share": 200 / 225, "complete": False}  # fmt: skip
    one = {**whole, "known": 100, "beyond_known": 0, "share": 1.0, "complete": True}
    expected: dict[str, Any] = {
        "split": split,
        "split_missing": {"no call_versions": [2]},
        "histogram": [{"age": 1, "tokens": 75, "share": 0.375, "share_as_old": 1.0},
                      {"age": 2, "tokens": 125, "share": 0.625, "share_as_old": 0.625}],
        "coverage": whole,
        "restores": [{
            "run": "b", "checkpoint_id": "ckpt-1", "step": 1, "change": 0.75,
            "before": {"steps": (1,), "runs": ("a",), "tokens": 100, "batch_age": 1.25},
            "after": {"steps": (2,), "runs": ("b",), "tokens": 100, "batch_age": 2.0},
        }],
        "step_details": [
            {"step": 1, "split": split, "split_missing": None, "coverage": one,
             "histogram": [{"age": 1, "tokens": 75, "share": 0.75, "share_as_old": 1.0},
                           {"age": 2, "tokens": 25, "share": 0.25, "share_as_old": 0.25}]},
            {"step": 2, "split": None, "split_missing": "no call_versions",
             "coverage": {**one, "beyond_known": 25, "share": 0.8, "complete": False},
             "histogram": [{"age": 2, "tokens": 100, "share": 1.0, "share_as_old": 1.0}]},
        ],
    }  # fmt: skip
    found = staleness(ROWS)

    assert age_json(found.ages) | expected == staleness_json(found)


def test_without_steps_the_report_says_so() -> None:
    """There is nothing behind no ages."""
    found = staleness(trace(started("a"), restored("a", 1)))

    assert to_markdown(age_document(found.ages, "f")) == to_markdown(staleness_document(found, "f"))


@pytest.mark.parametrize(
    ("coverage", "expected"),
    [
        (
            Coverage(known=999_999, unknown_begin=1),
            (
                "Coverage 99.9 %. Without an age, and so in no mean: 1 of 1,000,000 trained tokens (1 in calls whose "
                "begin version is not in the file)."
            ),
        ),
        (
            Coverage(known=50, unknown_begin=10, beyond_known=30, no_trained_version=10, groups_without_tokens=1),
            (
                "Coverage 50.0 %. Without an age, and so in no mean: 50 of 100 trained tokens (10 in calls whose begin "
                "version is not in the file, 30 that steps state beyond those that the file accounts for and 10 in "
                "steps without a trained_version). 1 group had no token data."
            ),
        ),
        (
            Coverage(known=50, groups_without_tokens=3, uncounted_groups=2),
            (
                "The age covers 50 tokens. How many it misses is not in the file: 3 groups had no token data, 2 of "
                "them in steps that do not state their tokens."
            ),
        ),
        (
            Coverage(unknown_begin=5, groups_without_tokens=1, uncounted_groups=1),
            (
                "The age covers 0 tokens. How many it misses is not in the file: 1 group had no token data, 1 of them "
                "in steps that do not state their tokens; also missing are 5 in calls whose begin version is not in "
                "the file."
            ),
        ),
    ],
    ids=["rounded down", "all kinds", "not counted", "not counted and counted"],
)
def test_coverage_in_words(coverage: Coverage, expected: str) -> None:
    """Which tokens have no age; what is not complete never reads 100 %."""
    assert expected == coverage_sentence(coverage)


def test_what_is_covered_needs_no_words() -> None:
    """Nothing to say."""
    assert [] == coverage_blocks(Coverage(known=10))


def ages_table(rows: list[Row]) -> Table:
    """The table of token ages."""
    tables = [block for block in staleness_document(staleness(rows), "f").blocks if isinstance(block, Table)]
    (table,) = [table for table in tables if table.title.startswith("Token ages")]
    return table


def test_many_ages_share_the_last_row() -> None:
    """One token of each age from 0 to 19: the rows 0 to 10 have one each, the last one has the other 9."""
    counts = dict.fromkeys(range(20), 1)
    _, cells = ages_table(trace(published("a", "g", counts), trained("a", 1, 19, "g"))).for_people()

    assert MAX_AGES == len(cells)
    assert [["10", "1", "5 %", "50 %"], ["11 to 19", "9", "45 %", "45 %"]] == cells[-2:]


def test_as_many_ages_as_rows_stand_alone() -> None:
    """No row is made for one age."""
    counts = dict.fromkeys(range(MAX_AGES), 1)
    _, cells = ages_table(trace(published("a", "g", counts), trained("a", 1, MAX_AGES - 1, "g"))).for_people()

    assert [str(age) for age in range(MAX_AGES)] == [row[0] for row in cells]


def test_tokens_that_cancel_have_no_shares() -> None:
    """Counts below zero are no counts; nothing is divided by their sum."""
    found = staleness(trace(published("a", "g", {3: 5, 4: -5}), trained("a", 1, 4, "g")))

    assert [None, None] == [record["share"] for record in staleness_json(found)["histogram"]]
