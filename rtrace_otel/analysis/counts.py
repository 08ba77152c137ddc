"""Tokens by weight version: what a group or a step has of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rtrace_otel.analysis.checked import MAX_INT


def age_of(counts: Mapping[int, int], trained_version: int) -> float | None:
    """Batch age in versions of tokens by version, or ``None`` without tokens."""
    tokens = sum(counts.values())
    if not tokens:
        return None
    try:
        return trained_version - sum(version * count for version, count in counts.items()) / tokens
    except OverflowError:  # no such version: a number with hundreds of digits
        return None


def clean_counts(counts: Any) -> dict[int, int] | None:
    """A ``tokens_by_version`` field with int keys, or ``None`` if it is none; other entries are dropped.

    So are counts of more than 63 bits, which no job has.
    """
    if type(counts) is not dict and not isinstance(counts, Mapping):
        return None
    clean: dict[int, int] = {}
    for version, tokens in counts.items():
        try:
            key, number = int(version), int(tokens)
        except (OverflowError, TypeError, ValueError):
            continue
        if -MAX_INT < number < MAX_INT:
            clean[key] = clean.get(key, 0) + number
    return clean


def add_up(groups: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """The sum of several counts by version."""
    total: dict[int, int] = {}
    for counts in groups:
        for version, tokens in counts.items():
            total[version] = total.get(version, 0) + tokens
    return total


def token_age_quantile(counts: Mapping[int, int], trained_version: int, quantile: float) -> int | None:
    """The smallest token age that at least this share of the tokens does not exceed.

    Args:
        counts: Tokens by weight version.
        trained_version: Version that the step updates.
        quantile: Share between 0 and 1; 1 is the largest age.

    Returns:
        An age in versions, or ``None`` without tokens.
    """
    needed = _share(quantile) * sum(counts.values())
    seen = 0
    for version in sorted((version for version, tokens in counts.items() if tokens), reverse=True):
        seen += counts[version]
        if seen >= needed:
            return trained_version - version
    return None


@lru_cache(maxsize=64)
def _share(quantile: float) -> Fraction:
    return Fraction(quantile).limit_denominator(1_000)
