"""Where every rollout and token went: the two laws of conservation, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtrace_otel.analysis.check.ledger import Balance, Ledger
from rtrace_otel.events import Row
from tests.analysis.check.checking import checked, done, found, given_up, kept, saved
from tests.report.history import dispatched, ended, event, published, reserved, restored, resumed, started, trained

NOTHING = Balance(0, 0, 0, 0, 0, 0, 0, 0)


def ledger(*events: Row) -> Ledger:
    """The ledger of a trace."""
    found = checked(*events).ledger
    assert found is not None
    return found


def discarded(run: str, group: str = "g") -> Row:
    """A group is discarded."""
    return event(run, "group_discarded", group_id=group, reason="stale")


def test_no_rows_no_rollouts() -> None:
    """All zero adds up."""
    assert Ledger(NOTHING, NOTHING, 0) == ledger(started("a"))


def test_every_outcome_once() -> None:
    """Six rollouts: 30 tokens trained, 10 masked, 5 dropped as dead branch, 20 discarded, 7 abandoned, 9 waiting.

    Group g seals 35 and a masked 10, and publishes 30 of these 45; h is discarded with 20, x abandoned with 7; i waits
    with 9, and with z, which is open: no row tells its tokens.
    """
    rows = [
        reserved("a", "g", generations=2),
        dispatched("a", "u"), done("a", "u", 35), dispatched("a", "v"), done("a", "v", 10, masked=True),
        dispatched("a", "w", "h"), done("a", "w", 20), discarded("a", "h"),
        dispatched("a", "x", "h"), given_up("a", "x", 7),
        dispatched("a", "y", "i"), done("a", "y", 9),
        dispatched("a", "z", "i"),
        published("a", "g", {0: 30}), trained("a", 1, 0, "g"),
    ]  # fmt: skip
    rollouts = Balance(generated=6, trained=1, masked=1, discarded=1, abandoned=1, lost=0, open=2, unmatched=0)
    tokens = Balance(generated=81, trained=30, masked=15, discarded=20, abandoned=7, lost=0, open=9, unmatched=0)

    assert Ledger(rollouts, tokens, 1) == ledger(*rows)


def test_what_a_kill_takes() -> None:
    """Run b does not bring g back: its result is lost with run a, as is the attempt in flight."""
    rows = [started("a"), dispatched("a", "x"), done("a", "x", 8), dispatched("a", "y"), started("b")]
    rollouts, tokens = replace(NOTHING, generated=2, lost=2), replace(NOTHING, generated=8, lost=8)

    assert Ledger(rollouts, tokens, 1) == ledger(*rows)
    assert Ledger(replace(rollouts, lost=0, open=2), replace(tokens, lost=0, open=8), 1) == ledger(*rows[:4])


def test_what_a_restore_brings_back() -> None:
    """Run b generates g again: of run a's results it kept x (8 tokens), not y (9); z (7) is new. 15 are trained."""
    rows = [
        started("a"), reserved("a", "g", generations=2), dispatched("a", "x"), done("a", "x", 8), saved("a", 0),
        dispatched("a", "y"), done("a", "y", 9),
        started("b"), restored("b", 0, groups=["g"]), reserved("b", "g", origin_run="a", generations=2),
        kept("b", "x", tokens=8), dispatched("b", "z"), done("b", "z", 7),
        published("b", "g", {0: 15}), trained("b", 1, 0, "g"), ended("b"),
    ]  # fmt: skip
    rollouts = replace(NOTHING, generated=3, trained=2, lost=1)
    tokens = replace(NOTHING, generated=24, trained=15, lost=9)

    assert Ledger(rollouts, tokens, 0) == ledger(*rows)


def test_a_published_group_that_is_restored_keeps_its_results() -> None:
    """It waited in the checkpoint and generates nothing in run b."""
    rows = [
        started("a"), reserved("a", "g", generations=1), dispatched("a", "x"), done("a", "x", 8),
        published("a", "g", {0: 8}), saved("a", 0),
        started("b"), restored("b", 0, groups=["g"]), trained("b", 1, 0, "g"), ended("b"),
    ]  # fmt: skip

    assert (1, 8) == (ledger(*rows).rollouts.trained, ledger(*rows).tokens.trained)


def test_a_group_that_waits_in_a_restored_run_is_open() -> None:
    """The run that holds it last decides, not the one that sealed it."""
    rows = [started("a"), dispatched("a", "x"), done("a", "x", 8), saved("a", 0),
            started("b"), restored("b", 0, groups=["g"])]  # fmt: skip

    assert (0, 1) == ((books := ledger(*rows)).rollouts.lost, books.rollouts.open)
    assert (1, 0) == ((books := ledger(*rows, started("c"))).rollouts.lost, books.rollouts.open)


def test_a_step_that_a_restore_took_back_counts_its_rollouts_once() -> None:
    """The group is trained by both runs; its rollout was generated once."""
    rows = [
        started("a"), reserved("a", "g", generations=1), dispatched("a", "x"), done("a", "x", 8),
        published("a", "g", {0: 8}), saved("a", 0), trained("a", 1, 0, "g"),
        started("b"), restored("b", 0, groups=["g"]), reserved("b", "g", origin_run="a", generations=1),
        trained("b", 1, 0, "g"), ended("b"),
    ]  # fmt: skip

    assert [] == found(*rows)
    assert (1, 1, 8) == ((books := ledger(*rows)).rollouts.generated, books.rollouts.trained, books.tokens.trained)


