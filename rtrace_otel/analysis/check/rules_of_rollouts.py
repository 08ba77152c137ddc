"""The rules of rollout attempts, prompt groups and their tokens."""

from __future__ import annotations

from typing import Final

from rtrace_otel.analysis.check.rule import Rule, Severity

ROLLOUT_RULES: Final = (
    Rule(
        "RT101",
        "attempt sealed twice",
        Severity.ERROR,
        "An attempt ends once. This one was sealed, and sealed again before any restore: one result of the two is "
        "counted too much. A sibling that a restore kept is sealed already and is not sealed again.",
        "Two tasks that finish the same attempt; a retry that repeats the seal; an attempt id that is used twice.",
        "Look at both lines. Emit `attempt_sealed` where the result is accepted, and only there; give a new attempt a "
        "new id.",
        on_spans=True,
    ),
    Rule(
        "RT102",
        "attempt abandoned twice",
        Severity.ERROR,
        "An attempt ends once. This one was abandoned, and abandoned again before any restore.",
        "An error handler and a clean-up at shutdown that both give the attempt up.",
        "Look at both lines, and abandon in one place.",
        on_spans=True,
    ),
    Rule(
        "RT103",
        "attempt sealed and abandoned",
        Severity.ERROR,
        "An attempt ends in exactly one way. This one has a result and was given up too, so it counts as work done and "
        "as work lost.",
        "A timeout that fires while the result arrives; a shutdown that abandons everything it knows, finished or not.",
        "Look at both lines: which of them does the controller act on? Do not emit the other.",
        on_spans=True,
    ),
    Rule(
        "RT104",
        "attempt sealed without dispatch",
        Severity.ERROR,
        "An attempt has a result, but nothing says that it began: no `attempt_dispatched` and no `attempt_resumed` of "
        "the same run, or of the run that it was forked from.",
        "A dispatch that is not recorded on some path, for example after a restore; an id that is written in two ways.",
        "Emit `attempt_dispatched` before the request is sent, and `attempt_resumed` for what a restore goes on with.",
        from_missing_rows=True,
    ),
    Rule(
        "RT105",
        "attempt abandoned without dispatch",
        Severity.WARNING,
        "An attempt was given up, but nothing says that it began. It counts neither as begun nor as abandoned.",
        "Attempts that are cancelled before they are sent; a dispatch that is not recorded.",
        "Do not emit `attempt_abandoned` for what was never dispatched.",
        from_missing_rows=True,
    ),
    Rule(
        "RT106",
        "attempt open in a run that ended",
        Severity.WARNING,
        "The run wrote `run_ended`, so it was not killed, and this attempt has neither a result nor a reason for its "
        "end. What became of it cannot be told.",
        "A shutdown that cancels tasks without abandoning their attempts.",
        "Abandon open attempts, with a reason, before the recorder is closed.",
        from_missing_rows=True,
    ),
    Rule(
        "RT107",
        "attempts open when their run was killed",
        Severity.INFO,
        "How many attempts the kill caught in flight. That is what a kill does; their tokens so far are in no row.",
        "A kill, a node that was lost, a time limit.",
        "Nothing. `rtrace summary` counts them as interrupted.",
    ),
    Rule(
        "RT201",
        "group trained without publication",
        Severity.ERROR,
        "A step trained on a group that was not published before, in this run or in those that it descends from, so "
        "its tokens are in no number. In a file that has no `group_published` row so far, `group_sealed` counts.",
        "A publication that is not recorded on some path; group ids that differ between the two rows.",
        "Emit `group_published` when the group's rows can be trained on, under the id that `train_step` names.",
        from_missing_rows=True,
    ),
    Rule(
        "RT202",
        "group published twice in one run",
        Severity.ERROR,
        "A group was published again without a restore in between. The later publication counts, and the earlier "
        "one's tokens are lost from the numbers.",
        "A publication that is tried again after it worked; a group id that is used twice.",
        "Emit `group_published` once for each group, after the publication has worked.",
        on_spans=True,
    ),
    Rule(
        "RT203",
        "group trained twice on one timeline",
        Severity.ERROR,
        "Two steps of one timeline trained on the same group. It is legal after a restore, if the first step came "
        "after the checkpoint: its work was lost. This first step is part of what was restored.",
        "A checkpoint that still holds groups that were trained; a queue that hands a group out twice.",
        "Take a group out of the queue before the checkpoint that follows its step is written.",
        on_spans=True,
    ),
    Rule(
        "RT301",
        "group trained on more tokens than were generated",
        Severity.ERROR,
        "A group's published tokens are more than its attempts have generated. Fewer is legal: masked results and dead "
        "branches are not trained on. Judged only where the tokens of all of the group's generations are known; "
        "tokens that a resume kept are allowed on top.",
        "Prompt or tool tokens counted as generated; a call that is listed twice; a seal that counts the last turn "
        "only.",
        "Compare the group's `call_versions` with the `tokens` of its seals. Count generated tokens in both.",
        from_missing_rows=True,
    ),
    Rule(
        "RT302",
        "published tokens are not those of the calls",
        Severity.ERROR,
        "In one publication, the sum of `tokens_by_version` is not the sum of the tokens of `call_versions`: cutting a "
        "call into parts neither makes nor loses tokens.",
        "Calls that are listed in one of the two only; tokens cut off after the counts were made.",
        "Make `tokens_by_version` from the same list of calls, with `RefitCuts.tokens_by_version`.",
    ),
    Rule(
        "RT303",
        "tokens by version do not follow from the calls",
        Severity.ERROR,
        "In one publication, `tokens_by_version` is not what follows from `call_versions` and the refits that the same "
        "run recorded. A refit cuts a call into parts, each of one version, and the parts of a call add up to its "
        "trained tokens. RT502 says what that does to the batch age; this says which group, also where two mistakes "
        "leave the age as it was. Not judged where a kill took cuts of the group's calls, which is legal (RT504). The "
        "first part of a call that began on an older version than its first refit replaced may be under either.",
        "Cuts that were not applied, or applied twice; a refit whose list of calls is incomplete; versions mixed up.",
        "Make `tokens_by_version` with `RefitCuts.tokens_by_version`, from the calls that `weight_sync` lists.",
        from_missing_rows=True,
    ),
    Rule(
        "RT304",
        "refit cut a call beyond its tokens",
        Severity.INFO,
        "A refit says that a call had more tokens than were published of it, by the same run. That is legal where "
        "tokens at the end are not trained on; the cut counts as one at the call's end.",
        "Responses that are cut to a length after they were generated; a refit that counts tokens of the prompt, or of "
        "earlier calls of the attempt.",
        "If it is found of many calls, check that `weight_sync` counts the tokens that this call generated.",
    ),
    Rule(
        "RT305",
        "call had fewer tokens at a later refit",
        Severity.WARNING,
        "A call that several refits paused had fewer tokens at a later one, in the same run. Tokens that were "
        "generated do not go away, so one of the cuts is in the wrong place; the later one counts as one at the same "
        "place.",
        "Rows of refits in the wrong order; a call id that is used again for a request that was started over.",
        "Give a request that is started over a new call id.",
    ),
    Rule(
        "RT306",
        "call listed twice in one publication",
        Severity.WARNING,
        "One publication lists a call id more than once, so its tokens are counted more than once. It is legal only if "
        "the entries are different parts of the call, each with its own tokens.",
        "A call that is collected on two paths; a call that went on after a restore under its old id.",
        "List each call once, with all of its tokens.",
    ),
    Rule(
        "RT307",
        "call with fewer than 0 tokens",
        Severity.ERROR,
        "A call of a publication or of a refit has a negative number of tokens, so its parts cannot add up to it. It "
        "counts as a call without tokens.",
        "A count that has an offset taken away twice, such as the length of the prompt.",
        "Write the number of tokens that the call generated.",
    ),
    Rule(
        "RT311",
        "rollouts do not add up",
        Severity.ERROR,
        "Every rollout attempt that began is trained, masked, discarded with its group, abandoned, lost with a killed "
        "run, or open. The sum of these is not the number that began; the report prints the difference.",
        "Attempts that ended twice or never began: RT101 to RT104 name them.",
        "Follow the findings of these codes.",
        from_missing_rows=True,
    ),
    Rule(
        "RT312",
        "tokens do not add up",
        Severity.ERROR,
        "Every generated token is trained, masked or dropped, discarded, abandoned, lost with a killed run, or in a "
        "group that is open. The sum of these is not the number generated; the report prints the difference. Tokens "
        "of attempts that say none are in no sum.",
        "Groups that trained more than they had: RT301; attempts that ended twice: RT101 to RT104.",
        "Follow the findings of these codes.",
        from_missing_rows=True,
    ),
)
"""In the order of their codes."""
