"""The report of ``rtrace groups``: whole texts for small results."""

from __future__ import annotations

from dataclasses import asdict

from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.report.formats import to_csv, to_markdown
from rtrace_otel.report.groups import groups_document, groups_json
from tests.report.timed import JOB

HELD_UP = Choice(sort="straggler", descending=True, limit=1)


def test_a_report_as_markdown() -> None:
    """The group that its second generation held up by 2 s, and the latencies of all."""
    expected = """\
# Groups of f

3 groups: 1 trained, 1 brought back, 1 open. The table shows 1 of them, by straggler, greatest first.

## Groups

| group | prompt | epoch | run | generations | sealed | reserved (UTC) | to published | in queue | straggler | which \
| tokens | published | outcome | step | step's run |
| --- | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | --- |
| g | 17 | 0 | a | 2 | 2 | 1970-01-01 00:00:01 | 9.5 s | 4.5 s | 2.0 s | 1 | 160 | 150 | trained | 5 | a |

## Latency per phase

| phase | count | p50 | p95 | p99 | max |
| --- | ---: | ---: | ---: | ---: | ---: |
| reserved to admitted | 1 | 500 ms | 500 ms | 500 ms | 500 ms |
| admitted to dispatched | 1 | 500 ms | 500 ms | 500 ms | 500 ms |
| refused | 1 | 2.0 s | 2.0 s | 2.0 s | 2.0 s |
| dispatched to sealed | 3 | 5.5 s | 5.5 s | 5.5 s | 5.5 s |
| sealed to published | 1 | 500 ms | 500 ms | 500 ms | 500 ms |
| published to trained | 1 | 4.5 s | 4.5 s | 4.5 s | 4.5 s |
| straggler gap | 1 | 2.0 s | 2.0 s | 2.0 s | 2.0 s |
"""
    assert expected == to_markdown(groups_document(groups(JOB, HELD_UP), HELD_UP, "f"))


def test_a_report_as_csv() -> None:
    """Raw values of all columns: a group that lived in two runs, and where it is now."""
    choice = Choice(group="h")
    expected = (
        "group_id,prompt_id,epoch,run,origin_run,next_run,generations,sealed,kept,abandoned,open,reserved,published_s,"
        "queue_s,straggler_s,straggler_generation,tokens,published_tokens,outcome,reason,trained_step,trained_run,"
        "waiting_for,since,waited_s\n"
        "h,17,,a,,b,2,1,0,0,1,11.0,,,,,30,,brought back,,,,,,\n"
        "h,17,,b,a,,2,1,1,1,1,31.0,,,,,30,,open,,,,rollouts,31.0,5.0\n"
    )
    assert expected == to_csv(groups_document(groups(JOB, choice), choice, "f"))


def test_a_report_as_json_values() -> None:
    """Every field under its own name."""
    report = groups(JOB)
    found = groups_json(report)

    assert [asdict(record) for record in report.groups] == found["groups"]
    assert (3, {"trained": 1, "brought back": 1, "open": 1}, 3, 7) == (
        found["matching"], found["by_outcome"], found["known"], len(found["latencies"])
    )  # fmt: skip
