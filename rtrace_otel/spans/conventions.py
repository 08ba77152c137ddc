"""The semantic conventions: every span, its attributes, and the metrics. Data only; the documentation comes from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a span or metric.

    Attributes:
        name: Its key.
        type: Its type in OpenTelemetry's terms.
        meaning: One line.
        example: A value.
        cardinality: How many values it takes: ``low`` may be a metric's attribute, ``high`` never.
        unit: Unit of a number, in words.
    """

    name: str
    type: str
    meaning: str
    example: str
    cardinality: str = "high"
    unit: str = ""


@dataclass(frozen=True, slots=True)
class SpanConvention:
    """A span.

    Attributes:
        name: Its name.
        meaning: One line.
        parent: Where it stands in its trace.
        links: What it links to.
        attributes: Its attributes; fields of the user and of its last row come on top.
    """

    name: str
    meaning: str
    parent: str
    links: str
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class MetricConvention:
    """A metric.

    Attributes:
        name: Its name.
        instrument: Kind of instrument.
        unit: UCUM unit.
        meaning: One line.
        attributes: Keys of its attributes.
    """

    name: str
    instrument: str
    unit: str
    meaning: str
    attributes: tuple[str, ...] = ()


_RUN = Attribute(
    "rtrace.run_id", "string", "Run that recorded it; also ``service.instance.id`` of the resource.", "dc578f25c0ffee00"
)
_GROUP_ID = Attribute("rtrace.group_id", "string", "Prompt group.", "6cc8261256e6")
_PROMPT = Attribute("rtrace.prompt_id", "string", "Dataset index of the prompt.", "17")
_REASON = Attribute("rtrace.reason", "string", "Why it ended in an error.", "server error", "low")
_TRUNCATED = (
    Attribute(
        "rtrace.truncated", "boolean", "It did not end itself: its run was killed or ended first.", "true", "low"
    ),
    Attribute(
        "rtrace.waiting_for", "string", "What it was waiting for when it was last known to live.", "a result", "low"
    ),
)
_SECONDS = Attribute("rtrace.seconds", "double", "Duration that the controller measured.", "0.8", unit="s")

