"""The report of ``rtrace fleet``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from rtrace_otel.fleet.numbers import Numbers
from rtrace_otel.fleet.report import FleetReport
from rtrace_otel.fleet.results import FileResult
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.fleet_names import short_paths
from rtrace_otel.report.numbers import age, count, moment, percent, plural, seconds

TOTAL: Final = "total"


def fleet_document(report: FleetReport, limit: int = 0) -> Document:
    """The report as a document.

    Args:
        report: From the fleet.
        limit: Jobs that the table shows at most, before its total; 0 for all.
    """
    blocks: list[Block] = [Sentence(verdict(report), "finding")]
    blocks += [Sentence(text, "finding") for text in left_out_sentences(report)]
    if report.by is not None:
        blocks.append(with_total(group_table(report), "value", report))
    blocks.append(with_total(job_table(report, limit), "path", report))
    if limit and len(report.jobs) > limit:
        more = len(report.jobs) - limit
        blocks.append(Sentence(f"{plural(more, 'more job')} in the total but not in the table; --limit 0 shows all."))
    if report.failures:
        blocks.append(failure_table(report))
    return Document("Fleet", tuple(blocks))


def verdict(report: FleetReport) -> str:
    """The answer in one sentence."""
    total = report.total
    if not report.jobs:
        return "No job."
    text = f"{plural(total.jobs, 'job')} with {plural(total.runs, 'run')} and {plural(total.steps, 'training step')}"
    if total.stops:
        least = "" if total.lost.exact else "at least "
        text += (
            f": {plural(total.stops, 'stop')}{_dead_words(total)} cost {plural(total.lost.rollouts, 'rollout')} and "
            f"{least}{plural(total.lost.tokens, 'token')}"
        )
    else:
        text += ": no stop"
    mean = total.age_mean
    if mean is not None:
        text += f". Batch age {age(mean)} over all trained tokens (p50 {total.age_at(0.5)}, p95 {total.age_at(0.95)})"
    return f"{text}."


def left_out_sentences(report: FleetReport) -> Iterator[str]:
    """What is not in the numbers, and why."""
    if report.failures:
        yield f"{plural(len(report.failures), 'trace')} could not be read and {_are(report.failures)} in no number."
    if report.older:
        yield f"{plural(report.older, 'job')} left out: the last row is before {moment(report.since)} UTC."
    if report.undated:
        yield f"{plural(report.undated, 'job')} left out: no row has a time."
    if report.by is not None and report.jobs and all(group.value is None for group in report.groups):
        yield f"No job has the field {printable(report.by)}, neither in run_started nor in its config."
    wrong = sum(job.numbers.findings.get("error", 0) > 0 for job in report.jobs)
    if wrong:
        yield f"{plural(wrong, 'job')} with numbers that do not add up; rtrace check names the lines of each."
    damaged = sum(job.numbers.damages > 0 for job in report.jobs)
    if damaged:
        faults = plural(report.total.damages, "fault")
        yield f"{plural(damaged, 'damaged trace')} with {faults}; what could be read is in the numbers."
    if report.total.rows_missing:
        yield f"Missing in these jobs: {plural(report.total.rows_missing, 'row')}; their numbers can be too low."


def fleet_json(report: FleetReport) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "jobs": [_job_json(job) for job in report.jobs],
        "total": _numbers_json(report.total),
        "by": report.by,
        "groups": [{"value": group.value, **_numbers_json(group.numbers)} for group in report.groups],
        "failures": [asdict(failure) for failure in report.failures],
        "since": report.since,
        "older": report.older,
        "undated": report.undated,
        "verdict": verdict(report),
    }


def _job_json(job: FileResult) -> dict[str, Any]:
    data = asdict(job)
    del data["numbers"]
    return {**data, **_numbers_json(job.numbers)}


def _numbers_json(numbers: Numbers) -> dict[str, Any]:
    return {**asdict(numbers), "generated": asdict(numbers.generated), **_derived(numbers)}


def _derived(numbers: Numbers) -> dict[str, Any]:
    return {
        "age_mean": numbers.age_mean,
        "age_p50": numbers.age_at(0.50),
        "age_p95": numbers.age_at(0.95),
        "waste": numbers.waste,
    }


_NUMBERS: Final = (
    Column("steps", "steps", count, rank=9),
    Column("stops", "stops", count),
    Column("dead_s", "dead", seconds, rank=4),
    Column("stops_untimed", "untimed", count, usual=0, rank=12),
    Column("lost_rollouts", "rollouts lost", count, rank=3),
    Column("lost_exact", "", lambda exact: "" if exact else "at least", "left", usual=True),
    Column("lost_tokens", "tokens lost", count, rank=1),
    Column("redone", "redone", count, rank=7),
    Column("reused", "reused", count, rank=8),
    Column("age_mean", "batch age", age, rank=10),
    Column("age_p50", "p50", rank=5),
    Column("age_p95", "p95", rank=2),
    Column("waste", "waste", percent),
    Column("errors", "errors", count, rank=5),
    Column("warnings", "warnings", count, rank=11),
    Column("damages", "damaged", count, usual=0, rank=12),
    Column("rows_missing", "rows missing", count, usual=0, rank=12),
)


def _record(numbers: Numbers) -> dict[str, Any]:
    return {
        "jobs": numbers.jobs,
        "runs": numbers.runs,
        "rows": numbers.rows,
        "steps": numbers.steps,
        "stops": numbers.stops,
        "dead_s": _dead(numbers),
        "stops_untimed": numbers.stops_untimed,
        "lost_rollouts": numbers.lost.rollouts,
        "lost_exact": numbers.lost.exact,
        "lost_tokens": numbers.lost.tokens,
        "redone": numbers.fate("redone").rollouts,
        "reused": numbers.fate("reused").rollouts,
        **_derived(numbers),
        "errors": numbers.findings.get("error", 0),
        "warnings": numbers.findings.get("warning", 0),
        "damages": numbers.damages,
        "rows_missing": numbers.rows_missing,
    }


def with_total(table: Table, key: str, report: FleetReport) -> Table:
    """A table of jobs or groups with all of them together in its last row.

    Args:
        table: The table.
        key: The column that says so.
        report: Has the total.
    """
    return Table(table.title, table.columns, [*table.records, {key: TOTAL, **_record(report.total)}])


def job_table(report: FleetReport, limit: int = 0) -> Table:
    """The jobs, one a row.

    Args:
        report: From the fleet.
        limit: How many at most; 0 for all.
    """
    shown = report.jobs[: limit or None]
    names = short_paths([job.path for job in shown])
    columns = (
        Column("path", "job", lambda path: printable(names.get(path, path)), "left"),
        Column("service", "service", printable, "left", usual=_common(job.service for job in shown), rank=13),
        Column("host", "host", printable, "left", usual=_common(job.host for job in shown), rank=14),
        Column("started", "started", moment, "left", rank=15),
        Column("ended_how", "ended", printable, "left", rank=16),
        Column("rows", "rows", count, rank=17),
        *_NUMBERS,
    )
    return Table("Jobs", columns, [_job_record(job) for job in shown])


def _job_record(job: FileResult) -> Mapping[str, Any]:
    said = {name: getattr(job, name) for name in ("path", "service", "host", "started", "last_row", "ended_how")}
    return {**said, **_record(job.numbers)}


def group_table(report: FleetReport) -> Table:
    """The jobs that have one value of a field, one value a row."""
    columns = (Column("value", printable(report.by), printable, "left"), Column("jobs", "jobs", count), *_NUMBERS)
    records = [{"value": group.value, **_record(group.numbers)} for group in report.groups]
    return Table(f"By {printable(report.by)}", columns, records)


def failure_table(report: FleetReport) -> Table:
    """What could not be read, and why."""
    columns = (Column("path", "path", printable, "left"), Column("reason", "why", printable, "left"))
    return Table("Not read", columns, [asdict(failure) for failure in report.failures])


def _dead(numbers: Numbers) -> float | None:
    return None if 0 < numbers.stops == numbers.stops_untimed else numbers.dead_s


def _dead_words(numbers: Numbers) -> str:
    if _dead(numbers) is None:
        return ", after which nothing ran for an unknown time,"
    return f" took {'at least ' if numbers.stops_untimed else ''}{seconds(numbers.dead_s)} in which nothing ran, and"


def _common(values: Iterable[str | None]) -> Any:
    """The value that is not worth a column: ``None`` where no job says anything else."""
    return None if set(values) <= {None} else ()


def _are(things: tuple[object, ...]) -> str:
    return "is" if len(things) == 1 else "are"
