"""The pages for those who read them with a screen reader, with the keyboard, or with weak eyes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from rtrace_otel.analysis.watch.glance import Glance
from rtrace_otel.fleet.numbers import Numbers, Volume
from rtrace_otel.fleet.report import fleet_report
from rtrace_otel.report.fleet_page import fleet_page
from rtrace_otel.report.html.index import index_page
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built
from tests.browser.timeline import press
from tests.browser.waiting import until
from tests.fleet.files import job

NAMED = {"button", "link", "searchbox", "textbox", "img", "image", "application", "table", "region", "navigation"}
"""Roles that say nothing to anybody without a name."""

COLORS = ("blue", "orange", "green", "sky", "yellow", "pink", "gray", "accent", "faint", "soft")
"""Colours of lines and of parts of bars."""

CONTRAST = """
const parsed = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const part = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * part(r / 255) + 0.7152 * part(g / 255) + 0.0722 * part(b / 255);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = parsed(getComputedStyle(at).backgroundColor);
    if (color.length === 3 || color[3] === 1) return color;
  }
  return [255, 255, 255];
};
"""
"""Contrast of two colours by WCAG 2.2, "contrast ratio", and the colour that is behind an element."""

WEAK_TEXTS = f"""() => {{ {CONTRAST}
  const weak = [];
  for (const element of document.querySelectorAll("body *")) {{
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("script, .uplot, [aria-pressed=false]")) continue;
    const ratio = contrast(parsed(getComputedStyle(element).color), ground(element));
    if (ratio < 4.5) weak.push([element.className || element.localName, element.textContent.slice(0, 30), ratio]);
  }}
  return weak; }}"""

WEAK_COLORS = f"""(names) => {{ {CONTRAST}
  const probe = document.body.appendChild(document.createElement("i"));
  const weak = names.filter((name) => {{
    probe.style.color = `var(--${{name}})`;
    return contrast(parsed(getComputedStyle(probe).color), ground(document.body)) < 3;
  }});
  probe.remove();
  return weak; }}"""


def tree(page: Page) -> list[dict[str, Any]]:
    """What a screen reader is told: role, name and properties of every node that it does not skip."""
    client = page.context.new_cdp_session(page)
    nodes = client.send("Accessibility.getFullAXTree")["nodes"]
    return [
        {
            "role": node["role"]["value"],
            "name": node.get("name", {}).get("value", "").strip(),
            **{item["name"]: item["value"].get("value") for item in node.get("properties", [])},
        }
        for node in nodes
        if not node.get("ignored")
    ]


def check(page: Page) -> None:
    """What holds for every page: names for all that has a role or takes the focus, and headings in steps of one."""
    nodes = tree(page)
    assert [] == [node for node in nodes if node["role"] in NAMED and not node["name"]]
    roots = ("RootWebArea", "DisclosureTriangle")
    assert [] == [node for node in nodes if node.get("focusable") and not node["name"] and node["role"] not in roots]
    levels = [int(node["level"]) for node in nodes if node["role"] == "heading"]
    assert 1 == levels[0]
    assert [] == [(before, level) for before, level in pairwise(levels) if level > before + 1]
    assert 1 == levels.count(1)
    assert [] == page.evaluate(WEAK_TEXTS)


def everything_open(page: Page) -> None:
    """Open all that is folded, and the story of an attempt."""
    press(page, "Enter")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    until(page, "[...document.querySelectorAll('details')].every((one) => one.childElementCount > 1)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_has_names_levels_and_contrast(demo: Built, open_page: OpenPage, scheme: str) -> None:
    """With everything open, in both themes."""
    page = open_page(demo.path, color_scheme=scheme)
    everything_open(page)

    check(page)
    assert [] == page.evaluate(WEAK_COLORS, list(COLORS))


def test_every_chart_has_a_name_and_a_table(demo: Built, open_page: OpenPage) -> None:
    """Each canvas says what it shows, and its panel holds at least as many tables to open as charts."""
    page = open_page(demo.path)
    charts = Counter(
        page.evaluate("""[...document.querySelectorAll("main canvas")].filter((one) => !one.ariaHidden)
            .map((one) => one.closest("article").id)""")
    )
    everything_open(page)

    assert len(charts) > 8
    assert [] == page.evaluate("""[...document.querySelectorAll("main canvas")].filter((one) =>
        !one.ariaHidden && !(["img", "application"].includes(one.getAttribute("role")) && one.ariaLabel))
        .map((one) => one.outerHTML)""")
    for panel, count in charts.items():
        tables = page.locator(f"#{panel} details table")
        assert count <= tables.count(), panel
        assert 1 < tables.first.locator("tr").count(), panel


def test_tables_and_their_buttons_are_told_apart(demo: Built, open_page: OpenPage) -> None:
    """A table is named by its title, not by its button as well; a button says what it copies."""
    page = open_page(demo.path)

    names = [node["name"] for node in tree(page) if node["role"] == "table"]
    copies = [node["name"] for node in tree(page) if node["role"] == "button" and node["name"].startswith("copy")]

    assert "Accounts" in names
    assert "copy Accounts" in copies
    assert len(copies) == len(set(copies))


def test_a_line_chart_says_where_its_cursor_is(demo: Built, open_page: OpenPage) -> None:
    """What the legend shows after an arrow key is said too; the pointer, which would say much, says nothing."""
    page = open_page(demo.path)
    chart = page.locator("#panel-age .chart")
    said = page.locator("#panel-age [role=status]")
    chart.hover()
    assert "" == said.text_content()

    chart.focus()
    page.keyboard.press("Home")
    first = said.text_content() or ""
    page.keyboard.press("ArrowRight")

    assert first.startswith("step 1, p95 ")
    assert (said.text_content() or "").startswith("step 2, p95 ")


def test_the_legend_shows_which_lines_are_dashed(demo: Built, open_page: OpenPage) -> None:
    """For those who do not see the colours: 95th percentile and mean are drawn through, maximum and median are not."""
    page = open_page(demo.path)
    keys = page.locator("#panel-age .legend .key").filter(has=page.locator(".swatch"))
    dashed = {
        (key.text_content() or ""): "gradient" in key.locator(".swatch").evaluate("(one) => one.style.background")
        for key in keys.all()
    }

    assert {"p95": False, "max": True, "p50": True, "batch age": False} == dashed


def test_the_focus_is_seen_wherever_it_is(demo: Built, open_page: OpenPage) -> None:
    """Through the whole page by Tab: always an outline, never a place twice before the end, and never backwards."""
    page = open_page(demo.path)
    seen: list[int] = []
    here = """(() => { const at = document.activeElement, style = getComputedStyle(at);
        const all = [...document.querySelectorAll("*")];
        return [all.indexOf(at), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2]; })()"""
    while len(seen) < 2_000:
        page.keyboard.press("Tab")
        place, outlined = page.evaluate(here)
        if seen and place <= seen[-1]:
            break
        assert outlined, page.evaluate("document.activeElement.outerHTML")
        seen.append(place)

    expected = page.evaluate("""[...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")]
        .filter((one) => one.checkVisibility()).length""")
    assert expected == len(seen)


def test_the_page_of_a_fleet(tmp_path: Path, open_page: OpenPage) -> None:
    """Its bars are tables."""
    numbers = Numbers(jobs=1, rows=9, stops=1, dead_s=1, lost=Volume(1, 5), ages={0: 10, 2: 5})
    report = fleet_report([job("/jobs/a/rollout_trace.jsonl", numbers)], by="team", sort="tokens-lost")
    path = tmp_path / "fleet.html"
    path.write_text(fleet_page(report), encoding="utf-8")

    check(open_page(path))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_several_traces(tmp_path: Path, open_page: OpenPage, scheme: str) -> None:
    """It has no theme of its own to choose, and shows one table of links."""
    page_text = index_page([(0, "a", Glance(size=9, run="a", last_row=1.0))], "more than 500 traces", 2.0)
    path = tmp_path / "index.html"
    path.write_text(page_text.replace("<html ", "<html data-ready "), encoding="utf-8")

    check(open_page(path, color_scheme=scheme))
