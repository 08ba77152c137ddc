"""Steps across stops and restores: what counts, and which of two values."""

from __future__ import annotations

from rtrace_otel.analysis.age.ages import AgeFold, AgeReport, StepAge, step_ages
from rtrace_otel.events import Row
from tests.report.history import event, published, refit, restored, rounded, started, trace, trained


def ages(*events: Row) -> AgeReport:
    """The report on a trace, floats rounded."""
    return rounded(step_ages(trace(*events)))


def test_published_by_one_run_and_trained_by_the_next() -> None:
    """A group counts once, where it is trained, whoever published it."""
    report = ages(
        started("a"),
        published("a", "g", {6: 300, 7: 100}),
        started("b"),
        restored("b", 7),
        published("b", "h", {7: 200}),
        trained("b", 8, 7, "g", "h", logged=0.5),
    )
    # 7 - (1800 + 700 + 1400) / 600 = 0.5
    step = StepAge(8, "b", 7, 0.5, 0.5, None, 0, 1, 1, 600, None, 2, 2, 1)

    assert AgeReport((step,), (), 600, 0.5) == report


def test_a_step_trained_again_has_the_later_values() -> None:
    """Every column is the later run's; only the number of trainings remembers the earlier one."""
    report = ages(
        published("a", "g", {6: 300, 7: 300}, ("c", 6, 300), ("d", 7, 300)),
        trained("a", 8, 7, "g", logged=0.5),
        published("b", "h", {6: 300, 7: 100}),
        published("b", "i", {5: 80, 6: 120}),
        trained("b", 8, 7, "h", "i", logged=0.75),
    )
    # 7 - (1800 + 700 + 400 + 720) / 600 = 7 - 3620 / 600 = 0.966666667
    step = StepAge(8, "b", 7, 0.75, 0.966666667, None, 1, 2, 2, 600, None, 2, 2, 2)

    assert (step,) == report.steps
    assert (600, 0.966666667) == (report.tokens, report.batch_age)


def test_later_means_later_in_the_file() -> None:
    """The clocks of two hosts may disagree: the order of rows decides, not their time."""
    rows = trace(published("a", "g", {3: 1}), trained("a", 1, 3, "g"), trained("b", 1, 5, "g"))
    rows[2]["t"] = 1.0

    assert [("b", 2.0, 2)] == [(step.run, step.published, step.times_trained) for step in step_ages(rows).steps]


def test_a_step_trained_again_without_token_data_has_no_data() -> None:
    """The earlier run's values are not passed off as the later run's, nor are its differences."""
    report = ages(
        published("a", "g", {3: 100}),
        trained("a", 8, 4, "g", logged=9.0),
        published("b", "h"),
        trained("b", 8, 4, "h"),
    )

    assert AgeReport((StepAge(8, "b", 4, None, None, None, None, None, None, 0, None, 1, 0, 2),), (), 0, None) == report


def test_a_group_published_twice_counts_by_the_publication_before_the_step() -> None:
    """Each step is scored by what stood in the file when it was trained."""
    report = ages(
        published("a", "g", {4: 100}),
        trained("a", 5, 4, "g", logged=0.0),
        published("b", "g", {4: 60, 5: 60}),
        trained("b", 6, 5, "g", logged=0.5),
    )
    steps = (
        StepAge(5, "a", 4, 0.0, 0.0, None, 0, 0, 0, 100, None, 1, 1, 1),
        StepAge(6, "b", 5, 0.5, 0.5, None, 0, 1, 1, 120, None, 1, 1, 1),
    )

    assert AgeReport(steps, (), 220, round(60 / 220, 9)) == report


def test_a_group_published_anew_without_data_has_none() -> None:
    """The counts of an earlier run's publication are not those of the later one."""
    report = ages(published("a", "g", {4: 100}), started("b"), published("b", "g"), trained("b", 6, 5, "g"))

    assert (StepAge(6, "b", 5, None, None, None, None, None, None, 0, None, 1, 0, 1),) == report.steps


