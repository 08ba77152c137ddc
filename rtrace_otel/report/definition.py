"""What is said of a number. A leaf: the registry and its parts build on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NEMO_RL: Final = "NeMo RL, nemo_rl.algorithms.rollout_checkpointing.trace"
"""The documentation of the module whose functions ``rtrace_otel.trace`` stands in for."""

OTEL: Final = "OpenTelemetry semantic conventions"
"""https://opentelemetry.io/docs/specs/semconv/"""

HERE: Final = "defined here"


@dataclass(frozen=True, slots=True)
class Definition:
    """One number, or one word that stands for a count.

    Attributes:
        name: Its name in JSON and CSV.
        shown_in: The commands that show it.
        meaning: What it is, in a sentence or two.
        formula: How it is computed; empty if it is read or counted.
        unit: Its unit; empty for a word.
        source: Where the definition comes from.
        also: Other names: the heading of its column, for example.
    """

    name: str
    shown_in: tuple[str, ...]
    meaning: str
    formula: str
    unit: str
    source: str
    also: tuple[str, ...] = ()
