"""Documents and results as CSV, Markdown and JSON: whole outputs."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rtrace_otel.report.document import Column, Document, Facts, Sentence, Table
from rtrace_otel.report.formats import SCHEMA_VERSION, to_csv, to_json, to_markdown
from rtrace_otel.report.numbers import age

DOCUMENT = Document(
    "Things of a_file",
    (
        Sentence("Two things."),
        Table(
            "The things",
            (Column("name", "name", align="left"), Column("old", "age", age), Column("odd", "odd", usual=0)),
            [{"name": "a|b", "old": 1.25, "odd": 0}, {"name": None, "old": None, "odd": 0}],
        ),
        Facts("Facts", (("size", "3 * 4"), ("other", "-"))),
        Sentence("rtrace age x_y.jsonl", "command"),
    ),
)


def test_markdown_is_the_whole_report() -> None:
    """Headings, sentences, tables and facts, with what Markdown would obey written out."""
    expected = """\
# Things of a\\_file

Two things.

## The things

| name | age |
| --- | ---: |
| a\\|b | 1.250 |
| - | - |

## Facts

- **size**: 3 \\* 4
- **other**: -

    rtrace age x_y.jsonl
"""
    assert expected == to_markdown(DOCUMENT)


def test_csv_is_the_main_table_with_raw_values_and_all_columns() -> None:
    """Keys as headings; values as they are; also the columns that people are not shown."""
    assert "name,old,odd\na|b,1.25,0\n,,0\n" == to_csv(DOCUMENT)


def test_json_carries_its_version_and_command() -> None:
    """The result stands between them and what the reader met."""
    assert (
        '{\n  "schema_version": 1,\n  "command": "age",\n  "tokens": 3,\n  "read": {\n    "rows": 2\n  }\n}\n'
        == to_json("age", {"tokens": 3}, {"rows": 2})
    )
    assert 1 == SCHEMA_VERSION


def _no_constant(name: str) -> Any:
    raise AssertionError(name)


def test_json_is_strict() -> None:
    """Not a number and the infinities, at any depth, are ``null``; keys are texts; tuples are lists."""
    values = {"a": math.nan, "b": [math.inf, {"c": (-math.inf, 1.5)}], "d": {4: {5: math.nan}}, "e": ((1,), ())}
    text = to_json("age", values, {})
    expected = {
        "schema_version": 1, "command": "age", "a": None, "b": [None, {"c": [None, 1.5]}], "d": {"4": {"5": None}},
        "e": [[1], []], "read": {},
    }  # fmt: skip

    assert expected == json.loads(text, parse_constant=_no_constant)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


@settings(deadline=None)
@example([("a\rb", "\r"), ("a\nb", 'say "x"'), ("\0", "=1+1")])
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_csv_gives_every_text_back(cells: list[tuple[str, str]]) -> None:
    """Commas, quotes, every kind of line end, control characters: a CSV reader gets what stood in the file."""
    columns = (Column("x", "x"), Column("y", "y"))
    text = to_csv(Document("D", (Table("T", columns, [{"x": x, "y": y} for x, y in cells]),)))

    assert [["x", "y"], *map(list, cells)] == list(csv.reader(io.StringIO(text, newline="")))


@settings(deadline=None)
@given(st.dictionaries(TEXTS.filter(lambda key: key not in {"schema_version", "command", "read"}), TEXTS, max_size=4))
def test_json_gives_every_text_back(values: dict[str, str]) -> None:
    """Any id and reason survives."""
    found = json.loads(to_json("age", values, {}))

    assert {"schema_version": 1, "command": "age", **values, "read": {}} == found


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\x7f", "\x00", "\u202e"], ids=ascii)
def test_json_holds_no_character_that_a_terminal_obeys(character: str) -> None:
    """People print JSON on terminals: what is not printable is written as an escape."""
    text = to_json("age", {"id": f"a{character}[31mb"}, {})

    assert (f"a{character}[31mb", True) == (json.loads(text)["id"], all(map(str.isprintable, text.splitlines())))
