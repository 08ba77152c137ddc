"""The tables of rows, runs and stops."""

from __future__ import annotations

from typing import Final

from rtrace_otel.analysis.ledger.work import Fate
from rtrace_otel.columns.types import ColumnSpec, ColumnType, TableSpec, integer, moment, real, seconds, text, truth

EVENTS: Final = TableSpec(
    "events",
    "a row of the trace file",
    (
        integer("line", "Physical line of the file, from 1."),
        text("run", "Run that wrote it."),
        integer("seq", "Its number within the run.", "rows"),
        moment("t", "When it happened."),
        text("event", "Name of the event."),
        text("group_id", "Prompt group."),
        text("attempt_id", "Rollout attempt."),
        text("prompt_id", "Prompt."),
        integer("generation_index", "Generation of the group."),
        integer("step", "Training step."),
        text("checkpoint_id", "Checkpoint."),
        integer("weight_version", "Weight version.", "versions"),
        integer("tokens", "Tokens.", "tokens"),
        real("seconds", "How long it took.", "s"),
        text("reason", "Why."),
        text("rest", "As JSON: all other fields, and those above whose value is not of the column's type."),
    ),
    "The [schema](schema.md) has the fields of each event; `rest->>'$.field'` gives one of the others.",
)

RUNS: Final = TableSpec(
    "runs",
    "a run: one life of the training process",
    (
        integer("place", "Order in which the runs begin in the file, from 0."),
        text("run", "Its id."),
        text("host", "Host name."),
        integer("pid", "Process id."),
        text("parent_run", "The run that it was forked from."),
        moment("started", "Time of its first row."),
        moment("last_row", "Latest time of its rows."),
        seconds("lasted_s", "From its first row to its last."),
        text("ended_how", "`clean`, `killed` or `unknown`."),
        text("reason", "The reason that it gave when it ended."),
        integer("rows", "Its rows.", "rows"),
        text("restored_from", "Checkpoint that it restored."),
        integer("restored_step", "Step of that checkpoint."),
        integer("first_step", "First step that it trained."),
        integer("last_step", "Last step that it trained."),
        integer("rows_lost", "Rows that it knows to have lost (`trace_gap`).", "rows"),
        integer("clock_steps", "How often the host's clock was stepped."),
        truth("from_spans", "Whether its rows were rebuilt from spans, which do not carry everything."),
        seconds("total_s", "Wall time; null, like its parts, for a run that was forked from another."),
        seconds("waiting_s", "The trainer waited for groups."),
        seconds("training_s", "Training steps."),
        seconds("syncing_s", "Weight syncs."),
        seconds("checkpointing_s", "The part of the wait during which a checkpoint was made."),
        seconds("other_s", "The rest: before the first work, restoring, and after the last work."),
    ),
)


def _fate_columns(fate: Fate) -> tuple[ColumnSpec, ...]:
    return (
        integer(f"{fate.value}_rollouts", f"Rollouts with the fate `{fate.value}`.", "rollouts"),
        integer(f"{fate.value}_tokens", "Tokens that they had generated, at least.", "tokens"),
        integer(f"{fate.value}_tokens_kept", "Of these, tokens that the restore kept.", "tokens"),
        seconds(f"{fate.value}_attempt_s", "Seconds that they had run, added up."),
    )


RESTORES: Final = TableSpec(
    "restores",
    "a stop: a run that ended, and a later one that went on with its job",
    (
        integer("stop", "Its number in the file, from 0; `losses.stop` and `attempts.stop` refer to it."),
        text("run", "The run that stopped."),
        text("ended_how", "How it ended."),
        text("restored_run", "The run that went on."),
        truth("checkpoint_restored", "Whether that run says that it restored a checkpoint."),
        text("checkpoint_id", "That checkpoint."),
        integer("checkpoint_step", "Its step."),
        truth("checkpoint_in_file", "Whether the file tells of its publication."),
        moment("killed_at", "Last sign of life of the run that stopped."),
        seconds("dead_s", "Until the first row of the next run; negative if the two overlap."),
        seconds("restore_s", "How long the restore took, as its row says."),
        seconds("first_dispatch_s", "From the next run's first row to its first dispatch."),
        seconds("first_seal_s", "To its first sealed attempt."),
        seconds("first_train_step_s", "To the end of its first step."),
        seconds("throughput_back_s", "Until it sealed attempts at 90 % of the pace before the stop."),
        ColumnSpec("steps_lost", ColumnType.INTS, "Steps trained after the checkpoint."),
        ColumnSpec("steps_trained_again", ColumnType.INTS, "Those that a later run trained again."),
        ColumnSpec("idle_runs", ColumnType.TEXTS, "Runs that began in between and did no work."),
        integer("in_flight_rollouts", "Attempts that were open at the stop.", "rollouts"),
        integer("in_flight_tokens", "Tokens that they had, at least.", "tokens"),
        *(column for fate in Fate for column in _fate_columns(fate)),
        integer("forgotten_rollouts", "Of the unknown ones, those too old to be remembered one by one.", "rollouts"),
        integer("forgotten_tokens", "Tokens of these.", "tokens"),
        truth("tokens_exact", "Whether all numbers of tokens are exact; if not, they are at least what is said."),
        integer("lost_rollouts", "What the stop cost: redone, trained again, discarded, never came back.", "rollouts"),
        integer("lost_tokens", "Tokens of these, and what resumed rollouts did not keep.", "tokens"),
        seconds("checkpoint_age_s", "Age of the checkpoint at the stop."),
        real("length_bias", "Mean running time of what never came back, divided by that of the rest.", "ratio"),
    ),
)
