"""Each chart draws what the analysis says: read back from the page's state, and painted at all."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from rtrace_otel.analysis.ledger.work import Fate
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built
from tests.browser.waiting import settled, until

PAINTED = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let place = 0; place < data.length; place += 4) {
    if (data[place + 3] > 0) {
      colours.add(`${data[place] >> 4} ${data[place + 1] >> 4} ${data[place + 2] >> 4}`);
    }
  }
  return colours.size;
}"""


@pytest.fixture
def page(demo: Built, open_page: OpenPage) -> Page:
    """The page of the demo."""
    return open_page(demo.path)


def state(page: Page, panel: str) -> Any:
    """What a panel says it draws."""
    return page.evaluate("name => rtrace.panels[name].state()", panel)


def test_batch_age(demo: Built, page: Page) -> None:
    """Every step with its age and the percentiles of its tokens' ages."""
    steps = demo.overview.staleness.ages.steps

    assert {
        "step": [step.step for step in steps],
        "age": [step.best for step in steps],
        "p50": [step.p50 for step in steps],
        "p95": [step.p95 for step in steps],
        "max": [step.max for step in steps],
        "tokens": [step.tokens for step in steps],
    } == state(page, "age")


def test_heatmap(demo: Built, page: Page) -> None:
    """The tokens of each age in each step."""
    found = state(page, "heatmap")
    cells = {(place, age): tokens for place, age, tokens in zip(*found.values(), strict=True)}

    assert {
        (place, age): tokens
        for place, detail in enumerate(demo.overview.staleness.steps)
        for age, tokens in detail.histogram.items()
    } == cells


def test_parts_of_the_age(demo: Built, page: Page) -> None:
    """In the call, in the group, in the queue, and the train lag."""
    splits = [detail.split for detail in demo.overview.staleness.steps]
    found = state(page, "split")

    for part in ("in_call", "in_group", "in_queue", "train_lag"):
        assert [None if split is None else getattr(split, part) for split in splits] == found[part]


def test_flow(demo: Built, page: Page) -> None:
    """The series of the timeline: the area under the open attempts is the time that they were open."""
    series = demo.overview.timeline.series
    opened, rates = state(page, "open"), state(page, "rates")

    assert pytest.approx(list(series.values["open_attempts"]), abs=0.0006) == opened["open_attempts"]
    assert pytest.approx(list(series.values["queued_groups"]), abs=0.0006) == opened["queued_groups"]
    assert pytest.approx(list(series.values["generated_tokens_per_s"]), abs=0.0006) == rates["generated_tokens_per_s"]
    assert pytest.approx(list(series.values["trained_tokens_per_s"]), abs=0.0006) == rates["trained_tokens_per_s"]
    assert (
        pytest.approx(demo.overview.timeline.attempt_seconds, rel=1e-3) == sum(opened["open_attempts"]) * series.width
    )


def test_stops(demo: Built, page: Page) -> None:
    """The waterfall of the one stop: seconds after the last sign of life, and the fates of its rollouts."""
    (stop,) = demo.overview.restores.stops
    (found,) = state(page, "stops")
    dead = stop.dead_s or 0.0
    ends = {moment["name"]: moment["to"] for moment in found["moments"]}

    assert {
        "nothing ran": stop.dead_s,
        "restore": dead + (stop.restore_s or 0.0),
        "to the first dispatch": dead + (stop.first_dispatch_s or 0.0),
        "to the first sealed attempt": dead + (stop.first_seal_s or 0.0),
        "to the first step": dead + (stop.first_train_step_s or 0.0),
        "to 90 % of the pace before": dead + (stop.throughput_back_s or 0.0),
    } == ends
    assert {fate.value: stop.fates[fate].rollouts for fate in Fate} == {
        fate: amount["rollouts"] for fate, amount in found["fates"].items()
    }
    bars = page.locator(".waterfall .bar")
    longest = page.locator(".waterfall .track").last.bounding_box()
    last = bars.last.bounding_box()
    assert longest is not None
    assert last is not None
    assert pytest.approx(longest["x"] + longest["width"], abs=1.5) == last["x"] + last["width"]


def test_waste(demo: Built, page: Page) -> None:
    """Tokens of each account, added up over the steps."""
    found = state(page, "waste-steps")
    tokens = demo.overview.waste_steps.tokens

    assert [series[-1] for series in found["accounts"].values()] == [sum(series) for series in tokens.values()]
    assert list(demo.overview.waste_steps.steps) == found["step"]
    assert demo.overview.waste.begun == state(page, "waste")["total"]["begun"]


