"""The page from which to choose a trace."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.watch.glance import Glance
from rtrace_otel.report.html.index import headline, index_page

NOW = 2_000.0


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Glance(), "not there yet"),
        (Glance(size=0, modified=1.0), "no row yet"),
        (Glance(size=9, modified=1.0), "packed"),
        (Glance(size=9, run="a", last_row=1_990.0), "no step in its last rows, last row 10.0 s ago"),
        (Glance(size=9, run="a", last_step=1_234, last_row=1_940.0), "step 1,234, last row 1 min 0 s ago"),
        (Glance(size=9, run="a", last_step=7, last_row=2_005.0), "step 7, last row 0 ms ago"),
        (Glance(size=9, run="a", last_step=7, last_row=1.0, ended="closed"), "step 7, ended: closed"),
        (Glance(size=9, run="a", last_step=7), "step 7"),
    ],
)  # fmt: skip
def test_headlines(found: Glance, text: str) -> None:
    """How far a trace is, and whether it goes on."""
    assert text == headline(found, NOW)


def test_what_a_file_says_is_text() -> None:
    """Names, hosts and reasons that look like HTML or like controls of a terminal do nothing."""
    evil = "<script>\x1b[1m{braces}&"
    page = index_page(
        [(3, evil, Glance(size=9, service=evil, host=evil, run="a", last_row=1.0, ended=evil))], None, NOW
    )
    assert 1 == page.count("<script")
    assert 4 == page.count("&lt;script&gt;\\x1b[1m{braces}&amp;")
    assert '<a href="t/3/">' in page


def test_notes() -> None:
    """A search that found nothing, or not all, says so."""
    assert "looks again every ten seconds" in index_page([], None, NOW)
    assert "The search ended early: more than 500 traces." in index_page(
        [(0, "a", Glance())], "more than 500 traces", NOW
    )
