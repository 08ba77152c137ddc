"""Which turn of a prompt a group stands for after a restore, where neither ids nor epochs say so outright."""

from __future__ import annotations

import pytest

from tests.analysis.ledger.stories import Story, Taking, back, drop, keep, once, reserve, save, seal, send, told, train
from tests.report.history import ended, event, started, trace

STOP: list[Taking] = [("a", "b", "c0")]


def test_new_group_ids_with_epochs() -> None:
    """Two turns of prompt p were in flight; b reserves them in the other order, under new ids."""
    rows = trace(
        started("a"), save("a", 0), reserve("a", "g0", "p", epoch=0), send("a", "x", "g0", "p"), seal("a", "x"),
        reserve("a", "g1", "p", epoch=1), send("a", "y", "g1", "p"), started("b"), back("b", 0),
        reserve("b", "h1", "p", epoch=1), send("b", "y2", "h1", "p"), ended("b"),
    )  # fmt: skip

    assert [{"x": "never_came_back", "y": "redone"}] == told(rows).fates


def test_new_group_ids_without_epochs() -> None:
    """Nothing tells the turns apart but their order: the oldest one comes first."""
    rows = trace(
        started("a"), save("a", 0), reserve("a", "g0", "p"), send("a", "x", "g0", "p"), seal("a", "x"),
        reserve("a", "g1", "p"), send("a", "y", "g1", "p"), started("b"), back("b", 0),
        reserve("b", "h", "p"), send("b", "x2", "h", "p"), ended("b"),
    )  # fmt: skip

    assert [{"x": "redone", "y": "never_came_back"}] == told(rows).fates


@pytest.mark.parametrize("epochs", [({}, {}), ({"epoch": 0}, {"epoch": 1})], ids=["without epoch", "with epoch"])
def test_a_prompt_that_was_trained_before_the_checkpoint(epochs: tuple[dict[str, int], dict[str, int]]) -> None:
    """Prompt p1 was trained in its first turn, which is safe; its second turn was in flight and is redone."""
    first, second = epochs
    rows = trace(
        started("a"), *once("a", 1, "1", **first), save("a", 1), reserve("a", "g", "p1", **second),
        send("a", "x", "g", "p1"), started("b"), back("b", 1), reserve("b", "h", "p1", **second),
        send("b", "x2", "h", "p1"), seal("b", "x2"), train("b", 2, "h"), ended("b"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c1")], [{"x": "redone"}], [((), ())], [("a", ((1, 1),), ()), ("b", ((2, 2),), ())],
        {"trained": 2, "lost redone": 1},
    ) == told(rows)  # fmt: skip


def test_a_later_turn_of_a_prompt_is_not_the_lost_one() -> None:
    """The checkpoint holds group g of prompt p, which never comes back; the next epoch is another turn."""
    rows = trace(
        started("a"), reserve("a", "g", "p", epoch=0), send("a", "x", "g", "p"), save("a", 0),
        started("b"), back("b", 0), reserve("b", "h", "p", epoch=1), send("b", "y", "h", "p"), ended("b"),
    )  # fmt: skip

    assert Story(
        STOP, [{"x": "never_came_back"}], [((), ())], [("a", (), ()), ("b", (), ())],
        {"open the run ended": 1, "lost never_came_back": 1},
    ) == told(rows)  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "fate"),
    [({}, "redone"), ({"groups": ["g"]}, "redone"), ({"groups": []}, "never_came_back")],
    ids=["does not say", "says so", "says that it was not"],
)
def test_a_group_that_comes_back_under_another_id(groups: dict[str, list[str]], fate: str) -> None:
    """The checkpoint holds group g; whether the restore brought it back decides whose turn the new group h is."""
    rows = trace(
        started("a"), reserve("a", "g", "p"), send("a", "x", "g", "p"), seal("a", "x"), save("a", 0),
        started("b"), back("b", 0, **groups), reserve("b", "h", "p"), send("b", "y", "h", "p"), ended("b"),
    )  # fmt: skip

    assert [{"x": fate}] == told(rows).fates


