"""What every number means: the registry covers what the commands show, and a term is found however it is written."""

from __future__ import annotations

import json
import re

import pytest

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.check.registry import RULES, RULES_BY_CODE
from rtrace_otel.analysis.compare.metrics import METRICS
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.cli.main import COMMANDS
from rtrace_otel.report.age import age_document, age_json
from rtrace_otel.report.check import check_json
from rtrace_otel.report.definition import Definition
from rtrace_otel.report.definitions import (
    DEFINITIONS,
    UnknownTermError,
    definitions_document,
    definitions_json,
    definitions_of,
    plain,
    rule_document,
    rule_json,
    rule_of,
)
from rtrace_otel.report.document import Facts, Table
from rtrace_otel.report.formats import to_csv
from rtrace_otel.report.summary import summary_json
from tests.analysis.check.checking import checked, done
from tests.report.history import dispatched, published, refit, restored, started, trace, trained

ASKED_FOR = {
    "reused", "resumed", "redone", "trained_again", "discarded", "never_came_back", "unknown", "in_flight", "dead_s",
    "first_dispatch_s", "first_seal_s", "first_train_step_s", "steps_trained_again", "attempt_seconds", "tokens_exact",
    "batch_age", "in_call", "in_group", "in_queue", "train_lag", "waste", "bucket",
}  # fmt: skip
ROWS = trace(
    started("a"), refit("a", 3, 4, ("c", 40)), dispatched("a", "x"), published("a", "g", {3: 9}, ("c", 3, 100)),
    trained("a", 1, 5, "g"), started("b"), restored("b", 1),
)  # fmt: skip
NOT_NUMBERS = {
    "kind", "stopped_runs", "ages", "other_events", "restored_run", "parent_run", "from_spans", "runs", "title", "code",
    "severity", "message", "counts", "skipped", "rules", "ledger", "rollouts",
}  # fmt: skip
"""Names, texts and containers of the JSON output."""


def names() -> set[str]:
    """Every name that has an entry."""
    return {one.name for one in DEFINITIONS}


def test_names_are_unique() -> None:
    """One entry for each number."""
    assert len(names()) == len(DEFINITIONS)


def test_other_names_lead_to_one_entry() -> None:
    """No other name of an entry is the name of another entry or of a rule."""
    others = [plain(other) for one in DEFINITIONS for other in one.also if plain(other) != plain(one.name)]

    assert len(others) == len(set(others))
    assert set() == set(others) & ({plain(name) for name in names()} | {plain(code) for code in RULES_BY_CODE})


@pytest.mark.parametrize("one", DEFINITIONS, ids=lambda one: one.name)
def test_every_entry_is_whole(one: Definition) -> None:
    """A sentence, a source, and the commands that show it."""
    assert one.meaning.endswith(".")
    assert (True, True) == (bool(one.source), bool(one.shown_in))
    assert set(one.shown_in) <= {*COMMANDS, "restore", "waste"}


def test_every_column_of_the_ages_is_defined() -> None:
    """Also those that the table leaves out where they tell nothing, by key and by heading."""
    columns = age_document(step_ages(ROWS), "f").main_table.columns

    assert [] == [column.key for column in columns if column.key not in names()]
    assert [] == [column.title for column in columns if not _leads_to(column.title, column.key)]


def test_every_metric_of_a_comparison_is_defined() -> None:
    """As something that the command shows, in the metric's unit where the entry has one number."""
    shown = {one.name: one for one in DEFINITIONS if "compare" in one.shown_in}

    assert [] == [metric.name for metric in METRICS if metric.name not in shown]
    assert {"dispatches", "s", "versions"} <= {shown[metric.name].unit for metric in METRICS}


def _leads_to(title: str, key: str) -> bool:
    """Whether a heading of the table of ages finds the entry of its column; ``trained`` has one of its own."""
    return title == "trained" or key in {one.name for one in definitions_of(title)}