def test_cuts_that_died_with_a_run_are_in_the_file() -> None:
    """A call cut and sealed before the kill, published after it: the recomputed age is right, the logged too old."""
    report = ages(
        started("a"),
        refit("a", 4, 5, ("c1", 100)),
        event("a", "attempt_sealed", attempt_id="x1"),
        started("b"),
        restored("b", 5),
        published("b", "g", {4: 300}, ("c1", 4, 300)),
        trained("b", 6, 6, "g", logged=2.0),
    )
    # The controller counts 300 tokens of version 4; truly 100 are of 4 and 200 of 5: 6 - 1400 / 300.
    step = StepAge(6, "b", 6, 2.0, 2.0, 1.333333333, 1, 2, 2, 300, 1.0, 1, 1, 1)

    assert ((step,), 300, 1.333333333) == (report.steps, report.tokens, report.batch_age)


def test_a_group_that_the_stopped_run_discarded_has_its_tokens_in_the_next() -> None:
    """A restore brings the published group back as the checkpoint held it; it is trained without a new publication."""
    report = ages(
        published("a", "g", {3: 100}, ("c", 3, 100)),
        event("a", "checkpoint_published", checkpoint_id="ckpt-4", step=4, groups=["g"]),
        event("a", "group_discarded", group_id="g", reason="stale"),
        started("b"),
        restored("b", 4, groups=["g"]),
        trained("b", 5, 4, "g", logged=1.0),
    )

    assert (StepAge(5, "b", 4, 1.0, 1.0, 1.0, 1, 1, 1, 100, 0.0, 1, 1, 1),) == report.steps


def test_steps_of_a_lineage_left_behind_stay() -> None:
    """A restored run that stops earlier leaves the later steps of the run before it as they are."""
    report = ages(
        published("a", "g", {3: 10}),
        *(trained("a", step, step, "g") for step in (5, 6, 7, 8)),
        started("b"),
        *(trained("b", step, step + 1, "g") for step in (5, 6)),
    )

    expected = [(5, "b", 3.0, 2), (6, "b", 4.0, 2), (7, "a", 4.0, 1), (8, "a", 5.0, 1)]
    assert expected == [(step.step, step.run, step.published, step.times_trained) for step in report.steps]


def test_a_refit_whose_row_comes_after_the_publication_splits_the_call() -> None:
    """A call can go on, end and be published before the row of the refit that paused it is written."""
    report = ages(
        published("a", "g", {3: 100}, ("c", 3, 100)),
        refit("a", 3, 4, ("c", 40)),
        trained("a", 1, 4, "g"),
    )

    assert StepAge(1, "a", 4, None, 1.0, 0.4, 0, 1, 1, 100, 1.0, 1, 1, 1) == report.steps[0]


def test_a_publication_tried_again_gives_the_same_answer() -> None:
    """The run publishes the same calls a second time: they are still split where they were cut."""
    again = published("a", "g", {3: 40, 4: 60}, ("c", 3, 100))
    report = ages(refit("a", 3, 4, ("c", 40)), again, again, trained("a", 1, 4, "g"))

    assert StepAge(1, "a", 4, None, 0.4, 0.4, 0, 1, 1, 100, 1.0, 1, 1, 1) == report.steps[0]


def test_a_group_that_is_trained_again_after_very_many_others_has_no_data() -> None:
    """With room for one settled group, h takes the place of g; nothing is made up for the step that trains g again."""
    rows = trace(published("a", "g", {3: 10}), published("a", "h", {3: 10}), trained("a", 1, 4, "g", "h"),
                 trained("b", 2, 4, "g"), trained("b", 3, 4, "h"))  # fmt: skip
    fold = AgeFold(max_groups=1)
    for row in rows:
        fold.add(row)

    assert [20, 0, 10] == [step.tokens for step in fold.result().steps]
    assert [20, 10, 10] == [step.tokens for step in step_ages(rows).steps]
