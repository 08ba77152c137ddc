"""Batch age: the worked cases, one by one.

``G`` and ``H`` are the groups of the first case: 40 tokens of version 3 and 60 of version 4, and 50 of version 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.age.batch_age import (
    BATCH_AGE_TOKENS_METRIC,
    BATCH_AGE_VERSION_SUM_METRIC,
    batch_age_by_step,
    batch_age_group_metrics,
    pop_batch_age,
    recomputed_tokens_by_version,
    tokens_by_version,
)
from rtrace_otel.events import Row
from tests.analysis.rows import near, row

TOKENS, VERSION_SUM = "batch_age/trained_tokens", "batch_age/token_version_sum"
G, H = {3: 40, 4: 60}, {4: 50}


def published(group_id: str, counts: Any, run: str = "a") -> Row:
    """A publication."""
    return row(0, run, "group_published", group_id=group_id, tokens_by_version=counts)


def step(number: int, trained_version: int, *group_ids: str, run: str = "a") -> Row:
    """A training step."""
    return row(0, run, "train_step", step=number, trained_version=trained_version, group_ids=list(group_ids))


def metrics(*groups: dict[int, int]) -> dict[str, list[Any]]:
    """The groups' sums as a controller collects them, with a metric of its own."""
    sums = [batch_age_group_metrics(counts) for counts in groups]
    return {"reward": [0.5], TOKENS: [s[TOKENS] for s in sums], VERSION_SUM: [s[VERSION_SUM] for s in sums]}


def test_the_metrics_have_the_documented_names() -> None:
    """Dashboards are built on them."""
    assert (TOKENS, VERSION_SUM) == (BATCH_AGE_TOKENS_METRIC, BATCH_AGE_VERSION_SUM_METRIC)


def test_a1_two_groups() -> None:
    """150 tokens and a version sum of 560, trained on version 5: 1.2667."""
    assert [{TOKENS: 100, VERSION_SUM: 360}, {TOKENS: 50, VERSION_SUM: 200}] == list(
        map(batch_age_group_metrics, (G, H))
    )
    assert near(1.2667, 5e-5) == pop_batch_age(metrics(G, H), 5)
    assert {6: 5 - 560 / 150} == batch_age_by_step([published("g", G), published("h", H), step(6, 5, "g", "h")])


def test_a2_age_is_weighted_by_tokens() -> None:
    """A long group of the current version weighs more: 1000 tokens, a sum of 4810, age 0.19."""
    sums = metrics(G, H, {5: 850})

    assert (1000, 4810) == (sum(sums[TOKENS]), sum(sums[VERSION_SUM]))
    assert near(0.19) == pop_batch_age(sums, 5)


def test_a3_age_is_not_the_mean_of_group_ages() -> None:
    """The groups of the first case have ages 1.4 and 1.0; their mean, 1.2, is not the age of the batch."""
    assert [near(1.4), near(1.0)] == [pop_batch_age(metrics(counts), 5) for counts in (G, H)]
    assert near(1.2667, 5e-5) == pop_batch_age(metrics(G, H), 5)


def test_a4_version_zero_has_an_age() -> None:
    """The first batch of all has age 0, which is not the same as none."""
    sums = metrics({0: 10})

    assert (10, 0) == (sums[TOKENS][0], sums[VERSION_SUM][0])
    assert (0.0, float) == (age := pop_batch_age(sums, 0), type(age))
    assert {0: 0.0} == batch_age_by_step([published("g", {0: 10}), step(0, 0, "g")])


def test_a5_version_zero_has_weight() -> None:
    """Thirty tokens of version 0 and seventy of version 1, trained on version 2: 1.3."""
    assert near(1.3) == pop_batch_age(metrics({0: 30, 1: 70}), 2)


@pytest.mark.parametrize(
    "sums", [{}, {TOKENS: [], VERSION_SUM: []}, {TOKENS: [0], VERSION_SUM: [0]}, {TOKENS: [None], VERSION_SUM: [None]}]
)
def test_a6_without_tokens_there_is_no_age(sums: dict[str, list[Any]]) -> None:
    """Keys missing, empty lists, zero tokens, or no metrics at all: no age, and no error."""
    assert (None, {}) == (pop_batch_age(sums, 5), sums)


@pytest.mark.parametrize("counts", [None, {}, {3: 0}])
def test_a6_step_without_tokens_is_absent(counts: dict[int, int] | None) -> None:
    """With token capture off a step has no age, and no zero either."""
    assert {} == batch_age_by_step([published("g", counts), step(6, 5, "g", "unknown")])


def test_a7_chunks_of_a_step_add_up() -> None:
    """Two chunks give the same age as one batch of both; their ages are never averaged."""
    chunks = metrics(G)
    for name, values in metrics(H, {5: 850}).items():
        chunks[name] = chunks[name] + values

    assert pop_batch_age(metrics(G, H, {5: 850}), 5) == pop_batch_age(chunks, 5)


def test_a8_groups_that_no_step_trains_count_for_nothing() -> None:
    """Evicted and discarded groups were published too."""
    rows = [
        published("g", G), published("evicted", {0: 1000}), published("h", H), published("gone", {1: 1000}),
        row(0, event="group_discarded", group_id="gone", reason="stale"), step(6, 5, "g", "h"),
    ]  # fmt: skip

    assert {6: 5 - 560 / 150} == batch_age_by_step(rows)


