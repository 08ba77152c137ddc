"""Whose certificates a connection to a collector trusts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests
from opentelemetry.sdk.trace.export import SpanExportResult

from rtrace_otel.spans.config import OtlpDestination
from rtrace_otel.spans.otlp import make_exporters
from tests.spans.rows import readable
from tests.spans.test_group_trace import whole_life

URL = "https://collector.example:4318"


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What each request was told to trust; none leaves the machine."""
    found: list[object] = []

    def send(_: object, request: requests.PreparedRequest, **named: Any) -> requests.Response:
        found.append(named["verify"])
        response = requests.Response()
        response.status_code, response.request, response._content = 200, request, b""
        return response

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    return found


def _export(destination: str | OtlpDestination, environ: dict[str, str]) -> None:
    (exporter,) = make_exporters(destination, environ)
    assert SpanExportResult.SUCCESS is exporter.export(readable(whole_life().rows))


@pytest.mark.parametrize("bundle", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_certificate_that_is_given_wins(
    bundle: str, trusted: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine's bundle, which many company networks set, does not know the collector's own authority."""
    monkeypatch.setenv(bundle, str(tmp_path / "bundle.pem"))
    _export(OtlpDestination(URL, certificate_file=str(tmp_path / "given.pem")), {})
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", str(tmp_path / "named.pem"))
    _export(URL, {})
    assert [str(tmp_path / "given.pem"), str(tmp_path / "named.pem")] == trusted


def test_without_one_the_bundle_of_the_machine_counts(
    trusted: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for every other program on it."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "bundle.pem"))
    _export(URL, {})
    assert [str(tmp_path / "bundle.pem")] == trusted
