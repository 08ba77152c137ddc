"""What the README of ``collector/`` says is so: ports, files, commands and examples."""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.collector.files import OTELCOL, read_env, read_yaml
from tests.servers import BUILD_TIMEOUT_S, COLLECTOR, need_binaries

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

README = (COLLECTOR / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def _complaints(*configs: Path) -> str:
    done = subprocess.run(
        [need_binaries().otelcol, "validate", *(f"--config=file:{path}" for path in configs)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (done.returncode == 0) == (not done.stderr)
    return done.stderr


def test_three_commands_start_it() -> None:
    """The first block is all that a reader has to type, the last line being a job."""
    assert [
        "cd collector",
        "docker compose up -d",
        f"OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:{read_env()['OTLP_HTTP_PORT']} rtrace demo",
    ] == _blocks("sh")[0].splitlines()


def test_the_table_of_ports_is_env() -> None:
    """Every port, under its variable."""
    expected = {name: value for name, value in read_env().items() if name.endswith("_PORT")}
    assert expected == dict(re.findall(r"^\| `(\w+_PORT)` \| (\d+) \|", README, re.MULTILINE))


def test_addresses_are_published_ports() -> None:
    """Links to localhost lead to something."""
    assert set(re.findall(r"localhost:(\d+)", README)) <= set(read_env().values())


def test_variables_exist() -> None:
    """A variable that the text tells the reader to set is in ``.env`` or ``compose.yaml``, or one of the SDK."""
    compose = (COLLECTOR / "compose.yaml").read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", README))
    configured = set(re.findall(r"\$\{env:(\w+):-", "".join(path.read_text() for path in OTELCOL.iterdir())))
    known = {*read_env(), *configured, "OTEL_SERVICE_NAME"}
    assert set() == {name for name in named - known if name not in compose}


def test_files_exist_and_are_all_explained() -> None:
    """Links resolve, and no folder or configuration is left out."""
    links = {link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link}
    assert [] == sorted(link for link in links if not (COLLECTOR / link).exists())
    shipped = {path.name for path in COLLECTOR.iterdir() if path.name != "README.md"}
    assert set() == shipped - {link.split("/")[0] for link in links}
    assert {path.name for path in OTELCOL.iterdir()} <= {link.split("/")[-1] for link in links}


def test_anchors_exist() -> None:
    """Links within the page lead to headings."""
    headings = {re.sub(r"\W+", "-", text.lower()) for text in re.findall(r"^#+ (.*)$", README, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([\w-]+)\)", README)) <= headings


def _rtrace() -> Iterator[tuple[str, set[str]]]:
    for line in re.findall(r"\brtrace ([a-z]+[^`\n]*)", "\n".join([*_blocks("sh"), *re.findall(r"`[^`\n]+`", README)])):
        name, *rest = line.split()
        yield name, {word for word in rest if word.startswith("--")}


def test_commands_of_rtrace_exist() -> None:
    """With the options that are named."""
    found = list(_rtrace())
    assert {"demo", "replay", "summary"} == {name for name, _ in found}
    for name, options in found:
        command = getattr(importlib.import_module(f"rtrace_otel.cli.{name}"), name)
        assert isinstance(command, click.Command)
        assert options <= {option for parameter in command.params for option in parameter.opts}, name


def test_the_collector_accepts_the_example_for_another_one(tmp_path: Path) -> None:
    """What a reader adds to a collector of their own is valid as it stands."""
    theirs, example = tmp_path / "theirs.yaml", tmp_path / "example.yaml"
    pipeline = "{receivers: [otlp], exporters: [debug]}"
    theirs.write_text(
        "receivers: {otlp: {protocols: {grpc: {}}}}\nexporters: {debug: {}}\n"
        f"service: {{pipelines: {{traces: {pipeline}, metrics: {pipeline}}}}}\n",
        encoding="utf-8",
    )
    (text,) = _blocks("yaml")
    example.write_text(text, encoding="utf-8")
    assert "" == _complaints(theirs, example)


def test_the_collector_accepts_the_example_in_extras(tmp_path: Path) -> None:
    """Its comments, without the marks, are a configuration; as shipped the file changes nothing."""
    text = (OTELCOL / "extras.yaml").read_text(encoding="utf-8")
    assert {} == read_yaml("otelcol/extras.yaml")
    example = tmp_path / "example.yaml"
    commented = text[text.index("# exporters:") : text.index("{}")]
    example.write_text(re.sub(r"^# ?", "", commented, flags=re.MULTILINE), encoding="utf-8")
    assert "" == _complaints(OTELCOL / "base.yaml", OTELCOL / "backends.yaml", example)


def test_images_to_mirror_are_counted() -> None:
    """Five, all of them in ``.env``."""
    assert 5 == len([name for name in read_env() if name.endswith("_IMAGE")])
    assert "mirror the five images" in README


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            "here it is 12 hours",
            "12h" == read_yaml("tempo/tempo.yaml")["live_store"]["wal"]["ingestion_time_range_slack"],
        ),
        ("reach back 14 days", "336h" == read_yaml("tempo/tempo.yaml")["query_frontend"]["search"]["max_duration"]),
        (
            "Here it is 20 MB",
            20_000_000 == read_yaml("tempo/tempo.yaml")["overrides"]["defaults"]["global"]["max_bytes_per_trace"],
        ),
    ],
)
def test_numbers_in_the_text_are_those_of_the_configuration(said: str, meant: bool) -> None:
    """What the traps say of Tempo's limits here."""
    assert said in README
    assert meant
