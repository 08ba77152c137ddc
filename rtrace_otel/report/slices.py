"""How a span is called and described in a trace viewer, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.backdrop import UNITS, Backdrop, Counter
from rtrace_otel.analysis.restore_results import Stop
from rtrace_otel.analysis.runs import RunSummary
from rtrace_otel.events import EVENTS
from rtrace_otel.fields import SpanRole
from rtrace_otel.report.document import printable
from rtrace_otel.report.numbers import seconds
from rtrace_otel.spans.model import AttributeValue, FinishedSpan, RunResource, SpanEvent

TRACKS: Final = {
    "run": "job: runs",
    "stop": "job: stops",
    "train.step": "job: train steps",
    "weights.sync": "job: refits",
    "checkpoint.publish": "job: checkpoints",
    "checkpoint.restore": "job: restores",
    "rollout.group": "rollout groups",
    "rollout.attempt": "rollout attempts",
}
"""Name of the track by name of span, in order; a span with another name has a track of that name.

Perfetto's page sorts the tracks of a process by name: what is short stands above the many lanes of the rollouts.
"""

MANY_AT_ONCE: Final = frozenset({"rollout.group", "rollout.attempt"})
"""Spans of which many overlap."""

LEFT_OUT: Final = frozenset({"train.step.groups"})
"""Spans that carry only links that do not fit on another span: there is nothing to see."""

_ENDING: Final = frozenset(event.name for event in EVENTS if any(role is SpanRole.ENDS for role, _ in event.spans))
_LONGEST_REASON: Final = 40
_ID: Final = 8


def process_name(resource: RunResource) -> str:
    """What to call the one process that holds all tracks: viewers unfold a process only if it is alone."""
    return printable(resource.service)


def track_of(span: FinishedSpan) -> str:
    """Name of the track that a span belongs on."""
    return printable(TRACKS.get(span.name, span.name))


def title_of(span: FinishedSpan) -> str:
    """What to write on a span.

    Viewers colour by the title without its digits. So it begins with the outcome, and of ids it has only those that are
    numbers; the others are among the arguments.
    """
    get = span.attributes.get
    words = {
        "train.step": f"step {get('rtrace.step', '')}",
        "weights.sync": f"refit to version {get('rtrace.new_version', '')}",
        "checkpoint.publish": f"checkpoint at step {get('rtrace.step', '')}",
        "checkpoint.restore": f"restore of step {get('rtrace.step', '')}",
    }.get(span.name)
    if words is not None:
        return printable(words.strip() + (" (interrupted)" if get("rtrace.truncated") else ""))
    return f"{outcome_of(span)}{printable(_number(span))}"


def outcome_of(span: FinishedSpan) -> str:
    """How a span ended, and the reason if it is not that its run was killed; its name if nothing tells."""
    outcome = span.attributes.get("rtrace.outcome")
    return printable(span.name if outcome is None else f"{outcome}{_reason(span)}")


def _reason(span: FinishedSpan) -> str:
    reason = span.attributes.get("rtrace.reason")
    return "" if reason is None or span.attributes.get("rtrace.truncated") else f" ({str(reason)[:_LONGEST_REASON]})"


def _number(span: FinishedSpan) -> str:
    """Prompt and generation, if they are numbers."""
    prompt, generation = (span.attributes.get(f"rtrace.{key}") for key in ("prompt_id", "generation_index"))
    if not str(prompt).isdecimal():
        return ""
    return f" {prompt}" if generation is None else f" {prompt}/{generation}"


def arguments_of(span: FinishedSpan) -> dict[str, AttributeValue]:
    """What is known of a span: its attributes under their short names, and its error."""
    found = _short(span.attributes)
    if span.error is not None:
        found["error"] = span.error
    return found


def moments_of(span: FinishedSpan) -> list[tuple[SpanEvent, dict[str, AttributeValue]]]:
    """What happened between the begin and the end of a span, with what is known of it."""
    return [(event, _short(event.attributes)) for event in span.events[1:] if event.name not in _ENDING]


def _short(attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    """Without what other names say again."""
    return {
        key.removeprefix("rtrace."): value
        for key, value in attributes.items()
        if key != "rtrace.run_id" and not key.startswith("gen_ai.")
    }


def counter_title(counter: Counter) -> str:
    """Name of a counter with its unit."""
    return f"{counter} ({UNITS[counter]})"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time that is no span of its own.

    Attributes:
        track: Name of its track.
        title: What it is.
        start_ns: Unix nanoseconds.
        end_ns: Unix nanoseconds, not before the start.
        arguments: What is known of it.
    """

    track: str
    title: str
    start_ns: int
    end_ns: int
    arguments: Mapping[str, AttributeValue]


def stretches_of(backdrop: Backdrop) -> Iterator[Stretch]:
    """The runs and the stops of a file."""
    for run in backdrop.runs():
        if run.started is not None and run.last_row is not None:
            yield _of_run(run, run.started, run.last_row)
    for stop in backdrop.stops():
        yield from _of_stop(stop)


def _of_run(run: RunSummary, started: float, last_row: float) -> Stretch:
    ended = {"clean": str(run.reason), "killed": "killed", "unknown": "no end yet"}[run.ended_how]
    known = {
        name: getattr(run, name)
        for name in (
            "run",
            "host",
            "pid",
            "parent_run",
            "rows",
            "restored_from",
            "first_step",
            "last_step",
            "rows_lost",
        )
    }
    told: dict[str, AttributeValue] = {
        name: value if type(value) is int else str(value) for name, value in known.items() if value is not None
    }
    title = printable(f"run {run.run[:_ID]}: {ended[:_LONGEST_REASON]}")
    return Stretch(TRACKS["run"], title, _ns(started), max(_ns(last_row), _ns(started)), told)


def _of_stop(stop: Stop) -> Iterator[Stretch]:
    """The time in which nothing ran, and how long the next run took for its first results.

    They overlap only so that one holds the other: the dead time ends where the others begin.
    """
    if stop.killed_at is None or stop.dead_s is None:
        return
    begin = stop.killed_at + stop.dead_s
    told: dict[str, AttributeValue] = {
        "stopped_run": stop.run,
        "restored_run": stop.restored_run,
        "ended": stop.ended_how,
        "attempts_in_flight": stop.in_flight.rollouts,
        "lost_rollouts": stop.lost.rollouts,
        "lost_tokens": stop.lost.tokens,
        "tokens_exact": stop.lost.tokens_exact,
    }
    if stop.checkpoint_id is not None:
        told["checkpoint_id"] = str(stop.checkpoint_id)
    if stop.dead_s >= 0:
        yield Stretch(TRACKS["stop"], f"stopped for {seconds(stop.dead_s)}", _ns(stop.killed_at), _ns(begin), told)
    firsts = (
        ("until sealed attempts are back at the pace before", stop.throughput_back_s),
        ("until the first train step", stop.first_train_step_s),
        ("until the first sealed attempt", stop.first_seal_s),
        ("until the first dispatch", stop.first_dispatch_s),
    )
    for title, length in sorted(firsts, key=lambda first: -(first[1] or 0.0)):
        if length is not None and length >= 0:
            yield Stretch(TRACKS["stop"], title, _ns(begin), _ns(begin + length), {"seconds": length})


def _ns(t: float) -> int:
    return round(t * 1e9)
