"""Counts recomputed from the file agree with the truth, whatever died with which process."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.batch_age import age_of, recomputed_tokens_by_version, tokens_by_version
from rtrace_otel.analysis.age.refit_cuts import RefitCuts, rebuild_refit_cuts
from rtrace_otel.events import Row
from tests.analysis.rows import read_back, row

REFIT: Row = {"replaced_version": 3, "new_version": 4, "calls": [["c", 40]]}
PUBLICATION: Row = {"group_id": "g", "tokens_by_version": {"3": 100}, "call_versions": [["c", 3, 100]]}


def test_a_refit_row_that_comes_after_the_publication_still_cuts() -> None:
    """A call may end and publish between the end of a pause and the row about it; the cut is in the file."""
    rows = read_back([row(0, event="group_published", **PUBLICATION), row(1, event="weight_sync", **REFIT)])

    assert {3: 40, 4: 60} == rebuild_refit_cuts(rows).tokens_by_version([("c", 3, 100)])
    assert {"g": {3: 40, 4: 60}} == recomputed_tokens_by_version(rows)


def test_a_group_without_calls_keeps_its_published_counts() -> None:
    """Where the file has no calls there is nothing to split anew."""
    rows = read_back([row(0, event="group_published", group_id="g", tokens_by_version={"3": 100})])

    assert {"g": {3: 100}} == recomputed_tokens_by_version(rows)


def test_a_publication_that_is_retried_has_its_cuts_again() -> None:
    """The same calls published twice, or again by a later run, are split alike."""
    rows = read_back([
        row(0, event="weight_sync", **REFIT), row(1, event="group_published", **PUBLICATION),
        row(0, "b", "group_published", **PUBLICATION),
    ])  # fmt: skip

    assert {"g": {3: 40, 4: 60}} == recomputed_tokens_by_version(rows)


def test_calls_of_another_publication_do_not_count_twice() -> None:
    """A group that was redispatched has the calls of its last publication only."""
    again = PUBLICATION | {"call_versions": [["d", 4, 50]]}
    rows = read_back([
        row(0, event="weight_sync", **REFIT), row(1, event="group_published", **PUBLICATION),
        row(0, "b", "group_published", **again),
    ])  # fmt: skip

    assert {"g": {4: 50}} == recomputed_tokens_by_version(rows)


def test_odd_entries_of_calls_do_not_stop_the_analysis() -> None:
    """Entries that are no calls are passed over; further columns are ignored."""
    odd = PUBLICATION | {"call_versions": [["c", 3, 100, "shard-1"], ["c"], None, ["d", "3", 4]]}
    rows = read_back([row(0, event="weight_sync", **REFIT), row(1, event="group_published", **odd)])

    assert {"g": {3: 40, 4: 60}} == recomputed_tokens_by_version(rows)


class Controllers:
    """Controllers that are killed and restored, over calls whose tokens are recorded one by one."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.truth: dict[str, dict[int, int]] = {}
        self.version = 0
        self._cuts = RefitCuts()
        self._running: dict[str, tuple[int, list[int]]] = {}
        self._sealed: dict[str, tuple[int, list[int]]] = {}
        self._begun = 0

    def do(self, kind: str, number: int) -> None:
        """One thing that happens."""
        names = list(self._running)
        if kind == "begin":
            self._begun += 1
            self._running[f"c{self._begun}"] = (self.version, [])
        elif kind == "generate":
            for name in names[number % 2 :: 2]:
                self._running[name][1].extend([self.version] * number)
        elif kind == "seal" and names:
            name = names[number % len(names)]
            self._sealed[name] = self._running.pop(name)
        elif kind == "refit":
            calls: list[list[Any]] = [[name, len(made)] for name, (_, made) in self._running.items()]
            self._cuts.record(self.version, self.version + 1, calls)
            self._emit("weight_sync", replaced_version=self.version, new_version=self.version + 1, calls=calls)
            self.version += 1
        elif kind == "publish" and self._sealed:
            self._publish()
        elif kind == "kill":
            self._cuts, self._running = RefitCuts(), {}
            self._emit("weight_sync", replaced_version=self.version, new_version=self.version, calls=[])

    def _publish(self) -> None:
        group = f"g{len(self.truth)}"
        calls = [(name, begin, len(made)) for name, (begin, made) in self._sealed.items()]
        made_by = Counter(version for _, made in self._sealed.values() for version in made)
        self.truth[group] = dict(sorted(made_by.items()))
        counts = {str(version): tokens for version, tokens in self._cuts.tokens_by_version(calls).items()}
        self._emit("group_published", group_id=group, tokens_by_version=counts, call_versions=list(map(list, calls)))
        self._sealed = {}

    def _emit(self, event: str, **fields: Any) -> None:
        self.rows.append(row(len(self.rows), event=event, **fields))


KINDS = st.sampled_from(["begin", "begin", "generate", "generate", "generate", "seal", "refit", "publish", "kill"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(KINDS, st.integers(0, 20)), max_size=60))
def test_recomputed_counts_are_the_truth_and_published_ones_never_newer(history: list[tuple[str, int]]) -> None:
    """Kills cost a controller its cuts, so its ages are too old; those from the file are exact."""
    job = Controllers()
    for kind, number in history:
        job.do(kind, number)
    rows = read_back(job.rows)
    recomputed, published = recomputed_tokens_by_version(rows), tokens_by_version(rows)

    assert job.truth == recomputed
    for group, counts in job.truth.items():
        logged, true = age_of(published[group], job.version), age_of(counts, job.version)
        assert (logged is None) is (true is None)
        assert logged is None or true is None or logged >= true - 1e-9
        if not any(kind == "kill" for kind, _ in history):
            assert counts == published[group]
