"""One small job under every definition, worked out by hand, and what makes each of them unknown."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rtrace_otel.analysis.age.defined import DefinedAges, DefinitionFold
from rtrace_otel.analysis.age.definitions import DEFINITIONS, DEFINITIONS_BY_NAME
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.events import Row
from tests.analysis.staleness_rows import step_began
from tests.report.history import (
    abandoned,
    event,
    published,
    refit,
    restored,
    resumed,
    sealed,
    started,
    trace,
    trained,
)  # fmt: skip


def by_step(name: str, *events: Row) -> Mapping[int, float | None]:
    """A definition's values by step, rounded."""
    fold = DefinitionFold([DEFINITIONS_BY_NAME[name]])
    staleness(trace(*events), fold).self_check()
    (found,) = fold.result()
    return {step: None if value is None else round(value, 9) for step, value in found.steps.items()}


def reserve(run: str, group: str, version: int | None = None, **fields: object) -> Row:
    """A group is reserved, with the version in force if it is given."""
    optional = {} if version is None else {"weight_version": version}
    return event(run, "group_reserved", group_id=group, prompt_id="1", **optional, **fields)


def dispatch(run: str, attempt: str, group: str, generation: int, version: int | None = None) -> Row:
    """An attempt is sent out."""
    optional = {} if version is None else {"weight_version": version}
    return event(run, "attempt_dispatched", group_id=group, attempt_id=attempt, prompt_id="1",
                 generation_index=generation, **optional)  # fmt: skip