SPANS: Final = (
    SpanConvention(
        "rollout.group",
        "A prompt group, from its reservation until it is trained or discarded.",
        "root of the group's trace",
        "``restored``: the same group in the run that first reserved it",
        (
            _RUN,
            _GROUP_ID,
            _PROMPT,
            Attribute("rtrace.generations", "int", "Generations of the group.", "16", "low", "attempts"),
            Attribute("rtrace.epoch", "int", "Pass over the dataset.", "0", "low"),
            Attribute("rtrace.weight_version", "int", "Weight version at the reservation.", "3", unit="versions"),
            Attribute("rtrace.outcome", "string", "``trained``, ``discarded`` or ``interrupted``.", "trained", "low"),
            _REASON,
            Attribute("rtrace.attempts", "int", "Attempts dispatched or resumed for it.", "17", unit="attempts"),
            Attribute("rtrace.step", "int", "Training step that trained it.", "12"),
            Attribute("rtrace.trained_version", "int", "Weight version that this step updated.", "11", unit="versions"),
            *_TRUNCATED,
        ),
    ),
    SpanConvention(
        "rollout.attempt",
        "A rollout attempt, from its dispatch until it is sealed or abandoned.",
        "child of its ``rollout.group``; spans of the inference server are its children",
        "``redone``: the attempt it does again; ``resumed``: the one it continues; ``refit``: the refits within it",
        (
            _RUN,
            Attribute("rtrace.attempt_id", "string", "The attempt.", "2ff0cd60d7c5"),
            _GROUP_ID,
            _PROMPT,
            Attribute("rtrace.generation_index", "int", "Which of the group's generations.", "0", "low"),
            Attribute("rtrace.attempt_index", "int", "Attempts of this generation before it.", "0", "low"),
            Attribute("rtrace.instance", "string", "Inference server or replica.", "server-0", "low"),
            Attribute(
                "rtrace.dispatch_count",
                "int",
                "Dispatches: one more than refusals that were followed by one.",
                "1",
                "low",
            ),
            Attribute("rtrace.refusals", "int", "Dispatches that the environment refused.", "0", "low"),
            Attribute("rtrace.outcome", "string", "``sealed``, ``abandoned`` or ``interrupted``.", "sealed", "low"),
            _REASON,
            Attribute("rtrace.tokens", "int", "Tokens generated.", "512", unit="tokens"),
            Attribute(
                "gen_ai.usage.output_tokens",
                "int",
                "The same, under the name of the GenAI conventions.",
                "512",
                unit="tokens",
            ),
            Attribute("rtrace.reward", "double", "Reward.", "0.5"),
            Attribute("rtrace.masked", "boolean", "Whether training masks it out.", "false", "low"),
            Attribute("rtrace.weight_version_start", "int", "Weight version at the dispatch.", "3", unit="versions"),
            Attribute("rtrace.weight_version_end", "int", "Weight version at its end.", "5", unit="versions"),
            Attribute("rtrace.refits_spanned", "int", "Refits between its dispatch and its end.", "2", unit="refits"),
            Attribute(
                "rtrace.refits_bucket",
                "string",
                "The same as ``0``, ``1`` or ``2+``: Jaeger compares text only.",
                "2+",
                "low",
            ),
            Attribute(
                "rtrace.resumed_level", "string", "``turn`` or ``prefix``, if it continues another.", "turn", "low"
            ),
            Attribute(
                "rtrace.tokens_kept", "int", "Tokens that it did not have to generate again.", "300", unit="tokens"
            ),
            *_TRUNCATED,
        ),
    ),
    SpanConvention(
        "train.step",
        "A training step.",
        "root of its trace; ``train.step.groups`` children carry its links beyond 128",
        "``trained``: each of its groups",
        (
            _RUN,
            Attribute("rtrace.step", "int", "Step number.", "12"),
            Attribute("rtrace.trained_version", "int", "Weight version that it updates.", "11", unit="versions"),
            Attribute("rtrace.batch_age", "double", "Batch age that the controller logged.", "1.27", unit="versions"),
            Attribute(
                "rtrace.age_p95",
                "int",
                "95th percentile of token age, from the published counts.",
                "3",
                unit="versions",
            ),
            Attribute("rtrace.age_max", "int", "Largest token age, from the published counts.", "4", unit="versions"),
            Attribute("rtrace.tokens", "int", "Trained tokens.", "18000", unit="tokens"),
            Attribute("rtrace.groups", "int", "Groups trained.", "64", unit="groups"),
            Attribute(
                "rtrace.groups_with_tokens", "int", "Those with counts that this run published.", "64", unit="groups"
            ),
            _SECONDS,
            _REASON,
            Attribute("rtrace.outcome", "string", "``interrupted``, if its run was killed.", "interrupted", "low"),
            *_TRUNCATED,
        ),
    ),
    SpanConvention(
        "weights.sync",
        "A refit.",
        "root of its trace",
        "",
        (
            _RUN,
            Attribute("rtrace.replaced_version", "int", "Weight version before.", "3", unit="versions"),
            Attribute("rtrace.new_version", "int", "Weight version installed.", "4", unit="versions"),
            Attribute("rtrace.initial", "boolean", "Whether a run reports the weights that it loaded.", "false", "low"),
            Attribute("rtrace.calls.count", "int", "Calls that it paused.", "420", unit="calls"),
            Attribute("rtrace.calls_bucket", "string", "The same as ``0``, ``1`` or ``2+``.", "2+", "low"),
            Attribute("rtrace.calls.tokens_sum", "int", "Tokens of these calls until then.", "98000", unit="tokens"),
            Attribute("rtrace.calls.tokens_min", "int", "Fewest tokens of a call.", "0", unit="tokens"),
            Attribute("rtrace.calls.tokens_max", "int", "Most tokens of a call.", "4096", unit="tokens"),
            _SECONDS,
        ),
    ),
    SpanConvention(
        "checkpoint.publish",
        "A checkpoint.",
        "root of its trace",
        "",
        (
            _RUN,
            Attribute("rtrace.checkpoint_id", "string", "The checkpoint.", "step-0012"),
            Attribute("rtrace.step", "int", "Step that it was taken after.", "12"),
            Attribute("rtrace.kind", "string", "What it holds.", "trainer", "low"),
            Attribute("rtrace.groups.count", "int", "Groups that it holds.", "96", unit="groups"),
            _SECONDS,
        ),
    ),
    SpanConvention(
        "checkpoint.restore",
        "A run goes on from a checkpoint.",
        "root of its trace",
        "",
        (
            _RUN,
            Attribute("rtrace.checkpoint_id", "string", "The checkpoint.", "step-0012"),
            Attribute("rtrace.step", "int", "Step that it was taken after.", "12"),
            Attribute("rtrace.from_run", "string", "The run that published it.", "dc578f25c0ffee00"),
            Attribute("rtrace.groups.count", "int", "Groups that it brought back.", "96", unit="groups"),
            _SECONDS,
        ),
    ),
)
"""Every span; rows that belong to none of them (``trace_gap``, events of the user) are spans without duration."""

