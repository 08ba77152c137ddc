"""What a file holds is shown as text, whatever it is: in Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.compare.compare import compare
from rtrace_otel.analysis.compare.measure import measure
from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.analysis.reading.damage import Damage, DamageKind, ReadReport, SeqGap, Tally
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.report.age import age_document, age_json
from rtrace_otel.report.attempts import attempts_document
from rtrace_otel.report.check import check_document, check_json
from rtrace_otel.report.compare import Gated, compare_document
from rtrace_otel.report.damage import damage_json
from rtrace_otel.report.document import Document, Table, printable
from rtrace_otel.report.formats import to_csv, to_json, to_markdown
from rtrace_otel.report.groups import groups_document
from rtrace_otel.report.restore import restore_document
from rtrace_otel.report.steps import steps_document
from rtrace_otel.report.summary import next_blocks, summary_document, summary_json
from rtrace_otel.report.waste import waste_document
from tests.report.hostile import HOSTILE, hostile_trace

SOURCE = "logs/{}.jsonl"
OBEYED = {
    "html_inline",
    "html_block",
    "code_inline",
    "link_open",
    "image",
    "em_open",
    "s_open",
    "hardbreak",
    "softbreak",
}


def read_report(text: str) -> ReadReport:
    """A report of a file with this text in its name, in a damage and in a gap."""
    tally = Tally(SOURCE.format(text))
    tally.add_damage(Damage(3, DamageKind.NOT_JSON, text, 0))
    tally.gaps.append(SeqGap(text, 4, 1, 1))
    tally.rows_missing = 1
    return tally.report()


def documents(text: str) -> tuple[Document, ...]:
    """All reports of the hostile trace."""
    rows, found = hostile_trace(text), read_report(text)
    return (
        summary_document(summarise(rows), found),
        age_document(step_ages(rows), found.source),
        restore_document(restore_report(rows), found.source),
        waste_document(waste_report(rows), found.source),
        compare_document(Gated(compare(measure(rows, text), measure(rows, text)))),
        check_document(checked(text), found.source),
        steps_document(train_steps(rows), found.source),
        groups_document(groups(rows), Choice(), found.source),
        attempts_document(attempts(rows), Choice(), found.source),
    )


def checked(text: str) -> CheckReport:
    """The check of the hostile trace; its messages repeat ids and reasons."""
    fold = CheckFold()
    for line, row in enumerate(hostile_trace(text), 1):
        fold.add(row, line)
    return fold.result(read_report(text))


def parsed(markdown: str) -> list[Token]:
    """The inline tokens of a Markdown text as GitHub's dialect reads it, tables and strikethrough included."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    assert not [token for token in tokens if token.type in {"html_block", "fence", "code_block"}]
    return [token for token in tokens if token.type == "inline"]


def read_by_people(markdown: str) -> str:
    """The text that a reader of the rendered Markdown sees."""
    return "\n".join("".join(child.content for child in token.children or ()) for token in parsed(markdown))


@pytest.mark.parametrize("kind", HOSTILE)
def test_markdown_shows_the_text(kind: str) -> None:
    """A reader of the rendered page sees the reason as it stood in the file, control characters written out."""
    shown = printable(HOSTILE[kind])
    page = read_by_people(to_markdown(documents(HOSTILE[kind])[0]))

    assert [True] * 3 == [part in page for part in (f"({shown} 1)", f"1 {shown}", f"line 3: {shown}")]


@pytest.mark.parametrize("kind", HOSTILE)
def test_markdown_obeys_nothing_of_the_file(kind: str) -> None:
    """No link, no markup, no HTML and no line end comes from the file; only our own names are bold."""
    for document in documents(HOSTILE[kind]):
        children = [child for token in parsed(to_markdown(document)) for child in token.children or ()]
        facts = sum(len(getattr(block, "pairs", ())) for block in document.blocks)

        assert set() == {child.type for child in children} & OBEYED
        assert facts == sum(child.type == "strong_open" for child in children)


@pytest.mark.parametrize("kind", HOSTILE)
def test_markdown_tables_keep_their_shape(kind: str) -> None:
    """Every row of a table has as many cells as its heading."""
    for document in documents(HOSTILE[kind]):
        tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(document))
        tables = [block.for_people() for block in document.blocks if isinstance(block, Table)]
        cells = sum(token.type in {"th_open", "td_open"} for token in tokens)

        assert sum(len(columns) * (len(rows) + 1) for columns, rows in tables) == cells


@pytest.mark.parametrize("kind", HOSTILE)
def test_markdown_has_no_character_that_a_terminal_obeys(kind: str) -> None:
    """Also where a report repeats a run id, a file name or a damaged line."""
    for document in documents(HOSTILE[kind]):
        text = to_markdown(document.followed_by(next_blocks("x")))

        assert [] == [line for line in text.split("\n") if not line.isprintable()]


@pytest.mark.parametrize("kind", HOSTILE)
def test_csv_holds_the_raw_text(kind: str) -> None:
    """A CSV reader gets the ids and reasons back, whole."""
    text = HOSTILE[kind]
    rows = list(csv.DictReader(io.StringIO(to_csv(documents(text)[0]), newline="")))

    assert [(f"{text[:40]}1", text, ""), (f"{text[:40]}2", text, text)] == [
        (row["run"], row["host"], row["restored_from"]) for row in rows
    ]


@pytest.mark.parametrize("kind", HOSTILE)
def test_json_holds_the_raw_text(kind: str) -> None:
    """A JSON reader gets every text back, whole, under its key."""
    text, rows = HOSTILE[kind], hostile_trace(HOSTILE[kind])
    read = damage_json(read_report(text))
    summary = json.loads(to_json("summary", summary_json(summarise(rows)), read))
    age = json.loads(to_json("age", age_json(step_ages(rows)), read))

    assert ({text: 1}, {text: 1}, {text: 1}) == (
        summary["attempts"]["abandoned"], summary["groups"]["discarded"], summary["other_events"],
    )  # fmt: skip
    assert [f"{text[:40]}1"] == [run for found in age["differences"] for run in found["stopped_runs"]]
    assert (text, SOURCE.format(text)) == (age["read"]["damages"][0]["detail"], age["read"]["source"])


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_check_repeats_the_text_as_it_is(kind: str) -> None:
    """In JSON and CSV the messages hold the id whole, as far as they repeat it; people see control characters."""
    text, report = HOSTILE[kind], checked(HOSTILE[kind])
    document = check_document(report, "f")
    shown = document.main_table.for_people()[1]
    rows = list(csv.DictReader(io.StringIO(to_csv(document), newline="")))

    assert any(text[:40] in finding["message"] for finding in check_json(report)["findings"])
    assert [finding.message for finding in report.findings] == [row["message"] for row in rows]
    assert [printable(finding.message) for finding in report.findings] == [cells[-1] for cells in shown]
