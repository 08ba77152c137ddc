"""OpenTelemetry tracing for asynchronous reinforcement-learning rollouts.

Record with :class:`RolloutTrace`; read with :func:`read_events` and the functions beside it. Each name is imported when
it is first used, so that ``import rtrace_otel`` costs a controller next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rtrace_otel.version import __version__

if TYPE_CHECKING:
    from rtrace_otel.analysis.age.ages import recomputed_batch_age_by_step as recomputed_batch_age_by_step
    from rtrace_otel.analysis.age.batch_age import BATCH_AGE_TOKENS_METRIC as BATCH_AGE_TOKENS_METRIC
    from rtrace_otel.analysis.age.batch_age import BATCH_AGE_VERSION_SUM_METRIC as BATCH_AGE_VERSION_SUM_METRIC
    from rtrace_otel.analysis.age.batch_age import batch_age_by_step as batch_age_by_step
    from rtrace_otel.analysis.age.batch_age import batch_age_group_metrics as batch_age_group_metrics
    from rtrace_otel.analysis.age.batch_age import pop_batch_age as pop_batch_age
    from rtrace_otel.analysis.age.batch_age import recomputed_tokens_by_version as recomputed_tokens_by_version
    from rtrace_otel.analysis.age.batch_age import tokens_by_version as tokens_by_version
    from rtrace_otel.analysis.age.refit_cuts import RefitCuts as RefitCuts
    from rtrace_otel.analysis.age.refit_cuts import rebuild_refit_cuts as rebuild_refit_cuts
    from rtrace_otel.analysis.reading.damage import ReadReport as ReadReport
    from rtrace_otel.analysis.reading.reader import EventReader as EventReader
    from rtrace_otel.analysis.reading.reader import read_events as read_events
    from rtrace_otel.errors import RTraceError as RTraceError
    from rtrace_otel.errors import TraceFileError as TraceFileError
    from rtrace_otel.events import ROLLOUT_TRACE_FILENAME as ROLLOUT_TRACE_FILENAME
    from rtrace_otel.loaded import Trace as Trace
    from rtrace_otel.loaded import load as load
    from rtrace_otel.record.stats import RecorderStats as RecorderStats
    from rtrace_otel.record.trace import RolloutTrace as RolloutTrace
    from rtrace_otel.spans.config import OtlpDestination as OtlpDestination
    from rtrace_otel.spans.exporter import JsonlSpanExporter as JsonlSpanExporter
    from rtrace_otel.trace import main as main
    from rtrace_otel.validation import validate_row as validate_row

_HOMES = {
    "BATCH_AGE_TOKENS_METRIC": "analysis.age.batch_age",
    "BATCH_AGE_VERSION_SUM_METRIC": "analysis.age.batch_age",
    "EventReader": "analysis.reading.reader",
    "JsonlSpanExporter": "spans.exporter",
    "OtlpDestination": "spans.config",
    "ROLLOUT_TRACE_FILENAME": "events",
    "RTraceError": "errors",
    "ReadReport": "analysis.reading.damage",
    "RecorderStats": "record.stats",
    "RefitCuts": "analysis.age.refit_cuts",
    "RolloutTrace": "record.trace",
    "Trace": "loaded",
    "TraceFileError": "errors",
    "batch_age_by_step": "analysis.age.batch_age",
    "batch_age_group_metrics": "analysis.age.batch_age",
    "load": "loaded",
    "main": "trace",
    "pop_batch_age": "analysis.age.batch_age",
    "read_events": "analysis.reading.reader",
    "rebuild_refit_cuts": "analysis.age.refit_cuts",
    "recomputed_batch_age_by_step": "analysis.age.ages",
    "recomputed_tokens_by_version": "analysis.age.batch_age",
    "tokens_by_version": "analysis.age.batch_age",
    "validate_row": "validation",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - every key of _HOMES is a string


def __getattr__(name: str) -> Any:
    """Import a public name from its home at its first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, also those not imported yet."""
    return sorted(__all__)
