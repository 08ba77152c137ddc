"""The vocabulary: every event, its fields and the span it opens, marks or ends.

This registry is the one source of the schema page, the JSON Schema file, the typed recording methods and the
validation of rows. It imports nothing from this package but the types of its entries.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from rtrace_otel.fields import EventType, Field, FieldType, SpanRole

Row: TypeAlias = dict[str, Any]
"""One event as it stands in the file: ``event``, ``t``, ``run``, ``seq`` and the event's own fields."""

SCHEMA_VERSION: Final = 1
"""Version of the row schema, written in ``run_started``."""

ROLLOUT_TRACE_FILENAME: Final = "rollout_trace.jsonl"
"""Name of the trace file in a job's log directory (the name that NeMo RL uses)."""


COMMON_FIELDS: Final = (
    Field("event", FieldType.TEXT, "Name of the event; always the first key.", required=True),
    Field(
        "t", FieldType.FLOAT, "Wall-clock time when it happened; never decreases within a run.", True, "Unix seconds"
    ),
    Field("run", FieldType.ID, "Id of the process run that wrote the row, new for each process.", required=True),
    Field("seq", FieldType.INT, "Number of the row within its run, from 0 without gaps.", True, "rows"),
)
"""The fields of every row."""

_GROUP_ID = Field("group_id", FieldType.ID, "Prompt group: all generations of one prompt.", required=True)
_ATTEMPT_ID = Field(
    "attempt_id", FieldType.ID, "Rollout attempt; a redispatch after a refusal keeps it.", required=True
)
_PROMPT_ID = Field(
    "prompt_id", FieldType.ID, "Dataset index of the prompt; the key that matches rows across runs.", True
)
_GENERATION = Field("generation_index", FieldType.INT, "Which of the group's generations, from 0.", required=True)
_STEP = Field("step", FieldType.INT, "Training step.", required=True)
_CHECKPOINT_ID = Field("checkpoint_id", FieldType.ID, "Name of the checkpoint.", required=True)
_REASON = Field("reason", FieldType.TEXT, "Why, in a short stable phrase.", required=True)
_VERSION = Field("weight_version", FieldType.INT, "Weight version in force.", unit="versions")
_SECONDS = Field("seconds", FieldType.FLOAT, "How long it took.", unit="s")
_TOKENS_BY_VERSION = Field(
    "tokens_by_version",
    FieldType.TOKENS_BY_VERSION,
    "Trained tokens by the weight version that generated them.",
    unit="tokens",
)
_OPENS, _MARKS, _ENDS = SpanRole.OPENS, SpanRole.MARKS, SpanRole.ENDS
_GROUP_SPAN, _ATTEMPT_SPAN, _STEP_SPAN = "rollout.group", "rollout.attempt", "train.step"
_SYNC_SPAN, _PUBLISH_SPAN, _RESTORE_SPAN = "weights.sync", "checkpoint.publish", "checkpoint.restore"


def _maybe(field: Field) -> Field:
    return Field(field.name, field.type, field.meaning, False, field.unit, field.choices)


