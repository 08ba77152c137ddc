"""Where a call switched weights: the worked cases, one by one.

Most are about a call ``c`` that began on version 3 and generated 100 tokens.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from rtrace_otel.analysis.age.refit_cuts import RefitCuts, rebuild_refit_cuts
from rtrace_otel.events import Row
from tests.analysis.rows import read_back, row


def cuts_at(*refits: tuple[int, int, int], **options: Any) -> RefitCuts:
    """Refits that paused call ``c``: version replaced, version installed, tokens at the pause."""
    cuts = RefitCuts(**options)
    for replaced, new, tokens in refits:
        cuts.record(replaced, new, [["c", tokens]])
    return cuts


def counts(cuts: RefitCuts, begin: int = 3, tokens: int = 100) -> dict[int, int]:
    """Tokens of call ``c`` by version."""
    return cuts.tokens_by_version([("c", begin, tokens)])


def test_c1_one_refit() -> None:
    """Tokens before the pause are the old version's, those after it the new one's."""
    assert {3: 40, 4: 60} == counts(cuts_at((3, 4, 40)))


def test_c2_several_refits() -> None:
    """Each refit begins a segment of its own."""
    assert {3: 40, 4: 30, 5: 30} == counts(cuts_at((3, 4, 40), (4, 5, 70)))


def test_c3_no_token_at_the_refit() -> None:
    """A call that was queued at the refit is the new version's altogether, without an entry for the old one."""
    assert {4: 100} == counts(cuts_at((3, 4, 0)))


def test_c3_call_that_began_during_the_pause() -> None:
    """A call that began during the pause may be stamped with either version; the new one made its tokens."""
    assert {4: 100} == counts(cuts_at((3, 4, 0)), begin=4)


def test_c4_cut_beyond_the_trained_tokens() -> None:
    """A call that was trimmed before the cut is the old version's altogether."""
    assert {3: 60} == counts(cuts_at((3, 4, 80)), tokens=60)


def test_c5_second_cut_beyond_the_trained_tokens() -> None:
    """Trimming takes the last segments first."""
    assert {3: 40, 4: 20} == counts(cuts_at((3, 4, 40), (4, 5, 80)), tokens=60)


def test_c6_refit_tried_again_without_progress() -> None:
    """Recording the same cut twice is recording it once."""
    assert {3: 40, 4: 60} == counts(cuts_at((3, 4, 40), (3, 4, 40)))


def test_c7_the_last_count_of_a_pair_of_versions_wins() -> None:
    """A refit that failed at 40 tokens and was tried again at 55 installed its weights at 55."""
    assert {3: 55, 4: 45} == counts(cuts_at((3, 4, 40), (3, 4, 55)))


def test_c7_only_calls_listed_again_move() -> None:
    """A call that the second try did not list keeps the count of the first."""
    cuts = RefitCuts()
    cuts.record(3, 4, [["c", 40], ["d", 10]])
    cuts.record(3, 4, [["c", 55]])

    assert {3: 65, 4: 135} == cuts.tokens_by_version([("c", 3, 100), ("d", 3, 100)])


def test_c8_two_refits_with_no_token_between() -> None:
    """A version that made no token has no entry."""
    assert {3: 40, 5: 60} == counts(cuts_at((3, 4, 40), (4, 5, 40)))


def test_c9_call_that_ended_during_the_pause() -> None:
    """A call that had all its tokens at the pause has none of the new version."""
    assert {3: 100} == counts(cuts_at((3, 4, 100)))


def test_c10_version_jump() -> None:
    """A refit may skip versions."""
    assert {3: 40, 5: 60} == counts(cuts_at((3, 5, 40)))


def test_c11_begin_version_older_than_the_first_version_replaced() -> None:
    """As documented, the first tokens count under the version that the call began on."""
    cuts = cuts_at((4, 5, 40))

    assert ({3: 40, 5: 60}, True) == (counts(cuts), cuts.began_before_cuts("c", 3))


def test_c11_strict_begin_counts_what_the_engine_ran() -> None:
    """On request the first tokens count under the version that was replaced: at 3 to 4 the call had none."""
    assert {4: 40, 5: 60} == counts(cuts_at((4, 5, 40), strict_begin=True))


