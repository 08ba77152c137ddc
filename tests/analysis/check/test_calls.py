"""The parts of calls add up to their tokens, and to those of their group."""

from __future__ import annotations

import pytest

from rtrace_otel.events import Row
from tests.analysis.check.checking import checked, found, saved
from tests.report.history import event, published, refit, restored, started, trained


def told(*rows: Row) -> list[tuple[str, str, int | None, str]]:
    """Code, severity, line and message of the findings of these rules."""
    return [
        (one.code, one.severity.value, one.line, one.message)
        for one in checked(*rows).findings
        if "RT303" <= one.code <= "RT307"
    ]


def test_parts_that_add_up_are_no_finding() -> None:
    """Cut at 40 and at 70: 40 tokens of version 3, 30 of 4, 30 of 5; call d was not cut."""
    group = published("a", "g", {3: 50, 4: 30, 5: 30}, ("c", 3, 100), ("d", 3, 10))
    rows = [refit("a", 3, 4, ("c", 40)), refit("a", 4, 5, ("c", 70)), group, trained("a", 1, 6, "g")]

    assert [] == found(*rows)


def test_counts_that_hide_behind_the_same_age() -> None:
    """Cut at 50: 50 tokens of 3 and 50 of 5. Published as 100 of version 4, the mean version is 4 in both."""
    rows = [refit("a", 3, 5, ("c", 50)), published("a", "g", {4: 100}, ("c", 3, 100)), trained("a", 1, 6, "g")]

    assert [
        ("RT303", "error", 2, "Group g has 0 tokens of version 3; the parts of its calls have 50. 3 versions differ.")
    ] == told(*rows)
    assert [("RT303", "error", 2)] == found(*rows)


@pytest.mark.parametrize("end", [trained("a", 1, 5, "g"), event("a", "group_discarded", group_id="g", reason="x")])
def test_cuts_that_were_not_applied(end: Row) -> None:
    """The run cut the call at 40 and published it whole; it is judged when the group is trained, or discarded."""
    rows = [refit("a", 3, 4, ("c", 40)), published("a", "g", {3: 100}, ("c", 3, 100)), end]

    assert [
        ("RT303", "error", 2, "Group g has 100 tokens of version 3; the parts of its calls have 40. 2 versions differ.")
    ] == told(*rows)


def test_a_refit_whose_row_comes_after_the_publication() -> None:
    """The counts have the cut already; the row that says so is only one behind."""
    rows = [published("a", "g", {3: 40, 4: 60}, ("c", 3, 100)), refit("a", 3, 4, ("c", 40)), trained("a", 1, 5, "g")]

    assert [] == told(*rows)


def test_cuts_that_a_kill_took_are_legal() -> None:
    """Run a cut the call; run b, which does not know, publishes it whole. RT504 tells what it does to the age."""
    rows = [refit("a", 3, 4, ("c", 40)), saved("a", 4), started("b"), restored("b", 4),
            published("b", "g", {3: 100}, ("c", 3, 100)), trained("b", 5, 5, "g")]  # fmt: skip

    assert [] == told(*rows)


def test_some_cuts_of_several_can_be_in_the_checkpoint() -> None:
    """Run a cut c at 40 before the checkpoint and at 70 after it; run b knows the first only, and d, which it cut."""
    rows = [refit("a", 3, 4, ("c", 40)), saved("a", 4), refit("a", 4, 5, ("c", 70)), started("b"), restored("b", 4),
            refit("b", 4, 5, ("d", 5)), published("b", "g", {3: 40, 4: 65, 5: 5}, ("c", 3, 100), ("d", 4, 10)),
            trained("b", 5, 6, "g")]  # fmt: skip

    assert [] == told(*rows)


def test_both_readings_of_a_call_that_is_older_than_its_first_refit() -> None:
    """It began on 3, and its first refit replaced 4 at 40: the first 40 tokens count under 3, or under 4."""
    rows = [refit("a", 4, 5, ("c", 40))]

    for first, expected in ((3, []), (4, []), (2, ["RT303"])):
        group = published("a", "g", {first: 40, 5: 60}, ("c", 3, 100))
        assert expected == [code for code, *_ in told(*rows, group, trained("a", 1, 6, "g"))]


def test_rows_that_are_missing_can_explain_it() -> None:
    """The recorder lost rows, a refit's perhaps: a warning."""
    gap = event("a", "trace_gap", lost=3, reason="queue full")
    rows = [gap, refit("a", 3, 4, ("c", 40)), published("a", "g", {3: 100}, ("c", 3, 100)), trained("a", 1, 5, "g")]

    assert [("RT303", "warning")] == [(code, severity) for code, severity, *_ in told(*rows)]


