"""The page of a fleet in a browser: it asks for nothing, shows every job, and sorts them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtrace_otel.fleet.numbers import Numbers, Volume
from rtrace_otel.fleet.report import FleetReport, fleet_report
from rtrace_otel.fleet.results import Failure
from rtrace_otel.report.fleet import verdict
from rtrace_otel.report.fleet_page import fleet_page
from tests.browser.conftest import OpenPage
from tests.fleet.files import job

EVIL = "</script><img src=x onerror=\"document.title='owned'\"><!--\u2028"


def _numbers(lost: int) -> Numbers:
    return Numbers(jobs=1, rows=9, stops=1, dead_s=lost, lost=Volume(1, lost), ages={0: 10 * lost, 2: 5})


@pytest.fixture
def report() -> FleetReport:
    """Three jobs by what they lost, one that says an evil thing, and one that could not be read."""
    jobs = [
        job(f"/jobs/{name}/rollout_trace.jsonl", _numbers(lost)) for name, lost in (("a", 5), ("b", 500), ("c", 50))
    ]
    evil = replace(job(f"/jobs/{EVIL}/rollout_trace.jsonl", _numbers(0)), service=EVIL, fields={"team": EVIL})
    return fleet_report([*jobs, evil, Failure(f"/jobs/{EVIL}", EVIL)], by="team", sort="tokens-lost")


def _write(report: FleetReport, folder: Path) -> Path:
    path = folder / "fleet.html"
    path.write_text(fleet_page(report), encoding="utf-8")
    return path


def test_it_shows_every_job_and_runs_nothing_of_theirs(
    report: FleetReport, tmp_path: Path, open_page: OpenPage
) -> None:
    """The verdict on top, groups, jobs and failures below; names that look like HTML are text."""
    page = open_page(_write(report, tmp_path))
    assert verdict(report) == page.locator(".verdict p").first.text_content()
    assert ["Which jobs", "Jobs", "Batch age"] == page.locator("main > .section h2").all_text_contents()
    captions = page.locator("#panel-jobs caption span:first-child").all_text_contents()
    assert ["By team", "Jobs", "Not read"] == captions
    assert 0 == page.locator("img").count()
    assert "Fleet of 4 jobs" == page.title()


def test_jobs_are_sorted_by_a_click(report: FleetReport, tmp_path: Path, open_page: OpenPage) -> None:
    """By the number behind the text: 500 comes before 50, and 50 before 5."""
    page = open_page(_write(report, tmp_path))
    table = page.locator("#panel-jobs table", has=page.get_by_text("Jobs", exact=True))
    table.get_by_role("button", name="tokens lost").click()
    table.get_by_role("button", name="tokens lost").click()
    assert ["a", "c", "b"] == table.locator("tbody tr td:first-child").all_text_contents()[1:]


def test_bars_are_as_long_as_their_numbers(report: FleetReport, tmp_path: Path, open_page: OpenPage) -> None:
    """The dearest job first, its bar as wide as there is room; a tenth of it is a tenth as wide."""
    page = open_page(_write(report, tmp_path))
    bars = page.locator("#panel-worst .table").first
    assert ["b", "c", "a"] == bars.locator("th").all_text_contents()[:3]
    assert ["100%", "10%", "1%"] == bars.locator(".bar").evaluate_all("bars => bars.map((bar) => bar.style.width)")[:3]
    widths = bars.locator(".bar").evaluate_all("bars => bars.map((bar) => bar.getBoundingClientRect().width)")
    assert pytest.approx(widths[0] / 10, abs=1) == widths[1]
    assert widths[0] > 100


def test_a_fleet_without_jobs_has_a_page(tmp_path: Path, open_page: OpenPage) -> None:
    """It says so, and draws no bars."""
    page = open_page(_write(fleet_report([]), tmp_path))
    assert "No job." == page.locator(".verdict p").first.text_content()
    assert ["Jobs"] == page.locator("main > .section h2").all_text_contents()
