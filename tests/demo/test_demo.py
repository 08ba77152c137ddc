"""The demo's job is real: its trace is compared with what the inference server knows, for several seeds and kills."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtrace_otel.analysis.age.ages import DifferenceKind, step_ages
from rtrace_otel.analysis.age.batch_age import batch_age_by_step, recomputed_tokens_by_version
from rtrace_otel.analysis.ledger.work import Fate
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.demo.settings import DemoSettings
from rtrace_otel.demo.supervisor import DemoError, DemoResult, run_demo
from rtrace_otel.demo.truth import StepTruth, steps_with_truth
from rtrace_otel.events import Row
from rtrace_otel.validation import validate_row

KILLS = [(0, 1, 0.0), (2, 2, 0.3), (3, 3, 0.7), (11, 2, None)]
"""Seed, steps between the checkpoint and the kill, and how far into that step."""


@dataclass(frozen=True)
class Demo:
    result: DemoResult
    events: list[Row]
    steps: list[StepTruth]
    runs: tuple[str, ...]


@pytest.fixture(scope="module", params=KILLS, ids=lambda kill: f"seed{kill[0]}-step{kill[1]}-{kill[2]}")
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    seed, steps, into_step = request.param
    folder = tmp_path_factory.mktemp("demo")
    said: list[str] = []
    result = run_demo(folder, DemoSettings(seed=seed), said.append, steps_after_checkpoint=steps, into_step=into_step)
    reader = read_events(result.trace)
    events = list(reader)
    assert sum(reader.report.damage_counts.values()) <= 1, "a kill tears one line at most"
    assert len(said) == 4
    return Demo(result, events, steps_with_truth(events, result.truth), tuple(reader.report.runs))


def test_there_was_one_kill_and_one_restore(demo: Demo) -> None:
    """Two runs share the file: the first was killed, the second restored its checkpoint and ended cleanly."""
    first, second = summarise(demo.events).runs
    assert (first.ended_how, first.restored_from) == ("killed", None)
    assert (second.ended_how, second.restored_from) == ("clean", "step-0004")
    assert second.restored_step == demo.result.restored_step == 4
    assert first.last_step == demo.result.killed_in_step - 1


def test_every_step_was_trained(demo: Demo) -> None:
    """The job is complete, and the steps between the checkpoint and the kill were trained twice."""
    times = Counter(step.step for step in demo.steps)
    assert sorted(times) == list(range(1, 15))
    last_step = summarise(demo.events).runs[0].last_step
    assert last_step is not None
    assert set(range(5, last_step + 1)) == {step for step, count in times.items() if count == 2}


def test_recomputed_counts_equal_the_truth_in_every_step(demo: Demo) -> None:
    """Split at the refit rows of the file, the tokens of every step have the versions that really made them."""
    assert [step.counts_true for step in demo.steps] == [step.counts_recomputed for step in demo.steps]


def test_before_the_kill_all_values_equal_the_truth(demo: Demo) -> None:
    """Until the stop the logged age, the published one and the truth agree exactly."""
    before = [step for step in demo.steps if step.run == demo.runs[0]]
    assert len(before) >= 4
    assert [(step.true, step.true) for step in before] == [(step.logged, step.published) for step in before]


def test_logged_age_is_what_batch_age_by_step_gives(demo: Demo) -> None:
    """The offline function gives what the controller logged, after the restore too."""
    logged = {row["step"]: row["batch_age"] for row in demo.events if row["event"] == "train_step"}
    assert logged == batch_age_by_step(demo.events)


def test_logged_age_is_never_too_young(demo: Demo) -> None:
    """Where the logged age is off it is too old, and only after the restore: the cuts died with the first run."""
    off = [step for step in demo.steps if step.logged != step.true]
    assert {step.run for step in off} <= {demo.runs[1]}
    assert all(step.logged is not None and step.true is not None and step.logged > step.true for step in off)
    differences = step_ages(demo.events).differences
    assert [step.step for step in off] == [step for difference in differences for step in difference.steps]
    assert {difference.kind for difference in differences} <= {DifferenceKind.CUTS_LOST_IN_RESTORE}


def test_recomputed_counts_by_group_agree(demo: Demo) -> None:
    """The public function agrees with the truth group by group."""
    published = {row["group_id"]: row["call_versions"] for row in demo.events if row["event"] == "group_published"}
    true: dict[str, dict[int, int]] = {}
    for group_id, calls in published.items():
        counts: Counter[int] = Counter()
        for call_id, _, _ in calls:
            for version, tokens in demo.result.truth[call_id]["versions"]:
                counts[version] += tokens
        true[group_id] = dict(sorted(counts.items()))
    assert true == recomputed_tokens_by_version(demo.events)


def test_the_reward_rises(demo: Demo) -> None:
    """The policy gradient works: the last steps earn more than twice what the first ones did."""
    rewards = [row["mean_reward"] for row in demo.events if row["event"] == "train_step"]
    assert sum(rewards[-3:]) > 2 * sum(rewards[:3])


def test_every_kind_of_event_happens_and_is_valid(demo: Demo) -> None:
    """All rows follow the vocabulary, and the job shows the events that one wants to see."""
    assert [] == [problem for row in demo.events for problem in validate_row(row)]
    seen = {row["event"] for row in demo.events}
    assert {
        "attempt_abandoned",
        "attempt_refused",
        "attempt_resumed",
        "checkpoint_restored",
        "group_discarded",
        "weight_sync",
    } <= seen


def test_sealed_siblings_are_kept(demo: Demo) -> None:
    """The restore keeps sealed results under their ids and continues half-done attempts under new ones."""
    dispatched = {row["attempt_id"]: row for row in demo.events if row["event"] == "attempt_dispatched"}
    resumed = [row for row in demo.events if row["event"] == "attempt_resumed"]
    assert resumed
    for row in resumed:
        if row["level"] == "sibling":
            assert row["tokens_kept"] > 0
            assert row["attempt_id"] in dispatched
        else:
            assert row["attempt_id"] not in dispatched
            assert row["previous_attempt_id"] in dispatched


def test_summary_adds_up(demo: Demo) -> None:
    """Every attempt of a real job ends in exactly one way."""
    summary = summarise(demo.events)
    summary.self_check()
    assert summary.attempts.interrupted > 0
    assert summary.attempts.open == 0


def test_restore_equals_what_the_server_generated_for_the_killed_controller(demo: Demo) -> None:
    """Tokens of every lost rollout: those of its calls on the server, exactly or at least; and they all add up."""
    generated: Counter[str] = Counter()
    for call_id, call in demo.result.truth.items():
        generated[call_id.rpartition(":")[0]] += sum(tokens for _, tokens in call["versions"])
    fold = RestoreFold()
    for row in demo.events:
        fold.add(row)
    report = fold.result()
    report.self_check()
    (stop,) = report.stops
    (followed,) = fold.follower.stops
    dispatched = {row["attempt_id"] for row in demo.events if row["event"] == "attempt_dispatched"}
    exact: Counter[Fate] = Counter()
    for loss in followed.losses:
        rollout = loss.rollout
        assert rollout.attempt_id in dispatched
        if rollout.exact:
            assert generated[rollout.attempt_id] == rollout.tokens
        assert generated[rollout.attempt_id] >= rollout.tokens
        exact[loss.fate_if(finished=True)] += generated[rollout.attempt_id]
    for fate, amount in stop.fates.items():
        if amount.tokens_exact:
            assert exact[fate] == amount.tokens
        assert exact[fate] >= amount.tokens
    assert stop.fates[Fate.REUSED].tokens_exact
    assert stop.fates[Fate.REUSED].rollouts
    assert stop.in_flight.rollouts
    assert 0 == stop.fates[Fate.UNKNOWN].rollouts


def test_every_rollout_is_in_one_account(demo: Demo) -> None:
    """The ledger closes, and what was trained is what the steps say."""
    waste = waste_report(demo.events)
    waste.self_check()
    trained_or_masked = sum(a.amount.rollouts for a in waste.accounts if a.name in {"trained", "masked"})
    surviving = step_ages(demo.events).steps
    groups = sum(step.groups for step in surviving)
    assert groups * DemoSettings().generations == trained_or_masked
    assert sum(step.tokens for step in surviving) == sum(a.amount.tokens for a in waste.accounts if a.name == "trained")


def test_a_folder_with_a_trace_is_refused(tmp_path: Path) -> None:
    """A second demo never appends to somebody's trace."""
    (tmp_path / "rollout_trace.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(DemoError, match=r"already there\. Choose another folder with --dir"):
        run_demo(tmp_path, DemoSettings(), lambda _: None)
