"""The report of ``rtrace summary --all``: four reports, one after the other."""

from __future__ import annotations

from typing import Any

from rtrace_otel.analysis.answers import Answers
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.report.check import check_document, check_json
from rtrace_otel.report.document import Block, Document, Sentence
from rtrace_otel.report.formats import to_csv
from rtrace_otel.report.restore import restore_document, restore_json
from rtrace_otel.report.staleness import staleness_document, staleness_json
from rtrace_otel.report.summary import summary_document, summary_json


def answers_documents(found: Answers, read: ReadReport, *, for_terminal: bool = False) -> tuple[Document, ...]:
    """The documents of the four commands.

    Args:
        found: From the analysis.
        read: What the reader met.
        for_terminal: As for the report of a check.
    """
    return (
        summary_document(found.summary, read, with_ages=False),
        staleness_document(found.age, read.source),
        restore_document(found.restore, read.source, read.rows_missing),
        check_document(found.check, read.source, for_terminal=for_terminal),
    )


def joined(documents: tuple[Document, ...]) -> Document:
    """Documents one after the other, under the title of the first."""
    first, *rest = documents
    blocks: list[Block] = list(first.blocks)
    for document in rest:
        blocks += [Sentence(document.title, "finding"), *document.blocks]
    return Document(first.title, tuple(blocks))


def answers_csv(documents: tuple[Document, ...]) -> str:
    """The main table of each document as CSV, with an empty line between them."""
    return "\n".join(to_csv(document) for document in documents)


def answers_json(found: Answers) -> dict[str, Any]:
    """The results of the four commands as JSON values, each under the name of its command."""
    return {
        "summary": summary_json(found.summary),
        "age": staleness_json(found.age),
        "restore": restore_json(found.restore),
        "check": check_json(found.check),
    }
