"""The page of semantic conventions, from the registry of spans and metrics."""

from __future__ import annotations

from rtrace_otel.spans.conventions import GEN_AI, METRICS, NEMO_RL, RL_PROPOSAL, SPANS, SpanConvention

_INTRODUCTION = """# Semantic conventions

<!-- Generated from the registry by `python -m tests.generate`; do not edit. -->

Instrumentation scope `rtrace_otel`, version `schema-1`; stability: development. All spans have kind INTERNAL. There is
one trace for each prompt group; training steps, refits and checkpoints are traces of their own, joined by links and
attributes. Ids are blake2b hashes of run, group and attempt, so a replay gives the same spans.

Each row of the trace file that belongs to a span is an event of it: the event has the row's name, and its fields are
attributes with the prefix `rtrace.` ([event schema](schema.md)). Fields of your own pass the same way. Lists of calls
and groups become counts; an object becomes JSON text under a name that ends in `.json`. A span keeps 256 events; more
are counted in `rtrace.events_folded.<event>`.

Status is ERROR with the reason for an attempt that was abandoned, a group that was discarded, and whatever was open
when its run was killed. A refusal or a masked result is no error.

Resource: `service.name`, `service.instance.id` (the run id), `host.name`, `process.pid`, and the attributes in
`OTEL_RESOURCE_ATTRIBUTES`.

## Spans
"""


def conventions_page() -> str:
    """Text of ``docs/semantic-conventions.md``."""
    parts = [_INTRODUCTION.rstrip()]
    for span in SPANS:
        parts += _span_section(span)
    parts += ["", "## Metrics", "", "| metric | instrument | unit | attributes | meaning |", "|---|---|---|---|---|"]
    for metric in METRICS:
        keys = ", ".join(f"`{key}`" for key in metric.attributes)
        parts.append(f"| `{metric.name}` | {metric.instrument} | `{metric.unit}` | {keys} | {metric.meaning} |")
    for title, rows in (
        ("NeMo RL's `rl.*`", NEMO_RL),
        ("the open OpenTelemetry `rl.*` proposal", RL_PROPOSAL),
        ("`gen_ai.*`", GEN_AI),
    ):
        parts += ["", f"## Ours and {title}", "", "| ours | theirs | comparison |", "|---|---|---|"]
        parts += [f"| `{ours}` | `{theirs}` | {_code(comparison)} |" for ours, theirs, comparison in rows]
    return "\n".join(parts) + "\n"


def _span_section(span: SpanConvention) -> list[str]:
    place = _code(span.parent[:1].upper() + span.parent[1:])
    parts = ["", f"### {span.name}", "", f"{span.meaning} {place}.", ""]
    if span.links:
        parts += [f"Links: {_code(span.links)}.", ""]
    parts += ["| attribute | type | unit | cardinality | example | meaning |", "|---|---|---|---|---|---|"]
    for a in span.attributes:
        parts.append(f"| `{a.name}` | {a.type} | {a.unit} | {a.cardinality} | `{a.example}` | {_code(a.meaning)} |")
    return parts


def _code(text: str) -> str:
    return text.replace("``", "`")
