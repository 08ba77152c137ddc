"""The page as text: one file, whose policy names all that it runs, and that holds no text of the trace as HTML."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from rtrace_otel.report.html.columns import pack_json
from rtrace_otel.report.html.page import EARLY, SCRIPTS, STYLES, PageData, asset, inline_json, render_page

EVIL = "</script><img src=x onerror=alert(1)>\u2028<!-- & $title"


def page(**options: str) -> str:
    """A page whose every text is evil."""
    data = PageData(EVIL, EVIL, [EVIL], {EVIL: EVIL}, pack_json({}), {EVIL: pack_json([])})
    return render_page(data, **options)


def policy(text: str) -> dict[str, list[str]]:
    """The page's policy: sources by directive."""
    (content,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    return {words[0]: words[1:] for words in map(str.split, content.split("; "))}


def digest(text: str) -> str:
    """A source that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_names_every_script_and_style_and_nothing_else() -> None:
    """What the browser finds between the tags is what was hashed."""
    text, rules = page(), policy(page())
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)

    assert [asset(EARLY), *map(asset, SCRIPTS)] == scripts
    assert set(map(digest, scripts)) == set(rules["script-src"])
    assert list(map(digest, styles)) == rules["style-src"]
    assert (["'none'"], ["data:"], ["'none'"], ["'none'"]) == (
        rules["default-src"], rules["img-src"], rules["base-uri"], rules["form-action"],
    )  # fmt: skip
    assert "unsafe" not in str(rules)
    assert "connect-src" not in rules


def test_a_page_that_follows_a_file_may_talk_to_its_server_only() -> None:
    """And runs one more script, which the policy names too."""
    data = PageData("t", "a", [], {}, pack_json({}), {})
    text = render_page(data, more_scripts=["rtrace.live()"], connect="'self'")

    assert ["'self'"] == policy(text)["connect-src"]
    assert digest("rtrace.live()") in policy(text)["script-src"]
    assert text.count("<script>") == len(SCRIPTS) + 2


def test_no_text_of_the_trace_is_html() -> None:
    """Title, lines, JSON and names of tables: none of them opens or closes an element."""
    text = page()

    assert "<img" not in text
    assert "\u2028" not in inline_json(EVIL)
    assert 4 == text.count("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\u2028&lt;!-- &amp; $title</")


def test_there_is_nothing_to_load() -> None:
    """No address of anything, no import, no frame; the licence of the code that is not ours is there."""
    text = page()

    assert [] == re.findall(r'(?:src|href)="(?!#|data:,")[^"]*"', text)
    assert [] == re.findall(r"@import|url\(|<iframe|<object|<embed", text)
    assert "Permission is hereby granted, free of charge" in text


@pytest.mark.parametrize("name", [EARLY, *SCRIPTS, *STYLES])
def test_no_asset_ends_its_own_element(name: str) -> None:
    """Neither a script nor a style has the text that would end it early; our scripts are strict."""
    text = asset(name)

    assert "</script" not in text.lower()
    assert "</style" not in text.lower()
    assert "<!--" not in text
    assert text.startswith('"use strict";') or not name.endswith(".js") or name.startswith("vendor/")


@pytest.mark.parametrize("name", SCRIPTS)
def test_our_scripts_never_read_text_as_html(name: str) -> None:
    """Elements are built, and text goes into them as text."""
    if not name.startswith("vendor/"):
        assert [] == re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", asset(name)
        )
