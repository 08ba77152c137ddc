"""The report of ``rtrace age --by``: whole texts for small results."""

from __future__ import annotations

from rtrace_otel.analysis.age.by_field import ByFold
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.events import Row
from rtrace_otel.report.age_by import MAX_SHOWN, by_document, by_json
from rtrace_otel.report.document import Document
from rtrace_otel.report.formats import to_csv, to_markdown
from tests.report.history import published, trace, trained

ROWS = (
    published("a", "g", {3: 30}) | {"environment": "math"},
    published("a", "h", {4: 10}),
    trained("a", 1, 4, "g", "h", "i"),
)


def report(field: str, *events: Row) -> Document:
    """The document by a field."""
    fold = ByFold(field)
    found = staleness(trace(*events), fold)
    return by_document(fold.result(), found, "f")


def test_a_report_as_markdown() -> None:
    """Answer, coverage, table."""
    expected = """\
# Batch age of f by environment

Batch age 0.750 over 1 step and 40 trained tokens.

The age covers 40 tokens. How many it misses is not in the file: 1 group had no token data, 1 of them in steps that do \
not state their tokens.

## Batch age, in weight versions

| environment | batch age | tokens | share | groups | no data |
| --- | ---: | ---: | ---: | ---: | ---: |
| math | 1.000 | 30 | 75 % | 1 | 0 |
| (not given) | 0.000 | 10 | 25 % | 2 | 1 |
"""
    assert expected == to_markdown(report("environment", *ROWS))


def test_a_report_as_csv() -> None:
    """Raw values."""
    expected = (
        "value,batch_age,tokens,share,groups,groups_without_tokens\nmath,1.0,30,0.75,1,0\n(not given),0.0,10,0.25,2,1\n"
    )
    assert expected == to_csv(report("environment", *ROWS))


def test_a_report_as_json_values() -> None:
    """A group without the field has no value, and says so in its kind."""
    fold = ByFold("environment")
    staleness(trace(*ROWS), fold)
    values = [
        {"kind": "value", "value": "math", "batch_age": 1.0, "tokens": 30, "share": 0.75, "groups": 1,
         "groups_with_tokens": 1, "groups_without_tokens": 0},
        {"kind": "not given", "value": None, "batch_age": 0.0, "tokens": 10, "share": 0.25, "groups": 2,
         "groups_with_tokens": 1, "groups_without_tokens": 1},
    ]  # fmt: skip

    assert {"by": {"field": "environment", "values": values}} == by_json(fold.result())


def test_a_field_that_no_group_has() -> None:
    """A slip of the keyboard is named."""
    assert "No row of a trained group has the field envronment." in to_markdown(report("envronment", *ROWS))


def test_without_steps_the_report_says_so() -> None:
    """An empty table is still a table."""
    document = report("environment", ROWS[0])

    assert to_markdown(document).startswith("# Batch age of f by environment\n\nNo training step in this file.\n")
    assert 1 == len(to_csv(document).splitlines())


def test_a_field_name_that_would_break_the_table_is_not_its_heading() -> None:
    """It stands in the title, as text."""
    lines = to_markdown(report("a|b\n", *ROWS)).splitlines()

    assert "# Batch age of f by a\\|b\\\\n" == lines[0]
    assert "| value | batch age | tokens | share | groups | no data |" in lines


def test_long_values_are_cut_for_people_only() -> None:
    """CSV has what the analysis kept."""
    value = "x" * (MAX_SHOWN + 1)
    document = report("environment", ROWS[0] | {"environment": value}, trained("a", 1, 4, "g"))

    assert "x" * (MAX_SHOWN - 3) + "..." == document.main_table.for_people()[1][0][0]
    assert value in to_csv(document)
