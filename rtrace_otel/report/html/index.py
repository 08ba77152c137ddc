"""The page from which to choose one of several traces."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from rtrace_otel.analysis.watch.glance import Glance
from rtrace_otel.report.document import printable
from rtrace_otel.report.html.page import asset, hash_of
from rtrace_otel.report.html.words import megabytes
from rtrace_otel.report.numbers import moment, seconds

_SCRIPT: Final = asset("assets/index.js")

INDEX_POLICY: Final = (
    f"default-src 'none'; script-src {hash_of(_SCRIPT)}; connect-src 'self'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""The page has one script, which asks for this page again, and its style comes from no file."""


def index_page(traces: Sequence[tuple[int, str, Glance]], given_up: str | None, now: float) -> str:
    """The page.

    Args:
        traces: Number, name and what is known of each trace.
        given_up: Why there may be more.
        now: The time, in Unix seconds.
    """
    rows = "".join(_row(number, name, found, now) for number, name, found in traces)
    notes = [] if given_up is None else [f"The search ended early: {given_up}. There may be more."]
    if not traces:
        notes.append("No rollout_trace.jsonl here yet. This page looks again every ten seconds.")
    return _PAGE.format(
        policy=html.escape(INDEX_POLICY),
        style=asset("assets/page.css"),
        notes="".join(f"<p>{html.escape(note)}</p>" for note in notes),
        heads="".join(f'<th scope="col">{head}</th>' for head in ("trace", "so far", "job", "began (UTC)", "size")),
        rows=rows,
        script=_SCRIPT,
    )


def headline(found: Glance, now: float) -> str:
    """One line on a trace: how far it is, and whether it goes on."""
    if found.size is None:
        return "not there yet"
    if found.run is None:
        return "packed" if found.started is None and found.modified is not None and found.size else "no row yet"
    step = "no step in its last rows" if found.last_step is None else f"step {found.last_step:,}"
    if found.ended is not None:
        return f"{step}, ended: {found.ended}"
    if found.last_row is None:
        return step
    return f"{step}, last row {seconds(max(now - found.last_row, 0.0))} ago"


def _row(number: int, name: str, found: Glance, now: float) -> str:
    job = " on ".join(part for part in (found.service, found.host) if part is not None)
    size = "-" if found.size is None else megabytes(found.size)
    cells = [headline(found, now), job or "-", moment(found.started), size]
    told = "".join(f"<td>{html.escape(printable(cell))}</td>" for cell in cells)
    return f'<tr><td><a href="t/{number}/">{html.escape(printable(name))}</a></td>{told}</tr>'


_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Rollout traces</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body class="index">
<header class="top"><div class="names"><h1>Rollout traces</h1>
<p id="lost" class="about" role="status"></p>
<noscript><p class="about">Without JavaScript, load this page again to see what is new.</p></noscript></div></header>
<main id="main">{notes}
<div class="table"><div class="scroll"><table aria-label="Traces">
<thead><tr>{heads}</tr></thead>
<tbody>{rows}</tbody>
</table></div></div>
</main>
<script>{script}</script>
</body>
</html>
"""
