"""What a stop and restore cost: ``rtrace restore``."""

from __future__ import annotations

from typing import Final

from rtrace_otel.report.definition import HERE, NEMO_RL, Definition

COST_DEFINITIONS: Final = (
    Definition(
        "fate",
        ("restore",),
        "What became, after a restore, of a rollout that was alive at the stop, or done after the "
        "checkpoint; each has exactly one fate.",
        "reused + resumed + redone + trained_again + discarded + never_came_back + unknown = all of them",
        "attempts",
        HERE,
    ),
    Definition(
        "reused",
        ("restore",),
        "Fate: the sealed result was kept by the restore.",
        "",
        "attempts",
        HERE,
    ),
    Definition(
        "resumed",
        ("restore", "summary"),
        "Fate: it went on after its last complete turn or token, and the tokens so far were kept. In the "
        "summary: attempts that a restore kept or continued, by level.",
        "",
        "attempts",
        NEMO_RL,
    ),
    Definition(
        "redone",
        ("restore",),
        "Fate: it was dispatched again from the start.",
        "",
        "attempts",
        HERE,
    ),
    Definition(
        "trained_again",
        ("restore", "summary"),
        "Fate: it was trained by a step after the restored checkpoint, the step's work was lost, and it "
        "was generated and dispatched again. In the summary: trainings of a group that an earlier run had "
        "trained or discarded already.",
        "",
        "attempts, groups",
        HERE,
    ),
    Definition(
        "discarded",
        ("restore", "summary", "check", "waste"),
        "Fate: it was brought back by the restore and then discarded, as too old. In the other commands: "
        "groups that were discarded, and what was in them, by reason.",
        "",
        "attempts, groups, tokens",
        NEMO_RL,
    ),
    Definition(
        "never_came_back",
        ("restore", "compare"),
        "Fate: it was not dispatched again, although the job ended cleanly.",
        "",
        "attempts",
        HERE,
    ),
    Definition(
        "unknown",
        ("restore",),
        "Fate: the file ends before it can be told.",
        "",
        "attempts",
        HERE,
    ),
    Definition(
        "in_flight",
        ("restore",),
        "Attempts that were open at the stop.",
        "",
        "attempts",
        HERE,
        ("in flight",),
    ),
    Definition(
        "dead_s",
        ("restore", "compare"),
        "Time from the last sign of life of the run that stopped to the first row of the next run; "
        "negative if the two overlap.",
        "first row of the next run - last row of the stopped run",
        "s",
        HERE,
        ("dead time",),
    ),
    Definition(
        "first_dispatch_s",
        ("restore",),
        "Time that the next run took to its first dispatch.",
        "t of its first attempt_dispatched - t of its first row",
        "s",
        HERE,
    ),
    Definition(
        "first_seal_s",
        ("restore",),
        "Time that the next run took to its first result.",
        "t of its first attempt_sealed - t of its first row",
        "s",
        HERE,
    ),
    Definition(
        "first_train_step_s",
        ("restore",),
        "Time that the next run took to the end of its first training step.",
        "t of its first train_step - t of its first row",
        "s",
        HERE,
    ),
    Definition(
        "steps_trained_again",
        ("restore", "compare"),
        "Steps that were trained after the checkpoint, and that a later run trained again.",
        "",
        "steps",
        HERE,
    ),
    Definition(
        "attempt_seconds",
        ("restore", "waste", "compare"),
        "Time that attempts ran, added up: two attempts that run side by side for 5 s make 10.",
        "sum of (end or stop - dispatch) over attempts",
        "attempt-seconds",
        HERE,
    ),
    Definition(
        "tokens_exact",
        ("restore", "waste"),
        "Whether every attempt concerned says its tokens. If not, the number of tokens is a lower bound.",
        "",
        "yes or no",
        HERE,
    ),
)
"""In the order of the page."""
