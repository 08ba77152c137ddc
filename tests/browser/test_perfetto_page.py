"""What ``rtrace export`` writes for Perfetto, opened in Perfetto's own page and counted by its own trace processor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.backdrop import Backdrop
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.report.slices import LEFT_OUT, moments_of, stretches_of, title_of, track_of
from rtrace_otel.spans.model import FinishedSpan
from rtrace_otel.spans.projector import project
from tests.browser.pages import DEMO
from tests.browser.perfetto import perfetto, query
from tests.browser.waiting import STEP_MS
from tests.cli.program import rtrace
from tests.servers import need_perfetto

FILES = ("job.pftrace", "job.pftrace.gz", "job.json")


@pytest.fixture(scope="module")
def folder() -> Path:
    """Perfetto's page."""
    return need_perfetto()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a context of its own."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(STEP_MS)
    yield context.new_page()
    context.close()


def backdrop() -> Backdrop:
    """The demo's counters, runs and stops."""
    found = Backdrop()
    with read_events(DEMO) as reader:
        for row in reader:
            found.add(row)
    return found


def expected_slices() -> Counter[str]:
    """How many slices each track must have, marks on slices included."""
    with read_events(DEMO) as reader:
        spans = [span for span, _ in project(reader) if span.name not in LEFT_OUT]
    counts = Counter(track_of(span) for span in spans for _ in (span, *moments_of(span)))
    return counts + Counter(stretch.track for stretch in stretches_of(backdrop()))


def exported(tmp_path: Path, name: str, *options: str) -> Path:
    """A file for Perfetto."""
    form = "chrome-trace" if name.endswith(".json") else "perfetto"
    done = rtrace("export", DEMO, "--to", form, "-q", "-o", tmp_path / name, *options)
    assert (0, "") == (done.code, done.err)
    return tmp_path / name


@pytest.mark.parametrize("name", FILES)
def test_every_slice_and_counter_is_there(folder: Path, page: Page, tmp_path: Path, name: str) -> None:
    """Perfetto counts as many as there are, complains of nothing, and unfolds the job by itself."""
    with perfetto(folder, page, exported(tmp_path, name)):
        wrong = query(page, "select name, value from stats where value != 0 and severity in ('error', 'data_loss')")
        slices = query(page, "select count(*) from slice")
        cut = query(page, "select count(*) from slice where dur < 0")
        counters = query(
            page, "select t.name, count(*) from counter c join track t on c.track_id = t.id group by t.name"
        )
        processes = query(page, "select name from process where name is not null")
        page.wait_for_selector("text=open attempts")
    samples = Counter(str(sample.counter) for sample in backdrop().taken())
    assert [] == wrong
    assert [[expected_slices().total()]] == slices
    assert [[0]] == cut
    assert samples == {name.split(" (")[0]: count for name, count in counters}
    assert [["rtrace-demo"]] == processes


def test_tracks_and_values(folder: Path, page: Page, tmp_path: Path) -> None:
    """Each track has its slices, bars lie in lanes without overlap, and the ages are those of the analysis."""
    sql = "select t.name, count(*), max(s.depth) from slice s join track t on s.track_id = t.id group by t.name"
    with perfetto(folder, page, exported(tmp_path, "job.pftrace")):
        tracks = query(page, sql)
        ages = query(
            page,
            "select c.value from counter c join track t on c.track_id = t.id where t.name = 'batch age' order by ts",
        )
        units = query(page, "select name, unit from counter_track order by name")
        arguments = query(page, "select count(distinct string_value) from args where key = 'debug.attempt_id'")
    with read_events(DEMO) as reader:
        report = step_ages(reader)
    with read_events(DEMO) as reader:
        spans = [span for span, _ in project(reader)]
    attempts = {span.attributes["rtrace.attempt_id"] for span in spans if span.name == "rollout.attempt"}
    assert expected_slices() == {name: count for name, count, _ in tracks}
    # Marks stand one level below their bar; the stretches of a stop lie within each other.
    assert {1} == {depth for name, _, depth in tracks if name.startswith("rollout ")}
    assert {0} == {depth for name, _, depth in tracks if name.startswith("job: ") and name != "job: stops"}
    assert {round(step.best, 9) for step in report.steps if step.best is not None} <= {round(age, 9) for (age,) in ages}
    assert ["batch age", "versions"] in units
    assert [[len(attempts)]] == arguments


def test_arrows(folder: Path, page: Page, tmp_path: Path) -> None:
    """As many as sealed attempts of the groups that a step was trained on; each leads to it."""
    with read_events(DEMO) as reader:
        spans = [span for span, _ in project(reader)]
    step = 7
    groups = {s.attributes["rtrace.group_id"] for s in spans if s.name == "rollout.group" and step_of(s) == step}
    sealed = [
        title_of(span)
        for span in spans
        if span.name == "rollout.attempt"
        and span.attributes["rtrace.group_id"] in groups
        and span.attributes["rtrace.outcome"] == "sealed"
    ]
    sql = "select o.name, i.name from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id"
    with perfetto(folder, page, exported(tmp_path, "job.pftrace", "--flow-step", str(step))):
        flows = query(page, sql)
    assert sorted([title, f"step {step}"] for title in sealed) == sorted(flows)
    assert len(sealed) > 4


def step_of(span: FinishedSpan) -> object:
    """The step that trained a group."""
    return span.attributes.get("rtrace.step")
