"""Staleness as other frameworks define it, as far as a trace can answer.

Each definition is a difference of two clocks, averaged in its own way. Sources: the frameworks' own code and
documentation, by the names of their metrics. Where a trace lacks what a definition needs, ``approximation`` says what
stands in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.age.batch_age import age_of
from rtrace_otel.analysis.age.trained_groups import TrainedGroup


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What the definitions ask of a group; what is unknown is ``None``.

    Attributes:
        trained: Its tokens and calls.
        reserved_version: Version in force when it was admitted, else reserved.
        dispatched_version: Version in force when its first attempt was dispatched.
        scheduled_step: Step under way when it was reserved.
        episodes: Version at the begin of each attempt that was sealed and not masked; ``None`` if none was sealed.
    """

    trained: TrainedGroup | None
    reserved_version: int | None
    dispatched_version: int | None
    scheduled_step: int | None
    episodes: Sequence[int | None] | None


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What the definitions ask of a step.

    Attributes:
        step: Step number.
        trained_version: Version that it updates.
        counts: Its tokens by version.
        groups: Its groups.
        version_at_start: Version in force when it began.
        version_at_end: Version in force when it ended.
        iterations: The step that first updated each version.
    """

    step: int
    trained_version: int
    counts: Mapping[int, int]
    groups: Sequence[GroupFacts]
    version_at_start: int | None
    version_at_end: int | None
    iterations: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Definition:
    """One way to measure staleness.

    Attributes:
        name: Its name here.
        framework: Whose definition it is.
        metric: What the framework calls it.
        later_clock: The clock from which is subtracted.
        earlier_clock: The clock that is subtracted.
        unit: Unit of the difference.
        weight: What is averaged, and how.
        approximation: What the trace puts in the place of what it does not have.
        value: The staleness of a step, or ``None`` if the trace cannot tell it.
    """

    name: str
    framework: str
    metric: str
    later_clock: str
    earlier_clock: str
    unit: str
    weight: str
    approximation: str
    value: Callable[[StepFacts], float | None]


def value_of(definition: Definition, facts: StepFacts) -> float | None:
    """A step's staleness under a definition; ``None`` if the trace cannot tell it."""
    try:
        return definition.value(facts)
    except OverflowError:  # no such version: a number with hundreds of digits
        return None


