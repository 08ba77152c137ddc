"""The pages of checks and of definitions, from their registries."""

from __future__ import annotations

from rtrace_otel.analysis.check.registry import RULES
from rtrace_otel.analysis.check.rule import Rule
from rtrace_otel.report.definition import Definition
from rtrace_otel.report.definitions import DEFINITIONS

_CHECKS = """# Checks

<!-- Generated from the registry by `python -m tests.generate`; do not edit. -->

What each finding of `rtrace check` means ([command](cli.md#rtrace-check)). A code never changes its meaning.

An *error* means that a number cannot be right, a *warning* that a person should look, an *info* that it is good to
know.
Where rows are missing, an error that the missing rows explain is a warning; these rules are marked.
"""

_DEFINITIONS = """# Definitions

<!-- Generated from the registry by `python -m tests.generate`; do not edit. -->

What every number of every command means. `rtrace definitions TERM` prints one. [Concepts](concepts.md) has the ideas
behind them. NeMo RL stands for its documentation of `nemo_rl.algorithms.rollout_checkpointing.trace`, OpenTelemetry for
its [semantic conventions](https://opentelemetry.io/docs/specs/semconv/).
"""


def checks_page() -> str:
    """Text of ``docs/checks.md``."""
    rows = [f"| [{rule.code}](#{_anchor(rule)}) | {rule.severity.value} | {rule.title} |" for rule in RULES]
    parts = [_CHECKS, "| code | severity | what is wrong |\n|---|---|---|\n" + "\n".join(rows)]
    return "\n".join(parts) + "\n" + "".join(f"\n{_rule_section(rule)}" for rule in RULES)


def definitions_page() -> str:
    """Text of ``docs/definitions.md``."""
    return _DEFINITIONS + "".join(f"\n{_definition_section(one)}" for one in DEFINITIONS)


def _rule_section(rule: Rule) -> str:
    kind = rule.severity.value.capitalize()
    marks = " A warning where rows are missing." if rule.from_missing_rows and kind == "Error" else ""
    if not rule.on_spans:
        marks += " Not judged on rows rebuilt from spans."
    if not rule.on_unnumbered:
        marks += " Not judged on rows without sequence numbers."
    return (
        f"## {rule.code}: {rule.title}\n\n{kind}.{marks}\n\n{rule.meaning}\n\n"
        f"**How it comes about.** {rule.causes}\n\n**What to do.** {rule.remedy}\n"
    )


def _anchor(rule: Rule) -> str:
    return f"{rule.code} {rule.title}".lower().replace(" ", "-")


def _definition_section(one: Definition) -> str:
    facts = (
        ("Shown in", ", ".join(f"`rtrace {command}`" for command in one.shown_in)),
        ("Also called", ", ".join(one.also)),
        ("Formula", f"`{one.formula}`" if one.formula else ""),
        ("Unit", one.unit),
        ("Source", one.source),
    )
    lines = "\n".join(f"- {name}: {value}" for name, value in facts if value)
    return f"## {one.name}\n\n{one.meaning}\n\n{lines}\n"
