"""Jobs that export spans, as processes of their own."""

from __future__ import annotations

import logging
import sys
import time

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import AwakeClock

GROUPS = 100


def _log_to_stdout() -> None:
    logging.basicConfig(stream=sys.stdout, format="LOG %(name)s %(message)s", level=logging.WARNING)


def job(path: str, *endpoints: str) -> None:
    """A job of 100 groups; prints how long ``close`` took, what became of the spans, and when it left."""
    _log_to_stdout()
    trace = RolloutTrace(path, run="a" * 16, otlp=list(endpoints))
    for number in range(GROUPS):
        trace.group_reserved(f"g{number}", number)
        trace.attempt_dispatched(f"g{number}", f"x{number}", number, 0)
        trace.attempt_sealed(f"x{number}", tokens=number)
        trace.group_discarded(f"g{number}", "done")
    awake = AwakeClock()
    begun = awake()
    closed = trace.close()
    seconds = awake() - begun
    spans = trace.stats().spans
    assert spans is not None
    print(f"closed {closed} {seconds} {spans.made} {spans.not_delivered} {time.monotonic()}", flush=True)


def open_job(path: str, endpoint: str) -> None:
    """A job that has delivered one attempt and has another one open; it waits to be killed."""
    trace = RolloutTrace(path, run="a" * 16, otlp=endpoint)
    trace.group_reserved("g", 1)
    trace.attempt_dispatched("g", "done", 1, 0)
    trace.attempt_sealed("done", tokens=1)
    trace.attempt_dispatched("g", "open", 1, 1)
    trace.flush()
    print("ready", flush=True)
    sys.stdin.read()


def plain_job(path: str) -> None:
    """A job without any export; prints the OpenTelemetry modules that it loaded."""
    with RolloutTrace(path) as trace:
        trace.attempt_dispatched("g", "x", 1, 0)
        trace.inject({}, "x", "g")
        trace.traceparent("x", "g")
        trace.flush()
    print(sorted(name for name in sys.modules if name.partition(".")[0] in {"opentelemetry", "grpc", "requests"}))


def emit_costs(path: str, endpoint: str) -> None:
    """Prints the median of the time that ``emit`` takes, in nanoseconds."""
    trace = RolloutTrace(path, otlp=endpoint or None)
    times = []
    for number in range(20_000):
        begun = time.perf_counter_ns()
        trace.attempt_dispatched("g", f"x{number}", 1, 0)
        times.append(time.perf_counter_ns() - begun)
        if number % 100 == 0:
            time.sleep(0.001)
    print(sorted(times)[len(times) // 2])
    trace.close()
