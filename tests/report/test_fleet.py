"""The report of ``rtrace fleet``: whole texts for small results."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rtrace_otel.fleet.numbers import Numbers, Volume
from rtrace_otel.fleet.report import FleetReport, fleet_report
from rtrace_otel.fleet.results import Failure, FileResult
from rtrace_otel.report.fleet import fleet_document, fleet_json, verdict
from rtrace_otel.report.fleet_names import short_paths
from rtrace_otel.report.formats import to_csv, to_json, to_markdown

ONE = Numbers(
    jobs=1, runs=2, rows=100, steps=4, stops=1, dead_s=90.0, lost=Volume(3, 300),
    fates={"redone": Volume(2, 200), "reused": Volume(5, 500)}, ages={0: 90, 4: 10},
    accounts={"trained": Volume(9, 600), "lost": Volume(3, 200)}, findings={"error": 1}, codes={"RT101": 1},
)  # fmt: skip
TWO = Numbers(
    jobs=1, runs=1, rows=50, steps=2, stops=1, stops_untimed=1, lost=Volume(1, 7, exact=False), ages={1: 100},
    accounts={"trained": Volume(4, 200)}, damages=2, rows_missing=3,
)  # fmt: skip
JOBS = (
    FileResult("/jobs/one/rollout_trace.jsonl", "math", "h1", {"team": "a"}, 0.0, 90.0, "clean", ONE),
    FileResult("/jobs/two/rollout_trace.jsonl", "code", "h1", {}, 60.0, 99.0, "killed", TWO),
)


def _report(by: str | None = None) -> FleetReport:
    return fleet_report([*JOBS, Failure("/jobs/gone", "no such file")], by=by)


def test_a_report_as_markdown() -> None:
    """Verdict, what is left out, groups, jobs, what was not read. Ages of the total are those of all 200 tokens."""
    expected = """\
# Fleet

2 jobs with 3 runs and 6 training steps: 2 stops took at least 1 min 30 s in which nothing ran, and cost 4 rollouts \
and at least 307 tokens. Batch age 0.700 over all trained tokens (p50 1, p95 1).

1 trace could not be read and is in no number.

1 job with numbers that do not add up; rtrace check names the lines of each.

1 damaged trace with 2 faults; what could be read is in the numbers.

Missing in these jobs: 3 rows; their numbers can be too low.

## By team

| team | jobs | steps | stops | dead | untimed | rollouts lost |  | tokens lost | redone | reused | batch age | \
p50 | p95 \
| waste | errors | warnings | damaged | rows missing |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | \
---: | ---: |
| a | 1 | 4 | 1 | 1 min 30 s | 0 | 3 |  | 300 | 2 | 5 | 0.400 | 0 | 4 | 25 % | 1 | 0 | 0 | 0 |
| - | 1 | 2 | 1 | - | 1 | 1 | at least | 7 | 0 | 0 | 1.000 | 1 | 1 | 0 % | 0 | 0 | 2 | 3 |
| total | 2 | 6 | 2 | 1 min 30 s | 1 | 4 | at least | 307 | 2 | 5 | 0.700 | 1 | 1 | 20 % | 1 | 0 | 2 | 3 |

## Jobs

| job | service | host | started | ended | rows | steps | stops | dead | untimed | rollouts lost |  | tokens lost | \
redone \
| reused | batch age | p50 | p95 | waste | errors | warnings | damaged | rows missing |
| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | \
---: | \
---: | ---: | ---: | ---: | ---: |
| one | math | h1 | 1970-01-01 00:00:00 | clean | 100 | 4 | 1 | 1 min 30 s | 0 | 3 |  | 300 | 2 | 5 | 0.400 | 0 | \
4 | 25 % \
| 1 | 0 | 0 | 0 |
| two | code | h1 | 1970-01-01 00:01:00 | killed | 50 | 2 | 1 | - | 1 | 1 | at least | 7 | 0 | 0 | 1.000 | 1 | 1 | 0 % \
| 0 | 0 | 2 | 3 |
| total | - | - | - | - | 150 | 6 | 2 | 1 min 30 s | 1 | 4 | at least | 307 | 2 | 5 | 0.700 | 1 | 1 | 20 % | 1 | 0 | 2 \
| 3 |

## Not read

