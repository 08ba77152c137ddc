"""Where staleness comes from (``rtrace age``), and where work goes (``rtrace waste``)."""

from __future__ import annotations

from typing import Final

from rtrace_otel.report.definition import HERE, Definition

_WASTE: Final = ("waste",)

FLOW_DEFINITIONS: Final = (
    Definition(
        "in_call",
        ("age",),
        "Part of the batch age: weight updates while the token's own call was still running.",
        "token-weighted mean of (version of the call's last part - version of the token)",
        "versions",
        HERE,
        ("in call",),
    ),
    Definition(
        "in_group",
        ("age",),
        "Part of the batch age: weight updates between the end of the call and the publication of its "
        "group, that is during later turns and slower siblings.",
        "token-weighted mean of (version in force at publication - version of the call's last part)",
        "versions",
        HERE,
        ("in group",),
    ),
    Definition(
        "in_queue",
        ("age",),
        "Part of the batch age: weight updates while the published group waited for its step.",
        "token-weighted mean of (version in force at the step's start - version in force at publication)",
        "versions",
        HERE,
        ("in queue",),
    ),
    Definition(
        "train_lag",
        ("age",),
        "Part of the batch age: versions by which the trainer is ahead of the servers when a step starts. "
        "The four parts add up to the recomputed batch age.",
        "trained_version - version in force at the step's start",
        "versions",
        HERE,
        ("train lag",),
    ),
    Definition(
        "bucket",
        ("waste",),
        "NeMo RL's name for what an account of rollouts holds (rl.bucket): productive, or wasted; empty "
        "for what waits or is open.",
        "productive: trained; wasted: masked, abandoned, discarded, lost",
        "",
        "NeMo RL, attribute rl.bucket",
        ("waste bucket",),
    ),
    Definition(
        "waste",
        ("waste",),
        "What was generated and will not be trained on; each rollout is in exactly one account.",
        "masked + abandoned + discarded + lost",
        "attempts, tokens, attempt-seconds",
        HERE,
        ("wasted",),
    ),
    Definition(
        "waiting",
        ("waste",),
        "Sealed results that are not trained yet.",
        "",
        "attempts, tokens",
        HERE,
    ),
)
"""In the order of the page."""
