"""The rules of weight versions, batch ages, steps and checkpoints."""

from __future__ import annotations

from typing import Final

from rtrace_otel.analysis.check.rule import Rule, Severity

NUMBER_RULES: Final = (
    Rule(
        "RT401",
        "weight version went back",
        Severity.ERROR,
        "A refit installed an older version than the one that it replaced. Within a run, without a restore, versions "
        "only rise.",
        "The two versions of a `weight_sync` row in the wrong order; a roll-back that is not recorded as a restore.",
        "Check the arguments of `weight_sync`; record a roll-back with `checkpoint_restored`.",
    ),
    Rule(
        "RT402",
        "refit replaced another version than the one in force",
        Severity.ERROR,
        "The version that a refit says it replaced is not the one that the refit before it installed. A refit that is "
        "tried again for the same two versions is legal.",
        "A refit without a row; a controller that names the trainer's version in place of the servers'.",
        "Emit `weight_sync` for every refit, with the version that the servers had.",
        from_missing_rows=True,
    ),
    Rule(
        "RT403",
        "tokens of a version that was not installed",
        Severity.ERROR,
        "A call began on a weight version, or a group has tokens of one, that no refit of this timeline had installed "
        "when the group was published, nor did the next refit. Nothing is judged before the first refit.",
        "A call that is labelled with the version that the trainer makes next; counts that survived a restore though "
        "the weights that made them did not.",
        "Stamp a call with the version in force when it begins.",
        from_missing_rows=True,
    ),
    Rule(
        "RT501",
        "negative batch age",
        Severity.ERROR,
        "The tokens of a step are, in the mean, of a newer version than the one that the step updates. No weights can "
        "have made them.",
        "`trained_version` counted after the update (it is the version before); counts from a timeline that a restore "
        "took back.",
        "Compare `trained_version` with the versions of the step's groups (`rtrace age`).",
        on_spans=True,
    ),
    Rule(
        "RT502",
        "published counts do not follow from calls and refits",
        Severity.ERROR,
        "The batch age from the published `tokens_by_version` is not the one that follows from the group's calls, cut "
        "at the refits that the same run recorded. Tolerance: 1e-6.",
        "Cuts that were not applied, or applied twice; a refit whose list of calls is incomplete.",
        "Make the counts with `RefitCuts`, from the calls that `weight_sync` lists.",
        from_missing_rows=True,
    ),
    Rule(
        "RT503",
        "logged batch age is not the rebuilt one",
        Severity.ERROR,
        "The batch age that the controller logged is not the one that follows from the counts of the step's groups. "
        "Tolerance: 1e-6.",
        "A mean of group means in place of the mean over tokens; groups in the computation that `group_ids` does not "
        "name, or the other way round.",
        "Compute it with `batch_age_group_metrics` and `pop_batch_age`.",
        from_missing_rows=True,
        on_spans=True,
    ),
    Rule(
        "RT504",
        "cuts lost in a restore",
        Severity.INFO,
        "Calls that were cut by refits before a kill were published after the restore, by a controller that no longer "
        "had the cuts: the age that it published and logged is too old. The age recomputed from the file is right.",
        "Cuts live in the controller's memory; a kill takes them.",
        "Use the recomputed column of `rtrace age`.",
    ),
    Rule(
        "RT601",
        "train step never ended",
        Severity.ERROR,
        "A training step started and has no `train_step` row, though a later step of its run has one. The step that a "
        "run stops in is no finding.",
        "A step that failed and was skipped; a step number that differs between the two rows.",
        "Emit `train_step` for each step that was started, under the same number.",
        from_missing_rows=True,
    ),
    Rule(
        "RT602",
        "refit never ended",
        Severity.WARNING,
        "A refit started and has no `weight_sync` row, though its run went on to another one. Calls that it cut are "
        "not known.",
        "A refit that failed and was tried again.",
        "If it changed any server's weights, emit `weight_sync` with the calls that it paused.",
        from_missing_rows=True,
    ),
    Rule(
        "RT603",
        "checkpoint never published",
        Severity.WARNING,
        "A checkpoint started and was not published, though its run went on to another one.",
        "A checkpoint that failed; two that overlap when the run stops.",
        "Look for it on disk.",
        from_missing_rows=True,
    ),
    Rule(
        "RT604",
        "step numbers do not follow one another",
        Severity.WARNING,
        "Within a run, without a restore, a step's number is not the one of the step before it plus one.",
        "A step that is not recorded; two rows for one step; a counter that was reset.",
        "Emit one `train_step` row for each step, with the number that checkpoints use.",
        from_missing_rows=True,
    ),
)
"""In the order of their codes."""
