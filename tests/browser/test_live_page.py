"""The page of ``rtrace serve`` in a browser, while a real job runs, is killed and goes on."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.report.restore_words import verdict
from tests.browser.serving import CONNECTED, program, rows, served
from tests.browser.waiting import until
from tests.cli.conftest import JOB
from tests.cli.program import LIMIT_S, lines


def says(page: Page, text: str) -> None:
    """Wait until the line about the connection says something."""
    until(page, f"document.querySelector('#live').textContent.includes({json.dumps(text)})")


def test_a_job_runs_is_killed_and_goes_on_while_the_page_is_open(page: Page, tmp_path: Path) -> None:
    """The page is open before the job begins; stop and restore appear, and at the end it says what the file says."""
    folder = tmp_path / "demo"
    with served(folder) as url:
        page.goto(url)
        until(page, CONNECTED)
        assert 0 == rows(page)
        says(page, "no row yet")
        with program("demo", "--dir", folder) as demo:
            until(page, "rtrace.data.doc.results.summary.runs.length > 0 && rtrace.data.doc.results.summary.rows > 0")
            until(page, "rtrace.data.doc.results.restore.stops.length === 1")
            assert 0 == demo.wait(timeout=LIMIT_S)
        with read_events(folder) as reader:
            expected = verdict(restore_report(reader))
        until(page, f"rtrace.data.doc.results.summary.rows === {reader.report.rows}")
        until(page, f"document.querySelector('.verdict').textContent.includes({json.dumps(expected)})")
        assert ["killed", "clean"] == page.evaluate("rtrace.data.doc.results.summary.runs.map((run) => run.ended_how)")
        until(page, "document.querySelector('#live').textContent.startsWith('Live')")


def grow(path: Path, from_: int, to: int) -> None:
    """Write more rows of the job."""
    with path.open("ab") as file:
        file.write(lines(JOB[from_:to]))


def test_pause_and_lost_connection(page: Page, tmp_path: Path) -> None:
    """A paused page stands still, and catches up; one whose server is gone says so; a link to a section stays."""
    path = tmp_path / "rollout_trace.jsonl"
    grow(path, 0, 5)
    with served(path) as url:
        page.goto(url)
        until(page, CONNECTED)
        page.click("#live button")
        says(page, "Paused")
        grow(path, 5, 10)
        until(page, "rtrace.live().state.rows === 10 && rtrace.live().version > 1")
        assert 5 == rows(page)
        page.click("#live button")
        until(page, "rtrace.data.doc.results.summary.rows === 10")
    says(page, "Connection lost")


def test_a_page_that_is_used_is_not_drawn_anew(page: Page, tmp_path: Path) -> None:
    """A filter that is being typed stays; then the page catches up, and keeps what is unfolded and the focus."""
    path = tmp_path / "rollout_trace.jsonl"
    grow(path, 0, 10)
    with served(path) as url:
        page.goto(url)
        until(page, CONNECTED)
        page.click("#panel-timeline details summary")
        page.click("#panel-timeline input[type=search]")
        page.keyboard.type("prompt:1")
        grow(path, 10, 12)
        until(page, "rtrace.live().state.rows === 12 && rtrace.live().version > 1")
        page.keyboard.type("7")
        says(page, "new data waits")
        assert 10 == rows(page)
        page.focus("#panel-timeline canvas.tl-lanes")
        until(page, "rtrace.data.doc.results.summary.rows === 12")
        assert "prompt:17" == page.input_value("#panel-timeline input[type=search]")
        assert page.evaluate("document.querySelector('#panel-timeline details').open")
        assert page.evaluate("document.activeElement.matches('#panel-timeline canvas.tl-lanes')")


def test_sections_that_come_later_stand_in_their_place(page: Page, tmp_path: Path) -> None:
    """The page of a job that grows has its sections in the order of a page that is written at the end."""
    path = tmp_path / "rollout_trace.jsonl"
    headings = "[...document.querySelectorAll('main > .section h2')].map((heading) => heading.textContent)"
    with served(path) as url:
        page.goto(url)
        until(page, CONNECTED)
        for begin in range(0, len(JOB), 7):
            grow(path, begin, begin + 7)
            until(page, f"rtrace.data.doc.results.summary.rows === {min(begin + 7, len(JOB))}")
        grown = page.evaluate(headings)
        page.reload()
        until(page, CONNECTED)
        assert page.evaluate(headings) == grown
        assert len(grown) > 3


def test_the_server_comes_back(page: Page, tmp_path: Path) -> None:
    """A page that was cut off connects again, and a file that was cut short meanwhile is begun anew."""
    path = tmp_path / "rollout_trace.jsonl"
    grow(path, 0, 10)
    with served(path) as url:
        page.goto(url)
        until(page, CONNECTED)
        page.evaluate("window.kept = true")
        page.context.set_offline(True)
        page.evaluate("dispatchEvent(new Event('offline'))")
        path.write_bytes(lines(JOB[:3]))
        page.context.set_offline(False)
        until(page, "rtrace.live().connected && rtrace.data.doc.results.summary.rows === 3")
        assert page.evaluate("window.kept")


def test_a_page_that_nobody_sees_is_not_kept_up_to_date(page: Page, tmp_path: Path) -> None:
    """Browsers open few connections to one address; shown again, the page catches up."""
    path = tmp_path / "rollout_trace.jsonl"
    grow(path, 0, 5)
    hide = "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); }"
    with served(path) as url:
        page.goto(url)
        until(page, CONNECTED)
        page.evaluate(hide, True)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        assert not page.evaluate(CONNECTED)
        grow(path, 5, 10)
        page.wait_for_timeout(2500)
        assert 5 == rows(page)
        page.evaluate(hide, False)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        until(page, "rtrace.data.doc.results.summary.rows === 10")


def test_choosing_one_of_several(page: Page, tmp_path: Path) -> None:
    """The list leads to a page, and the page back to the list; ids that look like HTML are text."""
    evil = "<img src=x onerror=alert(1)>"
    for name, some in (("a", JOB), (evil, JOB[:3])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rollout_trace.jsonl").write_bytes(lines(some))
    with served(tmp_path) as url:
        page.goto(url)
        assert 2 == page.locator("tbody tr").count()
        assert 0 == page.locator("img").count()
        page.click(f"text={evil}")
        until(page, CONNECTED)
        assert 3 == rows(page)
        page.click("text=all traces")
        page.wait_for_url(url)
        assert 2 == page.locator("tbody tr").count()


def test_the_list_takes_what_is_new_and_keeps_the_focus(page: Page, tmp_path: Path) -> None:
    """A trace that comes appears after ten seconds, and whoever stands on a link still does; a lost server is told."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rollout_trace.jsonl").write_bytes(lines(JOB[:3]))
    page.clock.install()
    with served(tmp_path) as url:
        page.goto(url)
        page.focus("text=b/rollout_trace.jsonl")
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "rollout_trace.jsonl").write_bytes(lines(JOB[:3]))
        page.clock.fast_forward(10_000)
        page.wait_for_selector("text=c/rollout_trace.jsonl")
        assert 3 == page.locator("tbody tr").count()
        assert "b/rollout_trace.jsonl" == page.evaluate("document.activeElement.textContent")
    page.clock.fast_forward(10_000)
    page.wait_for_selector("text=Connection lost, trying again.")