METRICS: Final = (
    MetricConvention(
        "rtrace.attempts",
        "counter",
        "{attempt}",
        "Attempts that ended, and refusals.",
        ("rtrace.outcome", "rtrace.reason"),
    ),
    MetricConvention("rtrace.tokens", "counter", "{token}", "Tokens by what became of them.", ("rtrace.fate",)),
    MetricConvention("rtrace.attempts.open", "gauge", "{attempt}", "Attempts in flight."),
    MetricConvention("rtrace.groups.open", "gauge", "{group}", "Groups reserved and not yet trained or discarded."),
    MetricConvention("rtrace.queue.rows", "gauge", "{row}", "Rows that wait to be written."),
    MetricConvention(
        "rtrace.steps", "counter", "{step}", "Training steps. Alert on its rate: a stalled job keeps its gauges."
    ),
    MetricConvention("rtrace.batch_age", "gauge", "{update}", "Batch age of the last step."),
    MetricConvention(
        "rtrace.batch_age.trained_tokens", "counter", "{token}", "Trained tokens of steps with a batch age."
    ),
    MetricConvention(
        "rtrace.batch_age.token_ages",
        "counter",
        "{update}",
        "Sum of their ages; its rate by that of the tokens is the weighted mean.",
    ),
    MetricConvention("rtrace.refit.duration", "histogram", "s", "Refits."),
    MetricConvention("rtrace.refit.calls", "counter", "{call}", "Calls that refits paused."),
    MetricConvention("rtrace.checkpoint.duration", "histogram", "s", "Checkpoints.", ("rtrace.phase",)),
    MetricConvention("rtrace.rows.lost", "counter", "{row}", "Rows lost before they were written."),
    MetricConvention("rtrace.spans.not_delivered", "gauge", "{span}", "Spans that a destination has not accepted."),
)
"""Every metric."""

NEMO_RL: Final = (
    ("train.step", "rl.sc.step", "a step; ``rl.step`` there is ``rtrace.step`` here"),
    ("weights.sync", "rl.idle.refit_bubble", "the wait for a refit"),
    ("checkpoint.publish", "rl.sc.checkpointing", "a checkpoint"),
    (
        "rollout.attempt",
        "rl.sc.generate_and_push",
        "there one span for each dispatch of a group, here one for each attempt",
    ),
    ("rtrace.weight_version", "rl.weight_version", "weight version"),
    ("rtrace.attempt_index", "rl.rollout.attempt", "0 for the first attempt"),
    ("service.instance.id", "nemo.run.id", "there the Slurm job, which a requeue keeps; here the process"),
)
"""Ours, NeMo RL's, and how they compare."""

RL_PROPOSAL: Final = (
    ("rollout.attempt", "rl.sample", "one sampled trajectory"),
    ("train.step", "rl.train", "an optimizer step"),
    ("weights.sync", "rl.sync", "weights to the inference servers"),
    ("rtrace.reward", "rl.reward", "reward"),
    ("rtrace.run_id", "rl.run.id", "the run; there for the whole job, here for each process"),
)
"""Ours, those of the open OpenTelemetry proposal for reinforcement learning, and how they compare."""

GEN_AI: Final = (
    ("gen_ai.usage.output_tokens", "gen_ai.usage.output_tokens", "tokens generated by the attempt"),
    (
        "(child spans)",
        "gen_ai.request.id, gen_ai.usage.*",
        "the inference server's own spans, for example vLLM's ``llm_request``",
    ),
)
"""Ours, those of the GenAI conventions, and how they compare."""
