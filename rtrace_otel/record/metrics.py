"""Metrics from rows, through the OpenTelemetry metrics API, where the process has a meter provider.

Names and attributes are few and of low cardinality; ids never are attributes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from rtrace_otel.events import Row
from rtrace_otel.spans.model import SCOPE_NAME

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

    from rtrace_otel.record.stats import RecorderStats

SECONDS_BUCKETS: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
MAX_REASONS: Final = 32
"""Different reasons that become attributes; further ones are ``other``: a reason may hold an id."""


def present_meter_provider() -> MeterProvider | None:
    """The process's meter provider, if it has set one up; ``None`` for the API's own stand-in."""
    sdk = sys.modules.get("opentelemetry.sdk.metrics")
    if sdk is None:
        return None
    from opentelemetry.metrics import get_meter_provider  # noqa: PLC0415 - the SDK is there already

    provider = get_meter_provider()
    return provider if isinstance(provider, sdk.MeterProvider) else None


class RowMetrics:
    """Counts what the rows say.

    Args:
        provider: Where the instruments come from.
        stats: Gives the recorder's own numbers.
    """

    def __init__(self, provider: MeterProvider, stats: Callable[[], RecorderStats]) -> None:
        """Make the instruments."""
        meter = provider.get_meter(SCOPE_NAME)
        self._stats = stats
        self._open_attempts: set[str] = set()
        self._open_groups: set[str] = set()
        self._reasons: set[str] = set()
        self._attempts = meter.create_counter("rtrace.attempts", "{attempt}", "Attempts that ended")
        self._tokens = meter.create_counter("rtrace.tokens", "{token}", "Tokens by what became of them")
        self._steps = meter.create_counter("rtrace.steps", "{step}", "Training steps")
        self._age = meter.create_gauge("rtrace.batch_age", "{update}", "Batch age of the last step")
        self._age_tokens = meter.create_counter("rtrace.batch_age.trained_tokens", "{token}", "Trained tokens")
        self._age_sum = meter.create_counter("rtrace.batch_age.token_ages", "{update}", "Sum of their ages")
        self._refit_calls = meter.create_counter("rtrace.refit.calls", "{call}", "Calls paused by refits")
        self._lost = meter.create_counter("rtrace.rows.lost", "{row}", "Rows lost before they were written")
        self._refit_s = meter.create_histogram(
            "rtrace.refit.duration", "s", "Refits", explicit_bucket_boundaries_advisory=SECONDS_BUCKETS
        )
        self._checkpoint_s = meter.create_histogram(
            "rtrace.checkpoint.duration", "s", "Checkpoints", explicit_bucket_boundaries_advisory=SECONDS_BUCKETS
        )
        for name, unit, value in (
            ("rtrace.attempts.open", "{attempt}", lambda: len(self._open_attempts)),
            ("rtrace.groups.open", "{group}", lambda: len(self._open_groups)),
            ("rtrace.queue.rows", "{row}", lambda: self._stats().queued),
            ("rtrace.spans.not_delivered", "{span}", self._not_delivered),
        ):
            meter.create_observable_gauge(name, [_observer(value)], unit)

        self._handlers: dict[str, Callable[[Row], None]] = {
            "attempt_dispatched": self._dispatched,
            "attempt_resumed": self._resumed,
            "attempt_sealed": self._sealed,
            "attempt_abandoned": self._abandoned,
            "attempt_refused": self._refused,
            "group_reserved": self._reserved,
            "group_discarded": self._discarded,
            "train_step": self._trained,
            "weight_sync": self._synced,
            "checkpoint_published": self._published,
            "checkpoint_restored": self._restored,
            "trace_gap": self._gap,
        }

    def add(self, row: Row) -> None:
        """Take the next row."""
        handler = self._handlers.get(row["event"])
        if handler is not None:
            handler(row)

    def _not_delivered(self) -> int:
        spans = self._stats().spans
        return 0 if spans is None else spans.not_delivered

    def _reason(self, row: Row) -> str:
        reason = str(row.get("reason"))
        if reason not in self._reasons and len(self._reasons) >= MAX_REASONS:
            return "other"
        self._reasons.add(reason)
        return reason

    def _dispatched(self, row: Row) -> None:
        self._open_attempts.add(str(row.get("attempt_id")))

    def _resumed(self, row: Row) -> None:
        if row.get("level") != "sibling":
            self._dispatched(row)

    def _sealed(self, row: Row) -> None:
        self._open_attempts.discard(str(row.get("attempt_id")))
        self._attempts.add(1, {"rtrace.outcome": "sealed"})
        self._tokens.add(_number(row.get("tokens")), {"rtrace.fate": "masked" if row.get("masked") else "sealed"})

    def _abandoned(self, row: Row) -> None:
        self._open_attempts.discard(str(row.get("attempt_id")))
        self._attempts.add(1, {"rtrace.outcome": "abandoned", "rtrace.reason": self._reason(row)})
        self._tokens.add(_number(row.get("tokens")), {"rtrace.fate": "abandoned"})

    def _refused(self, row: Row) -> None:
        self._attempts.add(1, {"rtrace.outcome": "refused", "rtrace.reason": self._reason(row)})

    def _reserved(self, row: Row) -> None:
        self._open_groups.add(str(row.get("group_id")))

    def _discarded(self, row: Row) -> None:
        self._open_groups.discard(str(row.get("group_id")))

    def _trained(self, row: Row) -> None:
        self._steps.add(1)
        named = row.get("group_ids")
        self._open_groups.difference_update(map(str, named) if isinstance(named, list) else ())
        age, tokens = row.get("batch_age"), _number(row.get("tokens"))
        self._tokens.add(tokens, {"rtrace.fate": "trained"})
        if isinstance(age, (int, float)):
            self._age.set(age)
            self._age_tokens.add(tokens)
            self._age_sum.add(max(age, 0.0) * tokens)  # a counter cannot go back; negative ages are a finding of check

    def _synced(self, row: Row) -> None:
        if row.get("replaced_version") != row.get("new_version"):
            calls = row.get("calls")
            self._refit_calls.add(len(calls) if isinstance(calls, list) else 0)
            self._refit_s.record(_number(row.get("seconds")))

    def _published(self, row: Row) -> None:
        self._checkpoint_s.record(_number(row.get("seconds")), {"rtrace.phase": "publish"})

    def _restored(self, row: Row) -> None:
        self._checkpoint_s.record(_number(row.get("seconds")), {"rtrace.phase": "restore"})

    def _gap(self, row: Row) -> None:
        self._lost.add(_number(row.get("lost")))


def _observer(value: Callable[[], int]) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observe(options: CallbackOptions) -> Iterable[Observation]:  # noqa: ARG001 - the API's signature
        from opentelemetry.metrics import Observation  # noqa: PLC0415 - imported by whoever calls

        return [Observation(value())]

    return observe


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and value >= 0 else 0
