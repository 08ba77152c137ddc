"""The tables ``restores``, ``losses``, ``accounts`` and ``step_accounts``, and the fates of attempts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from rtrace_otel.analysis.ledger.stops import OpenStop
from rtrace_otel.analysis.ledger.work import Ended, Fate, Loss
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import Stop
from rtrace_otel.analysis.waste import Account, WasteFold
from rtrace_otel.columns.source import Sink
from rtrace_otel.columns.types import Record
from rtrace_otel.events import Row

_PLAIN: Final = (
    "run",
    "ended_how",
    "restored_run",
    "checkpoint_restored",
    "checkpoint_id",
    "checkpoint_step",
    "checkpoint_in_file",
    "killed_at",
    "dead_s",
    "restore_s",
    "first_dispatch_s",
    "first_seal_s",
    "first_train_step_s",
    "throughput_back_s",
    "steps_lost",
    "steps_trained_again",
    "idle_runs",
    "length_bias",
)


class StopRecords:
    """Gives everything at the end of the file, since a later row can settle a fate."""

    def __init__(self, sink: Sink) -> None:
        """Give records to a sink."""
        self._sink = sink
        self._restores = RestoreFold()
        self._waste = WasteFold(self._restores)

    def add(self, row: Row, line: int) -> None:  # noqa: ARG002 - the protocol's signature
        """Take the next row of the file."""
        self._restores.add(row)
        self._waste.add(row)

    def finish(self) -> None:
        """Give all stops, what they took, and the accounts."""
        for number, stop in enumerate(self._restores.result().stops):
            self._sink("restores", {"stop": number, **_stop_record(stop)})
        for number, open_stop, loss in self._losses():
            self._sink("losses", self._loss_record(number, open_stop, loss))
        waste = self._waste.result()
        for account in waste.accounts:
            self._sink("accounts", _account_record(account))
        for place, step in enumerate(waste.steps):
            self._sink("step_accounts", {"place": place, **asdict(step)})

    def fates(self) -> dict[tuple[str, str], Record]:
        """What the last stop that took an attempt did to it, by run and attempt id."""
        follower = self._restores.follower
        return {
            (loss.rollout.run, loss.rollout.attempt_id): {
                "stop": number,
                "fate": loss.fate_if(follower.job_ended(stop)),
                "fate_tokens_kept": loss.tokens_kept,
            }
            for number, stop, loss in self._losses()
        }

    def _losses(self) -> Iterator[tuple[int, OpenStop, Loss]]:
        for number, stop in enumerate(self._restores.follower.stops):
            for loss in stop.losses:
                if loss.rollout.ended is not Ended.ABANDONED:
                    yield number, stop, loss

    def _loss_record(self, number: int, stop: OpenStop, loss: Loss) -> Record:
        rollout = loss.rollout
        return {
            "stop": number,
            "run": rollout.run,
            "attempt_id": rollout.attempt_id,
            "group_id": rollout.group.group_id,
            "prompt_id": rollout.group.occurrence.prompt_id,
            "generation": rollout.generation,
            "was_open": rollout.ended is Ended.OPEN,
            "fate": loss.fate_if(self._restores.follower.job_ended(stop)),
            "tokens": rollout.tokens,
            "tokens_exact": rollout.exact,
            "tokens_kept": loss.tokens_kept,
            "attempt_s": rollout.seconds(stop.stopped.pace.last),
        }


def _account_record(account: Account) -> Record:
    amount = account.amount
    return {
        "account": account.name,
        "reason": account.reason,
        "bucket": account.bucket,
        "rollouts": amount.rollouts,
        "tokens": amount.tokens,
        "tokens_exact": amount.tokens_exact,
        "attempt_s": amount.attempt_seconds,
    }


def _stop_record(stop: Stop) -> dict[str, Any]:
    record: dict[str, Any] = {name: getattr(stop, name) for name in _PLAIN}
    for fate in Fate:
        amount = stop.fates[fate]
        record[f"{fate.value}_rollouts"] = amount.rollouts
        record[f"{fate.value}_tokens"] = amount.tokens
        record[f"{fate.value}_tokens_kept"] = amount.tokens_kept
        record[f"{fate.value}_attempt_s"] = amount.attempt_seconds
    return record | {
        "in_flight_rollouts": stop.in_flight.rollouts,
        "in_flight_tokens": stop.in_flight.tokens,
        "forgotten_rollouts": stop.forgotten.rollouts,
        "forgotten_tokens": stop.forgotten.tokens,
        "tokens_exact": stop.total.tokens_exact,
        "lost_rollouts": stop.lost.rollouts,
        "lost_tokens": stop.lost.tokens_lost,
        "checkpoint_age_s": stop.interval.age_s,
    }
