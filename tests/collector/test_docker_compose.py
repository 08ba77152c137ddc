"""Docker Compose itself reads ``compose.yaml``, with ``.env``: what it would start is what the README says.

``config`` needs no Docker engine. Each run has a home and an environment of its own, so that nothing of the machine's
settings plays a part.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.collector.files import COMBINATIONS, read_env, read_yaml
from tests.servers import BUILD_TIMEOUT_S, COLLECTOR, need_binaries

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

README = (COLLECTOR / "README.md").read_text(encoding="utf-8")
TAIL_SAMPLING = "# - --config=/etc/otelcol/tail-sampling.yaml"


def _compose(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [need_binaries().compose, *arguments],
        cwd=folder,
        env={"HOME": "/nonexistent", "PATH": "/nonexistent", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _model(folder: Path, **env: str) -> Any:
    """What Compose would start, once it has said nothing against it."""
    done = _compose(folder, "config", "--format", "json", **env)
    assert (0, "") == (done.returncode, done.stderr)
    return json.loads(done.stdout)


@cache
def _shipped() -> Any:
    return _model(COLLECTOR)


def _copy(folder: Path) -> Path:
    """The folder, to be changed as a user would."""
    return Path(shutil.copytree(COLLECTOR, folder / "collector", ignore=shutil.ignore_patterns("testbed")))


def test_it_takes_the_file_as_it_is() -> None:
    """No error, no warning, and the five services of the file, all on one network."""
    services = _shipped()["services"]
    assert set(read_yaml("compose.yaml")["services"]) == set(services)
    assert [{"default": None}] * 5 == [service["networks"] for service in services.values()]
    assert "rtrace" == _shipped()["name"]


@pytest.mark.parametrize("name", ["collector", "jaeger", "tempo", "prometheus", "grafana"])
def test_images_are_those_of_env(name: str) -> None:
    """The variable of each service has its image."""
    assert read_env()[f"{name.upper()}_IMAGE"] == _shipped()["services"][name]["image"]


def test_the_readme_saves_every_image() -> None:
    """``docker compose config --images``, from which it makes one file for a machine without internet."""
    assert "docker save $(docker compose config --images)" in README
    done = _compose(COLLECTOR, "config", "--images")
    assert {value for name, value in read_env().items() if name.endswith("_IMAGE")} == set(done.stdout.split())


def test_it_publishes_every_port_of_env_on_this_machine_only() -> None:
    """The host's address and numbers are those of ``.env``, each number once."""
    published = [port for service in _shipped()["services"].values() for port in service["ports"]]
    expected = sorted(value for name, value in read_env().items() if name.endswith("_PORT"))
    assert expected == sorted(port["published"] for port in published)
    assert {("127.0.0.1", "tcp")} == {(port["host_ip"], port["protocol"]) for port in published}


def test_it_mounts_folders_that_exist_and_keeps_data_in_volumes() -> None:
    """Folders of this one are read-only; each place that is written to is a volume of the project."""
    mounts = [mount for service in _shipped()["services"].values() for mount in service["volumes"]]
    binds = [mount for mount in mounts if mount["type"] == "bind"]
    folders = ["grafana/provisioning", "jaeger", "otelcol", "prometheus", "tempo"]
    assert [(str(COLLECTOR / folder), True) for folder in folders] == sorted(
        (mount["source"], mount["read_only"]) for mount in binds
    )
    assert [True] * 5 == [Path(mount["source"]).is_dir() for mount in binds]
    assert set(_shipped()["volumes"]) == {mount["source"] for mount in mounts if mount["type"] == "volume"}


@pytest.mark.parametrize("name", ["collector", "jaeger", "tempo", "prometheus", "grafana"])
def test_what_a_container_is_told(name: str) -> None:
    """All that the file says arrives, as text: no variable is left over, none is empty."""
    written, service = read_yaml("compose.yaml")["services"][name], _shipped()["services"][name]
    environment, command = service.get("environment", {}), service.get("command") or []
    assert (set(written.get("environment", {})), len(written.get("command", []))) == (set(environment), len(command))
    told = [*environment.values(), *command]
    assert [] == [value for value in told if not isinstance(value, str) or not value or "$" in value]


def test_spans_in_a_directory(tmp_path: Path) -> None:
    """``SPANS_VOLUME=./data``, as the remark in ``.env`` has it, mounts a folder beside the file."""
    assert "a directory such as ./data" in (COLLECTOR / ".env").read_text(encoding="utf-8")
    folder = _copy(tmp_path)
    mounts = _model(folder, SPANS_VOLUME="./data")["services"]["collector"]["volumes"]
    assert [("bind", str(folder / "data"))] == [
        (mount["type"], mount["source"]) for mount in mounts if mount["target"] == "/var/lib/otelcol"
    ]


def test_tail_sampling_is_one_mark_away(tmp_path: Path) -> None:
    """Without its ``#`` the line is an argument among the others, in the place where the tests have it."""
    folder = _copy(tmp_path)
    file = folder / "compose.yaml"
    text = file.read_text(encoding="utf-8")
    assert 1 == text.count(TAIL_SAMPLING)
    file.write_text(text.replace(TAIL_SAMPLING, TAIL_SAMPLING.removeprefix("# ")), encoding="utf-8")
    command = _model(folder)["services"]["collector"]["command"]
    assert [f"--config=/etc/otelcol/{name}.yaml" for name in COMBINATIONS["tail sampling"]] == command


def test_without_env_it_says_what_the_readme_explains(tmp_path: Path) -> None:
    """The table of what can go wrong has the words of the error."""
    (tmp_path / "compose.yaml").write_bytes((COLLECTOR / "compose.yaml").read_bytes())
    done = _compose(tmp_path, "config")
    words = "is missing a value"
    assert done.returncode != 0
    assert words in done.stderr
    assert f"`{words}`" in README
