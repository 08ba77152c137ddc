"""The registry of what is compared: each metric with its unit, its better direction, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rtrace_otel.analysis.compare import readings as read
from rtrace_otel.analysis.compare.measure import Measures
from rtrace_otel.analysis.compare.values import ONE_RUN, Value, missing

Better: TypeAlias = Literal["lower", "higher"]
"""Which of two values is better."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a file that can be compared with that of another.

    Attributes:
        name: Its name, in options and in JSON.
        title: What it is, in a few words.
        unit: Its unit; ``share`` is a number from 0 to 1.
        better: Which direction is better; ``None`` if neither is.
        read: Its value from the results of the analyses.
        of_stops: Whether it tells what stops took, which the rows of one run do not show.
    """

    name: str
    title: str
    unit: str
    better: Better | None
    read: Callable[[Measures], Value]
    of_stops: bool = False

    def value(self, measures: Measures) -> Value:
        """Its value on one side of a comparison."""
        return missing(ONE_RUN) if self.of_stops and measures.run is not None else self.read(measures)


def _of_stops(name: str, title: str, unit: str, reading: Callable[[Measures], Value]) -> Metric:
    return Metric(name, title, unit, "lower", reading, of_stops=True)


METRICS: Final = (
    Metric("lasted_s", "first row to last row", "s", None, read.lasted_s),
    Metric("steps_trained", "training steps", "steps", None, read.steps_trained),
    Metric("trained_tokens", "tokens trained on", "tokens", None, read.trained_tokens),
    Metric("tokens_per_s", "trained tokens per second", "tokens/s", "higher", read.tokens_per_s),
    Metric("batch_age", "mean age of trained tokens", "versions", "lower", read.batch_age),
    Metric("batch_age_p95", "age that 95 % of them do not exceed", "versions", "lower", read.batch_age_p95),
    Metric("trainer_waiting_share", "trainer waiting, of the runs' time", "share", "lower", read.trainer_waiting_share),
    Metric("rollouts", "rollouts begun or kept", "rollouts", None, read.rollouts),
    Metric("attempt_seconds", "time that attempts ran, added up", "attempt-seconds", None, read.attempt_seconds),
    _of_stops("stops", "stops that a run went on from", "stops", read.stops),
    _of_stops("dead_s", "time without a run", "s", read.dead_s),
    _of_stops("in_flight_at_stops", "attempts open at stops", "rollouts", read.in_flight_at_stops),
    _of_stops("lost_rollouts", "rollouts that stops cost", "rollouts", read.lost_rollouts),
    _of_stops("lost_tokens", "tokens that stops cost", "tokens", read.lost_tokens),
    _of_stops("lost_tokens_share", "the same, of all tokens", "share", read.lost_tokens_share),
    _of_stops("never_came_back", "rollouts never dispatched again", "rollouts", read.never_came_back),
    _of_stops("steps_trained_again", "steps trained again", "steps", read.steps_trained_again),
    Metric("abandoned_tokens", "tokens of abandoned attempts", "tokens", "lower", read.abandoned_tokens),
    Metric("discarded_tokens", "tokens of discarded groups", "tokens", "lower", read.discarded_tokens),
    Metric("masked_tokens", "tokens trained without effect", "tokens", "lower", read.masked_tokens),
    _of_stops("wasted_share", "wasted tokens, of all tokens", "share", read.wasted_share),
    Metric("refit_s", "time in refits", "s", "lower", read.refit_s),
    Metric("checkpoint_s", "time of checkpoints", "s", "lower", read.checkpoint_s),
    Metric("refusals", "dispatches refused", "dispatches", "lower", read.refusals),
    Metric("rows_missing", "rows missing in the file", "rows", "lower", read.rows_missing),
)
"""In the order of the table."""

METRICS_BY_NAME: Final[Mapping[str, Metric]] = {metric.name: metric for metric in METRICS}
