"""Slow attempts and groups: the same as the commands say, from one pass, with curves that have all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.analysis.flow.slow import SLOWEST, STRAGGLERS, SlowFold
from rtrace_otel.events import Row
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.rows import row


def attempt(attempt_id: str, begin: int, end: int, event: str = "attempt_sealed") -> list[Row]:
    """An attempt of group g from one second to another."""
    named: dict[str, Any] = {"attempt_id": attempt_id, "group_id": "g", "prompt_id": "p", "generation_index": 0}
    return [row(begin, event="attempt_dispatched", **named), row(end, event=event, attempt_id=attempt_id, reason="r")]


def test_curves_by_hand() -> None:
    """Sealed after 2, 2 and 5 s, abandoned after 1 s.

    All three sealed ones lasted at least 2 s, one of them 5 s. Sealed at 102, 103 and 106, the median seal of the group
    is at 103: its last one came 3 s later.
    """
    sealed = [*attempt("x", 0, 2), *attempt("y", 1, 3), *attempt("z", 1, 6)]
    rows = sorted([*sealed, *attempt("w", 1, 2, "attempt_abandoned")], key=lambda row: row["t"])
    fold = SlowFold()
    for one in (row(0, event="group_reserved", group_id="g", prompt_id="p"), *rows):
        fold.add(one)
    found = fold.result()

    found.self_check()
    assert ((2.0, 3), (5.0, 1)) == found.sealed
    assert ((1.0, 1),) == found.abandoned
    assert ((3.0, 1),) == found.stragglers
    assert ["z", "x", "y", "w"] == [record.attempt_id for record in found.attempts.attempts]


def test_nothing_is_slow_in_nothing() -> None:
    """No row, no curve."""
    found = SlowFold().result()

    found.self_check()
    assert ((), (), (), 0, 0) == (
        found.sealed, found.abandoned, found.stragglers, found.attempts.begun, found.groups.known,
    )  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_one_pass_says_what_the_commands_say(seed: int) -> None:
    """The reports are those of ``attempts`` and ``groups``; asking twice changes nothing."""
    rows = simulate(varied_settings(seed)).rows
    fold = SlowFold()
    for one in rows:
        fold.add(one)
    found = fold.result()

    found.self_check()
    assert found == fold.result()
    by_command, groups_by_command = attempts(rows, SLOWEST), groups(rows, STRAGGLERS)
    assert (by_command.attempts, by_command.by_outcome, by_command.begun) == (
        found.attempts.attempts, found.attempts.by_outcome, found.attempts.begun,
    )  # fmt: skip
    assert (groups_by_command.groups, groups_by_command.by_outcome, groups_by_command.known) == (
        found.groups.groups, found.groups.by_outcome, found.groups.known,
    )  # fmt: skip
    assert by_command.latencies[3] == found.attempts.latencies[3]
