"""The numbers of ``rtrace check``."""

from __future__ import annotations

from typing import Final

from rtrace_otel.report.definition import HERE, Definition

CHECK_DEFINITIONS: Final = (
    Definition(
        "findings",
        ("check",),
        "Places where something does not add up; the first 100 of each code are listed, all are counted.",
        "",
        "findings",
        HERE,
    ),
    Definition(
        "errors",
        ("check",),
        "Findings after which a number cannot be right; the exit status is 3.",
        "",
        "findings",
        HERE,
    ),
    Definition(
        "warnings",
        ("check",),
        "Findings that a person should look at; also errors that missing rows explain.",
        "",
        "findings",
        HERE,
    ),
    Definition(
        "infos",
        ("check",),
        "Findings that are good to know and need no action.",
        "",
        "findings",
        HERE,
        ("notes",),
    ),
    Definition(
        "line",
        ("check",),
        "Physical line of the file, counted from 1.",
        "",
        "",
        HERE,
    ),
    Definition(
        "generated",
        ("check",),
        "Rollout attempts that began, and the tokens that rows tell of them.",
        "",
        "attempts, tokens",
        HERE,
    ),
    Definition(
        "trained",
        ("check",),
        "Rollouts, and tokens, that a step trained on; also a step whose work a restore took back.",
        "",
        "attempts, tokens",
        HERE,
    ),
    Definition(
        "lost",
        ("check",),
        "Rollouts, and tokens, that were open or in an unfinished group when the run was killed, and that "
        "no restore brought back.",
        "",
        "attempts, tokens",
        HERE,
        ("lost with a killed run",),
    ),
    Definition(
        "unmatched",
        ("check",),
        "Rollouts, and tokens, of ends that no open attempt has: ended twice, or never dispatched.",
        "",
        "attempts, tokens",
        HERE,
    ),
    Definition(
        "residual",
        ("check",),
        "What is left of the law of conservation: 0 where everything adds up.",
        "generated - trained - masked - discarded - abandoned - lost - open - unmatched",
        "attempts, tokens",
        HERE,
        ("left over",),
    ),
    Definition(
        "without_tokens",
        ("check",),
        "Rollout attempts whose tokens no row tells; those in flight at a kill, for example.",
        "",
        "attempts",
        HERE,
    ),
)
"""In the order of the page."""
