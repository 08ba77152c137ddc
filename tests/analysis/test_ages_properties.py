"""Random jobs with kills and restores, against a model that follows every single token."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.ages import DifferenceKind, StepAge, step_ages
from rtrace_otel.analysis.age.batch_age import batch_age_by_step, recomputed_tokens_by_version
from rtrace_otel.events import Row
from tests.report.history import event, published, refit, trace, trained


@dataclass
class Call:
    """A call, token by token: the version that really made each, and the one that the controller believes."""

    begin: int
    true: list[int] = field(default_factory=list)
    believed: list[int] = field(default_factory=list)
    installed: int = 0
    known: int = 0


@dataclass
class Trained:
    """What a step trained on, at the moment when it did."""

    run: str
    version: int
    true: list[int]
    believed: list[int]
    in_cut_calls: int
    calls_off: int
    groups: int
    groups_with_tokens: int
    times: int


@dataclass(repr=False)
class Job:
    """A controller beside an inference server that survives it, driven by drawn choices.

    A call that ended keeps its tokens through a kill; the controller forgets where it was cut.
    """

    chance: Random
    rows: list[Row] = field(default_factory=list)
    run: int = 0
    version: int = 0
    step: int = 0
    running: dict[str, Call] = field(default_factory=dict)
    finished: dict[str, Call] = field(default_factory=dict)
    ready: dict[str, list[Call]] = field(default_factory=dict)
    steps: dict[int, Trained] = field(default_factory=dict)
    count: int = 0

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.rows))

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def begin(self) -> None:
        for _ in range(3):
            self.running[self.name("call")] = Call(self.version, installed=self.version, known=self.version)

    def generate(self) -> None:
        for call in self.running.values():
            tokens = self.chance.choice((0, 1, 2, 5))
            call.true += [call.installed] * tokens
            call.believed += [call.known] * tokens

    def refit(self) -> None:
        self.rows.append(
            refit(f"r{self.run}", self.version, self.version + 1, *((n, len(c.true)) for n, c in self.running.items()))
        )
        self.version += 1
        for call in self.running.values():
            call.installed = call.known = self.version

    def finish(self) -> None:
        for name in list(self.running):
            if self.chance.random() < 0.5:
                self.finished[name] = self.running.pop(name)

    def publish(self) -> None:
        group, calls = self.name("group"), dict(self.finished)
        counts = Counter(version for call in calls.values() for version in call.believed)
        named = [(name, call.begin, len(call.true)) for name, call in calls.items()]
        self.rows.append(published(f"r{self.run}", group, counts, *named))
        self.ready[group] = list(calls.values())
        self.finished.clear()

    def train(self) -> None:
        groups = [group for group in self.ready if self.chance.random() < 0.5]
        calls = [call for group in groups for call in self.ready[group]]
        believed = [version for call in calls for version in call.believed]
        logged = self.version - sum(believed) / len(believed) if believed else None
        self.step += 1
        self.rows.append(trained(f"r{self.run}", self.step, self.version, *groups, logged=logged))
        before = self.steps.get(self.step)
        self.steps[self.step] = Trained(
            run=f"r{self.run}",
            version=self.version,
            true=[version for call in calls for version in call.true],
            believed=believed,
            in_cut_calls=sum(len(call.true) for call in calls if len(set(call.true)) > 1),
            calls_off=sum(call.true != call.believed for call in calls),
            groups=len(groups),
            groups_with_tokens=sum(any(call.true for call in self.ready[group]) for group in groups),
            times=before.times + 1 if before else 1,
        )

    def kill(self) -> None:
        self.rows.append(event(f"r{self.run + 1}", "checkpoint_restored", checkpoint_id="c", step=self.step))
        self.run += 1
        self.step = self.chance.randint(max(self.step - 2, 0), self.step)
        self.running.clear()
        for call in self.finished.values():
            call.believed = [call.begin] * len(call.true)

    def work(self) -> None:
        self.begin()
        self.generate()


@st.composite
def jobs(draw: Any) -> Job:
    """A job that has run."""
    job = Job(Random(draw(st.integers(0, 2**32))))
    actions = (Job.work, Job.refit, Job.generate, Job.finish, Job.publish, Job.train, Job.kill)
    for action in draw(st.lists(st.sampled_from(actions), min_size=20, max_size=60)):
        action(job)
    return job


def _mean_age(trained: Trained, versions: list[int]) -> float | None:
    return trained.version - sum(versions) / len(versions) if versions else None


def _quantile(trained: Trained, percent: int) -> int | None:
    ages = sorted(trained.version - version for version in trained.true)
    return ages[-(-percent * len(ages) // 100) - 1] if ages else None


def _expected(number: int, trained: Trained) -> StepAge:
    tokens = len(trained.true)
    return StepAge(
        step=number,
        run=trained.run,
        trained_version=trained.version,
        logged=_mean_age(trained, trained.believed),
        published=_mean_age(trained, trained.believed),
        recomputed=_mean_age(trained, trained.true),
        p50=_quantile(trained, 50),
        p95=_quantile(trained, 95),
        max=_quantile(trained, 100),
        tokens=tokens,
        cut_share=trained.in_cut_calls / tokens if tokens else None,
        groups=trained.groups,
        groups_with_tokens=trained.groups_with_tokens,
        times_trained=trained.times,
    )


@settings(deadline=None)
@given(jobs())
def test_every_step_equals_the_count_of_its_tokens(job: Job) -> None:
    """All columns follow from the list of tokens: means, quantiles by sorting, shares, and what was believed."""
    report = step_ages(trace(*job.rows))
    expected = [_expected(number, job.steps[number]) for number in sorted(job.steps)]

    assert expected == list(report.steps)
    assert sum(step.tokens for step in expected) == report.tokens


@settings(deadline=None)
@given(jobs())
def test_every_difference_is_told_with_its_reason(job: Job) -> None:
    """Only cuts that died with a controller make values differ here: steps, amounts and calls are exact."""
    expected: dict[str, list[tuple[int, float, int]]] = {}
    for number, step in sorted(job.steps.items()):
        believed, true = _mean_age(step, step.believed), _mean_age(step, step.true)
        if believed is not None and true is not None and believed != true:
            expected.setdefault(step.run, []).append((number, believed - true, step.calls_off))

    found = step_ages(trace(*job.rows)).differences
    assert {DifferenceKind.CUTS_LOST_IN_RESTORE} >= {difference.kind for difference in found}
    assert {
        run: (tuple(n for n, _, _ in of), min(d for _, d, _ in of), max(d for _, d, _ in of), sum(c for _, _, c in of))
        for run, of in expected.items()
    } == {d.run: (d.steps, d.smallest, d.largest, d.calls) for d in found}


@settings(deadline=None)
@given(jobs())
def test_the_report_and_the_functions_agree(job: Job) -> None:
    """``step_ages`` shows what ``batch_age_by_step`` and ``recomputed_tokens_by_version`` give."""
    rows = trace(*job.rows)
    report = step_ages(rows)

    assert batch_age_by_step(rows) == {step.step: step.published for step in report.steps if step.published is not None}
    counts = recomputed_tokens_by_version(rows)
    last = {row["step"]: row for row in rows if row["event"] == "train_step"}
    totals = {step: sum(sum(counts[group].values()) for group in row["group_ids"]) for step, row in last.items()}
    assert totals == {step.step: step.tokens for step in report.steps}
