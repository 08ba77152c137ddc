"""Which attempts the timeline of ``rtrace report`` holds."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.timeline.fold import timeline
from rtrace_otel.analysis.timeline.results import Timeline
from tests.browser.pages import DEMO
from tests.cli.program import Run
from tests.report.html.packed import carried

RUN = "b65ddd96"


@pytest.fixture(scope="module")
def whole() -> Timeline:
    """The timeline of the demo's trace."""
    return timeline(read_events(DEMO))


def counted(run: Run, *options: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What the page says of its timeline, and the attempts that it carries."""
    result = run("report", DEMO, "-o", "-", *options)
    assert (0, "") == (result.code, result.err)
    _, document, tables = carried(result.out)
    return document["results"]["timeline"], tables["attempts"]


def test_all_by_default(run: Run, whole: Timeline) -> None:
    """As many as there are."""
    found, attempts = counted(run)

    assert whole.attempts_total == found["attempts_total"] == found["attempts_shown"] == len(attempts["id"])


def test_a_run(run: Run, whole: Timeline) -> None:
    """By the head of its id; the total stays that of the file."""
    found, attempts = counted(run, "--run", RUN)
    per_run = Counter(whole.tables.runs[place][:8] for place in whole.attempts.run)

    assert (whole.attempts_total, per_run[RUN]) == (found["attempts_total"], found["attempts_matching"])
    assert per_run[RUN] == len(attempts["id"])


@pytest.mark.parametrize(("steps", "expected"), [("7", {7}), ("3-4", {3, 4}), ("14-99", {14})])
def test_steps(run: Run, whole: Timeline, steps: str, expected: set[int]) -> None:
    """Only attempts that these trained."""
    found, attempts = counted(run, "--steps", steps)

    assert expected == set(attempts["step"])
    assert sum(step in expected for step in whole.attempts.step) == found["attempts_matching"]


def test_a_time(run: Run, whole: Timeline) -> None:
    """What is open at any moment of it; UTC if no zone is given."""
    columns, start = whole.attempts, whole.start or 0.0
    since, until = start + 1.0, start + 1.5
    moments = [_iso(since), _iso(until)]
    found, _ = counted(run, "--since", moments[0], "--until", moments[1])
    inside = sum(e >= since and s <= until for s, e in zip(columns.start, columns.end, strict=True))

    assert 0 < found["attempts_matching"] < whole.attempts_total
    assert abs(inside - found["attempts_matching"]) <= 1  # an ISO time has microseconds


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).replace(tzinfo=None).isoformat()


def test_a_sample(run: Run, whole: Timeline) -> None:
    """At most so many; the page knows of how many."""
    found, attempts = counted(run, "--attempts", "50")

    assert (whole.attempts_total, whole.attempts_total, 50) == (
        found["attempts_total"], found["attempts_matching"], found["attempts_shown"]
    )  # fmt: skip
    assert 50 == len(attempts["id"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--steps", "often"), "Invalid value for --steps: 'often' is no step and no range of steps, such as 7 or 3-9"),
        (("--steps", "9-3"), "Invalid value for --steps: '9-3' ends before it begins"),
        (("--until", "noon"), "Invalid value for --until: 'noon' is no ISO 8601 time, such as 2026-11-29T12:00"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, options: tuple[str, str], message: str) -> None:
    """With the option, the value and an example."""
    result = run("report", DEMO, "-o", "-", *options)

    assert (2, "") == (result.code, result.out)
    assert message in " ".join(result.err.split())
