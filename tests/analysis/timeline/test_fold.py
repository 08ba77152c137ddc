"""The timeline of a small job with one kill: every value worked out by hand."""

from __future__ import annotations

import math

from rtrace_otel.analysis.flow.records import ATTEMPT_OUTCOMES
from rtrace_otel.analysis.ledger.work import Fate
from rtrace_otel.analysis.timeline.bands import CheckpointBand, RefitBand, RestoreBand, RunBand, StepBand, StopBand
from rtrace_otel.analysis.timeline.fold import TimelineFold, timeline
from rtrace_otel.analysis.timeline.kept import Selection
from rtrace_otel.analysis.timeline.results import NOWHERE, UNKNOWN, Timeline
from rtrace_otel.analysis.timeline.states import FATES, State
from rtrace_otel.events import Row
from tests.report.history import ended, event, restored, resumed, started, trace
from tests.report.timed import JOB, abandon, at, dispatch, group, seal, step, sync


def built(rows: list[Row], selection: Selection | None = None) -> Timeline:
    """The timeline, checked."""
    result = timeline(rows, selection)
    result.self_check()
    return result


TIMELINE = built(JOB)


def test_attempts_in_order_of_their_start() -> None:
    """The kept result of u in run b did not run and is no bar; v is open until a's last row, z until b's."""
    columns = TIMELINE.attempts

    assert ("x", "y", "u", "v", "w", "z") == columns.attempt_id
    assert [2.0, 2.5, 11.5, 11.5, 32.0, 33.5] == list(columns.start)
    assert [6.0, 10.0, 17.0, 20.0, 33.0, 36.0] == list(columns.end)
    assert [0, 1, 0, 1, 0, 0] == list(columns.lane)
    assert 2 == TIMELINE.lanes
    assert [0, 0, 0, 0, 1, 1] == list(columns.run)
    assert [0, 0, 1, 1, 1, 1] == list(columns.group)


def test_states() -> None:
    """Step 5 trained x and y; the kill took u, whose result was kept, and v, which runs again; w timed out; z runs."""
    expected = [State.TRAINED, State.TRAINED, State.KEPT, State.INTERRUPTED, State.ABANDONED, State.OPEN]

    assert expected == [TIMELINE.state(place) for place in range(6)]
    outcomes = [ATTEMPT_OUTCOMES[place] for place in TIMELINE.attempts.outcome]
    assert ["sealed", "sealed", "sealed", "interrupted", "abandoned", "open"] == outcomes
    fates = [None if place == NOWHERE else FATES[place] for place in TIMELINE.attempts.fate]
    assert [None, None, Fate.REUSED, Fate.REDONE, None, None] == fates


def test_numbers_of_attempts() -> None:
    """Attempt y waited from 3 to 5 to be dispatched again; what no row says is unknown."""
    columns = TIMELINE.attempts

    assert [100, 60, 30, 7, UNKNOWN, 11] == list(columns.tokens)
    assert [0.0, 2.0, 0.0, 2.0, 0.0, 0.0] == list(columns.refused_s)
    assert [0, 1, 0, 1, 0, 0] == list(columns.refusals)
    assert [4, 3, 5, 5, 6, 6] == list(columns.version_start)
    assert [5, 5, *[UNKNOWN] * 4] == list(columns.step)
    assert [0, 1, 0, 1, 1, 1] == list(columns.generation)
    assert [0, *[UNKNOWN] * 3, 1, 2] == list(columns.attempt_index)
    assert (0.5, True) == (columns.reward[0], math.isnan(columns.reward[1]))
    assert [1.0, 1.0, 11.0, 11.0, 31.0, 31.0] == list(columns.reserved)
    assert [10.5, 10.5] == list(columns.published)[:2]


def test_tables() -> None:
    """Texts, each once."""
    tables = TIMELINE.tables

    assert (("a", "b"), ("g", "h"), ("17",)) == (tables.runs, tables.groups, tables.prompts)
    assert (("server error",), ("s0",), ()) == (tables.reasons, tables.instances, tables.levels)


def test_counts() -> None:
    """Open were x for 4 s, y for 7.5, u for 5.5, v for 8.5, w for 1 and z for 2.5."""
    assert (6, 0, 6, 6) == (
        TIMELINE.attempts_total, TIMELINE.attempts_untimed, TIMELINE.attempts_matching, TIMELINE.attempts_shown
    )  # fmt: skip
    assert {"sealed": 3, "abandoned": 1, "interrupted": 1, "open": 1} == dict(TIMELINE.by_outcome)
    assert 29.0 == TIMELINE.attempt_seconds
    assert (0.0, 36.0) == (TIMELINE.start, TIMELINE.end)


