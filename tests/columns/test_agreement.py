"""What the tables give when they are asked in SQL equals what the commands say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings

from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.events import Row
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.ledger.histories import histories
from tests.columns.tables import ask, demo_rows, one, tables_of

FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _agrees_with_summary(rows: Sequence[Row]) -> None:
    summary = summarise(rows)
    tables = tables_of(rows, ["events", "runs", "attempts", "steps", "refits", "checkpoints"])

    assert (len(summary.runs), summary.rows) == one(tables, "SELECT count(*), sum(rows) FROM runs")
    assert (summary.rows,) == one(tables, "SELECT count(*) FROM events")
    assert [(run.run, run.ended_how, run.first_step, run.last_step) for run in summary.runs] == ask(
        tables, "SELECT run, ended_how, first_step, last_step FROM runs ORDER BY place"
    )
    a = summary.attempts
    assert (a.begun, a.sealed, a.masked, sum(a.abandoned.values()), a.interrupted, a.open) == one(
        tables,
        """SELECT count(*) FILTER (outcome <> 'kept'), count(*) FILTER (outcome = 'sealed'),
        count(*) FILTER (outcome = 'sealed' AND masked), count(*) FILTER (outcome = 'abandoned'),
        count(*) FILTER (outcome = 'interrupted'), count(*) FILTER (outcome = 'open') FROM attempts""",
    )
    assert (summary.steps_trained, summary.steps_again) == one(
        tables, "SELECT count(*) FILTER (is_finished), count(*) FILTER (is_again) FROM steps"
    )
    assert (summary.refits, summary.calls_cut, summary.refit_s and pytest.approx(summary.refit_s)) == one(
        tables, "SELECT count(*), coalesce(sum(calls), 0), sum(seconds) FROM refits WHERE is_refit"
    )
    assert (summary.checkpoints,) == one(tables, "SELECT count(*) FROM checkpoints")


def _agrees_with_age(rows: Sequence[Row]) -> None:
    found = staleness(rows)
    tables = tables_of(rows, ["steps", "token_ages"])
    listed = ask(
        tables,
        """SELECT step, run, trained_version, age_logged, age_published, age_recomputed, batch_age, age_p50, age_p95,
        age_max, age_tokens, cut_share, groups_with_tokens FROM steps WHERE is_latest ORDER BY step""",
    )

    assert [
        (s.step, s.run, s.trained_version, s.logged, s.published, s.recomputed, s.best, s.p50, s.p95, s.max, s.tokens,
         s.cut_share, s.groups_with_tokens)
        for s in found.ages.steps
    ] == listed  # fmt: skip
    times = ask(tables, "SELECT step, count(*) FROM steps WHERE is_latest IS NOT NULL GROUP BY step ORDER BY step")
    assert [(s.step, s.times_trained) for s in found.ages.steps] == times
    histogram = ask(
        tables,
        "SELECT age, sum(tokens) FROM token_ages WHERE is_latest AND age IS NOT NULL GROUP BY age ORDER BY age",
    )
    assert sorted(found.histogram.items()) == histogram
    (mean,) = one(tables, "SELECT sum(batch_age * age_tokens) / sum(age_tokens) FROM steps WHERE is_latest")
    assert found.ages.batch_age == (None if mean is None else pytest.approx(mean))
    for age in found.ages.steps:
        if age.tokens:
            (by_tokens,) = one(
                tables,
                f"SELECT sum(age * tokens) / sum(tokens) FROM token_ages WHERE is_latest AND step = {age.step}",
            )
            assert age.best == pytest.approx(by_tokens)
    splits = ask(
        tables,
        """SELECT age_in_call, age_in_group, age_in_queue, age_train_lag, split_missing FROM steps WHERE is_latest
        ORDER BY step""",
    )
    nothing = (None, None, None, None)
    assert [
        (*((s.split.in_call, s.split.in_group, s.split.in_queue, s.split.train_lag) if s.split else nothing),
         s.split_missing)
        for s in found.steps
    ] == splits  # fmt: skip


def _agrees_with_steps(rows: Sequence[Row]) -> None:
    report = train_steps(rows)
    tables = tables_of(rows, ["runs", "steps"])
    listed = ask(
        tables,
        """SELECT run, step, started, ended, wait_s, train_s, sync_s, cycle_s, groups, tokens, tokens_per_s, queue,
        open_attempts, verdict FROM steps""",
    )

    assert [
        (s.run, s.step, s.started, s.ended, s.wait_s, s.train_s, s.sync_s, s.cycle_s, s.groups, s.tokens,
         s.tokens_per_s, s.queue, s.open_attempts, s.verdict)
        for s in report.steps
    ] == listed  # fmt: skip
    assert {
        run: (t.total_s, t.waiting_s, t.training_s, t.syncing_s, t.checkpointing_s, t.other_s)
        for run, t in report.runs.items()
    } == {
        run: times
        for run, *times_ in ask(
            tables,
            "SELECT run, total_s, waiting_s, training_s, syncing_s, checkpointing_s, other_s FROM runs "
            "WHERE total_s IS NOT NULL",
        )
        for times in [tuple(times_)]
    }


def _agrees_with_attempts_and_groups(rows: Sequence[Row]) -> None:
    listed, grouped = attempts(rows, Choice(limit=0)), groups(rows, Choice(limit=0))
    tables = tables_of(rows, ["attempts", "groups"])

    assert dict(listed.by_outcome) == dict(ask(tables, "SELECT outcome, count(*) FROM attempts GROUP BY outcome"))
    assert sorted(
        (a.run, a.attempt_id, a.tokens or 0, a.seconds or 0.0, a.refits_cut is None) for a in listed.attempts
    ) == sorted(
        ask(
            tables,
            "SELECT run, attempt_id, coalesce(tokens, 0), coalesce(seconds, 0), refits_cut IS NULL FROM attempts",
        )
    )
    assert dict(grouped.by_outcome) == dict(ask(tables, "SELECT outcome, count(*) FROM groups GROUP BY outcome"))
    assert sorted((g.run, g.group_id, g.queue_s or 0.0, g.tokens or 0) for g in grouped.groups) == sorted(
        ask(tables, "SELECT run, group_id, coalesce(queue_s, 0), coalesce(tokens, 0) FROM groups")
    )


def _agrees_with_restore(rows: Sequence[Row]) -> None:
    report = restore_report(rows)
    tables = tables_of(rows, ["restores", "losses", "attempts", "checkpoints"])

    for number, stop in enumerate(report.stops):
        assert (stop.run, stop.restored_run, stop.dead_s, list(stop.steps_lost), list(stop.steps_trained_again)) == one(
            tables,
            f"SELECT run, restored_run, dead_s, steps_lost, steps_trained_again FROM restores WHERE stop = {number}",
        )
        assert (stop.lost.rollouts, stop.lost.tokens_lost, stop.in_flight.rollouts) == one(
            tables, f"SELECT lost_rollouts, lost_tokens, in_flight_rollouts FROM restores WHERE stop = {number}"
        )
        by_fate = {
            fate: Amount(rollouts, tokens, bool(exact), kept, seconds)
            for fate, rollouts, tokens, exact, kept, seconds in ask(
                tables,
                f"""SELECT fate, count(*), sum(tokens), bool_and(tokens_exact), sum(tokens_kept), sum(attempt_s)
                FROM losses WHERE stop = {number} GROUP BY fate""",
            )
        }
        for fate in Fate:
            amount, listed = stop.fates[fate], by_fate.get(fate, Amount())
            assert (amount.rollouts, amount.tokens, amount.tokens_kept) == (
                listed.rollouts, listed.tokens, listed.tokens_kept,
            )  # fmt: skip
            assert amount.attempt_seconds == pytest.approx(listed.attempt_seconds)
            columns = ", ".join(f"{fate}_{what}" for what in ("rollouts", "tokens", "tokens_kept"))
            assert (amount.rollouts, amount.tokens, amount.tokens_kept) == one(
                tables, f"SELECT {columns} FROM restores WHERE stop = {number}"
            )
        assert (len([loss for loss in by_fate.values() if loss.rollouts]),) == one(
            tables, f"SELECT count(DISTINCT fate) FROM losses WHERE stop = {number}"
        )
    joined = "attempts a JOIN losses l ON (l.run, l.attempt_id, l.stop) = (a.run, a.attempt_id, a.stop)"
    assert (0,) == one(tables, f"SELECT count(*) FROM {joined} WHERE a.fate <> l.fate")
    latest = "(SELECT run, attempt_id, max(stop) AS latest FROM losses GROUP BY run, attempt_id)"
    assert (0,) == one(
        tables,
        f"SELECT count(*) FROM {latest} JOIN attempts USING (run, attempt_id) WHERE stop IS DISTINCT FROM latest",
    )
    (seconds,) = one(tables, "SELECT sum(seconds) FROM checkpoints")
    assert report.barrier.seconds == (None if seconds is None else pytest.approx(seconds))


def _agrees_with_waste(rows: Sequence[Row]) -> None:
    report = waste_report(rows)
    tables = tables_of(rows, ["accounts", "step_accounts"])

    assert [(a.name, a.reason, a.bucket, a.amount.rollouts, a.amount.tokens) for a in report.accounts] == ask(
        tables, "SELECT account, reason, bucket, rollouts, tokens FROM accounts"
    )
    assert [(s.step, s.run, s.trained, s.masked, s.abandoned, s.discarded, s.lost) for s in report.steps] == ask(
        tables, "SELECT step, run, trained, masked, abandoned, discarded, lost FROM step_accounts ORDER BY place"
    )


CHECKS = [
    _agrees_with_summary,
    _agrees_with_age,
    _agrees_with_steps,
    _agrees_with_attempts_and_groups,
    _agrees_with_restore,
    _agrees_with_waste,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("_agrees_with_"))
def test_the_demo_agrees(check: object) -> None:
    """The stored demo: one kill, one restore."""
    assert callable(check)
    check(demo_rows())


def test_the_demo_has_the_fate_of_each_attempt() -> None:
    """Its kill took 88 rollouts: 24 reused, 11 resumed, 51 redone, 2 trained again; each is an attempt."""
    tables = tables_of(demo_rows(), ["attempts"])

    assert [("redone", 51), ("resumed", 11), ("reused", 24), ("trained_again", 2)] == ask(
        tables, "SELECT fate, count(*) FROM attempts WHERE stop = 0 GROUP BY fate ORDER BY fate"
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("_agrees_with_"))
@FEW
@given(given_settings=histories())
def test_simulated_histories_agree(check: object, given_settings: SimulationSettings) -> None:
    """Jobs with faults, stops and restores."""
    assert callable(check)
    check(simulate(given_settings).rows)
