"""``rtrace replay``."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import get_args

import click

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.spans_of import NumberedSpan, Selection, delivered_to, require_some, select_spans, shifted
from rtrace_otel.cli.common import TRACE, opened, write_out
from rtrace_otel.cli.moments import unix_s
from rtrace_otel.cli.terminal import render_terminal, standard_output
from rtrace_otel.errors import RTraceError
from rtrace_otel.report.document import Document, Facts, Sentence
from rtrace_otel.report.numbers import count, plural
from rtrace_otel.spans.config import ENDPOINTS, OtlpDestination, Protocol


class NotDeliveredError(RTraceError):
    """Some spans were not accepted; the text says how many."""


@click.command()
@click.argument("file", type=TRACE)
@click.option("--endpoint", help="Collector, for example http://localhost:4318; else the OTEL_* variables say.")
@click.option("--protocol", type=click.Choice(get_args(Protocol)), help="How to talk to it.")
@click.option("--run", help="Only this run (the head of its id is enough).")
@click.option("--since", help="Only spans that end at or after this time (ISO 8601, UTC).")
@click.option("--only-undelivered", is_flag=True, help="Only spans that the collector has not accepted during the run.")
@click.option(
    "--shift-to-now", is_flag=True, help="Move all times so that the last span ends now: Tempo searches recent time."
)
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Spans a second, at most.")
@click.option("--dry-run", is_flag=True, help="Say what would be sent, and send nothing.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no notes on standard error.")
def replay(
    file: str,
    endpoint: str | None,
    protocol: Protocol | None,
    run: str | None,
    since: str | None,
    only_undelivered: bool,
    shift_to_now: bool,
    rate: float | None,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Send a trace's spans to an OpenTelemetry collector, Jaeger or Tempo.

    Ids come from the trace, so spans that the collector has already are the same spans: nothing is doubled.

    \b
    Examples:
      rtrace replay logs/ --endpoint http://localhost:4318
      rtrace replay logs/ --endpoint http://localhost:4317 --protocol grpc --only-undelivered
      rtrace replay old.jsonl.gz --endpoint http://localhost:4318 --shift-to-now
      rtrace replay logs/ --dry-run
    """
    if only_undelivered and file == "-":
        raise click.UsageError("--only-undelivered reads the file twice, so it cannot be standard input")
    collector = _collector(endpoint, dry_run)
    delivered = delivered_to(read_events(file), collector) if only_undelivered else None
    wanted = Selection(run=run, since_s=unix_s(since, "--since"), delivered=delivered)
    with opened(file, strict=False, quiet=quiet) as reader:
        spans = list(select_spans(reader, wanted))
    if not only_undelivered:
        require_some(spans, file, reader.report.runs)
    if shift_to_now and spans:
        by_ns = time.time_ns() - max(found.span.end_ns for found in spans)
        spans = [shifted(found, by_ns) for found in spans]
    if dry_run:
        _print_plan(file, spans)
        return
    _send(file, spans, OtlpDestination(endpoint=endpoint, protocol=protocol), rate, quiet)


def _collector(endpoint: str | None, dry_run: bool) -> str | None:
    """The collector to send to: the option's, or the environment's."""
    if endpoint is not None and not endpoint.startswith(("http://", "https://")):
        raise click.BadParameter(f"{endpoint!r} must begin with http:// or https://", param_hint="--endpoint")
    named = endpoint or next((os.environ[name] for name in ENDPOINTS if os.environ.get(name, "").strip()), None)
    if named is None and not dry_run:
        raise click.UsageError("no collector is named: pass --endpoint, or set OTEL_EXPORTER_OTLP_ENDPOINT")
    return named


def _print_plan(file: str, spans: list[NumberedSpan]) -> None:
    names = Counter(found.span.name for found in spans)
    facts = Facts(
        "Would be sent", (("spans", count(len(spans))), *((name, count(n)) for name, n in sorted(names.items())))
    )
    write_out(render_terminal(Document(f"Replay of {file}", (facts,)), standard_output()))


def _send(file: str, spans: list[NumberedSpan], to: OtlpDestination, rate: float | None, quiet: bool) -> None:
    from rtrace_otel.spans.readable import to_readable
    from rtrace_otel.spans.send import send

    readable = (to_readable(found.span, found.resource, found.number) for found in spans)
    with _progress(len(spans), quiet) as advance:
        try:
            sent = send(readable, to, rate=rate, progress=advance)
        except ValueError as error:
            raise NotDeliveredError(str(error)) from error
    missing = sent.rejected + sent.failed
    facts = Facts(
        "Sent",
        (
            ("to", sent.destination),
            ("spans", count(sent.spans)),
            ("accepted", count(sent.accepted)),
            ("rejected", count(sent.rejected)),
            ("failed", count(sent.failed)),
        ),
    )
    verdict = "Every span was accepted." if spans else "Nothing to send: this collector has confirmed every span."
    if missing:
        verdict = f"{plural(missing, 'span')} not accepted."
    write_out(render_terminal(Document(f"Replay of {file}", (Sentence(verdict, "finding"), facts)), standard_output()))
    if missing:
        raise NotDeliveredError(
            f"{plural(missing, 'span')} not accepted by {sent.destination}. Is it up? Try again later"
        )


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("sending spans", total=total)
        yield lambda spans: progress.advance(task, spans)
