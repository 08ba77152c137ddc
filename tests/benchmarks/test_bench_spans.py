"""What spans cost: making them, keeping them open, and exporting them while an event loop runs."""

from __future__ import annotations

import asyncio
import gc
import http.server
import multiprocessing
import statistics
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.spans.otlp import make_exporters
from rtrace_otel.spans.projector import Projector
from rtrace_otel.spans.readable import to_readable
from tests.benchmarks.measure import interleaved

ATTEMPTS = 5000
OPEN = 10_000
LOOP_S = 4.0
ATTEMPTS_PER_S = 200


def _rows(attempts: int, *, sealed: bool = True) -> Iterator[dict[str, object]]:
    seq = 0
    for n in range(attempts):
        common = {"t": 1.7e9 + n / 100, "run": "0123456789abcdef"}
        yield {
            "event": "attempt_dispatched", **common, "seq": seq, "group_id": f"g{n // 16}", "attempt_id": f"a{n}",
            "prompt_id": str(n // 16), "generation_index": n % 16, "attempt_index": 0, "weight_version": 3,
        }  # fmt: skip
        seq += 1
        if sealed:
            yield {"event": "attempt_sealed", **common, "seq": seq, "attempt_id": f"a{n}", "tokens": 512, "reward": 0.5}
            seq += 1


def test_spans_per_second(report: dict[str, float]) -> None:
    """Events to spans that an OTLP exporter takes, and encoding them, per second of CPU."""
    rows = list(_rows(ATTEMPTS))
    started = time.thread_time()
    projector = Projector()
    spans = [
        to_readable(span, projector.resource(span.run), number)
        for number, span in enumerate(span for row in rows for span in projector.add(row))
    ]
    made = time.thread_time()
    for begin in range(0, len(spans), 64):
        encode_spans(spans[begin : begin + 64]).SerializeToString()
    encoded = time.thread_time()
    report["events to spans, events/s"] = len(rows) / (made - started)
    report["spans made, spans/s"] = len(spans) / (made - started)
    report["spans encoded, spans/s"] = len(spans) / (encoded - made)
    assert len(spans) == ATTEMPTS


def test_open_attempts(report: dict[str, float]) -> None:
    """Memory of an open attempt at most 1 KiB; ten thousand cause no long pause of the garbage collector."""
    gc.collect()
    before = _collection_s()
    tracemalloc.start()
    projector = Projector()
    for row in _rows(OPEN, sealed=False):
        list(projector.add(row))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pause = _collection_s() - before
    report["memory of an open attempt, bytes (goal 1024)"] = size / OPEN
    report["longer collection with 10,000 open, ms (goal 10)"] = pause * 1e3
    assert projector.open_attempts == OPEN
    assert size / OPEN <= 1024
    assert pause <= 0.010


def _collection_s() -> float:
    # Of this thread's CPU: what else runs on the machine makes no pause longer.
    samples = []
    for _ in range(5):
        started = time.thread_time()
        gc.collect()
        samples.append(time.thread_time() - started)
    return statistics.median(samples)


class _Accepting(http.server.BaseHTTPRequestHandler):
    """A collector that takes everything."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _serve(port: multiprocessing.Queue[int]) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Accepting)
    port.put(server.server_address[1])
    server.serve_forever()


@contextmanager
def _collector() -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    port: multiprocessing.Queue[int] = context.Queue()
    process = context.Process(target=_serve, args=(port,), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{port.get()}"
    process.terminate()
    process.join()


async def _lags(work: Callable[[int], None]) -> list[float]:
    """Lags of a 2 ms timer while attempts come and go."""
    lags = []
    started = time.perf_counter()
    n = 0
    while (now := time.perf_counter() - started) < LOOP_S:
        while n < now * ATTEMPTS_PER_S:
            work(n)
            n += 1
        before = time.perf_counter()
        await asyncio.sleep(0.002)
        lags.append(time.perf_counter() - before - 0.002)
    return lags


@pytest.mark.timeout(300)
def test_loop_lag_with_export(tmp_path: Path, report: dict[str, float]) -> None:
    """The loop with OTLP on against OTLP off, and against plain SDK spans made on the loop."""
    with _collector() as url:

        def recorded(name: str, otlp: str | None) -> list[float]:
            with RolloutTrace(tmp_path / f"{name}.jsonl", otlp=otlp) as trace:

                def work(n: int) -> None:
                    trace.attempt_dispatched(f"g{n // 16}", f"a{n}", n // 16, n % 16, 0, 3)
                    trace.attempt_refused(f"a{n}", "full")
                    trace.attempt_dispatched(f"g{n // 16}", f"a{n}", n // 16, n % 16, 0, 3)
                    trace.attempt_sealed(f"a{n}", 512, 0.5)

                return asyncio.run(_lags(work))

        def plain_sdk() -> list[float]:
            provider = TracerProvider(shutdown_on_exit=False)
            provider.add_span_processor(BatchSpanProcessor(make_exporters(url, {})[0]))
            tracer = provider.get_tracer("plain")

            def work(n: int) -> None:
                span = tracer.start_span("rollout.attempt", attributes={"group": f"g{n // 16}", "attempt": f"a{n}"})
                for event in ("dispatched", "refused", "dispatched"):
                    span.add_event(event, {"prompt": n // 16, "generation": n % 16})
                span.set_attribute("tokens", 512)
                span.end()

            lags = asyncio.run(_lags(work))
            threading.Thread(target=provider.shutdown, daemon=True).start()
            return lags

        found: dict[str, list[float]] = {"off": [], "on": [], "sdk": []}

        def p99(name: str, run: Callable[[], list[float]]) -> float:
            lags = run()
            found[name] += lags
            return statistics.quantiles(lags, n=100)[98]

        samples = interleaved(
            {
                "off": lambda: p99("off", lambda: recorded("off", None)),
                "on": lambda: p99("on", lambda: recorded("on", url)),
                "sdk": lambda: p99("sdk", plain_sdk),
            },
            5,
        )
    for name in ("off", "on", "sdk"):
        report[f"{name}: mean lag, ms"] = 1e3 * statistics.fmean(found[name])
        report[f"{name}: p99 lag, ms"] = 1e3 * statistics.median(samples[name])
    report["mean lag, on / off (goal 1.5)"] = statistics.fmean(found["on"]) / statistics.fmean(found["off"])
    report["mean lag, on / plain SDK spans on the loop"] = statistics.fmean(found["on"]) / statistics.fmean(
        found["sdk"]
    )
    report["p99 lag, on / off"] = statistics.median(samples["on"]) / statistics.median(samples["off"])
    assert statistics.fmean(found["on"]) <= 1.5 * statistics.fmean(found["off"])
