"""What every number of every command means: one entry for each, with its formula, unit and source.

``docs/definitions.md`` and ``rtrace definitions`` come from this registry.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from rtrace_otel.analysis.check.registry import RULES_BY_CODE
from rtrace_otel.analysis.check.rule import Rule
from rtrace_otel.report.definition import Definition
from rtrace_otel.report.definitions_of_age import AGE_DEFINITIONS
from rtrace_otel.report.definitions_of_check import CHECK_DEFINITIONS
from rtrace_otel.report.definitions_of_compare import COMPARE_DEFINITIONS
from rtrace_otel.report.definitions_of_cost import COST_DEFINITIONS
from rtrace_otel.report.definitions_of_flow import FLOW_DEFINITIONS
from rtrace_otel.report.definitions_of_report import REPORT_DEFINITIONS
from rtrace_otel.report.definitions_of_summary import SUMMARY_DEFINITIONS
from rtrace_otel.report.document import Column, Document, Facts, Sentence, Table
from rtrace_otel.report.numbers import listed

DEFINITIONS: Final = (
    *(*AGE_DEFINITIONS, *SUMMARY_DEFINITIONS, *CHECK_DEFINITIONS, *COST_DEFINITIONS, *FLOW_DEFINITIONS),
    *COMPARE_DEFINITIONS,
    *REPORT_DEFINITIONS,
)
"""Every number, in the order of the page."""

_NEAR: Final = 0.6
MAX_WHOLE: Final = 3
"""Entries that a terminal shows with everything that is said of them; more are one line each."""

MAX_SUGGESTED: Final = 3
"""Names that a wrong term is answered with."""


class UnknownTermError(ValueError):
    """No number has this name; the text says which come near."""


def definitions_of(term: str | None) -> tuple[Definition, ...]:
    """The entries that a term names.

    Args:
        term: A name, in any case, with spaces or hyphens for underscores; the name of a command gives all of its
            numbers; ``None`` gives every entry.

    Raises:
        UnknownTermError: There is none.
    """
    if term is None:
        return DEFINITIONS
    wanted = plain(term)
    found = tuple(one for one in DEFINITIONS if wanted in {plain(name) for name in (one.name, *one.also)})
    found = found or tuple(one for one in DEFINITIONS if wanted in map(plain, one.shown_in))
    if not found:
        raise UnknownTermError(f"no number is called {term!r}. {_hint(wanted)}")
    return found


def rule_of(term: str | None) -> Rule | None:
    """The rule of ``rtrace check`` that a term names, in any case."""
    return RULES_BY_CODE.get(term.strip().upper()) if term is not None else None


def plain(name: str) -> str:
    """A name without the differences that people do not mean: case, hyphens, spaces."""
    return re.sub(r"[\s\-_.]+", "_", name.strip().lower()).removeprefix("rtrace_")


def definitions_document(found: Iterable[Definition], *, for_terminal: bool = False) -> Document:
    """Entries as a document.

    Args:
        found: The entries.
        for_terminal: Whether each is a block of facts, which a narrow terminal wraps, and not a line of a table.
    """
    several = tuple(found)
    if not for_terminal:
        return Document("Definitions", (_table(several),))
    if len(several) <= MAX_WHOLE:
        return Document("Definitions", tuple(Facts(one.name, _pairs(one)) for one in several))
    short = Facts("What each number means", tuple((one.name, _short(one)) for one in several))
    return Document("Definitions", (short, Sentence("Formula, unit and source of one: rtrace definitions TERM")))


def rule_document(rule: Rule, *, for_terminal: bool = False) -> Document:
    """A rule of ``rtrace check`` as a document.

    Args:
        rule: The rule.
        for_terminal: Whether it is a block of facts and not a line of a table.
    """
    pairs = (
        ("severity", rule.severity.value),
        ("meaning", _without_marks(rule.meaning)),
        ("causes", _without_marks(rule.causes)),
        ("remedy", _without_marks(rule.remedy)),
    )
    record = {"code": rule.code, "title": rule.title, **dict(pairs)}
    columns = tuple(Column(key, key, align="left") for key in record)
    block = Facts("Rule of rtrace check", pairs) if for_terminal else Table("Rule of rtrace check", columns, [record])
    return Document(f"{rule.code}: {rule.title}", (block,))


def definitions_json(found: Iterable[Definition]) -> dict[str, Any]:
    """Entries as JSON values."""
    return {"definitions": [asdict(one) for one in found], "rule": None}


def rule_json(rule: Rule) -> dict[str, Any]:
    """A rule as JSON values, in the place of entries."""
    keys = ("code", "title", "severity", "meaning", "causes", "remedy")
    return {"definitions": [], "rule": {key: getattr(rule, key) for key in keys}}


def _table(several: Iterable[Definition]) -> Table:
    keys = ("name", "shown_in", "meaning", "formula", "unit", "source")
    columns = tuple(Column(key, key.replace("_", " "), align="left") for key in keys)
    records = [
        {**asdict(one), "shown_in": ", ".join(one.shown_in), "meaning": _without_marks(one.meaning)} for one in several
    ]
    return Table("What each number means", columns, records)


def _pairs(one: Definition) -> tuple[tuple[str, str], ...]:
    pairs = (
        ("shown in", listed([f"rtrace {command}" for command in one.shown_in])),
        ("also called", ", ".join(one.also)),
        ("meaning", _without_marks(one.meaning)),
        ("formula", one.formula),
        ("unit", one.unit),
        ("source", one.source),
    )
    return tuple((name, value) for name, value in pairs if value)


def _short(one: Definition) -> str:
    return _without_marks(f"{one.meaning} [{one.unit}]" if one.unit else one.meaning)


def _hint(wanted: str) -> str:
    names = {plain(name): one.name for one in DEFINITIONS for name in (*one.also, one.name)}
    names |= {plain(code): code for code in RULES_BY_CODE}
    inside = [name for key, name in names.items() if wanted and wanted in key]
    near = [names[key] for key in difflib.get_close_matches(wanted, names, MAX_SUGGESTED, _NEAR)]
    suggested = list(dict.fromkeys(near + inside))[:MAX_SUGGESTED]
    if suggested:
        return f"Did you mean {' or '.join(suggested)}?"
    return "All names: rtrace definitions"


def _without_marks(text: str) -> str:
    """Text of the page for a terminal: no code marks, no links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.replace("`", ""))