def test_more_tokens_trained_than_generated() -> None:
    """Two generations made 10 + 20; 31 are published: one too many, and the tokens do not add up by it."""
    rows = [reserved("a", "g", generations=2), dispatched("a", "x"), done("a", "x", 10), dispatched("a", "y"),
            done("a", "y", 20), published("a", "g", {0: 31}), trained("a", 1, 0, "g")]  # fmt: skip
    report = checked(*rows)

    assert ["RT301", "RT312"] == [one.code for one in report.findings if one.code != "RT806"]
    assert "31 tokens; its attempts generated 30, 1 fewer." in report.findings[0].message
    assert -1 == ledger(*rows).tokens.residual


@pytest.mark.parametrize(
    "unknown",
    [
        [reserved("a", "g", generations=3)],
        [reserved("a", "g", generations=2), dispatched("a", "z"), done("a", "z")],
        [],
        [reserved("a", "g"), dispatched("a", "z")],
        [reserved("a", "g", origin_run="b")],
    ],
    ids=["a generation is not in the file", "one says no tokens", "not reserved", "one is open", "from before"],
)
def test_nothing_is_said_of_groups_of_which_not_all_is_known(unknown: list[Row]) -> None:
    """More tokens may come from what the file does not tell; then they count as the seals say."""
    rows = [*unknown, dispatched("a", "x"), done("a", "x", 10), dispatched("a", "y"), done("a", "y", 20),
            published("a", "g", {0: 99}), trained("a", 1, 0, "g")]  # fmt: skip

    assert [] == found(*rows)
    assert (30, 0) == ((books := ledger(*rows)).tokens.trained, books.tokens.residual)


def test_without_a_number_of_generations_all_that_were_dispatched_must_have_ended() -> None:
    """The group was reserved here, and both of its attempts are sealed: 30 tokens are all there are."""
    rows = [reserved("a", "g"), dispatched("a", "x"), done("a", "x", 10), dispatched("a", "y"), done("a", "y", 20)]

    assert ["RT301", "RT312"] == [c for c, _, _ in found(*rows, published("a", "g", {0: 31}), trained("a", 1, 0, "g"))]


@pytest.mark.parametrize(("sealed", "generated"), [(30, 30), (20, 30)], ids=["with what was kept", "without"])
def test_tokens_that_a_resume_kept(sealed: int, generated: int) -> None:
    """A recorder may count the 10 tokens that a resume kept in the seal or not: 30 trained are legal either way."""
    resume = resumed("b", "x", "turn") | {"tokens_kept": 10, "group_id": "g"}
    rows = [reserved("b", "g", generations=1), resume, done("b", "x", sealed), published("b", "g", {0: 30})]
    books = ledger(*rows, trained("b", 1, 0, "g")).tokens

    assert (generated, 30, 0) == (books.generated, books.trained, books.residual)
    assert [] == found(*rows, trained("b", 1, 0, "g"))


def test_results_that_a_restore_kept_without_a_row() -> None:
    """Group g publishes x (10) and y (5) in run b, though no row says that x was kept: the tokens show it."""
    rows = [
        started("a"), reserved("a", "g", generations=2), dispatched("a", "x"), done("a", "x", 10), saved("a", 0),
        started("b"), restored("b", 0, groups=["g"]), dispatched("b", "y"), done("b", "y", 5),
        published("b", "g", {0: 15}), trained("b", 1, 0, "g"), ended("b"),
    ]  # fmt: skip

    assert [] == found(*rows)
    assert (2, 15) == ((books := ledger(*rows)).rollouts.trained, books.tokens.trained)


def test_rollouts_without_a_group_are_open_or_lost() -> None:
    """A dispatch that names no group: its result waits for nothing that is known."""
    bare = {key: value for key, value in dispatched("a", "x").items() if key != "group_id"}
    rows = [started("a"), bare, done("a", "x", 6)]

    assert (1, 6) == ((books := ledger(*rows)).rollouts.open, books.tokens.open)
    assert (1, 6) == ((books := ledger(*rows, started("b"))).rollouts.lost, books.tokens.lost)


def test_an_end_too_many_is_left_over() -> None:
    """One rollout, two results of 10 tokens: the second belongs to nothing."""
    books = ledger(dispatched("a", "x"), done("a", "x", 10), done("a", "x", 10))

    assert (1, 1, -1, -10) == (books.rollouts.open, books.rollouts.unmatched, books.rollouts.residual,
                               books.tokens.residual)  # fmt: skip
    with pytest.raises(AssertionError):
        books.self_check()


def test_the_check_of_the_ledger_can_fail() -> None:
    """A rollout or a token too many is caught, each by its own sum."""
    books = ledger(dispatched("a", "x"), done("a", "x", 10))
    books.self_check()
    one_rollout = replace(books, rollouts=replace(books.rollouts, generated=2))
    one_token = replace(books, tokens=replace(books.tokens, generated=11))
    for wrong in (one_rollout, one_token):
        with pytest.raises(AssertionError):
            wrong.self_check()
