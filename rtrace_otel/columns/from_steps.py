"""The tables ``steps`` and ``token_ages``."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from rtrace_otel.analysis.age.ages import TrainedStep
from rtrace_otel.analysis.age.staleness import StalenessFold, StepDetail
from rtrace_otel.analysis.checked import integer, time_of
from rtrace_otel.analysis.step_results import StepRecord
from rtrace_otel.analysis.steps import StepsFold
from rtrace_otel.columns.source import Sink
from rtrace_otel.columns.types import Record
from rtrace_otel.events import Row

_AGE: Final = {
    "trained_version": "trained_version",
    "best": "batch_age",
    "logged": "age_logged",
    "published": "age_published",
    "recomputed": "age_recomputed",
    "p50": "age_p50",
    "p95": "age_p95",
    "max": "age_max",
    "tokens": "age_tokens",
    "cut_share": "cut_share",
    "groups_with_tokens": "groups_with_tokens",
}
_SPLIT: Final = {
    "in_call": "age_in_call",
    "in_group": "age_in_group",
    "in_queue": "age_in_queue",
    "train_lag": "age_train_lag",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Training:
    """What one ``train_step`` row gives: its staleness, kept until the end of the file."""

    run: str
    step: int
    age: Mapping[str, Any]
    trained_version: int | None
    counts: Mapping[int, int]
    is_again: bool


class _Watcher:
    """Holds the step that the row just read has trained."""

    def __init__(self) -> None:
        self.step: TrainedStep | None = None

    def add(self, row: Row) -> None:  # noqa: ARG002 - the protocol's signature
        """Forget the step of the row before."""
        self.step = None

    def trained(self, step: TrainedStep) -> None:
        """Hold it."""
        self.step = step


class StepRecords:
    """Gives the steps at the end of the file; what is kept of each does not grow with its groups.

    Args:
        steps: Follows the steps of the same pass; it must have seen a row before this does.
    """

    def __init__(self, sink: Sink, steps: StepsFold) -> None:
        """Give records to a sink."""
        self._sink = sink
        self._steps = steps
        self._watcher = _Watcher()
        self._staleness = StalenessFold(self._watcher)
        self._rows: dict[tuple[str, int | None], deque[_Training | None]] = {}
        self._trainings: list[_Training] = []
        self._latest: dict[int, _Training] = {}

    def add(self, row: Row, line: int) -> None:  # noqa: ARG002 - the protocol's signature
        """Take the next row of the file."""
        self._staleness.add(row)
        if row["event"] == "train_step":
            training = self._training(self._watcher.step)
            if time_of(row) is not None or isinstance(row.get("group_ids"), (list, tuple)):
                self._rows.setdefault((row["run"], integer(row.get("step"))), deque()).append(training)

    def finish(self) -> None:
        """Give all steps, and the ages of their tokens."""
        details = {detail.step: detail for detail in self._staleness.result().steps}
        for record in self._steps.result().steps:
            is_finished = record.ended is not None or record.groups is not None
            rows = self._rows.get((record.run, record.step)) if is_finished else None
            self._sink("steps", self._record(record, is_finished, rows.popleft() if rows else None, details))
        for training in self._trainings:
            for version in sorted(training.counts):
                self._sink("token_ages", self._token_age(training, version))

    def _training(self, step: TrainedStep | None) -> _Training | None:
        if step is None:
            return None
        age, before = step.age, self._latest.get(step.age.step)
        training = _Training(
            run=age.run,
            step=age.step,
            age={column: getattr(age, name) for name, column in _AGE.items()},
            trained_version=age.trained_version,
            counts={version: tokens for version, tokens in step.counts.items() if tokens},
            is_again=before is not None and before.run != age.run,
        )
        self._latest[age.step] = training
        self._trainings.append(training)
        return training

    def _is_latest(self, training: _Training) -> bool:
        return self._latest[training.step] is training

    def _record(
        self, step: StepRecord, is_finished: bool, training: _Training | None, details: Mapping[int, StepDetail]
    ) -> Record:
        record: dict[str, Any] = asdict(step) | {
            "is_finished": is_finished,
            "cycle_s": step.cycle_s,
            "tokens_per_s": step.tokens_per_s,
            "verdict": step.verdict,
        }
        if training is not None:
            is_latest = self._is_latest(training)
            record |= {**training.age, "is_again": training.is_again, "is_latest": is_latest}
            record |= _split(details[training.step]) if is_latest else {}
        return record

    def _token_age(self, training: _Training, version: int) -> Record:
        trained = training.trained_version
        return {
            "run": training.run,
            "step": training.step,
            "is_latest": self._is_latest(training),
            "trained_version": trained,
            "version": version,
            "age": None if trained is None else trained - version,
            "tokens": training.counts[version],
        }


def _split(detail: StepDetail) -> dict[str, Any]:
    missing = {"split_missing": detail.split_missing}
    if detail.split is None:
        return missing
    return missing | {column: getattr(detail.split, name) for name, column in _SPLIT.items()}
