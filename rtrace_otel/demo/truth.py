"""Compares what the trace says with what the inference server knows: the true weight version of every token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtrace_otel.analysis.age.batch_age import add_up, age_of
from rtrace_otel.analysis.age.refit_cuts import RefitCuts, record_refit
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class StepTruth:
    """One training step, as the file and as the server have it.

    Attributes:
        run: The run that trained it.
        step: Its number.
        logged: Batch age that the controller logged, in versions.
        published: From the counts that were published.
        recomputed: From the refit rows of all runs.
        true: From the version that really made each token.
        counts_recomputed: Tokens by version, split anew.
        counts_true: Tokens by version, as they were made.
    """

    run: str
    step: int
    logged: float | None
    published: float | None
    recomputed: float | None
    true: float | None
    counts_recomputed: dict[int, int]
    counts_true: dict[int, int]


def steps_with_truth(events: Iterable[Row], truth: Mapping[str, Mapping[str, Any]]) -> list[StepTruth]:
    """Every training step of a demo's file beside the truth.

    Args:
        events: Rows in file order.
        truth: By call id, ``versions``: runs of ``[version, tokens]`` in the order of generation.
    """
    cuts = RefitCuts(max_released=None)
    groups: dict[str, tuple[dict[int, int], dict[int, int], dict[int, int]]] = {}
    steps = []
    for row in events:
        if row["event"] == "weight_sync":
            record_refit(cuts, row)
        elif row["event"] == "group_published":
            calls = row["call_versions"]
            groups[row["group_id"]] = (
                row["tokens_by_version"],
                cuts.tokens_by_version(calls),
                _true_counts(calls, truth),
            )
        elif row["event"] == "train_step":
            steps.append(_step(row, [groups[group_id] for group_id in row["group_ids"]]))
    return steps


def _step(row: Row, groups: Sequence[tuple[dict[int, int], dict[int, int], dict[int, int]]]) -> StepTruth:
    published, recomputed, true = (add_up(counts) for counts in zip(*groups, strict=True))
    version = row["trained_version"]
    return StepTruth(
        run=row["run"],
        step=row["step"],
        logged=row["batch_age"],
        published=age_of(published, version),
        recomputed=age_of(recomputed, version),
        true=age_of(true, version),
        counts_recomputed=dict(sorted(recomputed.items())),
        counts_true=dict(sorted(true.items())),
    )


def _true_counts(calls: Iterable[Sequence[Any]], truth: Mapping[str, Mapping[str, Any]]) -> dict[int, int]:
    return add_up({version: tokens} for call in calls for version, tokens in truth[call[0]]["versions"])
