"""An exported file goes the way of the Jaeger UI's upload.

The page reads a file of JSON lines, joins their ``resourceSpans`` in one document, has the server's ``/api/transform``
turn that into traces, and shows them. The server is real here; what the page does before it is done by the test.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import rtrace
from tests.integration.chain import JOB, Found, spans_of
from tests.integration.conftest import Job, projected_keys
from tests.servers import BUILD_TIMEOUT_S, Jaeger

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)


def _uploaded(server: Jaeger, file: Path) -> Iterator[Found]:
    lines = file.read_text(encoding="utf-8").splitlines()
    document = {"resourceSpans": [resource for line in lines for resource in json.loads(line)["resourceSpans"]]}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/api/transform", json.dumps(document).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        for trace in json.load(answer)["data"]:
            yield from spans_of(trace)


@pytest.fixture(scope="module")
def uploaded(job: Job, tmp_path_factory: pytest.TempPathFactory) -> list[Found]:
    """What the page would show of the demo's file."""
    file = tmp_path_factory.mktemp("upload") / "spans.jsonl"
    exported = rtrace("export", job.result.trace, "--to", "otlp-json", "-o", file)
    assert exported.code == 0, exported.err
    return list(_uploaded(job.chain.jaeger, file))


def test_every_span_of_the_file_is_shown_once(job: Job, uploaded: list[Found]) -> None:
    """All spans that the rows give, and nothing else."""
    keys = [span.key for span in uploaded]
    assert projected_keys(job.events) == set(keys)
    assert len(set(keys)) == len(keys)


def test_the_page_shows_what_jaeger_holds(job: Job, uploaded: list[Found]) -> None:
    """A span that the job sent while it ran has the same name, parent and times when its file is uploaded."""
    live = {span.key: span for span in job.spans if span.process["service.name"] == JOB}
    both = [span for span in uploaded if span.key in live]

    assert {"rollout.group", "rollout.attempt", "train.step", "weights.sync"} <= {span.name for span in both}
    for span in both:
        held = live[span.key]
        assert (held.name, held.parent, held.start_us, held.end_us) == (
            span.name,
            span.parent,
            span.start_us,
            span.end_us,
        )


def test_uploaded_spans_can_be_searched_and_followed(job: Job, uploaded: list[Found]) -> None:
    """Links lead to spans of the same upload, and the tags that people filter by are there."""
    keys = {span.key for span in uploaded}
    attempts = [span for span in uploaded if span.name == "rollout.attempt"]

    assert keys >= {link for span in uploaded for link in span.links}
    assert all(span.tags.get("rtrace.outcome") for span in attempts)
    assert {job.runs[0], job.runs[1]} == {span.tags["rtrace.run_id"] for span in attempts}
