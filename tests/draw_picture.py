"""Draws the README's picture from the report of the stored demo: ``python -m tests.draw_picture``.

It is what a reader of the README gets to see who runs ``rtrace report`` on the demo: the timeline of its page. Needs
Chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

from tests.browser.conftest import ARGUMENTS
from tests.browser.pages import DEMO, build
from tests.servers import need_browser

PICTURE: Final = Path(__file__).resolve().parents[1] / "docs" / "images" / "timeline.png"
PANEL: Final = "#panel-timeline"
_MARGIN: Final = 12


def draw() -> None:
    """Open the page of the demo and store the picture of its timeline."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = build(DEMO, Path(folder)).path
        chromium = playwright.chromium.launch(executable_path=str(need_browser()), args=list(ARGUMENTS))
        page = chromium.new_page(viewport={"width": 1360, "height": 1000}, device_scale_factor=1.25)
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready]")
        panel, drawing = (page.locator(PANEL + part).last.bounding_box() for part in ("", " canvas"))
        assert panel is not None
        assert drawing is not None
        page.screenshot(
            path=PICTURE,
            full_page=True,
            clip={
                "x": panel["x"] - _MARGIN,
                "y": panel["y"] - _MARGIN,
                "width": panel["width"] + 2 * _MARGIN,
                "height": drawing["y"] + drawing["height"] - panel["y"] + _MARGIN,
            },
        )
        chromium.close()


if __name__ == "__main__":
    draw()