def test_a_group_that_says_where_it_comes_from() -> None:
    """``origin_run`` means that h was brought back: its first row is the publication of what was sealed in g."""
    rows = trace(
        started("a"), reserve("a", "g", "p"), send("a", "x", "g", "p"), seal("a", "x"), save("a", 0),
        started("b"), back("b", 0), reserve("b", "h", "p", origin_run="a"),
        event("b", "group_published", group_id="h"), train("b", 1, "h"), ended("b"),
    )  # fmt: skip

    assert Story(
        STOP, [{"x": "reused"}], [((), ())], [("a", (), ()), ("b", ((1, 1),), ())], {"trained": 1},
    ) == told(rows)  # fmt: skip


def test_replacement_prompts() -> None:
    """Prompt p1 failed and p9 replaced it; after the restore p1 succeeds, so p9 is not drawn again."""
    rows = trace(
        started("a"), save("a", 0), reserve("a", "g1", "p1"), send("a", "x", "g1", "p1"), seal("a", "x"),
        drop("a", "g1", "server error"), reserve("a", "g2", "p9"), send("a", "y", "g2", "p9"), seal("a", "y"),
        started("b"), back("b", 0), reserve("b", "h1", "p1"), send("b", "x2", "h1", "p1"), seal("b", "x2"),
        train("b", 1, "h1"), ended("b"),
    )  # fmt: skip

    assert Story(
        STOP, [{"y": "never_came_back"}], [((), ())], [("a", (), ()), ("b", ((1, 1),), ())],
        {"trained": 1, "discarded server error": 1, "lost never_came_back": 1},
    ) == told(rows)  # fmt: skip


def test_an_attempt_is_found_by_its_id_first() -> None:
    """Attempt x comes back in a group of another name and another prompt: its own id says what it is."""
    rows = trace(
        started("a"), reserve("a", "g", "p"), send("a", "x", "g", "p"), send("a", "y", "g", "p", 1), seal("a", "x"),
        seal("a", "y"), save("a", 0), started("b"), back("b", 0), keep("b", "x", "h", prompt_id="q", generation=5),
        send("b", "y2", "h", "q", 1), ended("b"),
    )  # fmt: skip

    assert [{"x": "reused", "y": "redone"}] == told(rows).fates


def test_a_kept_result_of_which_the_file_does_not_tell_the_beginning() -> None:
    """Run a of another file sealed x; here it is one rollout more, and trained."""
    rows = trace(
        started("b"), back("b", 0), keep("b", "x", "g", prompt_id="p", tokens_kept=8),
        keep("b", "x", "g", prompt_id="p", tokens_kept=8), train("b", 1, "g"), ended("b"),
    )  # fmt: skip

    assert Story(lineage=[("b", ((1, 1),), ())], accounts={"trained": 1}) == told(rows)


def test_work_that_went_on_is_lost_again() -> None:
    """Run b goes on with 4 tokens of x as x1, run c with 6 of x1 as x2: each stop took one rollout."""
    rows = trace(
        started("a"), reserve("a", "g", "p"), send("a", "x", "g", "p"), save("a", 0), started("b"), back("b", 0),
        keep("b", "x1", "g", "turn", previous_attempt_id="x", tokens_kept=4), save("b", 0, checkpoint_id="d0"),
        started("c"), back("c", 0, checkpoint_id="d0"),
        keep("c", "x2", "g", "turn", previous_attempt_id="x1", tokens_kept=6), seal("c", "x2", 9),
        train("c", 1, "g"), ended("c"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c0"), ("b", "c", "d0")], [{"x": "resumed"}, {"x1": "resumed"}], [((), ()), ((), ())],
        [("a", (), ()), ("b", (), ()), ("c", ((1, 1),), ())], {"trained": 1, "lost resumed": 2},
    ) == told(rows)  # fmt: skip
