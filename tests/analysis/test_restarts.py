"""Batch age over stops and restores: the worked cases, written by a recorder for each run and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.analysis.age.batch_age import (
    age_of,
    batch_age_by_step,
    recomputed_tokens_by_version,
    tokens_by_version,
)
from rtrace_otel.analysis.age.refit_cuts import RefitCuts, rebuild_refit_cuts
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from rtrace_otel.record.trace import RolloutTrace
from tests.analysis.rows import lines, near, row


class Job:
    """A trace file that one run after the other appends to; a killed run leaves no end."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "rollout_trace.jsonl"

    def run(self, name: str, *events: tuple[str, dict[str, Any]], killed: bool = True) -> None:
        """Record a run."""
        with RolloutTrace(self.path, run=name) as trace:
            for event, fields in events:
                getattr(trace, event)(**fields)
        if killed:
            whole = self.path.read_bytes().splitlines(keepends=True)
            self.path.write_bytes(b"".join(whole[:-1]))

    def rows(self) -> list[Row]:
        """What a reader makes of it."""
        with read_events(self.path) as reader:
            rows = list(reader)
        assert reader.report.intact
        return rows

    def ages(self) -> dict[int, float]:
        """Batch age by step."""
        return batch_age_by_step(self.rows())


def publish(group_id: str, counts: dict[int, int] | None, calls: list[list[Any]] | None = None) -> tuple[str, Row]:
    """A publication."""
    return "group_published", {"group_id": group_id, "tokens_by_version": counts, "call_versions": calls}


def train(step: int, trained_version: int, *group_ids: str) -> tuple[str, Row]:
    """A training step."""
    return "train_step", {"step": step, "trained_version": trained_version, "group_ids": list(group_ids)}


def restore(step: int) -> tuple[str, Row]:
    """A restore."""
    return "checkpoint_restored", {"checkpoint_id": f"step_{step}", "step": step}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """An empty trace file."""
    return Job(tmp_path)


def test_r1_published_by_one_run_and_trained_by_the_next(job: Job) -> None:
    """A group keeps its id through a restore, and its tokens keep their versions: 7 - 3900 / 600 = 0.5."""
    job.run("a", publish("g", {6: 300, 7: 100}), ("checkpoint_published", {"checkpoint_id": "step_7", "step": 7}))
    job.run("b", restore(7), publish("h", {7: 200}), train(8, 7, "g", "h"), killed=False)

    assert {8: 0.5} == job.ages()


def test_r2_a_step_trained_twice_keeps_the_later_runs_value(job: Job) -> None:
    """The first run's step 8 (0.5) was lost with it; the second trained it on other groups: 0.9667."""
    job.run("a", publish("g", {6: 300, 7: 100}), publish("h", {7: 200}), train(8, 7, "g", "h"))
    first = job.ages()
    job.run("b", restore(7), publish("i", {5: 80, 6: 120}), train(8, 7, "g", "i"), killed=False)

    assert ({8: 0.5}, {8: near(0.9667, 5e-5)}) == (first, job.ages())


def test_r2_later_means_later_in_the_file(tmp_path: Path) -> None:
    """Clocks of two hosts may differ: the run that appended last counts, whatever its time says."""
    a = row(0, "a", "group_published", group_id="g", tokens_by_version={"6": 10})
    rows = [
        a | {"t": 2000.0}, row(1, "a", "train_step", step=8, trained_version=7, group_ids=["g"]) | {"t": 2001.0},
        row(0, "b", "group_published", group_id="h", tokens_by_version={"7": 10}) | {"t": 1000.0},
        row(1, "b", "train_step", step=8, trained_version=7, group_ids=["h"]) | {"t": 1001.0},
    ]  # fmt: skip
    path = tmp_path / "rollout_trace.jsonl"
    path.write_bytes(lines(*rows))

    assert {8: 0.0} == batch_age_by_step(read_events(path))


def test_r3_each_step_counts_the_publication_that_precedes_it(job: Job) -> None:
    """A group redispatched and published anew does not change the age of the step that trained it before the kill."""
    job.run("a", publish("g", {4: 100}), train(5, 4, "g"))
    job.run("b", restore(5), publish("g", {4: 60, 5: 60}), train(6, 5, "g"), killed=False)

    assert {5: 0.0, 6: 0.5} == job.ages()
    assert {"g": {4: 60, 5: 60}} == tokens_by_version(job.rows())


