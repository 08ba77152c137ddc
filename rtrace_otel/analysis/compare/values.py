"""The value of a metric: a number with how well it is known, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rtrace_otel.analysis.checked import integer, number
from rtrace_otel.analysis.ledger.work import Amount


class Known(StrEnum):
    """How well a value is known."""

    EXACT = "exact"
    AT_LEAST = "at least"
    ABOUT = "about"


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a metric.

    Attributes:
        number: Its value in the metric's unit; ``None`` if it is not known.
        known: How well: ``at least`` is a lower bound, ``about`` a share or a rate of lower bounds.
        missing: Why it is not known; ``None`` if it is.
    """

    number: float | None
    known: Known = Known.EXACT
    missing: str | None = None


NO_TOKENS = "no row says how many tokens"
NO_TIMES = "no row says when"
NO_SECONDS = "no row says how long"
NO_AGES = "no token data of a training step"
NO_STEPS = "no training step"
ONE_RUN = "one run does not show what a stop took"
FROM_SPANS = "rebuilt from spans, which are not numbered"
NOT_COUNTED = "its missing rows were not counted one by one"
TOO_LARGE = "the number is too large to be one"


def missing(why: str) -> Value:
    """No value, for this reason."""
    return Value(None, missing=why)


def known(value: float | None, why: str, *, exact: bool = True) -> Value:
    """A value as far as a file has it.

    Args:
        value: The value in the metric's unit, or ``None``.
        why: Why it would be ``None``.
        exact: Whether it is more than a lower bound.
    """
    if value is None:
        return missing(why)
    checked = integer(value) if isinstance(value, int) else number(value)
    if checked is None:
        return missing(TOO_LARGE)
    return Value(checked, Known.EXACT if exact else Known.AT_LEAST)


def counted(value: int, *, exact: bool = True) -> Value:
    """A count, which is always known, if only as a lower bound."""
    return known(value, TOO_LARGE, exact=exact)


def tokens(amount: Amount, *, lost: bool = False) -> Value:
    """The tokens of an amount; none at all, of rollouts whose rows do not say theirs, are not 0.

    Args:
        amount: The amount.
        lost: Whether to leave out what a restore kept.
    """
    value = amount.tokens_lost if lost else amount.tokens
    if not amount.tokens and not amount.tokens_exact:
        return missing(NO_TOKENS)
    return known(value, NO_TOKENS, exact=amount.tokens_exact)


def ratio(part: Value, whole: Value, why: str) -> Value:
    """One value divided by another.

    Args:
        part: The numerator.
        whole: The denominator.
        why: Why there is no value if the denominator is 0.
    """
    if part.number is None:
        return part
    if whole.number is None:
        return whole
    if not whole.number:
        return missing(why)
    quotient = number(part.number / whole.number)
    if quotient is None:
        return missing(TOO_LARGE)
    if whole.known is not Known.EXACT:
        return Value(quotient, Known.ABOUT)
    return Value(quotient, part.known)
