"""Images are pinned, and the two that are also built from source are the versions that the tests ran."""

from __future__ import annotations

import re

from tests.collector.files import read_env, read_yaml
from tests.servers import COLLECTOR

IMAGES = {name: value for name, value in read_env().items() if name.endswith("_IMAGE")}


def _version(name: str) -> str:
    return IMAGES[name].rsplit(":", 1)[1]


def _locked(module: str, file: str) -> str:
    text = (COLLECTOR / "testbed" / file / "go.mod").read_text(encoding="utf-8")
    (version,) = re.findall(rf"^\s*{re.escape(module)} v(\S+)", text, re.MULTILINE)
    return str(version)


def test_every_image_is_one_release() -> None:
    """No ``latest`` and no moving tag: three numbers."""
    assert {f"{name.upper()}_IMAGE" for name in read_yaml("compose.yaml")["services"]} == set(IMAGES)
    assert [] == [image for image in IMAGES.values() if not re.search(r":v?\d+\.\d+\.\d+$", image)]


def test_the_collector_is_the_one_that_is_tested() -> None:
    """The image has the release of the components that the testbed assembles."""
    assert _version("COLLECTOR_IMAGE") == _locked(
        "github.com/open-telemetry/opentelemetry-collector-contrib/connector/spanmetricsconnector", "otelcol"
    )


def test_jaeger_is_the_one_that_is_tested() -> None:
    """Jaeger's modules are called 1.N while its releases are 2.(N - 63)."""
    major, minor, patch = (int(part) for part in _locked("github.com/jaegertracing/jaeger", "jaeger").split("."))
    assert 1 == major
    assert f"2.{minor - 63}.{patch}" == _version("JAEGER_IMAGE")


def test_tempo_and_its_configuration_are_of_one_generation() -> None:
    """Tempo 3 refuses to start on the sections of Tempo 2."""
    assert "3" == _version("TEMPO_IMAGE").split(".")[0]
    assert set() == {"ingester", "compactor", "metrics_generator_enabled"} & set(read_yaml("tempo/tempo.yaml"))