def test_every_number_of_the_output_is_defined() -> None:
    """Every key of the JSON of three commands, at any depth, but names, texts and containers."""
    outputs = (age_json(step_ages(ROWS)), summary_json(summarise(ROWS)), check_json(checked(done("a", "x"))))
    keys = {key for output in outputs for key in _keys(json.loads(json.dumps(output)))}

    assert set() == keys - names() - NOT_NUMBERS


def _keys(value: object) -> set[str]:
    if isinstance(value, list):
        return {key for item in value for key in _keys(item)}
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in _keys(item)}
    return set()


def test_the_fates_and_parts_are_defined() -> None:
    """What a stop cost, and where staleness comes from."""
    assert set() == ASKED_FOR - names()


@pytest.mark.parametrize(
    "term", ["batch_age", "batch age", "Batch-Age", " BATCH_AGE ", "staleness", "rtrace.batch_age"]
)
def test_a_term_is_found_however_it_is_written(term: str) -> None:
    """Case, spaces, hyphens and other names make no difference."""
    assert ["batch_age"] == [one.name for one in definitions_of(term)]


def test_a_command_stands_for_its_numbers() -> None:
    """All that it shows, in the order of the page; no term stands for everything."""
    assert [one for one in DEFINITIONS if "age" in one.shown_in] == list(definitions_of("age"))
    assert DEFINITIONS == definitions_of(None)


@pytest.mark.parametrize(
    ("term", "hint"),
    [
        ("bacth_age", "Did you mean batch_age or batch_age_p95?"),
        ("refit", "refits"),
        ("RT1011", "Did you mean RT101"),
        ("dispatch", "first_dispatch_s"),
        ("zzz", "All names: rtrace definitions"),
        ("", "All names: rtrace definitions"),
    ],
)
def test_an_unknown_term_is_answered_with_those_that_come_near(term: str, hint: str) -> None:
    """At most three, by their names in the output."""
    with pytest.raises(UnknownTermError, match=re.escape(hint)):
        definitions_of(term)


def test_codes_lead_to_rules() -> None:
    """In any case; a term that is no code leads to none."""
    assert (RULES[0], RULES[0], None, None) == (
        rule_of("RT101"),
        rule_of(" rt101"),
        rule_of("batch_age"),
        rule_of(None),
    )


def test_one_entry_on_a_terminal() -> None:
    """Everything that is said of it, in plain text."""
    (facts,) = definitions_document(definitions_of("logged"), for_terminal=True).blocks

    assert (
        Facts(
            "logged",
            (
                ("shown in", "rtrace age"),
                ("meaning", "Batch age that the controller logged (train_step.batch_age)."),
                ("unit", "versions"),
                ("source", "NeMo RL, nemo_rl.algorithms.rollout_checkpointing.trace"),
            ),
        )
        == facts
    )


def test_many_entries_on_a_terminal() -> None:
    """A line each, and how to see one whole."""
    facts, more = definitions_document(DEFINITIONS, for_terminal=True).blocks
    assert isinstance(facts, Facts)

    assert [one.name for one in DEFINITIONS] == [name for name, _ in facts.pairs]
    assert "rtrace definitions TERM" in str(more)


def test_tables_and_json_have_all_of_them() -> None:
    """A line each in CSV; JSON has every field."""
    assert len(DEFINITIONS) + 1 == to_csv(definitions_document(DEFINITIONS)).count("\n")
    assert {"name", "shown_in", "meaning", "formula", "unit", "source", "also"} == set(
        definitions_json(DEFINITIONS)["definitions"][0]
    )


def test_a_rule_in_every_form() -> None:
    """Facts for a terminal, a table for CSV and Markdown, an object in JSON."""
    rule = RULES_BY_CODE["RT806"]
    (facts,), (table,) = rule_document(rule, for_terminal=True).blocks, rule_document(rule).blocks
    assert isinstance(facts, Facts)
    assert isinstance(table, Table)

    assert ["severity", "meaning", "causes", "remedy"] == [name for name, _ in facts.pairs]
    assert "is not what the schema asks for" in facts.pairs[1][1]
    assert ["code", "title", "severity", "meaning", "causes", "remedy"] == list(table.records[0])
    assert ([], "RT806") == (rule_json(rule)["definitions"], rule_json(rule)["rule"]["code"])
