"""Every TraceQL query asks for spans and attributes that the projector emits, in terms that TraceQL has."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from rtrace_otel.spans.conventions import SPANS
from tests.collector.files import targets
from tests.collector.sending import demo_spans
from tests.servers import COLLECTOR

FUNCTIONS = {"select", "count", "count_over_time", "sum_over_time", "avg_over_time", "max_over_time", "by"}
"""Those in use; a new one is to be looked up in TraceQL's documentation first."""

INTRINSICS = {"name", "duration", "status"}
RESOURCE = {"service.name", "service.instance.id", "host.name", "process.pid"}
COMPARISON = re.compile(r'([\w.:]+) (=|=~|>|>=) ("[^"]*"|[\w.$#{}]+)')


def _queries() -> list[tuple[str, str]]:
    links = json.loads((COLLECTOR / "jaeger" / "ui.json").read_text(encoding="utf-8"))["linkPatterns"]
    explore = [(link["text"], parse_qs(urlsplit(link["url"].replace("#", "%23")).query).get("panes")) for link in links]
    page = (COLLECTOR.parent / "docs" / "opentelemetry.md").read_text(encoding="utf-8")
    documented = re.findall(r"^(\{ span:.*)$", page, re.MULTILINE)
    return [
        *targets("query"),
        *(
            (f"jaeger: {text}", query["query"])
            for text, panes in explore
            if panes
            for pane in json.loads(panes[0]).values()
            for query in pane["queries"]
        ),
        *((f"docs: {query}", query) for query in documented),
    ]


QUERIES = _queries()
IDS = [place for place, _ in QUERIES]


def test_queries_come_from_every_place() -> None:
    """Dashboards, Jaeger's links and the documentation have some."""
    places = {place.partition(": ")[0] for place in IDS}
    assert {"docs", "jaeger", "run-health", "staleness", "stop-restore", "waste"} <= places


def _comparisons(query: str) -> list[tuple[str, str, str]]:
    """Field, operator and value of each condition; empty if one of them is something else."""
    (inside,) = re.findall(r"^\{ (.*?) \}", re.sub(r"#\{([^}]*)\}", r"#\1", query))
    terms = [COMPARISON.fullmatch(term) for term in inside.split(" && ")]
    return [(term[1], term[2], term[3]) for term in terms if term is not None] if all(terms) else []


def _spans(query: str) -> list[dict[str, Any]]:
    """The attributes of the demo's spans that meet every condition of equality in a query."""
    wanted = {
        field: json.loads(value)
        for field, operator, value in _comparisons(query)
        if operator == "=" and "#" not in value and value != "error"
    }
    found = []
    for span in demo_spans():
        facts = {f"span.{name}": value for name, value in (span.attributes or {}).items()}
        if wanted.items() <= {**facts, "span:name": span.name}.items():
            found.append(facts)
    return found


@pytest.mark.parametrize(("place", "query"), QUERIES, ids=IDS)
def test_it_is_a_filter_and_a_pipeline(place: str, query: str) -> None:
    """Brackets are balanced, the conditions are comparisons joined by ``&&``, the functions are TraceQL's."""
    bare = re.sub(r"#\{[^}]*\}", "VALUE", query)
    for opening, closing in ("{}", "()"):
        assert bare.count(opening) == bare.count(closing), place
    assert 0 == bare.count('"') % 2
    assert [] != _comparisons(query), place
    first, *stages = bare.split(" | ")
    assert re.fullmatch(r"\{ .* \}", first), place
    for stage in stages:
        assert re.fullmatch(r"\w+\([\w., ]*\)( by \([\w.]+\)| >= \d+)?", stage), place
    assert set() == set(re.findall(r"(\w+) ?\(", " ".join(stages))) - FUNCTIONS, place


@pytest.mark.parametrize(("place", "query"), QUERIES, ids=IDS)
def test_the_demo_has_spans_like_those(place: str, query: str) -> None:
    """Span name, outcome and flags are values that occur, together on one span."""
    assert [] != _spans(query), place


@pytest.mark.parametrize(("place", "query"), QUERIES, ids=IDS)
def test_those_spans_have_every_attribute(place: str, query: str) -> None:
    """What is filtered by, selected, summed or grouped by is on them; what is compared with a number is one."""
    spans = _spans(query)
    emitted = set().union(*spans)
    named = set(re.findall(r"\bspan\.[\w.]+\w", re.sub(r'"[^"]*"', "", query)))
    assert set() == named - emitted, place
    assert set() == set(re.findall(r"\bspan:(\w+)", query)) - INTRINSICS, place
    assert set() == set(re.findall(r"\bresource\.([\w.]+\w)", query)) - RESOURCE, place
    ordered = {field for field, operator, _ in _comparisons(query) if operator.startswith(">")} - {"span:duration"}
    summed = set(re.findall(r"_over_time\((span\.[\w.]+)\)", query))
    for field in ordered | summed:
        kinds = {type(span[field]) for span in spans if field in span}
        assert kinds <= {int, float}, (place, field)


@pytest.mark.parametrize(("place", "query"), QUERIES, ids=IDS)
def test_the_conventions_list_them(place: str, query: str) -> None:
    """What dashboards ask for is what the documentation promises, for the spans that the query is about."""
    about = [json.loads(value) for field, _, value in _comparisons(query) if field == "span:name"]
    listed = {f"span.{a.name}" for span in SPANS if span.name in about or not about for a in span.attributes}
    assert set(about) <= {span.name for span in SPANS}, place
    assert set() == set(re.findall(r"\bspan\.[\w.]+\w", re.sub(r'"[^"]*"', "", query))) - listed, place


@pytest.mark.parametrize(
    ("place", "query"),
    [(place, query) for place, query in QUERIES if not place.startswith(("jaeger: ", "docs: "))],
    ids=[place for place in IDS if not place.startswith(("jaeger: ", "docs: "))],
)
def test_a_dashboard_query_keeps_to_the_chosen_job_and_run(place: str, query: str) -> None:
    """The variables of the dashboard restrict every panel."""
    conditions = {(field, operator, value) for field, operator, value in _comparisons(query)}
    assert {
        ("resource.service.name", "=~", '"$service"'),
        ("span.rtrace.run_id", "=~", '"$run"'),
    } <= conditions, place