def test_c12_gap_between_cuts() -> None:
    """Where the report of a refit is missing, tokens count under the last version installed, and it is flagged."""
    joined, gap = cuts_at((3, 4, 40), (4, 5, 70)), cuts_at((3, 4, 40), (5, 6, 70))

    assert (False, True) == (joined.misses_a_refit("c"), gap.misses_a_refit("c"))
    assert {3: 40, 4: 30, 6: 30} == counts(gap)


@pytest.mark.parametrize("refits", [(), ((3, 4, 0),), ((3, 4, 40), (4, 5, 70))])
def test_c13_call_without_tokens(refits: tuple[tuple[int, int, int], ...]) -> None:
    """No tokens, no entry."""
    assert {} == counts(cuts_at(*refits), tokens=0)


def test_c14_call_without_a_cut() -> None:
    """A call that no refit paused is its begin version's."""
    cuts = cuts_at((3, 4, 40))

    assert {3: 50} == cuts.tokens_by_version([("other", 3, 50)])


@pytest.mark.parametrize("calls", [[], [["c", 0]], [["c", 40]]])
def test_c15_first_sync_of_a_process(calls: list[list[Any]]) -> None:
    """A run that reports the weights it loaded cuts nothing, whatever is running."""
    cuts = RefitCuts()
    cuts.record(3, 3, calls)

    assert (0, {3: 100}) == (len(cuts), counts(cuts))


def test_version_zero_is_a_version() -> None:
    """Zero is falsy and counts all the same."""
    assert {0: 40, 1: 60} == counts(cuts_at((0, 1, 40)), begin=0)


def test_a_group_is_the_sum_of_its_calls_in_order_of_versions() -> None:
    """Calls add up version by version, and the versions ascend."""
    cuts = RefitCuts()
    cuts.record(3, 4, [["c", 40], ["d", 0]])
    found = cuts.tokens_by_version([("d", 3, 7), ("e", 5, 1), ("c", 3, 100)])

    assert [(3, 40), (4, 67), (5, 1)] == list(found.items())


def test_a_redispatched_attempt_has_calls_of_its_own() -> None:
    """Cuts of the attempt that was given up do not touch the one that replaces it."""
    assert {4: 100} == cuts_at((3, 4, 40)).tokens_by_version([("c2", 4, 100)])


def test_further_columns_and_other_sequences_are_taken() -> None:
    """An entry is any sequence that begins with an id and a count; ids of any type are the same as their text."""
    call = uuid.uuid4()
    cuts = RefitCuts()
    cuts.record(3, 4, iter([(call, 40, "shard-1", None)]))

    assert {3: 40, 4: 60} == cuts.tokens_by_version(iter([[str(call), 3, 100]]))


def test_calls_are_released_when_their_group_publishes() -> None:
    """Published calls no longer count as running, so memory is bounded by what is in flight."""
    cuts = RefitCuts()
    cuts.record(3, 4, [["c", 40], ["d", 20]])
    cuts.tokens_by_version([("c", 3, 100)])

    assert (1, [(3, 20), (4, 80)]) == (len(cuts), cuts.segments("d", 3, 100))


def test_asking_again_gives_the_same_answer() -> None:
    """A publication that failed and is retried is not counted without its cuts."""
    cuts = cuts_at((3, 4, 40), (4, 5, 70))
    first = counts(cuts)
    cuts.record(5, 6, [["other", 5]])

    assert {3: 40, 4: 30, 5: 30} == first == counts(cuts) == counts(cuts)


def test_released_calls_are_remembered_up_to_a_bound() -> None:
    """A long run does not remember every call that it ever had."""
    cuts = RefitCuts(max_released=2)
    for name in "abc":
        cuts.record(3, 4, [[name, 40]])
        cuts.tokens_by_version([(name, 3, 100)])

    found = {name: cuts.tokens_by_version([(name, 3, 100)]) for name in "abc"}
    assert {"a": {3: 100}, "b": {3: 40, 4: 60}, "c": {3: 40, 4: 60}} == found


