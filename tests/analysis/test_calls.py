"""Which attempt a call of a refit row belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from rtrace_otel.analysis.calls import attempt_of_call, paused_attempts

OPEN = {"a1", "a1-2", "7"}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (["a1", 4], "a1"),
        (["a1:0", 4], "a1"),
        (["a1.x", 4], "a1"),
        (["a1/0", 4], "a1"),
        (["a1#0", 4], "a1"),
        (["a1_0", 4], "a1"),
        (["a1-0", 4], "a1"),
        (["a1-2:0", 4], "a1-2"),
        (["a1-2:0/1", 4], "a1-2"),
        ([7, 4], "7"),
        (["c9", 4, "a1"], "a1"),
        (["c9", 4, 7], "7"),
        (["a1:0", 4, "a1-2"], "a1-2"),
        (["a1:", 4], None),
        (["a10", 4], None),
        (["a1 0", 4], None),
        (["x:a1", 4], None),
        (["c9", 4, "b"], None),
        (["", 4], None),
        ([None], None),
        (["a1:" + "x" * 300, 4], None),
    ],
)
def test_a_call_names_its_attempt(call: list[Any], expected: str | None) -> None:
    """By its own id, by its third column, or by the longest head of its id before a separator and more."""
    assert expected == attempt_of_call(call, OPEN)


def test_the_calls_of_an_attempt_are_added_up() -> None:
    """An attempt is paused once by a refit, with the tokens of all its running calls; bad counts are no tokens."""
    calls = [["a1:0", 10], ["b:0", 9], ["a1:1", 5], ["7", -3], ["a1:2", True], ["a1-2"]]

    assert [("a1", 15), ("7", 0), ("a1-2", 0)] == list(paused_attempts(calls, OPEN))


@pytest.mark.parametrize("calls", [None, "a1", {"a1": 3}, 7, [None], [[]], ["a1"], [{}]], ids=repr)
def test_what_is_no_list_of_calls_pauses_nothing(calls: Any) -> None:
    """Neither the field nor its entries need be lists."""
    assert [] == list(paused_attempts(calls, OPEN))