| path | why |
| --- | --- |
| /jobs/gone | no such file |
"""
    assert expected == to_markdown(fleet_document(_report(by="team")))


@pytest.mark.parametrize(("by", "said"), [("wrong\x1b", True), ("team", False), ("service", False)])
def test_a_field_that_no_job_has_is_said(by: str, said: bool) -> None:
    """A misspelled field otherwise looks as if every job left it out."""
    text = to_markdown(fleet_document(_report(by=by)))
    assert said == ("No job has the field wrong" in text)
    assert "\x1b" not in text


def test_the_csv_has_every_job_and_the_total() -> None:
    """With raw values; grouped, the groups."""
    rows = list(csv.DictReader(io.StringIO(to_csv(fleet_document(_report())))))
    assert [JOBS[0].path, JOBS[1].path, "total"] == [row["path"] for row in rows]
    assert ["90.0", "", "90.0"] == [row["dead_s"] for row in rows]
    grouped = list(csv.DictReader(io.StringIO(to_csv(fleet_document(_report(by="service"))))))
    assert ["code", "math", "total"] == [row["value"] for row in grouped]


def test_the_json_has_what_the_table_shows() -> None:
    """Each number of each record, under its own name or inside its volume."""
    data = json.loads(to_json("fleet", fleet_json(_report(by="service")), None))
    assert (2, 307, 90.0, 0.7, 1) == (
        data["total"]["stops"], data["total"]["lost"]["tokens"], data["total"]["dead_s"], data["total"]["age_mean"],
        data["total"]["age_p95"],
    )  # fmt: skip
    first = data["jobs"][0]
    assert (JOBS[0].path, {"team": "a"}, {"0": 90, "4": 10}, 0.25) == (
        first["path"], first["fields"], first["ages"], first["waste"]
    )  # fmt: skip
    assert [{"path": "/jobs/gone", "reason": "no such file"}] == data["failures"]
    assert ["code", "math"] == [group["value"] for group in data["groups"]]


def test_a_long_table_says_what_it_leaves_out() -> None:
    """The total is of all jobs, shown or not."""
    text = to_markdown(fleet_document(_report(), limit=1))
    assert "1 more job in the total but not in the table; --limit 0 shows all." in text
    assert "| one |" in text
    assert "| two |" not in text
    assert "| total | - | - | - | - | 150 |" in text.replace("\n", "")


def test_verdicts() -> None:
    """Without jobs, without stops, without tokens."""
    assert "No job." == verdict(fleet_report([]))
    quiet = replace(JOBS[0], numbers=Numbers(jobs=1, runs=1, steps=1))
    assert "1 job with 1 run and 1 training step: no stop." == verdict(fleet_report([quiet]))
    untimed = replace(JOBS[1], numbers=Numbers(jobs=1, runs=1, stops=1, stops_untimed=1))
    assert (
        "1 job with 1 run and 0 training steps: 1 stop, after which nothing ran for an unknown time, cost 0 rollouts "
        "and 0 tokens." == verdict(fleet_report([untimed]))
    )
    sentences = to_markdown(fleet_document(fleet_report([replace(quiet, last_row=None), quiet], since=5e9)))
    assert "1 job left out: the last row is before 2128-06-11 08:53:20 UTC." in sentences
    assert "1 job left out: no row has a time." in sentences


def test_texts_of_files_are_shown_and_not_obeyed() -> None:
    """Control characters in paths, services, fields and reasons."""
    odd = replace(JOBS[0], path="/a/\x1b[2J.jsonl", service="\x1b[31m", fields={"team": "\x07"})
    report = fleet_report([odd, Failure("/\x1b", "\x1b]0;")], by="team")
    assert "\x1b" not in to_markdown(fleet_document(report))
    assert "\x07" not in to_markdown(fleet_document(report))


def test_short_names_of_jobs() -> None:
    """What all paths share is left out, and the usual file name; names stay different."""
    assert {
        "/j/a/logs/rollout_trace.jsonl": "a/logs",
        "/j/b/rollout_trace.jsonl.gz": "b",
        "/j/c.jsonl": "c.jsonl",
    } == short_paths(["/j/a/logs/rollout_trace.jsonl", "/j/b/rollout_trace.jsonl.gz", "/j/c.jsonl"])
    assert {"s3://x/a/rollout_trace.jsonl": "a"} == short_paths(["s3://x/a/rollout_trace.jsonl"])
    assert {"rollout_trace.jsonl": "rollout_trace.jsonl"} == short_paths(["rollout_trace.jsonl"])
    both = ["/j/a/rollout_trace.jsonl", "/j/a/rollout_trace.jsonl.gz"]
    assert {path: path for path in both} == short_paths(both)
    assert {} == short_paths([])


def test_the_page_describes_exactly_the_keys() -> None:
    """The table of the page of commands has each key of a job, a group and the total; its text those around them."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page[page.index("## rtrace fleet\n") :].split("\n## ", 1)[0]
    table = section[section.index("| field | meaning |") :].split("\n\n", 1)[0]
    described = {key for line in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", line.split("|")[1])}
    data = fleet_json(_report(by="service"))
    assert {*data["jobs"][0], *data["groups"][0], *data["total"]} == described
    around = section[section.index("`by` and `since`") :]
    assert {*data} - {"jobs", "groups", "total"} <= set(re.findall(r"`(\w+)(?:\[\])?`", around))
    assert {*data["failures"][0]} <= set(re.findall(r"`(\w+)`", around))
