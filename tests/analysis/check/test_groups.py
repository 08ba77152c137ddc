"""A group is published once in a run, trained once on a timeline, and not trained unpublished."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.check import groups
from rtrace_otel.analysis.check.recent import Recent
from rtrace_otel.events import Row
from tests.analysis.check.checking import checked, found, saved
from tests.report.history import event, published, reserved, restored, started, trained


def test_published_and_trained_is_no_finding() -> None:
    """Once each, in this order."""
    assert [] == found(published("a", "g", {0: 5}), published("a", "h", {0: 5}), trained("a", 1, 0, "g", "h"))


def test_trained_without_publication() -> None:
    """Step 1 names h, which no row published."""
    report = checked(published("a", "g", {0: 5}), trained("a", 1, 0, "g", "h"))

    assert ["RT201"] == [one.code for one in report.findings]
    assert "Step 1 trained on group h, which no row before says is published." == report.findings[0].message


def test_a_seal_is_a_publication_where_there_is_no_other_row() -> None:
    """Some recorders have one row for both; one publication shows that this one has two."""
    seal = event("a", "group_sealed", group_id="g", tokens_by_version={0: 5})

    assert [] == found(seal, trained("a", 1, 0, "g"))
    assert [("RT201", "error", 3)] == found(seal, published("a", "h"), trained("a", 1, 0, "g", "h"))


def test_a_publication_by_an_earlier_run_counts() -> None:
    """Run b trains what run a published before the checkpoint."""
    rows = [published("a", "g", {0: 5}), saved("a", 0), started("b"), restored("b", 0), trained("b", 1, 0, "g")]

    assert [] == found(*rows)


def test_published_twice_in_one_run() -> None:
    """Waiting or trained already, it is an error; after a restore it is not."""
    once = published("a", "g", {0: 5})

    assert [("RT202", "error", 2)] == found(once, once)
    assert [("RT202", "error", 3)] == found(once, trained("a", 1, 0, "g"), once)
    assert [] == found(once, saved("a", 0), started("b"), restored("b", 0), published("b", "g", {0: 5}))


def test_trained_twice_by_one_run() -> None:
    """By two steps, or twice in one."""
    rows = [published("a", "g", {0: 5}), trained("a", 1, 0, "g")]
    report = checked(*rows, trained("a", 2, 1, "g"))

    assert [("RT203", "error", 3)] == [(one.code, one.severity, one.line) for one in report.findings]
    assert "step 1 had trained on it in line 2, before" in report.findings[0].message
    assert [("RT203", "error", 2)] == found(published("a", "g", {0: 5}), trained("a", 1, 0, "g", "g"))


def history(checkpoint: int, *, first_trained_in: int) -> list[Row]:
    """Run a trains g in a step and saves a checkpoint; run b restores it and trains g in the step after it."""
    rows = [published("a", "g", {0: 5})]
    for step in (1, 2, 3):
        rows.append(trained("a", step, step - 1, *(["g"] if step == first_trained_in else [])))
        rows += [saved("a", step)] if step == checkpoint else []
    return [*rows, started("b"), restored("b", checkpoint), trained("b", checkpoint + 1, checkpoint, "g")]


def test_training_again_what_a_restore_took_back_is_legal() -> None:
    """Step 2 came after the checkpoint of step 1: its work was lost."""
    assert [] == found(*history(1, first_trained_in=2))


@pytest.mark.parametrize("step", [1, 2])
def test_training_again_what_a_restore_kept_is_an_error(step: int) -> None:
    """The checkpoint of step 2 holds the work of steps 1 and 2."""
    assert ["RT203"] == [code for code, _, _ in found(*history(2, first_trained_in=step))]


def test_a_chain_of_restores() -> None:
    """Run a trains g in step 2; b goes on from step 1, c from b's step 3: on c's timeline a's step 2 never was."""
    rows = [published("a", "g", {0: 5}), trained("a", 1, 0), saved("a", 1), trained("a", 2, 1, "g"), started("b"),
            restored("b", 1), trained("b", 2, 1), trained("b", 3, 2), saved("b", 3), started("c"),
            restored("c", 3), trained("c", 4, 3, "g")]  # fmt: skip

    assert [] == found(*rows)
    assert ["RT203"] == [code for code, _, _ in found(*rows, started("d"), restored("d", 3), trained("d", 4, 3, "g"),
                                                      trained("d", 5, 4, "g"))]  # fmt: skip


def test_two_checkpoints_of_one_name_are_told_apart_by_their_run() -> None:
    """Runs a and b both saved step 2; c says that it restored a's, on whose timeline b's step 2 is not."""
    rows = [published("a", "g", {0: 5}), trained("a", 1, 0), saved("a", 1), trained("a", 2, 1), saved("a", 2),
            started("b"), restored("b", 1), trained("b", 2, 1, "g"), saved("b", 2), started("c")]  # fmt: skip

    assert [] == found(*rows, restored("c", 2, from_run="a"), trained("c", 3, 2, "g"))
    assert ["RT203"] == [code for code, _, _ in found(*rows, restored("c", 2), trained("c", 3, 2, "g"))]


def test_a_run_that_begins_anew_may_train_everything() -> None:
    """No restore: nothing of the run before is part of it."""
    rows = [published("a", "g", {0: 5}), trained("a", 1, 0, "g"), started("b"), published("b", "g", {0: 5})]

    assert [] == found(*rows, trained("b", 1, 0, "g"))


def test_what_the_file_cannot_tell_is_no_finding() -> None:
    """The checkpoint is not in the file, or the first step has no number: it may be legal."""
    first = [published("a", "g", {0: 5}), trained("a", 1, 0, "g")]
    bare = event("a", "train_step", trained_version=0, group_ids=["g"])
    saved_later = [published("a", "g", {0: 5}), bare, saved("a", 1), started("b"), restored("b", 1)]

    assert [] == found(*first, started("b"), restored("b", 1), trained("b", 2, 1, "g"))
    assert [] == found(*saved_later, trained("b", 2, 1, "g"))


def test_published_counts_and_calls_of_one_row() -> None:
    """100 tokens by version, 40 + 50 in the calls; a row with only one of the two cannot disagree."""
    report = checked(published("a", "g", {0: 100}, ("c", 0, 40), ("d", 0, 50)))

    assert ["Group g has 100 tokens by version, and 90 in its calls."] == [one.message for one in report.findings]
    assert [] == found(published("a", "g", {0: 60, 1: 30}, ("c", 0, 40), ("d", 0, 50)))
    assert [] == found(published("a", "g", None, ("c", 0, 40)), published("a", "h", {0: 3}), published("a", "i", {}))


def test_very_old_groups_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one settled group nothing is said of those before it."""
    monkeypatch.setattr(groups, "Recent", lambda: Recent(1))
    rows = [published("a", "g"), published("a", "h"), trained("a", 1, 0, "g", "h")]

    assert [("RT203", "error", 4)] == found(*rows, trained("a", 2, 1, "h"))
    assert [] == found(*rows, trained("a", 2, 1, "g"))


@pytest.mark.parametrize("group", [None, True, [1], {}, 1.5], ids=repr)
def test_ids_that_are_none_are_passed_over(group: object) -> None:
    """A step that names something else than ids trains on nothing that is known."""
    assert [] == found(event("a", "train_step", step=1, trained_version=0, group_ids=[group]), reserved("a", "g"))