def test_a9_lists_of_unequal_length() -> None:
    """Groups restored from an older checkpoint lack the metrics: what exists is summed."""
    assert pop_batch_age(metrics(G, H), 5) == pop_batch_age(
        {TOKENS: [100, None, 50], VERSION_SUM: [360, 200], "reward": [1]}, 5
    )


def test_both_sums_are_removed_and_nothing_else() -> None:
    """A generic aggregation of the step's metrics must not average sums."""
    sums = metrics(G, H)
    pop_batch_age(sums, 5)

    assert {"reward": [0.5]} == sums


def test_a_negative_age_is_shown() -> None:
    """Tokens newer than the weights that they train are a finding, not a zero."""
    assert -1.0 == pop_batch_age(metrics({6: 10}), 5)
    assert {6: -1.0} == batch_age_by_step([published("g", {6: 10}), step(6, 5, "g")])


def test_a_group_without_counts_has_two_zeros() -> None:
    """Every group has both metrics, so that the lists stay of one length."""
    assert {TOKENS: 0, VERSION_SUM: 0} == batch_age_group_metrics({})


def test_missing_groups_are_skipped() -> None:
    """The age of a step is that of the groups whose counts are in the file."""
    assert {6: near(1.4)} == batch_age_by_step([published("g", G), step(6, 5, "g", "lost")])


def test_ages_are_keyed_by_the_step_number() -> None:
    """Not by the version: warm-up steps train without a new version."""
    rows = [published("g", {0: 5}), step(1, 0, "g"), published("h", {0: 5}), step(2, 0, "h"), step(7, 3, "g")]

    assert {1: 0.0, 2: 0.0, 7: 3.0} == batch_age_by_step(rows)


def test_tokens_by_version_gives_the_later_publication() -> None:
    """Of a group published twice, the counts of the second."""
    rows = [published("g", G), published("h", H), published("g", {5: 7})]

    assert {"g": {5: 7}, "h": H} == tokens_by_version(rows)


def test_a_publication_without_counts_keeps_those_of_the_seal() -> None:
    """The recorder may put the counts in either row of one run."""
    rows = [row(0, event="group_sealed", group_id="g", tokens_by_version=G), published("g", None), step(6, 5, "g")]

    assert ({"g": G}, {6: near(1.4)}) == (tokens_by_version(rows), batch_age_by_step(rows))


def test_rows_straight_from_json_have_string_versions() -> None:
    """Rows that did not come through our reader are understood too."""
    rows = [published("g", {"3": 40, "4": 60}), step(6, 5, "g")]

    assert ({"g": G}, {6: near(1.4)}) == (tokens_by_version(rows), batch_age_by_step(rows))


@pytest.mark.parametrize(
    "counts", ["x", [3, 4], 7, {"new": 3}, {"3": "many"}, {"3": None}, {"3": float("nan")}, {"3": float("inf")}]
)
def test_malformed_counts_do_not_stop_the_analysis(counts: Any) -> None:
    """One odd row costs its own group only."""
    rows = [published("odd", counts), published("g", G), step(6, 5, "g", "odd")]

    assert {6: near(1.4)} == batch_age_by_step(rows)
    assert G == tokens_by_version(rows)["g"] == recomputed_tokens_by_version(rows)["g"]


@pytest.mark.parametrize(
    "fields",
    [{}, {"step": 6}, {"step": "6", "trained_version": 5}, {"step": 6, "trained_version": 5, "group_ids": "g"},
     {"step": 6, "trained_version": None, "group_ids": ["g"]}],
)  # fmt: skip
def test_malformed_steps_do_not_stop_the_analysis(fields: dict[str, Any]) -> None:
    """A step without what an age needs has none."""
    rows = [published("g", G), row(0, event="train_step", **fields), step(7, 5, "g")]

    assert {7: near(1.4)} == batch_age_by_step(rows)


def test_events_may_be_a_stream() -> None:
    """Each function reads its events once."""
    rows = [published("g", G), step(6, 5, "g")]

    def stream() -> Iterator[Row]:
        yield from rows

    assert ({6: near(1.4)}, {"g": G}) == (batch_age_by_step(stream()), tokens_by_version(stream()))
    assert {"g": G} == recomputed_tokens_by_version(stream())


COUNTS = st.dictionaries(st.integers(0, 30), st.integers(0, 10_000), max_size=4)


@given(st.lists(COUNTS, max_size=6), st.integers(0, 30))
def test_the_age_is_the_mean_over_single_tokens(groups: list[dict[int, int]], trained_version: int) -> None:
    """Live from the metrics and offline from the rows, the same number: that of a count token by token."""
    tokens = sum(sum(counts.values()) for counts in groups)
    aged = sum((trained_version - version) * n for counts in groups for version, n in counts.items())
    rows = [published(str(n), counts) for n, counts in enumerate(groups)]
    rows.append(step(6, trained_version, *(str(n) for n in range(len(groups)))))
    offline = batch_age_by_step(rows)

    if tokens:
        assert near(aged / tokens) == pop_batch_age(metrics(*groups), trained_version)
        assert {6: near(aged / tokens)} == offline
    else:
        assert (None, {}) == (pop_batch_age(metrics(*groups), trained_version), offline)
