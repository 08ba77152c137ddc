"""The optional overlay: which traces reach the backends, and that the file keeps the others."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rtrace_otel.events import Row
from rtrace_otel.spans.projector import project
from rtrace_otel.spans.readable import ProjectedSpan, to_readable
from tests.collector.files import configs
from tests.collector.sending import send_spans
from tests.servers import BUILD_TIMEOUT_S, eventually, get_json, jaeger, otelcol

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

RUN = "run1"
HOUR = 3600.0


def _rows() -> list[Row]:
    """Groups that all differ from an ordinary one in one way, a step, a refit and a checkpoint."""
    now = time.time()
    rows: list[Row] = [{"event": "run_started", "t": now - HOUR, "host": "vm", "pid": 1, "service": "sampled"}]

    def group(name: str, seconds: float, refits: int = 0, reason: str | None = None) -> None:
        start = now - seconds - 10
        one = {"group_id": name, "prompt_id": name}
        rows.append({"event": "group_reserved", "t": start, **one})
        rows.append(
            {"event": "attempt_dispatched", "t": start, "attempt_id": f"{name}-a", "generation_index": 0, **one}
        )
        sync = {"event": "weight_sync", "t": start, "calls": []}
        rows.extend({**sync, "replaced_version": before, "new_version": before + 1} for before in range(refits))
        end = {"event": "attempt_sealed", "tokens": 3} if reason is None else {"event": "attempt_abandoned"}
        rows.append({**end, "t": start + seconds, "attempt_id": f"{name}-a", "reason": reason})
        rows.append(
            {"event": "train_step", "t": start + seconds, "step": len(rows), "trained_version": 0, "group_ids": [name]}
        )

    group("slow", 1500)
    for number in range(5):
        group(f"ordinary-{number}", 1)
    group("failed", 1, reason="server error")
    group("cut-twice", 1, refits=2)
    rows.append({"event": "checkpoint_published", "t": now, "checkpoint_id": "c1", "step": 1})
    return [{**row, "run": RUN, "seq": seq} for seq, row in enumerate(rows)]


def _spans() -> list[ProjectedSpan]:
    return [to_readable(span, resource, number) for number, (span, resource) in enumerate(project(_rows()))]


@dataclass(frozen=True)
class Sampled:
    """What was sent, and where it arrived: trace ids of groups by name, and the names of the other roots."""

    sent: set[str]
    in_jaeger: set[str]
    in_file: set[str]


def _what(name: str, attributes: dict[str, object]) -> str:
    return str(attributes["rtrace.group_id"]) if name == "rollout.group" else name


@pytest.fixture(scope="module")
def sampled() -> Iterator[Sampled]:
    """The overlay with none of the rest, deciding a second after a trace's root."""
    env = {"SAMPLING_AFTER_ROOT": "1s", "SAMPLING_PERCENT": "0"}
    with (
        jaeger() as traces,
        otelcol(
            configs("tail sampling"), {"JAEGER_OTLP": traces.otlp_grpc, "TEMPO_OTLP": traces.otlp_grpc, **env}
        ) as to,
    ):
        spans = _spans()
        roots = [span for span in spans if span.parent is None]
        sent = {_what(span.name, dict(span.attributes or {})) for span in roots}
        send_spans(to.otlp_http, spans)

        def in_jaeger() -> set[str]:
            found = get_json(f"{traces.url}/api/traces", service="sampled", limit=1500)["data"] or []
            return {
                _what(span["operationName"], {tag["key"]: tag["value"] for tag in span["tags"]})
                for trace in found
                for span in trace["spans"]
                # A link is a reference too, of another kind.
                if all(reference["refType"] != "CHILD_OF" for reference in span["references"])
            }

        def in_file() -> set[str]:
            text = to.spans_file.read_text(encoding="utf-8")
            lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
            return {
                _what(span["name"], {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]})
                for line in lines
                for resource in line["resourceSpans"]
                for scope in resource["scopeSpans"]
                for span in scope["spans"]
                if not span.get("parentSpanId")
            }

        kept = sent - {f"ordinary-{number}" for number in range(5)}
        eventually(in_jaeger, lambda found: kept <= found)
        eventually(in_file, lambda found: found == sent)
        # Long enough for one that should not come.
        time.sleep(2)
        yield Sampled(sent, in_jaeger(), in_file())


def test_errors_the_slowest_and_what_refits_cut_are_kept(sampled: Sampled) -> None:
    """So are steps, refits and checkpoints; ordinary groups are kept by chance only, here by none."""
    assert {
        "slow",
        "failed",
        "cut-twice",
        "train.step",
        "weights.sync",
        "checkpoint.publish",
    } == sampled.in_jaeger


def test_the_file_keeps_everything(sampled: Sampled) -> None:
    """Sampling concerns the backends alone: what they did not get can be replayed."""
    assert sampled.sent == sampled.in_file
    assert {f"ordinary-{number}" for number in range(5)} <= sampled.in_file