JOB = (
    started("a", weight_version=3),
    reserve("a", "g", 3),
    event("a", "group_admitted", group_id="g", weight_version=3),
    dispatch("a", "g0", "g", 0),
    dispatch("a", "g1", "g", 1, 3),
    sealed("a", "g0"),
    step_began("a", 10),
    trained("a", 10, 3),
    refit("a", 3, 4, ("cg1", 40)),
    sealed("a", "g1"),
    reserve("a", "h", 4),
    dispatch("a", "h0", "h", 0),
    sealed("a", "h0"),
    published("a", "g", None, ("cg0", 3, 20), ("cg1", 3, 100)),
    published("a", "h", None, ("ch0", 4, 40)),
    step_began("a", 11),
    trained("a", 11, 4),
    refit("a", 4, 5),
    step_began("a", 12),
    refit("a", 5, 6),
    trained("a", 12, 6, "g", "h"),
)
"""Group g begins on 3 during step 10, group h on 4 during step 11; both are trained by step 12, which updates 6.

Calls by version: cg0 {3: 20}, cg1 {3: 40, 4: 60}, ch0 {4: 40}. Steps 10, 11, 12 update 3, 4, 6. Step 12 begins on 5.
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nemo-batch-age", 6 - (3 * 60 + 4 * 100) / 160),
        ("nemo-legacy", (3 + 2) / 2),
        ("areal", ((6 - (3 * 60 + 4 * 60) / 120) + 2) / 2),
        ("verl", (3 + 2 + 2) / 3),
        ("verl-worst", (3 + 3 + 2) / 3),
        ("prime-rl", (3 + 3 + 2) / 3),
        ("skyrl", (2 + 1) / 2),
        ("miles", (2 + 1) / 2),
        ("trl", (3 + 2) / 2),
        ("pipelinerl", 6 - 3),
        ("megatron", 12 - (10 * 60 + 11 * 100) / 160),
    ],
)
def test_one_job_under_every_definition(name: str, expected: float) -> None:
    """The same tokens have a staleness between 1.5 and 3; the two steps without groups have none."""
    assert {10: None, 11: None, 12: round(expected, 9)} == by_step(name, *JOB)


def test_every_definition_has_an_example() -> None:
    """The job above is asked for each name, and names are told apart."""
    marks = test_one_job_under_every_definition.__dict__["pytestmark"]

    assert [definition.name for definition in DEFINITIONS] == [name for name, _ in marks[0].args[1]]
    assert len(DEFINITIONS) == len(DEFINITIONS_BY_NAME)


@pytest.mark.parametrize("name", [name for name in DEFINITIONS_BY_NAME if name != "nemo-batch-age"])
def test_on_policy_is_zero(name: str) -> None:
    """What is generated and trained on one version has staleness 0 under every definition."""
    rows = (
        started("a", weight_version=3),
        reserve("a", "g"),
        dispatch("a", "g0", "g", 0),
        sealed("a", "g0"),
        published("a", "g", None, ("c", 3, 10)),
        step_began("a", 1),
        trained("a", 1, 3, "g"),
    )

    assert {1: 0.0} == by_step(name, *rows)


@pytest.mark.parametrize("name", DEFINITIONS_BY_NAME)
def test_without_a_trained_version_nothing_is_known(name: str) -> None:
    """Also where a definition does not use it: the step says too little of itself."""
    assert {10: None, 11: None, 12: None} == by_step(name, *JOB[:-1], trained("a", 12, None, "g", "h"))


@pytest.mark.parametrize("name", DEFINITIONS_BY_NAME)
def test_a_group_of_which_nothing_is_known(name: str) -> None:
    """Means over tokens leave it out; a mean over the other groups, calls or episodes would be another number."""
    known = {"nemo-batch-age", "areal", "megatron"}
    value = by_step(name, *JOB[:-1], trained("a", 12, 6, "g", "h", "stranger"))[12]

    assert (name in known) == (value is not None)
    assert value in (None, by_step(name, *JOB)[12])


def without(name: str, row_event: str) -> float | None:
    """Step 12 under a definition when the rows of one event are missing."""
    return by_step(name, *(row for row in JOB if row["event"] != row_event))[12]


def test_what_each_definition_needs() -> None:
    """Without seals no episodes, without starts of steps no version in force then, without reservations no origins."""
    assert (None, None) == (without("prime-rl", "attempt_sealed"), without("pipelinerl", "attempt_sealed"))
    assert without("miles", "train_step_started") is None
    assert (None, None, None) == tuple(without(name, "group_reserved") for name in ("nemo-legacy", "trl", "skyrl"))


def test_calls_of_unknown_version_make_means_over_calls_unknown() -> None:
    """The mean over the other calls is another number; means over tokens count what they know."""
    rows = (started("a", weight_version=3), published("a", "g", None, ("c", 3, 10), ("d", None, 5)), step_began("a", 1))
    values = {
        name: by_step(name, *rows, trained("a", 1, 4, "g"))[1] for name in ("verl", "verl-worst", "miles", "areal")
    }

    assert {"verl": None, "verl-worst": None, "miles": None, "areal": 1.0} == values


def test_published_counts_alone_have_tokens_and_no_calls() -> None:
    """Without calls there are no trajectories."""
    rows = (started("a", weight_version=3), published("a", "g", {2: 10, 3: 10, 1: 0}), step_began("a", 1))
    values = {name: by_step(name, *rows, trained("a", 1, 3, "g"))[1] for name in ("verl", "miles", "areal")}

    assert {"verl": None, "miles": 1.0, "areal": 0.5} == values


def test_an_episode_is_what_became_of_a_generation() -> None:
    """Generation 0 is dispatched again on 5; generation 1 goes on after a restore; 2 is masked; 3 was replaced.

    Episodes begin on 5, 3 and 5, so the mean at version 6 is (1 + 3 + 1) / 3.
    """
    rows = (
        started("a", weight_version=3),
        reserve("a", "g"),
        *(dispatch("a", f"x{generation}", "g", generation, 3) for generation in range(4)),
        sealed("a", "x3"),
        abandoned("a", "x0"),
        dispatch("a", "y0", "g", 0, 5),
        sealed("a", "y0"),
        sealed("a", "x2", masked=True),
        resumed("b", "y1", "turn", "x1"),
        resumed("b", "x3", "sibling", "x3"),
        sealed("b", "y1"),
        dispatch("b", "y3", "g", 3, 5),
        sealed("b", "y3"),
        trained("b", 1, 6, "g"),
    )

    assert {1: round(5 / 3, 9)} == by_step("prime-rl", *rows)


def test_an_episode_of_unknown_begin_makes_the_mean_unknown() -> None:
    """The dispatch states no version and the run has none."""
    rows = (reserve("a", "g"), dispatch("a", "x", "g", 0), sealed("a", "x"), trained("a", 1, 6, "g"))

    assert {1: None} == by_step("prime-rl", *rows)
    assert {1: None} == by_step("pipelinerl", *rows)


def test_a_restore_does_not_make_a_group_younger() -> None:
    """Run b reserves, admits and dispatches the group again on 5; it was first reserved on 3, in step 8."""
    rows = (
        started("a", weight_version=3),
        trained("a", 7, 3),
        reserve("a", "g", 3),
        dispatch("a", "x", "g", 0, 3),
        restored("b", 7),
        reserve("b", "g", 5, origin_run="a"),
        event("b", "group_admitted", group_id="g", weight_version=5),
        dispatch("b", "y", "g", 0, 5),
        trained("b", 10, 6, "g"),
    )

    assert [3.0, 3.0, 2.0] == [by_step(name, *rows)[10] for name in ("nemo-legacy", "trl", "skyrl")]


def test_an_id_that_is_used_anew_is_another_group() -> None:
    """A reservation without an earlier origin begins again, after a discard or not."""
    rows = (
        started("a", weight_version=3),
        reserve("a", "g", 3),
        dispatch("a", "x", "g", 0, 3),
        event("a", "group_discarded", group_id="g", reason="stale"),
        reserve("a", "g", 5),
        dispatch("a", "y", "g", 0, 5),
    )

    assert {1: 1.0} == by_step("trl", *rows, trained("a", 1, 6, "g"))


def test_the_step_under_way_after_a_restore() -> None:
    """The run goes on from step 7, so a group that it reserves belongs to step 8, and is one step old in step 9."""
    rows = (restored("b", 7), reserve("b", "g"), trained("b", 8, 1), trained("b", 9, 2, "g"))

    assert {8: None, 9: 1.0} == by_step("skyrl", *rows)


def test_several_steps_on_one_version_are_steps_apart_for_megatron() -> None:
    """Versions do not tell the age in iterations where several steps update one version."""
    rows = (published("a", "g", {3: 10}), trained("a", 1, 3), trained("a", 2, 3), trained("a", 3, 4, "g"))

    assert {1: None, 2: None, 3: 2.0} == by_step("megatron", *rows)
    assert {1: None, 2: None, 3: 1.0} == by_step("nemo-batch-age", *rows)


def test_a_version_that_no_step_updated_has_no_iteration() -> None:
    """The file begins in the middle of a job."""
    assert {9: None} == by_step("megatron", published("a", "g", {3: 10}), trained("a", 9, 5, "g"))


def test_a_step_trained_again_has_the_later_value() -> None:
    """As everywhere."""
    rows = (
        published("a", "g", {3: 10}),
        trained("a", 1, 3, "g"),
        published("b", "h", {2: 10}),
        trained("b", 1, 3, "h"),
    )

    assert {1: 1.0} == by_step("nemo-batch-age", *rows)


def test_versions_too_large_for_numbers_have_no_staleness() -> None:
    """They are in no job."""
    rows = (published("a", "g", {10**400: 10}), step_began("a", 1), trained("a", 1, 3, "g"))

    assert [None, None] == [by_step(name, *rows)[1] for name in ("nemo-batch-age", "areal")]


def test_the_mean_is_over_the_steps_with_a_value() -> None:
    """Plain, as a logger shows it; without any value there is none."""
    nemo = DEFINITIONS[0]

    assert (2.0, 2) == (DefinedAges(nemo, {1: 1.0, 2: None, 3: 3.0}).mean, DefinedAges(nemo, {1: 1.0, 3: 3.0}).known)
    assert (None, 0) == (DefinedAges(nemo, {1: None}).mean, DefinedAges(nemo, {1: None}).known)
