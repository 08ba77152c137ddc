"""The tables of training: steps, token ages, refits and checkpoints."""

from __future__ import annotations

from typing import Final

from rtrace_otel.columns.types import ColumnSpec, ColumnType, TableSpec, integer, moment, real, seconds, text, truth

STEPS: Final = TableSpec(
    "steps",
    "a training step, as often as it was trained",
    (
        text("run", "Run that trained it."),
        integer("step", "Its number."),
        truth("is_finished", "Whether a row says that it ended."),
        truth("is_latest", "Whether it is the step's last training in the file: `rtrace age` shows these."),
        truth("is_again", "Whether the training before it was another run's."),
        moment("started", "When it began."),
        moment("ended", "When it ended."),
        seconds("wait_s", "From the end of the run's work before it to its start."),
        seconds("train_s", "From its start to its end."),
        seconds("sync_s", "Weight syncs between it and the next step."),
        seconds("cycle_s", "Wait, training and weight sync together."),
        integer("groups", "Groups that it took.", "groups"),
        integer("tokens", "Tokens that it trained on, as its row says.", "tokens"),
        real("tokens_per_s", "Trained tokens per second of the cycle.", "tokens/s"),
        integer("queue", "Published groups that were waiting at its start.", "groups"),
        integer("open_attempts", "Attempts open at its start.", "attempts"),
        text("verdict", "`trainer waits`, `rollouts wait`, `balanced` or `unknown`."),
        integer("trained_version", "Weight version that it updates.", "versions"),
        real("batch_age", "Batch age: recomputed, else published, else logged.", "versions"),
        real("age_logged", "Batch age that the controller logged.", "versions"),
        real("age_published", "Batch age from the counts that it published.", "versions"),
        real("age_recomputed", "Batch age from the calls, split at the refits of all runs.", "versions"),
        integer("age_p50", "Median token age.", "versions"),
        integer("age_p95", "95th percentile of token age.", "versions"),
        integer("age_max", "Largest token age.", "versions"),
        integer("age_tokens", "Trained tokens with a known version.", "tokens"),
        real("cut_share", "Share of them in calls that a refit cut.", "share"),
        integer("groups_with_tokens", "Its groups with token data.", "groups"),
        real("age_in_call", "Part of the batch age from refits within the call.", "versions"),
        real("age_in_group", "Part from the call's end to the group's publication.", "versions"),
        real("age_in_queue", "Part from the publication to the step's start.", "versions"),
        real("age_train_lag", "Part by which the trainer was ahead of the servers.", "versions"),
        text("split_missing", "Why the batch age cannot be split into these parts."),
    ),
    "The parts of the batch age are known for the last training of a step only.",
)

TOKEN_AGES: Final = TableSpec(
    "token_ages",
    "the tokens of one weight version in one training of a step",
    (
        text("run", "Run that trained the step."),
        integer("step", "The step."),
        truth("is_latest", "Whether it is the step's last training in the file."),
        integer("trained_version", "Weight version that the step updates.", "versions"),
        integer("version", "Weight version that generated the tokens.", "versions"),
        integer("age", "`trained_version - version`.", "versions"),
        integer("tokens", "Tokens.", "tokens"),
    ),
)

REFITS: Final = TableSpec(
    "refits",
    "a weight sync",
    (
        text("run", "Its run."),
        moment("started", "When it began."),
        moment("ended", "When the servers had the weights."),
        seconds("seconds", "How long it took, as its row says."),
        integer("replaced_version", "Weight version before.", "versions"),
        integer("new_version", "Weight version installed.", "versions"),
        truth("is_refit", "Whether it installed another version; a run may report the weights that it loaded."),
        integer("calls", "Calls that it paused.", "calls"),
        integer("call_tokens", "Tokens that these had.", "tokens"),
    ),
)

CHECKPOINTS: Final = TableSpec(
    "checkpoints",
    "a checkpoint that was published",
    (
        text("run", "Its run."),
        text("checkpoint_id", "Its name."),
        integer("step", "Its step."),
        text("kind", "What it holds, as its row says."),
        moment("started", "When it began."),
        moment("published", "When it was complete."),
        seconds("seconds", "How long it took: as its row says, else from its start."),
        integer("groups", "Groups that it holds.", "groups"),
        ColumnSpec("group_ids", ColumnType.TEXTS, "These groups."),
    ),
)
