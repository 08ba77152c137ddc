"""The shipped Jaeger: it starts, shows its links and its Monitor tab, and finds rollouts by tag."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.collector.conftest import Stack
from tests.collector.files import DASHBOARDS, dashboard, default_of, read_env, read_yaml
from tests.collector.sending import SERVICE, demo_spans
from tests.server_process import get_text
from tests.servers import BUILD_TIMEOUT_S, COLLECTOR, eventually, get_json

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

UI: Any = json.loads((COLLECTOR / "jaeger" / "ui.json").read_text(encoding="utf-8"))
LINKS: list[dict[str, str]] = UI["linkPatterns"]


def _filled(pattern: dict[str, str]) -> str:
    return re.sub(r"#\{([^{}]*)\}", "VALUE", pattern["url"])


def test_it_serves_the_ui_configuration(stack: Stack) -> None:
    """Jaeger takes the file and hands it to the browser as it is."""
    (handed,) = re.findall(r"^\s*JAEGER_CONFIG = (.*);$", get_text(f"{stack.jaeger.url}/"), re.MULTILINE)
    assert UI == json.loads(handed)


@pytest.mark.parametrize(
    ("tags", "attributes"),
    [
        ({"rtrace.outcome": "abandoned"}, {"rtrace.outcome": "abandoned"}),
        ({"rtrace.refits_bucket": "2+"}, {"rtrace.refits_bucket": "2+"}),
        (
            {"rtrace.truncated": "true", "rtrace.waiting_for": "a result"},
            {"rtrace.truncated": True, "rtrace.waiting_for": "a result"},
        ),
    ],
    ids=["abandoned", "two refits", "interrupted"],
)
def test_attempts_are_found_by_tag(stack: Stack, tags: dict[str, str], attributes: dict[str, object]) -> None:
    """Jaeger compares tags as text, for equality; the attributes that people filter by allow it."""
    expected = {
        span.context.span_id
        for span in demo_spans()
        if span.name == "rollout.attempt" and span.context and attributes.items() <= dict(span.attributes or {}).items()
    }
    assert expected
    query = {"service": SERVICE, "operation": "rollout.attempt", "tags": json.dumps(tags)}

    def found() -> set[int]:
        traces = get_json(f"{stack.jaeger.url}/api/traces", limit=1500, **query)["data"]
        wanted = [{"key": key, "value": value} for key, value in attributes.items()]
        return {
            int(span["spanID"], 16)
            for trace in traces
            for span in trace["spans"]
            if span["operationName"] == "rollout.attempt"
            and all(any(tag.items() >= one.items() for tag in span["tags"]) for one in wanted)
        }

    assert expected == eventually(found, lambda spans: spans == expected)


def test_the_monitor_tab_shows_rollouts_as_internal_spans_only(stack: Stack) -> None:
    """It reads the collector's span metrics from Prometheus; its filter has to be moved from Server to Internal."""

    def operations(what: str, kind: str, **more: str) -> set[str]:
        found = get_json(
            f"{stack.jaeger.url}/api/metrics/{what}",
            service=SERVICE,
            spanKind=kind,
            groupByOperation="true",
            lookback=600_000,
            step=5000,
            ratePer=60_000,
            **more,
        )
        labels = [{label["name"]: label["value"] for label in metric["labels"]} for metric in found["metrics"]]
        return {label["operation"] for label in labels}

    names = {span.name for span in demo_spans()}
    assert (names, names) == (operations("calls", "internal"), operations("latencies", "internal", quantile="0.95"))
    assert set() == operations("calls", "server")


@pytest.mark.parametrize("pattern", LINKS, ids=[pattern["text"] for pattern in LINKS])
def test_links_start_from_attributes_that_spans_have(pattern: dict[str, str]) -> None:
    """The tag that carries the link, and the tags that its address takes up, are on one and the same kind of span."""
    needed = {pattern["key"], *re.findall(r"#\{([^{}]*)\}", pattern["url"] + pattern["text"])}
    assert [] != [span for span in demo_spans() if needed <= set(span.attributes or {})]
    assert "tags" == pattern["type"]


@pytest.mark.parametrize("pattern", [p for p in LINKS if p["url"].startswith("/search")], ids=lambda p: p["text"])
def test_links_within_jaeger_are_searches(stack: Stack, pattern: dict[str, str]) -> None:
    """Jaeger's query API takes the parameters of the link."""
    address = urlsplit(_filled(pattern))
    parameters = {name: values[0] for name, values in parse_qs(address.query, strict_parsing=True).items()}
    assert {"service", "operation", "limit", "tags"} == set(parameters)
    assert parameters["operation"] in {span.name for span in demo_spans()}
    assert ["VALUE"] == list(json.loads(parameters["tags"]).values())
    assert [] == get_json(f"{stack.jaeger.url}/api/traces", **parameters)["data"]


@pytest.mark.parametrize("pattern", [p for p in LINKS if "://" in p["url"]], ids=lambda p: p["text"])
def test_links_to_grafana_ask_tempo(pattern: dict[str, str]) -> None:
    """They open Explore, at the port and with the data source that are provisioned."""
    address = urlsplit(_filled(pattern))
    assert ("http", f"localhost:{read_env()['GRAFANA_PORT']}", "/explore") == address[:3]
    (panes,) = parse_qs(address.query, strict_parsing=True)["panes"]
    (pane,) = json.loads(panes).values()
    (query,) = pane["queries"]
    sources = {
        s["uid"]: s["type"] for s in read_yaml("grafana/provisioning/datasources/datasources.yaml")["datasources"]
    }
    assert {"type": sources[pane["datasource"]], "uid": pane["datasource"]} == query["datasource"]
    assert ("tempo", "traceql") == (query["datasource"]["type"], query["queryType"])
    assert "VALUE" in query["query"]


def test_the_menu_leads_to_the_dashboards() -> None:
    """Each of them, under its uid and Grafana's port."""
    (menu,) = UI["menu"]
    port = read_env()["GRAFANA_PORT"]
    expected = {f"http://localhost:{port}/d/{dashboard(path)['uid']}" for path in DASHBOARDS}
    assert expected == {item["url"] for item in menu["items"]}


def test_addresses_come_from_the_environment() -> None:
    """As with the collector, no port is fixed."""
    config = read_yaml("jaeger/jaeger.yaml")
    query, protocols = config["extensions"]["jaeger_query"], config["receivers"]["otlp"]["protocols"]
    assert ["0.0.0.0:16686", "0.0.0.0:16685", "0.0.0.0:4317", "0.0.0.0:4318", "0.0.0.0:13133"] == [
        default_of(address)
        for address in (
            query["http"]["endpoint"],
            query["grpc"]["endpoint"],
            protocols["grpc"]["endpoint"],
            protocols["http"]["endpoint"],
            config["extensions"]["healthcheckv2"]["http"]["endpoint"],
        )
    ]
