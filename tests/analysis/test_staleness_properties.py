"""Random jobs against a model that follows every token: parts, histogram, and the sums over values of a field."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.by_field import ByFold
from rtrace_otel.analysis.age.split import AgeSplit
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.events import Row
from tests.analysis.staleness_rows import step_began
from tests.report.history import published, refit, restored, started, trace, trained

Token = tuple[int, int, int]
"""Its version, the version of its call's last token, and the version in force when its group was published."""


@dataclass(repr=False)
class Job:
    """A controller and its servers; a refit's row may come late, after calls that it paused were published.

    A call is its id and the version of each of its tokens.
    """

    chance: Random
    rows: list[Row] = field(default_factory=lambda: [started("r0", weight_version=0)])
    run: int = 0
    version: int = 0
    written: int = 0
    late: list[Row] = field(default_factory=list)
    step: int = 0
    running: dict[str, tuple[int, list[int]]] = field(default_factory=dict)
    ready: dict[str, list[Token]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    steps: dict[int, tuple[int, int, dict[str, list[Token]]]] = field(default_factory=dict)
    count: int = 0

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.rows))

    @property
    def name(self) -> str:
        return f"r{self.run}"

    def generate(self) -> None:
        self.count += 1
        self.running[f"call{self.count}"] = (self.version, [])
        for _, tokens in self.running.values():
            tokens += [self.version] * self.chance.choice((0, 1, 3))

    def refit(self) -> None:
        self.write_late()
        calls = [(name, len(tokens)) for name, (_, tokens) in self.running.items()]
        self.late.append(refit(self.name, self.version, self.version + 1, *calls))
        self.version += 1
        if self.chance.random() < 0.5:
            self.write_late()

    def write_late(self) -> None:
        self.rows += self.late
        self.late.clear()
        self.written = self.version

    def publish(self) -> None:
        names = [name for name in self.running if self.chance.random() < 0.6]
        calls = [(name, *self.running.pop(name)) for name in names]
        held = {version for _, _, tokens in calls for version in tokens}
        in_force = self.version if self.version in held else self.written
        self.count += 1
        group = f"group{self.count}"
        self.kinds[group] = self.chance.choice("xyz")
        named = [(name, begin, len(tokens)) for name, begin, tokens in calls]
        self.rows.append(published(self.name, group, None, *named) | {"kind": self.kinds[group]})
        self.ready[group] = [(version, tokens[-1], in_force) for _, _, tokens in calls for version in tokens]

    def train(self) -> None:
        groups = {group: tokens for group, tokens in self.ready.items() if self.chance.random() < 0.5}
        self.write_late()
        self.step += 1
        self.rows.append(step_began(self.name, self.step))
        start = self.version
        if self.chance.random() < 0.3:
            self.refit()
            self.write_late()
        self.rows.append(trained(self.name, self.step, self.version, *groups))
        self.steps[self.step] = (self.version, start, groups)

    def kill(self) -> None:
        self.write_late()
        self.run += 1
        self.step = self.chance.randint(max(self.step - 2, 0), self.step)
        self.running.clear()
        self.rows += [started(self.name), restored(self.name, self.step), refit(self.name, self.version, self.version)]


@st.composite
def jobs(draw: Any) -> Job:
    """A job that has run."""
    job = Job(Random(draw(st.integers(0, 2**32))))
    actions = (Job.generate, Job.generate, Job.refit, Job.publish, Job.train, Job.kill)
    for action in draw(st.lists(st.sampled_from(actions), min_size=15, max_size=60)):
        action(job)
    return job


def near(split: AgeSplit, *means: float) -> bool:
    """Whether the parts are these means."""
    return (split.in_call, split.in_group, split.in_queue, split.train_lag) == pytest.approx(means, abs=1e-9)


@settings(deadline=None)
@given(jobs())
def test_parts_and_histogram_equal_the_count_of_the_tokens(job: Job) -> None:
    """Each part is the mean over the list of tokens of the difference of two versions; so is the whole."""
    result = staleness(trace(*job.rows))
    result.self_check()

    assert sorted(job.steps) == [step.step for step in result.steps]
    for step in result.steps:
        version, start, groups = job.steps[step.step]
        tokens = [token for group in groups.values() for token in group]
        assert Counter(version - made for made, _, _ in tokens) == step.histogram
        if tokens:
            assert step.split is not None
            sums = [sum(last - made for made, last, _ in tokens), sum(there - last for _, last, there in tokens),
                    sum(start - there for _, _, there in tokens), (version - start) * len(tokens)]  # fmt: skip
            assert near(step.split, *(part / len(tokens) for part in sums))


@settings(deadline=None)
@given(jobs())
def test_the_values_of_a_field_share_out_the_tokens(job: Job) -> None:
    """Tokens and ages of each value are those of its groups; together they are all."""
    fold = ByFold("kind")
    result = staleness(trace(*job.rows), fold)
    by = fold.result()
    by.self_check(result.coverage.known)
    ages: dict[str, list[int]] = {}
    for version, _, groups in job.steps.values():
        for group, tokens in groups.items():
            ages.setdefault(job.kinds[group], []).extend(version - made for made, _, _ in tokens)

    assert {kind: len(found) for kind, found in ages.items()} == {value.value: value.tokens for value in by.values}
    for value in by.values:
        found = ages[value.value or ""]
        assert (sum(found) / len(found) if found else None) == pytest.approx(value.batch_age)
