"""The tables of rollouts: attempts, groups, losses and accounts."""

from __future__ import annotations

from typing import Final

from rtrace_otel.columns.types import TableSpec, integer, moment, real, seconds, text, truth

ATTEMPTS: Final = TableSpec(
    "attempts",
    "a rollout attempt in one run; a result that a restore kept is one more, with the outcome `kept`",
    (
        text("run", "Run that worked on it."),
        text("attempt_id", "Its id."),
        text("group_id", "Its prompt group."),
        text("prompt_id", "Its prompt."),
        integer("generation_index", "Generation of the group, from 0."),
        integer("attempt_index", "Attempts that the generation had before."),
        text("instance", "Inference server or replica."),
        moment("dispatched", "First dispatch."),
        moment("ended", "When it was sealed or abandoned."),
        seconds("seconds", "Running time; of an open one, up to its run's last row."),
        seconds("refused_s", "Time from refusals to the next dispatch."),
        text("outcome", "`sealed`, `kept`, `abandoned`, `interrupted` or `open`."),
        text("reason", "Why it was abandoned."),
        integer("tokens", "Tokens generated, as its last row says.", "tokens"),
        integer("tokens_at_least", "Tokens that its paused calls had at its latest refit.", "tokens"),
        integer("tokens_kept", "Tokens that a restore kept.", "tokens"),
        real("reward", "Its reward."),
        truth("masked", "Whether training masks its result out."),
        text("resumed", "What a restore kept: `sibling`, `turn` or `prefix`."),
        integer("refusals", "Dispatches refused."),
        integer("version_start", "Weight version of its first dispatch.", "versions"),
        integer("version_end", "Weight version in force in its run at its end.", "versions"),
        integer("refits_spanned", "Refits of its run while it was open."),
        integer("refits_cut", "Those that paused one of its calls; null if calls do not name their attempts."),
        integer("trained_step", "Step that trained its group, if it was sealed or kept."),
        text("waiting_for", "What it waits for, if it is open or was interrupted."),
        moment("since", "When it began to wait for that."),
        seconds("waited_s", "From then to its run's last row."),
        integer("stop", "Number of the stop that took it last, in `restores`."),
        text("fate", "What became of it then."),
        integer("fate_tokens_kept", "Tokens that came back from that stop.", "tokens"),
    ),
)

GROUPS: Final = TableSpec(
    "groups",
    "a prompt group in one run; one that a later run brought back has a row for each",
    (
        text("run", "Run that worked on it."),
        text("group_id", "Its id."),
        text("prompt_id", "Its prompt."),
        integer("epoch", "Pass over the dataset."),
        text("origin_run", "Run that it was brought back from."),
        text("next_run", "Run that brought it back."),
        text("outcome", "`trained`, `discarded`, `brought back`, `interrupted` or `open`."),
        text("reason", "Why it was discarded."),
        integer("generations", "Generations that it is to have.", "attempts"),
        integer("sealed", "Attempts sealed in this run, and results that were kept.", "attempts"),
        integer("kept", "The latter.", "attempts"),
        integer("abandoned", "Attempts abandoned.", "attempts"),
        integer("open", "Attempts open at the group's end, or at the run's.", "attempts"),
        moment("reserved", "When it was reserved."),
        seconds("admitted_s", "From its reservation to its admission."),
        seconds("dispatch_s", "From its admission to the first dispatch."),
        seconds("publish_s", "From the last seal to its publication."),
        seconds("published_s", "From its reservation to its publication."),
        seconds("queue_s", "From its publication to the end of the step that trained it."),
        seconds("straggler_s", "Last seal minus the median seal of its attempts."),
        integer("straggler_generation", "Generation of the attempt sealed last."),
        integer("tokens", "Tokens of its sealed attempts.", "tokens"),
        integer("published_tokens", "Tokens of its publication.", "tokens"),
        integer("trained_step", "Step that trained it."),
        text("trained_run", "Run of that step."),
        text("waiting_for", "What it waits for, if it is open or was interrupted."),
        moment("since", "When it began to wait for that."),
        seconds("waited_s", "From then to its run's last row."),
    ),
)

LOSSES: Final = TableSpec(
    "losses",
    "a rollout that a stop took away from its run",
    (
        integer("stop", "Number of the stop in `restores`."),
        text("run", "Run that had dispatched it, or kept its result."),
        text("attempt_id", "Its id."),
        text("group_id", "Its prompt group."),
        text("prompt_id", "Its prompt."),
        text("generation", "Generation of the group."),
        truth("was_open", "Whether it was running at the stop."),
        text("fate", "What became of it."),
        integer("tokens", "Tokens that it had generated, at least.", "tokens"),
        truth("tokens_exact", "Whether that is all of them."),
        integer("tokens_kept", "Of these, tokens that came back.", "tokens"),
        seconds("attempt_s", "Seconds that it had run."),
    ),
    "A stop's rollouts that are too old to be remembered one by one are only in `restores.forgotten_rollouts`.",
)

ACCOUNTS: Final = TableSpec(
    "accounts",
    "an account of `rtrace waste`: rollouts that ended in the same way",
    (
        text("account", "`trained`, `masked`, `abandoned`, `discarded`, `lost`, `waiting` or `open`."),
        text("reason", "Why, where rows say; for `lost` the fate."),
        text("bucket", "NeMo RL's name for it, if one fits."),
        integer("rollouts", "How many.", "rollouts"),
        integer("tokens", "Tokens that they generated, at least.", "tokens"),
        truth("tokens_exact", "Whether that is all of them."),
        seconds("attempt_s", "Seconds that they ran, added up."),
    ),
)

STEP_ACCOUNTS: Final = TableSpec(
    "step_accounts",
    "what ended between one training step and the next, as in the steps of `rtrace waste`",
    (
        integer("place", "Order in the file, from 0."),
        text("run", "Run that trained the step; null for what ended after the last one."),
        integer("step", "The step at its end; null for what ended after the last one."),
        integer("trained", "Tokens trained.", "tokens"),
        integer("masked", "Tokens of masked rollouts.", "tokens"),
        integer("abandoned", "Tokens of abandoned attempts.", "tokens"),
        integer("discarded", "Tokens of discarded groups.", "tokens"),
        integer("lost", "Tokens that a stop took, reused ones included.", "tokens"),
    ),
)