def test_bands() -> None:
    """Run a is down from 20 to 30; its step 5 trained 100 tokens of version 4 and 50 of version 5 as version 5.

    Refit 5 cut y at 40 of its 60 tokens, so that of the 150 tokens that are trained 100 are of version 4 at most.
    """
    bands = TIMELINE.bands
    (trained,) = bands.steps

    assert (
        RunBand("a", 0.0, 20.0, "killed", None, None),
        RunBand("b", 30.0, 36.0, "unknown", None, "ckpt-5"),
    ) == bands.runs
    assert StepBand("a", 12.0, 15.0, True, 5, 5, trained.batch_age, 1, 150, False) == trained
    assert round(100 / 150, 9) == round(trained.batch_age or 0.0, 9)
    assert (
        RefitBand("a", 6.5, 7.0, True, 4, 5, 1, 40),
        RefitBand("a", 15.0, 16.0, True, 5, 6, 1, 7),
        RefitBand("b", 33.5, 34.0, True, 6, 7, 2, 11),
    ) == bands.refits
    assert (RestoreBand("b", 31.0, 31.0, "ckpt-5", 5, "a", 1),) == bands.restores
    assert (StopBand("a", "b", 20.0, 30.0, "killed", 2, 0),) == bands.stops
    assert () == bands.checkpoints


def test_segments_change_at_refits() -> None:
    """Attempt y began with version 3; refit 5 came at 7. z has version 6 until 34. Refit 6 cut u at 16."""
    assert [(2.5, 7.0, 3), (7.0, 10.0, 5)] == list(TIMELINE.segments(1))
    assert [(11.5, 16.0, 5), (16.0, 17.0, 6)] == list(TIMELINE.segments(2))
    assert [(33.5, 34.0, 6), (34.0, 36.0, 7)] == list(TIMELINE.segments(5))
    assert [(2.0, 6.0, 4)] == list(TIMELINE.segments(0))


def test_series() -> None:
    """Areas under the series.

    g is reserved from 1 to 10.5; h in run a from 11 to the last row at 20 and in run b from 31 to 36. g waits from 10.5
    to 15. Tokens are 100 + 60 + 30 of sealed attempts, and at least 7 of v and 11 of z.
    """
    totals = {name: round(TIMELINE.series.total(name), 6) for name in TIMELINE.series.values}

    assert {
        "open_attempts": 29.0,
        "reserved_groups": 9.5 + 9.0 + 5.0,
        "queued_groups": 4.5,
        "generated_tokens_per_s": 208.0,
        "trained_tokens_per_s": 150.0,
    } == totals


def test_series_over_time() -> None:
    """In buckets of 1/32 s: open attempts at 5.5, 8, 12, 25, 32.5 and 35."""
    series = TIMELINE.series
    at_time = [
        series.values["open_attempts"][int((t - series.start) / series.width)] for t in (5.5, 8, 12, 25, 32.5, 35)
    ]

    assert 1 / 32 == series.width
    assert [2.0, 1.0, 2.0, 0.0, 1.0, 1.0] == at_time


LOST = trace(
    at(0.0, started("a", weight_version=0)),
    event("a", "checkpoint_started", t=1.0),
    event("a", "checkpoint_published", checkpoint_id="ckpt-0", step=0, kind="snapshot", groups=[], t=2.0),
    group(3.0, "a", "reserved"),
    dispatch(4.0, "a", "x"),
    seal(5.0, "a", "x", 10),
    group(5.0, "a", "published", tokens_by_version={"0": 10}),
    step(8.0, "a", 1, "g", seconds=2.0),
    sync(9.0, "a", 1),
    event("a", "checkpoint_started", t=9.5),
    event("a", "train_step_started", step=2, t=10.0),
    event("a", "weight_sync_started", t=11.0),
    at(20.0, started("b")),
    at(22.0, restored("b", 0, from_run="a", groups=[], seconds=1.5)),
    group(23.0, "b", "reserved", "g2"),
    dispatch(24.0, "b", "y", "g2"),
    seal(25.0, "b", "y", 20),
    group(26.0, "b", "published", "g2", tokens_by_version={"0": 20}),
    step(28.0, "b", 1, "g2"),
    at(29.0, ended("b")),
)  # fmt: skip
"""Run a trains g and is killed; b goes back behind that and trains the same prompt again."""


