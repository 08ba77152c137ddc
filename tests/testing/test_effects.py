"""Each setting of the job and of its faults does what it says, seen in the rows and in the truth."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import mean

import pytest

from tests.testing.jobs import CALM, job, rows_of


def test_prompts_and_epochs() -> None:
    """Five prompts, three passes, two groups a step: 15 groups; the 15th has no partner, so 7 steps are trained."""
    simulation = job(prompts=5, epochs=3, groups_per_step=2, open_groups=4, steps=100)

    assert [(str(n % 5), n // 5) for n in range(15)] == [
        (row["prompt_id"], row["epoch"]) for row in rows_of(simulation, "group_reserved")
    ]
    assert 7 == len(simulation.truth.steps)
    assert "run_ended" == simulation.rows[-1]["event"]


def test_generations() -> None:
    """Each group says how many, and has an attempt for each."""
    simulation = job(generations=3)
    attempts = Counter(attempt.group_id for attempt in simulation.truth.attempts)

    assert {3} == {row["generations"] for row in rows_of(simulation, "group_reserved")}
    assert {3} == {attempts[group] for step in simulation.truth.steps for group in step.group_ids}


def test_groups_per_step_and_steps() -> None:
    """Seven steps of three groups, and the numbers of the versions that they update."""
    simulation = job(groups_per_step=3, steps=7)

    assert [(n, n - 1, 3) for n in range(1, 8)] == [
        (step.step, step.trained_version, len(step.group_ids)) for step in simulation.truth.steps
    ]


def test_open_groups() -> None:
    """Never more between reservation and the step that takes them, and at some time as many."""
    waiting, most = 0, 0
    for row in job(open_groups=9, groups_per_step=4).rows:
        waiting += {"group_reserved": 1, "group_discarded": -1, "train_step_started": -4}.get(row["event"], 0)
        most = max(most, waiting)

    assert 9 == most


def test_tokens_and_seconds() -> None:
    """The means over a thousand rollouts of one call are those asked for, within 10 %."""
    simulation = job(tokens=50.0, seconds=8.0, calls=1, refit_s=0.001, steps=60)
    sealed = [attempt for attempt in simulation.truth.attempts if attempt.outcome == "sealed"]

    assert len(sealed) >= 960
    assert pytest.approx(50, rel=0.1) == mean(attempt.tokens for attempt in sealed)
    assert pytest.approx(8, rel=0.1) == mean(attempt.seconds for attempt in sealed)


@pytest.mark.parametrize("most", [1, 3])
def test_calls(most: int) -> None:
    """Rollouts have one to this many calls."""
    calls: Counter[str] = Counter(
        call_id.partition(":")[0]
        for row in rows_of(job(calls=most), "group_published")
        for call_id, _, _ in row["call_versions"]
    )

    assert set(range(1, most + 1)) == set(calls.values())


@pytest.mark.parametrize(
    ("setting", "event"),
    [("train_s", "train_step"), ("refit_s", "weight_sync"), ("checkpoint_s", "checkpoint_published")],
)
def test_times(setting: str, event: str) -> None:
    """Each takes 30 % around the time asked for, as its row and its start row say."""
    rows = [row for row in job(CALM, checkpoint_every=1, **{setting: 40.0}).rows if row["event"].startswith(event[:10])]
    begins = [row["t"] for row in rows if row["event"].endswith("_started")]
    ends = [row for row in rows if row["event"] == event and row.get("calls") != []]

    assert len(ends) >= 2
    assert all(28 <= row["seconds"] <= 52 for row in ends)
    for begin, row in zip(begins, ends, strict=False):
        assert pytest.approx(row["seconds"], abs=1e-5) == row["t"] - begin


def test_load_s() -> None:
    """The first row says that the run began; the second, 70 to 130 s later, that it has loaded its weights."""
    began, loaded = job(load_s=100.0).rows[:2]

    assert ("run_started", "weight_sync", 0, 0) == (
        began["event"], loaded["event"], loaded["replaced_version"], loaded["new_version"],
    )  # fmt: skip
    assert 70 <= loaded["t"] - began["t"] <= 130


def test_refit_every() -> None:
    """Twelve steps and a refit after every third: from version 0 to 3, 6, 9 and 12."""
    refits = [
        row for row in rows_of(job(refit_every=3), "weight_sync") if row["replaced_version"] != row["new_version"]
    ]

    assert [(0, 3), (3, 6), (6, 9), (9, 12)] == [(row["replaced_version"], row["new_version"]) for row in refits]


def test_refits_list_the_running_calls() -> None:
    """Some had tokens, and some published call was cut: its group has tokens of two versions."""
    simulation = job()

    assert any(tokens for row in rows_of(simulation, "weight_sync") for _, tokens in row["calls"])
    assert any(len(row["tokens_by_version"]) > 1 for row in rows_of(simulation, "group_published"))


@pytest.mark.parametrize(("every", "steps"), [(1, list(range(1, 13))), (5, [5, 10]), (None, [])])
def test_checkpoint_every(every: int | None, steps: list[int]) -> None:
    """A checkpoint after each so many of twelve steps, with the groups that are open."""
    published = rows_of(job(checkpoint_every=every, checkpoint_s=0.1, train_s=20.0), "checkpoint_published")

    assert steps == [row["step"] for row in published]
    assert all(row["groups"] for row in published)


def test_refusal_rate() -> None:
    """All dispatches during a checkpoint are refused, and each attempt is dispatched again under its id."""
    refused = rows_of(job(refusal_rate=1, checkpoint_s=30.0), "attempt_refused")
    simulation = job(refusal_rate=1, checkpoint_s=30.0)
    dispatches = Counter(row["attempt_id"] for row in rows_of(simulation, "attempt_dispatched"))

    assert refused
    assert all(dispatches[row["attempt_id"]] > 1 for row in refused if row["t"] < simulation.rows[-1]["t"] - 30)
    assert [] == rows_of(job(refusal_rate=0, checkpoint_s=30.0), "attempt_refused")


def test_error_rate() -> None:
    """About 30 % of the attempts fail; the generation is dispatched again under a new id, with the next index."""
    simulation = job(error_rate=0.3, steps=40)
    outcomes = Counter(attempt.outcome for attempt in simulation.truth.attempts)
    errors = [row for row in rows_of(simulation, "attempt_abandoned") if row["reason"] == "server error"]
    indexes: dict[tuple[str, int], list[int]] = defaultdict(list)
    for attempt in simulation.truth.attempts:
        indexes[attempt.group_id, attempt.generation_index].append(attempt.attempt_index)

    assert pytest.approx(0.3, abs=0.05) == len(errors) / (len(errors) + outcomes["sealed"])
    assert all(list(range(len(own))) == own for own in indexes.values())
    assert 2 <= max(map(len, indexes.values()))


def test_give_up_after() -> None:
    """After two failures of a generation its group is discarded and its other open attempts are abandoned."""
    simulation = job(error_rate=0.4, give_up_after=2)
    failures: Counter[tuple[str, int]] = Counter()
    place = {a.attempt_id: (a.group_id, a.generation_index) for a in simulation.truth.attempts}
    for row in rows_of(simulation, "attempt_abandoned"):
        failures[place[row["attempt_id"]]] += row["reason"] == "server error"
    discarded = {row["group_id"] for row in rows_of(simulation, "group_discarded") if row["reason"] == "server error"}

    assert discarded
    assert discarded == {group for (group, _), count in failures.items() if count == 2}
    assert 2 == max(failures.values())
    assert "group discarded" in {row["reason"] for row in rows_of(simulation, "attempt_abandoned")}


def test_masked_rate() -> None:
    """Masked results are not published, have no reward, and a group of nothing else is discarded."""
    simulation = job(masked_rate=0.5, generations=2, steps=20)
    masked = {attempt.attempt_id for attempt in simulation.truth.attempts if attempt.masked}
    published = {
        call_id.partition(":")[0]
        for row in rows_of(simulation, "group_published")
        for call_id, _, _ in row["call_versions"]
    }
    reasons = Counter(row["reason"] for row in rows_of(simulation, "group_discarded"))

    assert masked
    assert set() == masked & published
    assert masked == {row["attempt_id"] for row in rows_of(simulation, "attempt_sealed") if "reward" not in row}
    assert reasons["no valid rollout"] > 0
    assert 0 == sum(attempt.masked for attempt in job().truth.attempts)


def test_staleness_limit() -> None:
    """No group that began more than one version ago is trained, and some are discarded for it."""
    simulation = job(staleness_limit=1, open_groups=20, steps=20)
    begun = {row["group_id"]: row["weight_version"] for row in rows_of(simulation, "group_reserved")}

    assert any(row["reason"] == "stale" for row in rows_of(simulation, "group_discarded"))
    assert {0, 1} == {
        step.trained_version - begun[group] for step in simulation.truth.steps for group in step.group_ids
    }
    assert all(row["reason"] == "run ended" for row in rows_of(job(open_groups=20), "group_discarded"))


def test_replacements() -> None:
    """Each group discarded for an error is followed by a spare prompt; stale ones are not."""
    simulation = job(masked_rate=0.5, generations=1, replacements=True, staleness_limit=3, steps=20)
    following = [
        next(after["prompt_id"] for after in simulation.rows[place:] if after["event"] == "group_reserved")
        for place, row in enumerate(simulation.rows)
        if row["event"] == "group_discarded" and row["reason"] == "no valid rollout"
    ]

    assert len(following) > 8
    assert [f"spare-{n % 8}" for n in range(len(following))] == following
    spares = [row for row in rows_of(simulation, "group_reserved") if row["prompt_id"].startswith("spare")]
    assert len(following) == len(spares)
    assert [n // 8 for n in range(len(spares))] == [row["epoch"] for row in spares]
    assert not any(row["prompt_id"].startswith("spare") for row in rows_of(job(masked_rate=0.5), "group_reserved"))