def test_r4_cuts_that_died_with_the_process_are_in_the_file(job: Job) -> None:
    """A sealed sibling restored after a kill is counted 2.0 by the controller; from the refit rows it is 1.333."""
    cuts_a, cuts_b = RefitCuts(), RefitCuts()
    cuts_a.record(4, 5, [["c", 100]])
    calls = [["c", 4, 300]]
    published = cuts_b.tokens_by_version([("c", 4, 300)])
    job.run("a", ("weight_sync", {"replaced_version": 4, "new_version": 5, "calls": [["c", 100]]}))
    job.run(
        "b", restore(5), ("weight_sync", {"replaced_version": 5, "new_version": 5, "calls": []}),
        publish("g", published, calls), train(7, 6, "g"), killed=False,
    )  # fmt: skip
    rows = job.rows()
    recomputed = recomputed_tokens_by_version(rows)

    assert ({"g": {4: 300}}, {7: 2.0}) == (tokens_by_version(rows), batch_age_by_step(rows))
    assert {"g": {4: 100, 5: 200}} == recomputed == {"g": cuts_a.tokens_by_version([("c", 4, 300)])}
    assert near(4 / 3) == age_of(recomputed["g"], 6)
    assert recomputed["g"] == rebuild_refit_cuts(rows).tokens_by_version([("c", 4, 300)])


def test_r4_without_a_kill_both_values_agree(job: Job) -> None:
    """A process that kept its cuts published what the file gives again."""
    cuts = RefitCuts()
    cuts.record(4, 5, [["c", 100], ["d", 0]])
    calls = [["c", 4, 300], ["d", 4, 50]]
    job.run(
        "a", ("weight_sync", {"replaced_version": 4, "new_version": 5, "calls": [["c", 100], ["d", 0]]}),
        publish("g", cuts.tokens_by_version([("c", 4, 300), ("d", 4, 50)]), calls), killed=False,
    )  # fmt: skip
    rows = job.rows()

    assert {"g": {4: 100, 5: 250}} == tokens_by_version(rows) == recomputed_tokens_by_version(rows)


def test_r5_steps_of_an_abandoned_lineage_stay(job: Job) -> None:
    """Steps that the second run did not reach keep the first run's values, as documented."""
    job.run("a", publish("g", {4: 10}), *(train(step, step - 1, "g") for step in (5, 6, 7, 8)))
    job.run("b", restore(4), publish("h", {4: 10}), publish("i", {5: 10}), train(5, 4, "h"), train(6, 5, "i"))

    assert {5: 0.0, 6: 0.0, 7: 2.0, 8: 3.0} == job.ages()


def test_r6_a_step_trained_again_without_token_data_has_none(job: Job) -> None:
    """The first run's value is not that of the batch which the second run trained."""
    job.run("a", publish("g", {6: 10}), train(8, 7, "g"), train(9, 8, "g"))
    job.run("b", restore(7), publish("h", None), train(8, 7, "h"), killed=False)

    assert {9: 2.0} == job.ages()


def test_r6_a_group_published_again_without_token_data_has_none(job: Job) -> None:
    """The first run's counts are not those of the publication which the second run trained."""
    job.run("a", publish("g", {6: 10}), train(8, 7, "g"))
    job.run("b", restore(7), publish("g", None), train(8, 7, "g"), killed=False)

    assert {} == job.ages()


def test_r6_a_step_trained_again_without_a_version_has_no_age(job: Job) -> None:
    """The later run's value counts, also where it is none: the row lacks what an age needs."""
    job.run("a", publish("g", {6: 10}), train(8, 7, "g"))
    job.run("b", restore(7), ("emit", {"event": "train_step", "step": 8, "group_ids": ["g"]}), killed=False)

    assert {} == job.ages()


def test_a_controller_without_cuts_of_its_own_has_them_from_the_file(job: Job) -> None:
    """Counts need not be published at all: calls and refits are enough."""
    job.run(
        "a", ("weight_sync", {"replaced_version": 0, "new_version": 1, "calls": [["c", 40]]}),
        publish("g", None, [["c", 0, 100]]), killed=False,
    )  # fmt: skip

    assert ({}, {"g": {0: 40, 1: 60}}) == (tokens_by_version(job.rows()), recomputed_tokens_by_version(job.rows()))


def test_the_file_holds_what_the_cases_say(job: Job) -> None:
    """The rows are JSON with string versions on disk and int versions once read."""
    job.run("a", publish("g", {6: 300}), killed=False)
    on_disk = [json.loads(line) for line in job.path.read_text(encoding="utf-8").splitlines()]

    assert ({"6": 300}, {6: 300}) == (on_disk[1]["tokens_by_version"], job.rows()[1]["tokens_by_version"])
