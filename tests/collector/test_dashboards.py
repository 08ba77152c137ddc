"""The dashboards are sound as Grafana reads them: classic JSON model, fixed ids, panels that do not overlap."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.collector.files import DASHBOARDS, dashboard, read_yaml

SOURCES = {
    source["uid"]: source["type"]
    for source in read_yaml("grafana/provisioning/datasources/datasources.yaml")["datasources"]
}
KINDS = {"row", "stat", "timeseries", "heatmap", "table"}
COLUMNS = 24


def _sources(node: Any) -> list[dict[str, str]]:
    """Every data source that a dashboard names, at any depth."""
    if isinstance(node, dict):
        own = [node["datasource"]] if "datasource" in node else []
        return own + [found for value in node.values() for found in _sources(value)]
    return [found for value in node for found in _sources(value)] if isinstance(node, list) else []


def test_there_are_four() -> None:
    """Their uids are fixed, because links and bookmarks contain them; titles are unique in the folder."""
    assert {
        "run-health.json": ("rtrace-run-health", "RL rollouts: run health"),
        "staleness.json": ("rtrace-staleness", "RL rollouts: staleness"),
        "stop-restore.json": ("rtrace-stop-restore", "RL rollouts: stop and restore"),
        "waste.json": ("rtrace-waste", "RL rollouts: waste"),
    } == {path.name: (dashboard(path)["uid"], dashboard(path)["title"]) for path in DASHBOARDS}


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_the_model_is_pinned(path: Path) -> None:
    """The classic model in one version, which newer Grafanas migrate; nothing of a database is in it."""
    model = dashboard(path)
    assert 39 == model["schemaVersion"]
    assert "id" not in model
    assert "__inputs" not in model
    assert ["rtrace"] == model["tags"]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_have_ids_and_words_of_their_own(path: Path) -> None:
    """Ids and titles are unique, kinds are known, and everything but a row says what it shows."""
    panels = dashboard(path)["panels"]
    assert len(panels) == len({panel["id"] for panel in panels})
    assert len(panels) == len({panel["title"] for panel in panels})
    assert set() == {panel["type"] for panel in panels} - KINDS
    assert [] == [panel["title"] for panel in panels if panel["type"] != "row" and not panel["description"].strip()]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_do_not_overlap(path: Path) -> None:
    """Each lies within the 24 columns, and no two cover the same cell."""
    places = [(panel["title"], panel["gridPos"]) for panel in dashboard(path)["panels"]]
    for title, place in places:
        assert 0 <= place["x"] < place["x"] + place["w"] <= COLUMNS, title
        assert place["h"] > 0, title
    for (one, a), (other, b) in combinations(places, 2):
        apart = (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
        assert apart, (one, other)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_only_provisioned_data_sources_are_used(path: Path) -> None:
    """By uid and of the right type, so that a fresh Grafana shows data without a click."""
    used = _sources(dashboard(path))
    assert used
    assert [] == [source for source in used if SOURCES.get(source["uid"]) != source["type"]]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_queries_fit_their_data_source(path: Path) -> None:
    """PromQL goes to Prometheus, TraceQL to Tempo; reference ids are unique within a panel."""
    for panel in dashboard(path)["panels"]:
        found = panel.get("targets", [])
        assert len(found) == len({target["refId"] for target in found}), panel["title"]
        assert bool(found) == (panel["type"] != "row"), panel["title"]
        for target in found:
            assert panel["datasource"] == target["datasource"], panel["title"]
            field = {"prometheus": "expr", "tempo": "query"}[target["datasource"]["type"]]
            assert target[field].strip(), panel["title"]
            assert {"expr", "query"} & set(target) == {field}, panel["title"]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_variables_that_are_used_are_defined(path: Path) -> None:
    """Job and run, each with All, which matches whatever there is."""
    variables = dashboard(path)["templating"]["list"]
    assert [("service", ".*", True), ("run", ".*", True)] == [
        (variable["name"], variable["allValue"], variable["multi"]) for variable in variables
    ]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_each_leads_to_the_others(path: Path) -> None:
    """A bar of links to all dashboards with the same tag keeps the time and the variables."""
    (links,) = dashboard(path)["links"]
    expected = {"type": "dashboards", "tags": ["rtrace"], "includeVars": True, "keepTime": True}
    assert expected.items() <= links.items()
