"""Each setting of the restore, of what rows say and of the end does what it says."""

from __future__ import annotations

import math

import pytest

from rtrace_otel.testing.settings import Stop
from rtrace_otel.testing.truth import Fate
from tests.testing.jobs import STOPPED, job, rows_of


@pytest.mark.parametrize(
    ("keeps", "levels", "fates"),
    [
        ("nothing", set(), {Fate.TRAINED_AGAIN, Fate.REDONE, Fate.REUSED, Fate.NEVER_CAME_BACK}),
        ("group", set(), {Fate.TRAINED_AGAIN, Fate.REDONE, Fate.REUSED}),
        ("sibling", {"sibling"}, {Fate.TRAINED_AGAIN, Fate.REDONE, Fate.REUSED}),
        ("turn", {"sibling", "turn"}, {Fate.TRAINED_AGAIN, Fate.REDONE, Fate.REUSED, Fate.RESUMED}),
        ("prefix", {"sibling", "prefix"}, {Fate.TRAINED_AGAIN, Fate.REDONE, Fate.REUSED, Fate.RESUMED}),
    ],
)
def test_keeps(keeps: str, levels: set[str], fates: set[Fate]) -> None:
    """The levels of the resumed rows, and the fates that follow."""
    simulation = job(STOPPED, keeps=keeps, calls=3)
    (stop,) = simulation.truth.stops

    assert levels == {row["level"] for row in rows_of(simulation, "attempt_resumed")}
    assert fates == {fate for fate, work in stop.fates.items() if work.rollouts}


def test_more_kept_is_less_done_again() -> None:
    """Of the same job, a checkpoint of the tokens keeps more than one of the turns, and so on down to nothing."""
    kept = [
        sum(work.tokens_kept for work in job(STOPPED, keeps=keeps, calls=3).truth.stops[0].fates.values())
        for keeps in ("group", "sibling", "turn", "prefix")
    ]

    assert sorted(set(kept)) == kept


def test_a_prefix_is_kept_to_the_token() -> None:
    """A resumed attempt has the calls of the earlier one, the last of them cut short, and then its own."""
    simulation = job(STOPPED, keeps="prefix", tokens=400.0, seconds=60.0)
    by_id = {attempt.attempt_id: attempt for attempt in simulation.truth.attempts}
    resumed = [attempt for attempt in by_id.values() if attempt.previous_attempt_id is not None]

    assert resumed
    for attempt in resumed:
        assert attempt.previous_attempt_id is not None
        before = by_id[attempt.previous_attempt_id]
        assert 0 < attempt.tokens_kept <= min(before.tokens, attempt.tokens)
        assert _first(before.segments, attempt.tokens_kept) == _first(attempt.segments, attempt.tokens_kept)


def test_what_is_kept_is_not_generated_again() -> None:
    """A rollout that both runs completed has as many tokens in the second as in the first: those kept and the rest."""
    simulation = job(STOPPED, keeps="prefix", calls=1)
    by_id = {attempt.attempt_id: attempt for attempt in simulation.truth.attempts}
    pairs = [
        (by_id[attempt.previous_attempt_id].tokens, attempt.tokens)
        for attempt in by_id.values()
        if attempt.previous_attempt_id is not None
        and attempt.outcome == by_id[attempt.previous_attempt_id].outcome == "sealed"
    ]

    assert pairs
    assert all(before == after for before, after in pairs)


def _first(segments: tuple[tuple[int, int], ...], tokens: int) -> list[int]:
    """The versions of the first tokens, one by one."""
    return [version for version, count in segments for _ in range(count)][:tokens]


def test_new_group_ids() -> None:
    """No group has an id of the run before; those that were published are published again."""
    simulation = job(STOPPED, new_group_ids=True)
    groups = {run: set[str]() for run in simulation.truth.runs}
    for row in rows_of(simulation, "group_reserved"):
        groups[row["run"]].add(row["group_id"])
    first, second = simulation.truth.runs
    (restored,) = rows_of(simulation, "checkpoint_restored")

    assert set() == groups[first] & groups[second]
    assert set(restored["groups"]) <= groups[second]
    kept = job(STOPPED)
    (held,) = rows_of(kept, "checkpoint_restored")
    (taken,) = [row for row in rows_of(kept, "checkpoint_published") if row["run"] == held["from_run"]]
    assert held["groups"] == taken["groups"]