def test_a_trained_attempt_that_a_restore_went_back_behind_is_lost() -> None:
    """Its step is given up; the step that trained the prompt again counts."""
    result = built(LOST)

    assert [State.LOST, State.TRAINED] == [result.state(place) for place in range(2)]
    assert Fate.TRAINED_AGAIN == FATES[result.attempts.fate[0]]
    assert [("a", 1, True), ("b", 1, False), ("a", 2, False)] == [
        (band.run, band.step, band.given_up) for band in result.bands.steps
    ]
    assert (StopBand("a", "b", 11.0, 20.0, "killed", 1, 1),) == result.bands.stops


def test_what_a_kill_left_unfinished_ends_with_its_run() -> None:
    """Step 2, a refit and a checkpoint were under way at the last row, at 11."""
    bands = built(LOST).bands

    assert (10.0, 11.0, False) == (bands.steps[2].start, bands.steps[2].end, bands.steps[2].finished)
    assert RefitBand("a", 11.0, 11.0, False, None, None, None, None) == bands.refits[1]
    assert (
        CheckpointBand("a", 1.0, 2.0, True, "ckpt-0", 0, "snapshot", 0),
        CheckpointBand("a", 9.5, 11.0, False, None, None, None, None),
    ) == bands.checkpoints
    assert (RestoreBand("b", 20.5, 22.0, "ckpt-0", 0, "a", 0),) == bands.restores


def test_discarded_and_sealed_groups() -> None:
    """The result in g waits; that in h was discarded."""
    rows = trace(
        at(0.0, started("a")),
        group(1.0, "a", "reserved"), dispatch(1.0, "a", "x"), seal(2.0, "a", "x"),
        group(1.0, "a", "reserved", "h"), dispatch(1.5, "a", "y", "h"), seal(2.0, "a", "y"),
        group(3.0, "a", "discarded", "h", reason="stale"),
    )  # fmt: skip

    assert [State.SEALED, State.DISCARDED] == [built(rows).state(place) for place in range(2)]


def test_an_attempt_that_went_on_without_a_dispatch_of_its_own() -> None:
    """Run b goes on with x at 12 and seals it at 15 with the 20 tokens that a restore kept and 10 more."""
    rows = trace(
        at(0.0, started("a")),
        group(1.0, "a", "reserved"), dispatch(1.0, "a", "x"), event("a", "mark", t=8.0),
        at(10.0, started("b")),
        at(11.0, restored("b", 0, groups=["g"], from_run="a")),
        at(12.0, resumed("b", "x2", "turn", "x")) | {"tokens_kept": 20, "group_id": "g"},
        seal(15.0, "b", "x2", 30),
    )  # fmt: skip
    result = built(rows)

    assert [State.RESUMED, State.SEALED] == [result.state(place) for place in range(2)]
    assert [(1.0, 8.0), (12.0, 15.0)] == list(zip(result.attempts.start, result.attempts.end, strict=True))
    assert ("turn",) == result.tables.levels
    assert [UNKNOWN, 20] == list(result.attempts.tokens_kept)
    assert 10.0 == round(result.series.total("generated_tokens_per_s"), 6)


def test_attempts_without_any_time_are_counted_and_not_shown() -> None:
    """Of x no row has a sensible time; y has only an end."""
    rows = trace(
        at(0.0, started("a")),
        dispatch(math.nan, "a", "x"), seal(math.nan, "a", "x"),
        dispatch(math.nan, "a", "y"), abandon(4.0, "a", "y"),
    )  # fmt: skip
    result = built(rows)

    assert (2, 1, 1) == (result.attempts_total, result.attempts_untimed, result.attempts_shown)
    assert [(4.0, 4.0)] == list(zip(result.attempts.start, result.attempts.end, strict=True))


def test_an_empty_file() -> None:
    """There is nothing, and no time."""
    result = built([])

    assert (0, 0, None, None) == (len(result.attempts), result.lanes, result.start, result.end)


def test_asking_twice_gives_the_same() -> None:
    """A result changes nothing, so that a live page can ask again and again."""
    fold = TimelineFold()
    for row in JOB[:20]:
        fold.add(row)
    fold.result()
    for row in JOB[20:]:
        fold.add(row)

    assert repr(TIMELINE) == repr(fold.result()) == repr(fold.result())