def test_what_cannot_be_compared() -> None:
    """Counts or calls alone, another sum (RT302), a call without a version, a group that is not settled."""
    cut = refit("a", 3, 4, ("c", 40))
    unknown = event("a", "group_published", group_id="i", tokens_by_version={3: 100}, call_versions=[["c", None, 100]])
    rows = [cut, published("a", "f", {3: 100}), published("a", "g", None, ("c", 3, 100)),
            published("a", "h", {3: 99}, ("c", 3, 100)), unknown, trained("a", 1, 5, "f", "g", "h", "i")]  # fmt: skip

    assert [] == told(*rows)
    assert [] == told(cut, published("a", "g", {3: 100}, ("c", 3, 100)))


def test_a_cut_beyond_the_trained_tokens_is_a_note() -> None:
    """Cut at 80 of 60: all 60 tokens are of version 3, as published; that is legal where responses are cut short."""
    rows = [refit("a", 3, 4, ("c", 80), ("d", 9)), published("a", "g", {3: 68, 4: 1}, ("c", 3, 60), ("d", 3, 9)),
            trained("a", 1, 5, "g")]  # fmt: skip
    fine = [rows[0], published("a", "g", {3: 69}, ("c", 3, 60), ("d", 3, 9)), rows[2]]

    assert [
        ("RT304", "info", 2, "Call c of group g had more tokens at a refit than were published of it: 80, then 60.")
    ] == told(*fine)
    assert ["RT303", "RT304"] == [code for code, *_ in told(*rows)]


def test_several_calls_make_one_finding() -> None:
    """Both cuts are beyond their call."""
    rows = [refit("a", 3, 4, ("c", 80), ("d", 9)), published("a", "g", {3: 68}, ("c", 3, 60), ("d", 3, 8)),
            trained("a", 1, 5, "g")]  # fmt: skip

    assert [
        "2 calls of group g had more tokens at a refit than were published of them; the first is call c: 80, then 60."
    ] == [message for *_, message in told(*rows)]


def test_a_cut_of_another_run_may_be_beyond() -> None:
    """The checkpoint kept 30 of the tokens that the call had at run a's refit."""
    rows = [saved("a", 3), refit("a", 3, 4, ("c", 40)), started("b"), restored("b", 3),
            published("b", "g", {3: 30}, ("c", 3, 30)), trained("b", 4, 4, "g")]  # fmt: skip

    assert [] == told(*rows)


def test_fewer_tokens_at_a_later_refit() -> None:
    """40 at the first refit, 30 at the second: all but the first 40 are of version 5."""
    rows = [refit("a", 3, 4, ("c", 40)), refit("a", 4, 5, ("c", 30)),
            published("a", "g", {3: 40, 5: 60}, ("c", 3, 100)), trained("a", 1, 6, "g")]  # fmt: skip

    assert [("RT305", "warning", 3, "Call c of group g had fewer tokens at a later refit: 40, then 30.")] == told(*rows)


def test_a_refit_that_is_tried_again_moves_its_cuts() -> None:
    """The second time the call had 30 tokens: the first cut was never installed."""
    rows = [refit("a", 3, 4, ("c", 40)), refit("a", 3, 4, ("c", 30)),
            published("a", "g", {3: 30, 4: 70}, ("c", 3, 100)), trained("a", 1, 5, "g")]  # fmt: skip

    assert [] == told(*rows)


def test_a_call_that_is_listed_twice() -> None:
    """10 tokens count as 20."""
    rows = [published("a", "g", {3: 30}, ("c", 3, 10), ("d", 3, 10), ("c", 3, 10))]

    assert [("RT306", "warning", 1, "Group g lists call c more than once.")] == told(*rows)


def test_tokens_below_zero() -> None:
    """In a publication, and in a refit."""
    rows = [refit("a", 3, 4, ("c", -1)), published("a", "g", {3: 10}, ("d", 3, 15), ("e", 3, -5))]

    assert [
        ("RT307", "error", 1, "A refit says that call c has -1 tokens."),
        ("RT307", "error", 2, "In the publication of group g, call e has -5 tokens."),
    ] == told(*rows)


def test_numbers_of_hundreds_of_digits() -> None:
    """No call has as many tokens: such an entry is none. Those of 18 digits are not written out."""
    rows = [refit("a", 3, 4, ("c", 10**400)), published("a", "g", {3: 10**400}, ("c", 3, 10**400 + 1), ("d", 3, -1)),
            published("a", "h", {3: 2 * 10**17}, ("e", 3, 10**18), ("f", 3, -(10**18))),
            trained("a", 1, 5, "g", "h")]  # fmt: skip

    assert [
        "In the publication of group g, call d has -1 tokens.",
        "In the publication of group h, call f has -10^15 or less tokens.",
    ] == [text for *_, text in told(*rows)]