def test_latency(demo: Built, page: Page) -> None:
    """The curves begin with all and have every point."""
    slow, found = demo.overview.slow, state(page, "latency")

    for name, curve in (("sealed", slow.sealed), ("abandoned", slow.abandoned), ("stragglers", slow.stragglers)):
        assert [list(point) for point in curve] == [list(point) for point in zip(*found[name].values(), strict=True)]


def test_refits(demo: Built, page: Page) -> None:
    """Each with its calls, tokens and time."""
    refits, found = demo.overview.pauses.refits, state(page, "refits")

    assert [refit.calls for refit in refits] == found["calls"]
    assert [refit.tokens for refit in refits] == found["tokens"]
    assert [refit.seconds for refit in refits] == found["seconds"]
    assert [refit.new_version for refit in refits] == found["version"]


def test_every_chart_is_painted_and_described(page: Page) -> None:
    """Each canvas has a role and a label, several colours of ink, a table and a place in the order of the keyboard."""
    canvases = page.locator("canvas:not([aria-hidden='true'])").all()

    assert 10 <= len(canvases)
    for canvas in canvases:
        assert canvas.get_attribute("role") in ("img", "application")
        assert 20 <= len(canvas.get_attribute("aria-label") or "")
        assert 3 <= canvas.evaluate(PAINTED)
        assert canvas.evaluate("canvas => canvas.closest('[tabindex=\"0\"]') !== null")


def test_dark_charts_are_painted_anew(demo: Built, open_page: OpenPage) -> None:
    """The theme changes the colours on the canvas."""
    page = open_page(demo.path)
    canvas = page.locator("#panel-heatmap canvas")
    light = canvas.evaluate("canvas => canvas.toDataURL()")
    page.click("#theme")

    assert light != canvas.evaluate("canvas => canvas.toDataURL()")
    page.click("#theme")
    assert light == canvas.evaluate("canvas => canvas.toDataURL()")


def test_the_keyboard_reads_a_chart(demo: Built, page: Page) -> None:
    """Arrow keys go from step to step; the words beside the chart say what is there."""
    last = demo.overview.staleness.ages.steps[-1]
    page.locator("#panel-age .chart").focus()
    page.keyboard.press("End")
    until(page, "document.querySelector('#panel-age .legend').textContent.includes('step 14')")
    assert f"{last.best:.3f}".rstrip("0") in (page.locator("#panel-age .legend").text_content() or "")

    page.locator("#panel-split .chart").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    settled(page)
    split = demo.overview.staleness.steps[1].split
    assert split is not None
    said = (
        f"Step 2: in the call {split.in_call:.3f}, in the group {split.in_group:.3f}, in the queue {split.in_queue:.3f}"
    )
    assert (page.locator("#panel-split .readout").text_content() or "").startswith(said)


def test_a_chart_zooms_and_comes_back(page: Page) -> None:
    """A drag shows the steps under it; Escape shows all again."""
    chart = page.locator("#panel-age .u-over")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    shown = "document.querySelector('#panel-age .chart').rtraceRange()"
    everything = page.evaluate(shown)
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40, steps=4)
    page.mouse.up()
    settled(page)
    low, high = page.evaluate(shown)

    assert [1, 14] == everything
    assert pytest.approx(1 + 13 * 0.25, abs=0.1) == low
    assert pytest.approx(1 + 13 * 0.5, abs=0.1) == high
    page.locator("#panel-age .chart").focus()
    page.keyboard.press("Escape")
    settled(page)
    assert everything == page.evaluate(shown)


def test_the_mouse_reads_a_chart(demo: Built, page: Page) -> None:
    """The readout of the heatmap names the step under the pointer and its batch age."""
    box = page.locator("#panel-heatmap .chart").bounding_box()
    assert box is not None
    page.locator("#panel-heatmap .chart").hover(position={"x": box["width"] - 20, "y": 60})
    settled(page)

    last = demo.overview.staleness.ages.steps[-1]
    said = page.locator("#panel-heatmap .readout").text_content() or ""
    assert said.startswith(f"Step {last.step}: batch age {last.best:.3f}")


def test_the_numbers_of_a_chart_are_a_table(demo: Built, page: Page) -> None:
    """Built when it is opened: a row for each step."""
    details = page.locator("#panel-age details")
    assert 0 == details.locator("table").count()
    details.locator("summary").click()
    details.locator("table").wait_for()

    rows = details.locator("tbody tr")
    assert len(demo.overview.staleness.ages.steps) == rows.count()
    assert f"{demo.overview.staleness.ages.steps[0].tokens:,}" not in (rows.first.text_content() or "")
    assert ["step", "p95", "max", "p50", "batch age"] == details.locator("thead th").all_text_contents()