def _mean(values: Iterable[float | None]) -> float | None:
    """The plain mean; ``None`` if there is no value or one is unknown: the mean of the others is another number."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return sum(known) / len(known) if known else None


def _less(later: int | None, earlier: int | None) -> int | None:
    return None if later is None or earlier is None else later - earlier


def _nemo(facts: StepFacts) -> float | None:
    return age_of(facts.counts, facts.trained_version)


def _nemo_legacy(facts: StepFacts) -> float | None:
    return _mean(_less(facts.trained_version, group.reserved_version) for group in facts.groups)


def _areal(facts: StepFacts) -> float | None:
    found = [group.trained.best for group in facts.groups if group.trained is not None]
    return _mean(age_of(counts, facts.trained_version) for counts in found if any(counts.values()))


def _verl(facts: StepFacts) -> float | None:
    return _over_calls(facts, lambda group: group.newest_sum)


def _verl_worst(facts: StepFacts) -> float | None:
    return _over_calls(facts, lambda group: group.oldest_sum)


def _over_calls(facts: StepFacts, version_sum: Callable[[TrainedGroup], int]) -> float | None:
    calls = versions = 0
    for group in facts.groups:
        if group.trained is None or group.trained.recomputed is None or group.trained.unknown_tokens:
            return None
        calls += group.trained.calls
        versions += version_sum(group.trained)
    return facts.trained_version - versions / calls if calls else None


def _prime_rl(facts: StepFacts) -> float | None:
    begun = _begun(facts)
    return None if begun is None else _mean(facts.trained_version - version for version in begun)


def _begun(facts: StepFacts) -> list[int] | None:
    """Version at the begin of each episode of a step; ``None`` if one is unknown."""
    begun: list[int] = []
    for group in facts.groups:
        if group.episodes is None:
            return None
        for version in group.episodes:
            if version is None:
                return None
            begun.append(version)
    return begun


def _skyrl(facts: StepFacts) -> float | None:
    return _mean(_less(facts.step, group.scheduled_step) for group in facts.groups)


def _miles(facts: StepFacts) -> float | None:
    return _mean(_less(facts.version_at_start, _oldest(group.trained)) for group in facts.groups)


def _oldest(group: TrainedGroup | None) -> int | None:
    if group is None or group.unknown_tokens:
        return None
    return min((version for version, tokens in group.best.items() if tokens), default=None)


def _trl(facts: StepFacts) -> float | None:
    return _mean(_less(facts.trained_version, group.dispatched_version) for group in facts.groups)


def _pipelinerl(facts: StepFacts) -> float | None:
    begun = _begun(facts)
    return float(facts.version_at_end - min(begun)) if begun and facts.version_at_end is not None else None


def _megatron(facts: StepFacts) -> float | None:
    tokens = iterations = 0
    for version, count in facts.counts.items():
        if count and version not in facts.iterations:
            return None
        tokens += count
        iterations += facts.iterations.get(version, 0) * count
    return facts.step - iterations / tokens if tokens else None


_TRAINED: Final = "trained version"
_EXACT: Final = "None."

DEFINITIONS: Final = (
    Definition(
        "nemo-batch-age", "NeMo RL", "batch_age", _TRAINED, "version of the token", "versions", "mean over tokens",
        _EXACT, _nemo,
    ),
    Definition(
        "nemo-legacy", "NeMo RL (legacy async)", "avg_trajectory_age", _TRAINED, "version at admission of the group",
        "versions", "mean over groups",
        "Versions stand for steps. Where the group was not admitted with a version, its reservation counts.",
        _nemo_legacy,
    ),
    Definition(
        "areal", "AReaL", "version_stats/sample_staleness_theta_avg", _TRAINED, "version of the token", "versions",
        "mean over tokens, then micro-batches",
        "Each group is taken as one micro-batch, and no token is left out by a cap on importance weights.", _areal,
    ),
    Definition(
        "verl", "verl", "training/off_policy/trajectory_staleness/mean", _TRAINED, "newest version of the trajectory",
        "versions", "mean over trajectories",
        "Each model call is taken as one trajectory, which is exact where a rollout makes one call. Versions stand for "
        "steps.", _verl,
    ),
    Definition(
        "verl-worst", "verl", "training/off_policy/trajectory_staleness_worst/mean", _TRAINED,
        "oldest version of the trajectory", "versions", "mean over trajectories",
        "Each model call is taken as one trajectory, which is exact where a rollout makes one call. Versions stand for "
        "steps.", _verl_worst,
    ),
    Definition(
        "prime-rl", "prime-rl", "off_policy/mean", _TRAINED, "version at the begin of the episode", "versions",
        "mean over episodes",
        "An episode is an attempt that was sealed and not masked; it began when it was last dispatched. Versions stand "
        "for steps.", _prime_rl,
    ),
    Definition(
        "skyrl", "SkyRL", "async/staleness_mean", "step", "step at reservation of the group", "steps",
        "mean over groups",
        "The step at reservation is the one after the last that the run had trained or restored, else its first.",
        _skyrl,
    ),
    Definition(
        "miles", "miles", "rollout/fully_async/avg_staleness", "version at the start of the step",
        "oldest version of the group", "versions", "mean over groups",
        "The start of the step stands for the moment when the trainer took the group.", _miles,
    ),
    Definition(
        "trl", "TRL AsyncGRPO", "filter on max_staleness", _TRAINED, "version at the group's first dispatch",
        "versions", "mean over groups",
        "TRL compares each group with a limit and logs no metric; this is the mean of what it compares.", _trl,
    ),
    Definition(
        "pipelinerl", "PipelineRL", "stats/lag", "version at the end of the step", "oldest version at a dispatch",
        "versions", "largest of the step",
        "PipelineRL counts samples, this counts versions. A rollout is an attempt that was sealed and not masked; the "
        "window is the step.", _pipelinerl,
    ),
    Definition(
        "megatron", "Megatron-LM RL", "policy_staleness", "step", "first step of the token's version", "steps",
        "mean over tokens", "The iteration of a token is the first step in the file that updated its version.",
        _megatron,
    ),
)  # fmt: skip
"""Every definition; the first is the default."""

DEFINITIONS_BY_NAME: Final = {definition.name: definition for definition in DEFINITIONS}
