"""The page of commands describes the JSON output, key by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from rtrace_otel.analysis.age.ages import DifferenceKind
from rtrace_otel.analysis.age.by_field import ByFold, ValueKind
from rtrace_otel.analysis.age.defined import DefinitionFold
from rtrace_otel.analysis.age.definitions import DEFINITIONS as AGE_DEFINITIONS
from rtrace_otel.analysis.age.split import SplitMissing
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.check.rule import Severity
from rtrace_otel.analysis.compare.compare import Verdict as Compared
from rtrace_otel.analysis.compare.compare import compare
from rtrace_otel.analysis.compare.gates import judge, parse_gate
from rtrace_otel.analysis.compare.measure import measure
from rtrace_otel.analysis.compare.metrics import METRICS
from rtrace_otel.analysis.compare.values import Known
from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.analysis.flow.phases import PHASES
from rtrace_otel.analysis.flow.records import Outcome, WaitsFor
from rtrace_otel.analysis.ledger.work import Fate
from rtrace_otel.analysis.reading.damage import Damage, DamageKind, SeqGap, Tally
from rtrace_otel.analysis.reading.tail import Tail
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.runs import HowEnded
from rtrace_otel.analysis.step_results import Verdict
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.analysis.watch.watching import snapshot_of
from rtrace_otel.columns.query import QueryResult
from rtrace_otel.report.age_by import by_json
from rtrace_otel.report.age_definitions import definitions_json as age_definitions_json
from rtrace_otel.report.attempts import attempts_json
from rtrace_otel.report.check import check_json
from rtrace_otel.report.compare import Gated, compare_json
from rtrace_otel.report.damage import damage_json
from rtrace_otel.report.definitions import DEFINITIONS, definitions_json
from rtrace_otel.report.formats import SCHEMA_VERSION, to_json
from rtrace_otel.report.groups import groups_json
from rtrace_otel.report.restore import restore_json
from rtrace_otel.report.sql import query_json, tables_json
from rtrace_otel.report.staleness import staleness_json
from rtrace_otel.report.steps import steps_json
from rtrace_otel.report.summary import summary_json
from rtrace_otel.report.waste import waste_json
from rtrace_otel.report.watch import watch_json
from tests.analysis.check.checking import checked, done
from tests.report.history import dispatched, event, refit, reserved, started, trace
from tests.report.hostile import hostile_trace

PAGE: Final = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
DESCRIBED: Final = {
    word for code in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL))
    for word in re.findall(r"\w+", code)
}  # fmt: skip
"""Words of the page that stand in backticks outside code blocks."""

DATA_KEYS: Final = {
    "attempts.abandoned", "groups.discarded", "attempts.resumed", "other_events", "damage_counts", "read.runs",
    "read.damage_counts", "by_outcome", "verdicts", "split_missing", "rows",
}  # fmt: skip
"""Objects whose keys come from the file."""


VALUES: Final = (
    *(*DifferenceKind, *SplitMissing, *ValueKind, *get_args(HowEnded), *Severity),
    *(*Verdict, *Outcome, *WaitsFor, *PHASES, *Fate, *Compared, *Known),
)
"""What scripts compare values with."""


def outputs() -> dict[str, Any]:
    """Each command's JSON, with no list empty."""
    known: dict[str, dict[str, Any]] = {"run_started": {"weight_version": 4}, "train_step": {"seconds": 0.5}}
    rows = [row | known.get(row["event"], {}) for row in hostile_trace("x")]
    checkpoints = [event("w", "checkpoint_published", checkpoint_id="c", step=1), event("w", "weight_sync_started")]
    tally = Tally("f", runs={"a": 1}, gaps=[SeqGap("a", 1, 0, 1)])
    tally.add_damage(Damage(1, DamageKind.NOT_JSON, "x", 0))
    met, measured = tally.report(), measure(rows, "f")
    read = damage_json(met)
    gates, compared = [parse_gate("stops:>0"), parse_gate("rows_missing:+0")], compare(measured, measured)
    by, defined = ByFold("reason"), DefinitionFold(AGE_DEFINITIONS)
    ages = staleness_json(staleness(rows, by, defined)) | by_json(by.result()) | age_definitions_json(defined.result())
    watched = [*rows, *trace(started("w"), reserved("w", "g"), dispatched("w", "x"), refit("w", 1, 2), *checkpoints)]
    from_spans = check_json(checked(started("a", from_spans=True)))
    results = {
        "age": ages,
        "summary": summary_json(summarise(rows)),
        "restore": restore_json(restore_report(rows)),
        "waste": waste_json(waste_report(rows)),
        "compare": compare_json(Gated(compared, gates, judge(compared, gates)), (met, met)),
        "check": check_json(checked(started("b"), done("b", "x"))) | {"skipped": from_spans["skipped"]},
        "definitions": definitions_json(DEFINITIONS),
        "steps": steps_json(train_steps(rows)),
        "groups": groups_json(groups(rows)),
        "attempts": attempts_json(attempts(rows)),
        "sql": query_json(QueryResult(("a",), ("BIGINT",), ((1,),), 1)) | tables_json() | {"files": [{"file": "f"}]},
        "watch": watch_json(snapshot_of(watched, 1e4), tally.report(), Tail("f").state),
    }
    found = {command: json.loads(to_json(command, result, read)) for command, result in results.items()}
    age, summary, check = found["age"], found["summary"], found["check"]
    objects = [
        *(age["steps"], age["differences"], age["restores"], age["by"]["values"], age["split"]),
        *(summary["runs"], summary["read"]["gaps"], summary["read"]["damages"]),
        *(check["findings"], check["counts"], check["skipped"], found["definitions"]["definitions"]),
        *(found["restore"]["stops"], found["restore"]["lineage"], found["waste"]["accounts"], found["waste"]["steps"]),
        *(found[command][command] for command in ("steps", "groups", "attempts")),
        *(found["compare"][key] for key in ("metrics", "gates", "failures")),
        *(
            found["watch"][key]
            for key in ("runs", "steps", "under_way", "slowest", "refits", "checkpoints", "restores")
        ),
    ]
    assert all(objects), "what an empty list would hold is not checked"
    return found


