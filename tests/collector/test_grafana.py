"""Grafana's provisioning: data sources under fixed uids, dashboards from the folder that is mounted."""

from __future__ import annotations

from typing import Any

from tests.collector.files import read_yaml

COMPOSE: Any = read_yaml("compose.yaml")


def test_data_sources_have_fixed_uids() -> None:
    """Dashboards, exemplars and Jaeger's links name them."""
    sources = read_yaml("grafana/provisioning/datasources/datasources.yaml")["datasources"]
    assert {
        "rtrace-prometheus": "prometheus",
        "rtrace-tempo": "tempo",
        "rtrace-jaeger": "jaeger",
    } == {source["uid"]: source["type"] for source in sources}
    assert 1 == len([source for source in sources if source.get("isDefault")])


def test_exemplars_lead_to_a_data_source_that_exists() -> None:
    """A point of a histogram opens the trace behind it."""
    sources = read_yaml("grafana/provisioning/datasources/datasources.yaml")["datasources"]
    types = {source["uid"]: source["type"] for source in sources}
    (prometheus,) = [source for source in sources if source["type"] == "prometheus"]
    uids = [one["datasourceUid"] for one in prometheus["jsonData"]["exemplarTraceIdDestinations"]]
    assert ["tempo"] == [types[uid] for uid in uids]


def test_dashboards_are_read_from_the_mounted_folder() -> None:
    """The provider looks where compose puts them, in a folder with a fixed uid."""
    (provider,) = read_yaml("grafana/provisioning/dashboards/dashboards.yaml")["providers"]
    mounts = dict(volume.split(":")[:2] for volume in COMPOSE["services"]["grafana"]["volumes"])
    assert f"{mounts['./grafana/provisioning']}/dashboards" == provider["options"]["path"]
    assert ("file", "rtrace") == (provider["type"], provider["folderUid"])


def test_nothing_is_fetched_at_start() -> None:
    """Without internet Grafana otherwise waits for plug-ins, or replaces those in its image."""
    environment = COMPOSE["services"]["grafana"]["environment"]
    assert {
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
        "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
        "GF_PLUGINS_PREINSTALL_DISABLED": "true",
        "GF_PLUGINS_PREINSTALL_AUTO_UPDATE": "false",
        "GF_NEWS_NEWS_FEED_ENABLED": "false",
    }.items() <= environment.items()
