"""The page: one HTML file that carries its data, its scripts and its style, and asks nobody for anything.

A Content-Security-Policy names the hash of each script and style of the page. Whatever a trace smuggles into the page,
it is none of these, so the browser does not run it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

EARLY: Final = "assets/theme.js"
"""The script that runs before anything is painted."""

CHARTS: Final = "vendor/uPlot.iife.min.js"
"""The library that draws line charts."""

SCRIPTS: Final = (
    CHARTS,
    "assets/core.js",
    "assets/format.js",
    "assets/columns.js",
    "assets/pieces.js",
    "assets/table.js",
    "assets/blocks.js",
    "assets/lines.js",
    "assets/canvas.js",
    "assets/overview.js",
    "assets/stops.js",
    "assets/timeline/model.js",
    "assets/timeline/filter.js",
    "assets/timeline/view.js",
    "assets/timeline/paint.js",
    "assets/timeline/bands.js",
    "assets/timeline/story.js",
    "assets/timeline/pick.js",
    "assets/timeline/legend.js",
    "assets/timeline/controls.js",
    "assets/timeline/parts.js",
    "assets/timeline/tell.js",
    "assets/timeline/address.js",
    "assets/timeline/panel.js",
    "assets/age.js",
    "assets/flow.js",
    "assets/waste.js",
    "assets/latency.js",
    "assets/pauses.js",
    "assets/tables.js",
    "assets/boot.js",
)
"""The page's scripts in the order in which they run; panels stand in the order of theirs."""

STYLES: Final = ("vendor/uPlot.min.css", "assets/page.css", "assets/timeline/timeline.css")


@dataclass(frozen=True, slots=True)
class PageData:
    """What a page shows.

    Attributes:
        title: Its title.
        about: A line below it: what file, when, how much.
        opening: What the page says before any script has run, as paragraphs.
        head: JSON values that are small.
        document: The JSON values packed by :func:`rtrace_otel.report.html.columns.pack_json`.
        tables: Tables packed by :func:`rtrace_otel.report.html.columns.pack`, by name.
    """

    title: str
    about: str
    opening: Sequence[str]
    head: Mapping[str, Any]
    document: str
    tables: Mapping[str, str]


def render_page(
    data: PageData,
    *,
    panels: Sequence[str] = SCRIPTS,
    more_scripts: Sequence[str] = (),
    connect: str | None = None,
    footer: str | None = None,
) -> str:
    """The page as one HTML text.

    Args:
        data: What it shows.
        panels: Names of its scripts in the order in which they run, for a page of another command.
        more_scripts: Texts of scripts that run after all others.
        connect: Source that the page may talk to (``'self'`` for a page that follows a file); nobody by default.
        footer: What stands at its end.
    """
    scripts = [*map(asset, panels), *more_scripts]
    style = "\n".join(map(asset, STYLES))
    values = {
        "policy": _policy([asset(EARLY), *scripts], style, connect),
        "early": asset(EARLY),
        "title": html.escape(data.title),
        "about": html.escape(data.about),
        "style": style,
        "opening": "".join(f"<p>{html.escape(text)}</p>" for text in data.opening),
        "footer": html.escape(_FOOTER if footer is None else footer),
        "licence": _LICENCE.format(html.escape(asset("vendor/uPlot-LICENSE.txt"))) if CHARTS in panels else "",
        "head": inline_json(data.head),
        "document": data.document,
        "tables": "\n".join(
            f'<script type="text/plain" data-table="{html.escape(name)}">{text}</script>'
            for name, text in data.tables.items()
        ),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    parts = _template().split("$")
    return parts[0] + "".join(_filled(part, values) for part in parts[1:])


def inline_json(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it ends the element or breaks a line."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def policy_of(page: str) -> str:
    """The Content-Security-Policy of a page, as a header of HTTP carries it."""
    head, _, rest = page.partition('<meta http-equiv="Content-Security-Policy" content="')
    assert head, "a page has a policy"
    return html.unescape(rest.partition('"')[0])


@cache
def asset(name: str) -> str:
    """A file of this folder as text."""
    return (files("rtrace_otel.report.html") / name).read_text(encoding="utf-8").strip()


def hash_of(text: str) -> str:
    """A script or a style as the source of a Content-Security-Policy that allows it and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


_LICENCE: Final = "<details><summary>Licence of uPlot</summary><pre>{}</pre></details>"
_FOOTER: Final = "Written by rtrace report. This file loads nothing and sends nothing. Lines are drawn with uPlot."


def _template() -> str:
    return asset("assets/page.html") + "\n"


def _filled(part: str, values: Mapping[str, str]) -> str:
    """What follows a ``$`` of the template: a name, and the text after it."""
    name = part[: next((place for place, letter in enumerate(part) if not letter.isalpha()), len(part))]
    return values[name] + part[len(name) :]


def _policy(scripts: Sequence[str], style: str, connect: str | None) -> str:
    rules = [
        "default-src 'none'",
        f"script-src {' '.join(map(hash_of, dict.fromkeys(scripts)))}",
        f"style-src {hash_of(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules + ([f"connect-src {connect}"] if connect else []))