def keys_of(value: Any, path: str = "") -> Iterator[str]:
    """The path of every key that is ours, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            place = f"{path}.{key}".lstrip(".")
            yield place
            if key not in DATA_KEYS and place not in DATA_KEYS:
                yield from keys_of(item, place)


@pytest.mark.parametrize(
    "command",
    [
        "age",
        "summary",
        "restore",
        "waste",
        "compare",
        "check",
        "definitions",
        "steps",
        "groups",
        "attempts",
        "sql",
        "watch",
    ],
)
def test_every_key_is_described(command: str) -> None:
    """No key of the JSON output is missing on the page."""
    assert [] == [path for path in keys_of(outputs()[command]) if path.rpartition(".")[2] not in DESCRIBED]


def test_the_table_of_steps_lists_exactly_the_keys_of_a_step() -> None:
    """What the page says a step has is what it has."""
    table = PAGE[PAGE.index("| field | meaning |") : PAGE.index("The table calls them")]
    rows = [line.split("|")[1] for line in table.splitlines()[2:] if line]

    assert set(outputs()["age"]["steps"][0]) == {key for row in rows for key in re.findall(r"`(\w+)`", row)}


@pytest.mark.parametrize("command", ["steps", "groups", "attempts"])
def test_the_table_of_records_lists_exactly_their_keys(command: str) -> None:
    """What the page's section of a command says a record has is what it has."""
    section = PAGE[PAGE.index(f"## rtrace {command}\n") :]
    table = section[section.index("| field | meaning |") :].split("\n\n", 1)[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]

    assert set(outputs()[command][command][0]) == {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def test_the_table_of_metrics_lists_exactly_their_keys() -> None:
    """What the page says a compared metric has is what it has."""
    table = PAGE[PAGE.index("| field of `metrics[]` | meaning |") :].split("\n\n", 1)[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]

    assert set(outputs()["compare"]["metrics"][0]) == {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def test_the_page_has_every_metric_as_the_registry_has_it() -> None:
    """Name, unit and better direction, in the order of the table."""
    section = PAGE[PAGE.index("| metric | unit | better | meaning |") :].split("\n\n", 1)[0]
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in section.splitlines()[2:]]

    assert [[f"`{one.name}`", one.unit, one.better or "-"] for one in METRICS] == rows


@pytest.mark.parametrize("section", ["read", "runs", "attempts", "groups", "differences"])
def test_the_rows_of_nested_objects_list_exactly_their_keys(section: str) -> None:
    """The page's row of an object names all of its keys."""
    output = outputs()["age" if section == "differences" else "summary"]
    value = output[section][0] if isinstance(output[section], list) else output[section]
    (row,) = re.findall(rf"^\| `{section}` \| (.*) \|$", PAGE, re.MULTILINE)

    assert [] == [key for key in value if f"`{key}`" not in row]


@pytest.mark.parametrize(("heading", "command", "key"), [("findings[]", "check", "findings")])
def test_the_table_of_findings_lists_exactly_their_keys(heading: str, command: str, key: str) -> None:
    """What the page says a finding has is what it has."""
    table = PAGE[PAGE.index(f"The fields of `{heading}`") :].split("\n\n")[1]
    keys = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])}

    assert set(outputs()[command][key][0]) == keys


def test_every_kind_and_ending_is_described() -> None:
    """Values that scripts compare with stand on the page."""
    assert [] == [value for value in VALUES if f"`{value}`" not in PAGE]


def test_the_version_of_the_output_is_on_the_page() -> None:
    """The page says which version it describes."""
    assert f"`schema_version` (now {SCHEMA_VERSION})" in PAGE
    assert {SCHEMA_VERSION} == {output["schema_version"] for output in outputs().values()}
