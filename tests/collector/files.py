"""The files of ``collector/`` as data."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.servers import COLLECTOR

DASHBOARDS: Final = sorted((COLLECTOR / "grafana" / "provisioning" / "dashboards").glob("*.json"))
OTELCOL: Final = COLLECTOR / "otelcol"
COMBINATIONS: Final = {
    "alone": ["base"],
    "as shipped": ["base", "backends", "extras"],
    "tail sampling": ["base", "backends", "tail-sampling", "extras"],
    "clickhouse": ["base", "backends", "clickhouse", "extras"],
}
"""Sets of collector configurations that users run, in the order in which they are read."""


@cache
def read_yaml(name: str) -> Any:
    """A YAML file of ``collector/``."""
    return yaml.safe_load((COLLECTOR / name).read_text(encoding="utf-8"))


def read_env() -> dict[str, str]:
    """The variables of ``collector/.env``."""
    lines = (COLLECTOR / ".env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@cache
def dashboard(path: Path) -> Any:
    """A dashboard."""
    return json.loads(path.read_text(encoding="utf-8"))


def targets(language: str) -> list[tuple[str, str]]:
    """Every query of the dashboards in one language (``expr`` for PromQL, ``query`` for TraceQL), with its place."""
    return [
        (f"{path.stem}: {panel['title']}", target[language])
        for path in DASHBOARDS
        for panel in dashboard(path)["panels"]
        for target in panel.get("targets", [])
        if language in target
    ]


def default_of(address: str) -> str:
    """What a ``${env:NAME:-default}`` of a collector configuration is where ``NAME`` is not set."""
    return re.sub(r"\$\{env:\w+:-([^}]*)\}", r"\1", address)


def configs(combination: str) -> list[Path]:
    """The files of a combination."""
    return [OTELCOL / f"{name}.yaml" for name in COMBINATIONS[combination]]