def test_derived_attempt_ids() -> None:
    """Resumed twice from one checkpoint, an attempt has the same new id in both runs; the truth tells them apart."""
    simulation = job(
        STOPPED, stops=(Stop(at_step=6), Stop(at_step=0, after_rows=60)), derived_attempt_ids=True, calls=3
    )
    second, third = (
        {a.attempt_id: a.previous_attempt_id for a in simulation.truth.attempts if a.run == run and a.tokens_kept}
        for run in simulation.truth.runs[1:]
    )

    assert second
    assert second == third
    assert set(second) == {f"{previous}-1" for previous in second.values()}
    simulation.truth.self_check()


def test_version_restarts() -> None:
    """The second run trains step 5 as its version 0; where versions go on, as version 4."""
    versions = {
        restarts: [
            row["trained_version"]
            for row in rows_of(job(STOPPED, version_restarts=restarts), "train_step")
            if row["step"] == 5
        ]
        for restarts in (False, True)
    }

    assert {False: [4, 4], True: [4, 0]} == versions


def test_writes_epoch() -> None:
    """Without it the rows are the same but for the field, and the truth knows the occurrence all the same."""
    with_epoch, without = job(STOPPED), job(STOPPED, writes_epoch=False)

    assert [{k: v for k, v in row.items() if k != "epoch"} for row in with_epoch.rows] == without.rows
    assert with_epoch.truth == without.truth


@pytest.mark.parametrize("writes", [True, False])
def test_writes_checkpoint_started(writes: bool) -> None:
    """A checkpoint holds its groups as they were at its start, or else when it was published: while a step trained."""
    simulation = job(writes_checkpoint_started=writes, checkpoint_s=8.0, train_s=20.0)
    moments = rows_of(simulation, "checkpoint_started" if writes else "checkpoint_published")
    published = rows_of(simulation, "checkpoint_published")

    assert [4, 8, 12] == [row["step"] for row in published]
    for moment, row in zip(moments, published, strict=True):
        opened, gone = set[str](), set[str]()
        for before in simulation.rows[: simulation.rows.index(moment)]:
            opened |= {before["group_id"]} if before["event"] == "group_reserved" else set()
            gone |= set(before["group_ids"]) if before["event"] == "train_step" else set()
        assert opened - gone == set(row["groups"])


def test_writes_resumed_dispatch() -> None:
    """Each resumed attempt is dispatched under its new id at once; without the setting it is not dispatched at all."""
    for writes in (True, False):
        simulation = job(STOPPED, writes_resumed_dispatch=writes, calls=3)
        resumed = {r["attempt_id"] for r in rows_of(simulation, "attempt_resumed") if r["level"] == "turn"}
        dispatched = {row["attempt_id"] for row in rows_of(simulation, "attempt_dispatched")}
        assert resumed
        assert (resumed if writes else set()) == resumed & dispatched


@pytest.mark.parametrize(
    ("ending", "last", "outcomes"),
    [
        ("clean", "run_ended", {"sealed", "abandoned"}),
        ("killed", "weight_sync", {"sealed", "interrupted"}),
        ("running", "weight_sync", {"sealed", "open"}),
    ],
)
def test_ending(ending: str, last: str, outcomes: set[str]) -> None:
    """A clean end abandons what is open and says so; the others just stop writing, here after the last refit."""
    simulation = job(ending=ending, checkpoint_every=None)

    assert last == simulation.rows[-1]["event"]
    assert outcomes == {attempt.outcome for attempt in simulation.truth.attempts}
    assert ending == simulation.truth.ending


def test_start() -> None:
    """The first row is at this time, and a later start moves every row."""
    early, late = job(start=0.0), job(start=1_000.0)

    assert (0.0, 1_000.0) == (early.rows[0]["t"], late.rows[0]["t"])
    assert all(math.isclose(e["t"] + 1_000, x["t"], abs_tol=1e-3) for e, x in zip(early.rows, late.rows, strict=True))