def test_calls_that_were_not_cut_for_many_refits_are_forgotten() -> None:
    """With two refits of patience: a is cut at the first and at the third, b at the first only, c at the second."""
    cuts = RefitCuts(max_refits=2)
    cuts.record(3, 4, [["a", 10], ["b", 10]])
    cuts.record(4, 5, [["c", 10]])
    assert 3 == len(cuts)
    cuts.record(5, 6, [["a", 20]])

    assert ["a", "c"] == [name for name in "abc" if name in cuts]
    assert [(3, 10), (4, 10), (6, 5)] == cuts.segments("a", 3, 25)


def test_forget_before_drops_calls_that_cannot_be_trained() -> None:
    """Window 2, trainer at 10, so 8 is the oldest: a call first cut at 7 to 8 goes, one first cut at 8 to 9 stays."""
    cuts = RefitCuts()
    cuts.record(7, 8, [["old", 5]])
    cuts.record(8, 9, [["old", 10], ["kept", 10]])
    cuts.record(9, 10, [["old", 20], ["kept", 20], ["new", 1]])
    cuts.forget_before(8)

    assert 2 == len(cuts)
    assert [[(7, 30)], [(8, 10), (9, 10), (10, 10)], [(9, 1), (10, 29)]] == [
        cuts.segments("old", 7, 30), cuts.segments("kept", 8, 30), cuts.segments("new", 9, 30)
    ]  # fmt: skip


def test_ready_first_forgets_nothing() -> None:
    """A sampler that never calls a group too old passes 0, and every call stays."""
    cuts = cuts_at((0, 1, 40), (1, 2, 70))
    cuts.forget_before(0)

    assert {0: 40, 1: 30, 2: 30} == counts(cuts, begin=0)


def test_cuts_are_rebuilt_from_the_refits_of_all_runs() -> None:
    """Rows of two runs, of which the first was killed: the calls of both have their cuts, and none is released."""
    rows = read_back([
        row(0, "a", "weight_sync", replaced_version=3, new_version=4, calls=[["c", 40], ["d", 0]]),
        row(1, "a", "group_published", group_id="g", call_versions=[["d", 3, 10]]),
        row(0, "b", "weight_sync", replaced_version=4, new_version=4, calls=[["c", 99]]),
        row(1, "b", "weight_sync", replaced_version=4, new_version=5, calls=[["e", 7]]),
        row(2, "b", "weight_sync", replaced_version=5, new_version=6),
    ])  # fmt: skip
    cuts = rebuild_refit_cuts(rows)

    assert (3, {3: 40, 4: 77, 5: 6}) == (len(cuts), cuts.tokens_by_version([("c", 3, 100), ("d", 3, 10), ("e", 4, 13)]))


@pytest.mark.parametrize(
    "fields",
    [{}, {"replaced_version": 3}, {"replaced_version": "3", "new_version": "4"}, {"calls": None}, {"calls": "c"},
     {"calls": [["c"], ["c", "40"], ["c", None], [], None, 7, "cc"]}, {"calls": {"c": 40}}],
)  # fmt: skip
def test_malformed_refit_rows_do_not_stop_the_rebuilding(fields: dict[str, Any]) -> None:
    """What cannot be understood cuts nothing; the rest of the row and of the file counts."""
    versions: Row = {"replaced_version": 3, "new_version": 4}
    good = [["d", 10]]
    bad = row(0, event="weight_sync") | (versions if "calls" in fields else {}) | fields
    rows = [bad, row(1, event="weight_sync") | versions | {"calls": good}]

    assert {3: 110, 4: 20} == rebuild_refit_cuts(rows).tokens_by_version([("c", 3, 100), ("d", 3, 30)])


def test_whose_cuts_a_call_has() -> None:
    """Known until nobody remembers them, released or not."""
    cuts = RefitCuts()
    cuts.record(3, 4, [["c", 40], ["d", 10]], source="a")
    cuts.record(4, 5, [["d", 20]], source="b")
    cuts.record(3, 4, [["e", 40]])
    cuts.release("c")

    assert [True, True, True, False] == [call in cuts for call in ("c", "d", "e", "x")]
    assert [("a",), ("a", "b"), (), ()] == [cuts.sources(call) for call in ("c", "d", "e", "x")]
