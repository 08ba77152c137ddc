"""``compose.yaml``, ``.env`` and the configurations agree on names and ports."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.collector.files import COMBINATIONS, default_of, read_env, read_yaml
from tests.servers import COLLECTOR

COMPOSE: Any = read_yaml("compose.yaml")
SERVICES: dict[str, Any] = COMPOSE["services"]
ENV = read_env()
TEXT = (COLLECTOR / "compose.yaml").read_text(encoding="utf-8")


def _port(address: str) -> int:
    return int(default_of(address).rsplit(":", 1)[1])


def _listening() -> dict[str, set[int]]:
    """The ports that each server listens on, as its configuration says."""
    base, jaeger = read_yaml("otelcol/base.yaml"), read_yaml("jaeger/jaeger.yaml")
    otlp, tempo = base["receivers"]["otlp"]["protocols"], read_yaml("tempo/tempo.yaml")
    (reader,) = base["service"]["telemetry"]["metrics"]["readers"]
    return {
        "collector": {
            _port(otlp["grpc"]["endpoint"]),
            _port(otlp["http"]["endpoint"]),
            _port(base["exporters"]["prometheus"]["endpoint"]),
            _port(base["extensions"]["health_check"]["endpoint"]),
            int(default_of(str(reader["pull"]["exporter"]["prometheus"]["port"]))),
        },
        "jaeger": {
            _port(jaeger["extensions"]["jaeger_query"]["http"]["endpoint"]),
            _port(jaeger["receivers"]["otlp"]["protocols"]["grpc"]["endpoint"]),
        },
        "tempo": {
            tempo["server"]["http_listen_port"],
            _port(tempo["distributor"]["receivers"]["otlp"]["protocols"]["grpc"]["endpoint"]),
        },
        # What the programs listen on unless they are told otherwise.
        "prometheus": {9090},
        "grafana": {3000},
    }


def _references() -> list[tuple[str, str]]:
    """Every address at which one server looks for another: file, ``host:port``."""
    backends, tempo = read_yaml("otelcol/backends.yaml"), read_yaml("tempo/tempo.yaml")
    metric_backends = read_yaml("jaeger/jaeger.yaml")["extensions"]["jaeger_storage"]["metric_backends"]
    sources = read_yaml("grafana/provisioning/datasources/datasources.yaml")["datasources"]
    found = [("backends", default_of(exporter["endpoint"])) for exporter in backends["exporters"].values()]
    found += [
        ("jaeger", urlsplit(default_of(one["prometheus"]["endpoint"])).netloc) for one in metric_backends.values()
    ]
    found += [("tempo", urlsplit(one["url"]).netloc) for one in tempo["metrics_generator"]["storage"]["remote_write"]]
    found += [("grafana", urlsplit(source["url"]).netloc) for source in sources]
    found += [
        ("prometheus", target)
        for scrape in read_yaml("prometheus/prometheus.yaml")["scrape_configs"]
        for static in scrape["static_configs"]
        for target in static["targets"]
    ]
    return found


def test_the_services() -> None:
    """One of each."""
    assert {"collector", "jaeger", "tempo", "prometheus", "grafana"} == set(SERVICES)


def test_every_variable_is_in_env_and_used() -> None:
    """One file holds all that differs from site to site, and nothing that has no effect."""
    assert set(ENV) == set(re.findall(r"\$\{(\w+)", TEXT))
    assert [] == [line for line in re.findall(r"\$\{[^}]*\}", TEXT) if not line.endswith(":?}")]


@pytest.mark.parametrize("name", SERVICES)
def test_published_ports_are_those_that_servers_listen_on(name: str) -> None:
    """The port on the machine comes from ``.env``, the one in the container is the configuration's."""
    for published in SERVICES[name]["ports"]:
        found = re.fullmatch(r"\$\{BIND_ADDRESS:\?\}:\$\{(\w+_PORT):\?\}:(\d+)", published)
        assert found is not None, published
        assert int(found[2]) in _listening()[name]
        # By default what a container listens on and what is published have one number.
        assert found[2] == ENV[found[1]]


def test_nothing_is_published_to_other_machines_by_default() -> None:
    """Data goes in and out without a password."""
    assert "127.0.0.1" == ENV["BIND_ADDRESS"]


def test_published_ports_differ() -> None:
    """Two servers cannot share one."""
    ports = [value for name, value in ENV.items() if name.endswith("_PORT")]
    assert len(ports) == len(set(ports)) == sum(len(service["ports"]) for service in SERVICES.values())


@pytest.mark.parametrize(("file", "address"), _references())
def test_servers_find_each_other(file: str, address: str) -> None:
    """Every host in a configuration is a service, and listens on that port."""
    host, port = address.split(":")
    assert int(port) in _listening()[host], file


@pytest.mark.parametrize("name", SERVICES)
def test_mounted_files_exist(name: str) -> None:
    """What is mounted is in this folder, read-only, and holds the files that the command names."""
    mounts = dict(volume.split(":")[:2] for volume in SERVICES[name]["volumes"])
    shared = {source: target for source, target in mounts.items() if source.startswith("./")}
    assert all(volume.endswith(":ro") for volume in SERVICES[name]["volumes"] if volume.startswith("./"))
    assert all((COLLECTOR / source).is_dir() for source in shared)
    for argument in SERVICES[name].get("command", []):
        option, _, path = argument.partition("=")
        if option.strip("-") in ("config", "config.file"):
            ((source, target),) = [(s, t) for s, t in shared.items() if path.startswith(f"{t}/")]
            assert (COLLECTOR / source / path.removeprefix(f"{target}/")).is_file(), argument


def test_named_volumes_are_declared() -> None:
    """Data outlives the containers."""
    text = re.sub(r"\$\{SPANS_VOLUME:\?\}", ENV["SPANS_VOLUME"], TEXT)
    used = set(re.findall(r"^      - (\w+):/", text, re.MULTILINE))
    assert used == set(COMPOSE["volumes"])


def test_the_collector_reads_what_is_checked() -> None:
    """The configurations in the order that the tests run; tail sampling is one line away."""
    files = [argument.rsplit("/", 1)[1].removesuffix(".yaml") for argument in SERVICES["collector"]["command"]]
    assert COMBINATIONS["as shipped"] == files
    with_sampling = re.findall(r"- --config=/etc/otelcol/([\w-]+)\.yaml", TEXT)
    assert COMBINATIONS["tail sampling"] == with_sampling


@pytest.mark.parametrize(("service", "file"), [("collector", "otelcol"), ("jaeger", "jaeger")])
def test_variables_passed_on_are_read(service: str, file: str) -> None:
    """A container's environment names what its configuration reads, and the defaults there are those of ``.env``."""
    texts = "".join(path.read_text(encoding="utf-8") for path in (COLLECTOR / file).glob("*.yaml"))
    defaults = dict(re.findall(r"\$\{env:(\w+):-([^}]*)\}", texts))
    passed = SERVICES[service]["environment"]
    assert {name: defaults[name] for name in passed} == {
        name: ENV[value.removeprefix("${").removesuffix(":?}")] for name, value in passed.items()
    }
