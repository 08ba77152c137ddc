"""Columns of the charts of cost: waste by step, refits, and how long attempts take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rtrace_otel.analysis.flow.slow import Slow, Survival
from rtrace_otel.analysis.ledger.step_tokens import Account
from rtrace_otel.analysis.pauses import Pauses, Refit
from rtrace_otel.analysis.waste_steps import WasteSteps
from rtrace_otel.report.document import printable
from rtrace_otel.report.html.bins import bins, known
from rtrace_otel.report.html.columns import Columns, floats, numbers


def waste_table(found: WasteSteps) -> Columns:
    """The table ``waste``: tokens that ended up to each step, by account; ``account0`` and so on."""
    rows = bins(range(len(found.steps)))
    ends = [places[-1] for places in rows]
    columns = {"step": numbers([found.steps[place] for place in ends])}
    for number, series in enumerate(found.tokens.values()):
        total, sums = 0, []
        for tokens in series:
            total += tokens
            sums.append(total)
        columns[f"account{number}"] = numbers([sums[place] for place in ends])
    return columns


def waste_accounts(found: WasteSteps) -> list[dict[str, Any]]:
    """The accounts of the columns in order: ``name``, ``reason``, and the ``label`` that people read."""
    return [{"name": key[0], "reason": key[1], "label": account_label(key)} for key in found.tokens]


def account_label(key: Account) -> str:
    """``trained``, ``abandoned: server error``."""
    name, reason = key
    return name if reason is None else f"{name}: {printable(reason)}"


def refit_table(found: Pauses) -> Columns:
    """The table ``refits``: how long each took, calls that it paused, and tokens that these had."""
    several = bins(found.refits)
    return {
        "version": numbers([refits[-1].new_version for refits in several]),
        "ended": numbers([refits[-1].ended for refits in several], unit=0.001),
        "seconds": floats([_largest(refits, "seconds") for refits in several]),
        "calls": numbers([_largest(refits, "calls") for refits in several]),
        "tokens": numbers([_largest(refits, "tokens") for refits in several]),
    }


def _largest(refits: Sequence[Refit], field: str) -> float | None:
    return max(known(getattr(refit, field) for refit in refits), default=None)


def survival_tables(found: Slow) -> Mapping[str, Columns]:
    """The tables ``sealed``, ``abandoned`` and ``stragglers``: seconds, and how many lasted at least as long."""
    curves = {"sealed": found.sealed, "abandoned": found.abandoned, "stragglers": found.stragglers}
    return {name: _curve(curve) for name, curve in curves.items()}


def _curve(curve: Survival) -> Columns:
    return {"seconds": floats([value for value, _ in curve]), "left": numbers([left for _, left in curve])}
