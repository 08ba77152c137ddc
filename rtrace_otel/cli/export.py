"""``rtrace export``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from rtrace_otel.analysis.backdrop import Backdrop
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.spans_of import NumberedSpan, Selection, require_some, select_spans
from rtrace_otel.analysis.timeline.believed import BelievedTimes
from rtrace_otel.cli.common import TRACE, opened, write_file, write_out
from rtrace_otel.cli.export_tables import TABLE_FORMATS, chosen_tables, export_tables
from rtrace_otel.cli.streaming import Counted, write_stream
from rtrace_otel.report.chrome import chrome_trace
from rtrace_otel.report.numbers import plural
from rtrace_otel.report.perfetto import perfetto_trace
from rtrace_otel.spans.otlp_json import traces_data

SPANS_PER_LINE = 200
FORMS = ("otlp-json", "perfetto", "chrome-trace", "png", *TABLE_FORMATS)


@click.command()
@click.argument("file", type=TRACE)
@click.option(
    "--to",
    "form",
    type=click.Choice(FORMS),
    required=True,
    help="What to write.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Where to: a file; for parquet and csv a folder, for png either. Spans go to standard output if left out.",
)
@click.option("--tables", metavar="NAMES", help="Tables: only these, with commas between them.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1_000),
    default=15_000_000,
    show_default=True,
    help="OTLP JSON: begin a new file at this size.",
)
@click.option("--run", help="Only this run (the head of its id is enough).")
@click.option("--step", type=int, help="Only this training step and the groups it trained.")
@click.option("--group", help="Only this prompt group (the head of its id is enough).")
@click.option("--flow-step", type=int, help="Perfetto: draw arrows from the attempts of this step to it.")
@click.option("--open", "open_too", is_flag=True, help="Also what is still open in a run that has not ended.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no notes on standard error.")
def export(
    file: str,
    form: str,
    output: Path | None,
    tables: str | None,
    max_bytes: int,
    run: str | None,
    step: int | None,
    group: str | None,
    flow_step: int | None,
    open_too: bool,
    quiet: bool,
) -> None:
    """Write a trace's spans for other viewers, or its tables for other tools.

    otlp-json: OTLP JSON Lines, for the upload of the Jaeger UI and for an OpenTelemetry collector. Jaeger takes about
    20 MB at a time, so the output is split: spans.jsonl, spans-2.jsonl, ...

    perfetto: one file for Perfetto (ui.perfetto.dev): counters, runs, stops, training steps, refits, checkpoints,
    prompt groups and attempts on one time axis. A name that ends in .gz is packed.

    chrome-trace: the same as JSON, for Perfetto or chrome://tracing; larger, and without arrows.

    png: pictures for papers and chat, of all rows: timeline, batch age, rates, waste, stops. A folder gets one file for
    each; a file, which may also end in .pdf or .svg, has them all.

    parquet, csv: a folder with a file for each table of rtrace sql. duckdb: a database with these tables. A file that
    was there is replaced when the new one is whole.

    \b
    Examples:
      rtrace export logs/ --to otlp-json -o spans.jsonl
      rtrace export logs/ --to otlp-json --step 12 -o step12.jsonl
      rtrace export logs/ --to perfetto -o job.pftrace.gz
      rtrace export logs/ --to perfetto --flow-step 12 -o job.pftrace
      rtrace export logs/ --to chrome-trace -o trace.json
      rtrace export logs/ --to png -o pictures/
      rtrace export logs/ --to png -o job.pdf
      rtrace export logs/ --to parquet -o tables/ --tables attempts,steps
    """
    given = {"--run": run, "--step": step, "--group": group, "--open": open_too or None, "--flow-step": flow_step}
    if form in TABLE_FORMATS:
        _refuse([name for name, value in given.items() if value is not None], f"--to {form}")
        export_tables(file, form, output, chosen_tables(tables), quiet=quiet)
        return
    _refuse(["--tables"] if tables is not None else [], f"--to {form}")
    if flow_step is not None and form != "perfetto":
        raise click.UsageError("--flow-step goes with --to perfetto")
    wanted = Selection(run=run, step=step, group=group, open_too=open_too)
    if form == "png":
        _pictures(file, output, wanted, quiet)
        return
    with opened(file, strict=False, quiet=quiet) as reader:
        if form == "otlp-json":
            count, names = _otlp_json(reader, wanted, file, output, max_bytes)
        else:
            times = BelievedTimes()
            count, names = _picture(reader, times, wanted, file, output, form, flow_step)
            if times.placed and not quiet:
                rows = plural(times.placed, "row")
                click.echo(f"note: {rows} without a sensible time, drawn at that of a row beside it", err=True)
    if not quiet:
        click.echo(f"{plural(count, 'span')} written to {', '.join(dict.fromkeys(names))}", err=True)


def _pictures(file: str, output: Path | None, wanted: Selection, quiet: bool) -> None:
    from rtrace_otel.cli.plotting import destination, write_pictures

    if wanted != Selection():
        raise click.UsageError("--run, --step, --group and --open choose spans; pictures show all rows")
    place = destination(output)
    with opened(file, strict=False, quiet=quiet) as reader:
        names = write_pictures(reader, file, place)
    if not quiet:
        click.echo(f"written: {', '.join(names)}", err=True)


def _otlp_json(
    reader: EventReader, wanted: Selection, file: str, output: Path | None, max_bytes: int
) -> tuple[int, list[str]]:
    spans = list(select_spans(reader, wanted))
    require_some(spans, file, reader.report.runs)
    parts = enumerate(_otlp_files(spans, max_bytes), 1)
    return len(spans), [_write(output, number, text, file) for number, text in parts]


def _picture(
    reader: EventReader,
    times: BelievedTimes,
    wanted: Selection,
    file: str,
    output: Path | None,
    form: str,
    flow_step: int | None,
) -> tuple[int, list[str]]:
    """Write the spans as they end. A part of a run is shown without the counters and stops of the whole."""
    backdrop = Backdrop(wanted.run) if wanted.step is None and wanted.group is None else None
    rows = times.through(reader)
    spans = Counted(select_spans(rows if backdrop is None else backdrop.through(rows), wanted))
    spans.require_some(file, reader)
    parts = perfetto_trace(spans, backdrop, flow_step) if form == "perfetto" else chrome_trace(spans, backdrop)
    name = write_stream(output, file, parts)
    return spans.count, [name]


def _refuse(options: list[str], form: str) -> None:
    if options:
        raise click.UsageError(f"{options[0]} does not go with {form}")


def _otlp_files(spans: list[NumberedSpan], max_bytes: int) -> Iterator[str]:
    """Texts of at most ``max_bytes`` each, as long as a single span is not larger."""
    text = ""
    for begin in range(0, len(spans), SPANS_PER_LINE):
        for line in _lines(spans[begin : begin + SPANS_PER_LINE], max_bytes):
            if text and len(text) + len(line) > max_bytes:
                yield text
                text = ""
            text += line
    yield text


def _lines(spans: list[NumberedSpan], max_bytes: int) -> Iterator[str]:
    line = json.dumps(traces_data((found.span, found.resource) for found in spans), separators=(",", ":")) + "\n"
    if len(line) <= max_bytes or len(spans) == 1:
        yield line
    else:
        half = len(spans) // 2
        yield from _lines(spans[:half], max_bytes)
        yield from _lines(spans[half:], max_bytes)


def _write(output: Path | None, number: int, text: str, trace: str) -> str:
    if output is None or str(output) == "-":
        write_out(text)
        return "standard output"
    path = output if number == 1 else output.with_name(f"{output.stem}-{number}{output.suffix}")
    write_file(path, trace, text)
    return str(path)