EVENTS: Final = (
    EventType(
        "run_started",
        "A process began to record.",
        (
            Field("schema", FieldType.INT, f"Version of this schema, now {SCHEMA_VERSION}.", required=True),
            Field("host", FieldType.TEXT, "Host name.", required=True),
            Field("pid", FieldType.INT, "Process id.", required=True),
            Field("parent_run", FieldType.ID, "The run that this process was forked from."),
            Field("service", FieldType.TEXT, "Name of the job, as telemetry knows it."),
            Field("framework", FieldType.TEXT, "Training framework and its version."),
            _VERSION,
            Field("config", FieldType.OBJECT, "Settings worth keeping with the trace."),
            Field("resource", FieldType.OBJECT, "Resource attributes that the user set for its spans."),
        ),
    ),
    EventType("run_ended", "The recorder was closed.", (_REASON,)),
    EventType(
        "group_reserved",
        "A prompt was taken from the dataset and given a group.",
        (
            _GROUP_ID,
            _PROMPT_ID,
            Field("generations", FieldType.INT, "How many generations the group will have.", unit="attempts"),
            _VERSION,
            Field("epoch", FieldType.INT, "Pass over the dataset."),
            Field("origin_run", FieldType.ID, "The run that first reserved the group, if it was restored."),
        ),
        ((_OPENS, _GROUP_SPAN),),
    ),
    EventType(
        "group_admitted",
        "The group may be dispatched.",
        (_GROUP_ID, Field("target_step", FieldType.INT, "Training step that it is meant for."), _VERSION),
        ((_MARKS, _GROUP_SPAN),),
    ),
    EventType(
        "group_sealed", "Every generation has a result.", (_GROUP_ID, _TOKENS_BY_VERSION), ((_MARKS, _GROUP_SPAN),)
    ),
    EventType(
        "group_published",
        "The group can be trained on.",
        (
            _GROUP_ID,
            _TOKENS_BY_VERSION,
            Field(
                "call_versions",
                FieldType.CALL_VERSIONS,
                "Each trained model call: its id, the weight version when it began, its tokens.",
                unit="tokens",
            ),
        ),
        ((_MARKS, _GROUP_SPAN),),
    ),
    EventType("group_discarded", "The group will not be trained on.", (_GROUP_ID, _REASON), ((_ENDS, _GROUP_SPAN),)),
    EventType(
        "attempt_dispatched",
        "An attempt was sent to an inference server.",
        (
            _GROUP_ID,
            _ATTEMPT_ID,
            _PROMPT_ID,
            _GENERATION,
            Field("attempt_index", FieldType.INT, "How many attempts this generation had before, from 0."),
            _VERSION,
            Field("instance", FieldType.TEXT, "Inference server or replica."),
        ),
        ((_OPENS, _ATTEMPT_SPAN),),
    ),
    EventType(
        "attempt_refused",
        "The environment refused the dispatch; the attempt stays open and may be dispatched again.",
        (_ATTEMPT_ID, _maybe(_REASON)),
        ((_MARKS, _ATTEMPT_SPAN),),
    ),
    EventType(
        "attempt_resumed",
        "Work from before a restore goes on or is kept.",
        (
            _ATTEMPT_ID,
            Field(
                "level",
                FieldType.TEXT,
                "What was kept: a sealed sibling, the turns so far, or the tokens so far.",
                required=True,
                choices=("sibling", "turn", "prefix"),
            ),
            Field("previous_attempt_id", FieldType.ID, "The attempt that this one continues."),
            Field("tokens_kept", FieldType.INT, "Tokens that need not be generated again.", unit="tokens"),
            _maybe(_GROUP_ID),
            _maybe(_PROMPT_ID),
            _maybe(_GENERATION),
        ),
        ((_OPENS, _ATTEMPT_SPAN), (_MARKS, _GROUP_SPAN)),
    ),
    EventType(
        "attempt_sealed",
        "The attempt has its result.",
        (
            _ATTEMPT_ID,
            Field("tokens", FieldType.INT, "Tokens generated.", unit="tokens"),
            Field("reward", FieldType.FLOAT, "Reward of the rollout."),
            Field("masked", FieldType.BOOL, "Whether training masks the result out."),
        ),
        ((_ENDS, _ATTEMPT_SPAN),),
    ),
    EventType(
        "attempt_abandoned",
        "The attempt ended without a result.",
        (_ATTEMPT_ID, _REASON, Field("tokens", FieldType.INT, "Tokens generated until then.", unit="tokens")),
        ((_ENDS, _ATTEMPT_SPAN),),
    ),
    EventType("train_step_started", "A training step began.", (_STEP,), ((_OPENS, _STEP_SPAN),)),
    EventType(
        "train_step",
        "A training step ended.",
        (
            _STEP,
            Field(
                "trained_version",
                FieldType.INT,
                "Weight version that the step updates, before the update.",
                True,
                "versions",
            ),
            Field("group_ids", FieldType.IDS, "The groups trained on.", required=True),
            Field("batch_age", FieldType.FLOAT, "Batch age that the controller computed.", unit="versions"),
            Field("tokens", FieldType.INT, "Tokens trained on.", unit="tokens"),
            _SECONDS,
        ),
        ((_ENDS, _STEP_SPAN), (_ENDS, _GROUP_SPAN)),
    ),
    EventType("weight_sync_started", "A refit began.", (), ((_OPENS, _SYNC_SPAN),)),
    EventType(
        "weight_sync",
        "A refit ended: the inference servers have new weights.",
        (
            Field("replaced_version", FieldType.INT, "Weight version before.", True, "versions"),
            Field("new_version", FieldType.INT, "Weight version installed.", True, "versions"),
            Field("calls", FieldType.CALLS, "Every call that the refit paused, with its tokens so far.", unit="tokens"),
            _SECONDS,
        ),
        ((_ENDS, _SYNC_SPAN),),
    ),
    EventType("checkpoint_started", "A checkpoint began.", (), ((_OPENS, _PUBLISH_SPAN),)),
    EventType(
        "checkpoint_published",
        "A checkpoint is complete and may be restored.",
        (
            _CHECKPOINT_ID,
            _STEP,
            Field("kind", FieldType.TEXT, "What it holds, for example trainer or snapshot."),
            Field("groups", FieldType.IDS, "The groups that it holds."),
            _SECONDS,
        ),
        ((_ENDS, _PUBLISH_SPAN),),
    ),
    EventType(
        "checkpoint_restored",
        "This run goes on from a checkpoint.",
        (
            _CHECKPOINT_ID,
            _STEP,
            Field("groups", FieldType.IDS, "The groups that the restore brought back."),
            Field("from_run", FieldType.ID, "The run that published the checkpoint."),
            _SECONDS,
        ),
        ((_ENDS, _RESTORE_SPAN),),
    ),
    EventType(
        "trace_gap",
        "Rows were lost before they could be written.",
        (
            Field("lost", FieldType.INT, "How many.", True, "rows"),
            _REASON,
            Field("since", FieldType.FLOAT, "When the first of them happened.", unit="Unix seconds"),
        ),
    ),
    EventType(
        "spans_delivered",
        "A collector accepted spans.",
        (
            Field("destination", FieldType.TEXT, "The collector.", required=True),
            Field("of_run", FieldType.ID, "The run that the spans belong to.", required=True),
            Field("spans", FieldType.TEXT, "Numbers of all spans accepted so far, as in 0-63 70.", required=True),
        ),
    ),
    EventType(
        "clock_adjusted",
        "The host's clock was stepped.",
        (Field("offset_s", FieldType.FLOAT, "Host clock minus the clock of the rows before this one.", True, "s"),),
    ),
)
"""Every event, in the order of the schema page."""

EVENTS_BY_NAME: Final = {event.name: event for event in EVENTS}
"""The registry by event name."""

FIELD_TYPES: Final = {field.name: field.type for event in EVENTS for field in event.fields} | {
    field.name: field.type for field in COMMON_FIELDS
}
"""Type of each field name; a name means the same in every event."""
