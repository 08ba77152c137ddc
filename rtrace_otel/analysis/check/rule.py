"""What a rule is. A leaf: the registry and the rules themselves build on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of ``rtrace check``.

    Attributes:
        code: Its stable name, ``RT`` and three digits.
        title: What is wrong, in a few words.
        severity: How bad that is.
        meaning: The rule, and what a finding says.
        causes: How it comes about.
        remedy: What to do.
        from_missing_rows: Whether rows that are missing can look like this; then an error is a warning where rows are
            missing.
        on_spans: Whether rows that were rebuilt from spans are judged; they lack lists of calls, order, and rows.
        on_unnumbered: Whether rows without sequence numbers, of another recorder, are judged.
    """

    code: str
    title: str
    severity: Severity
    meaning: str
    causes: str
    remedy: str
    from_missing_rows: bool = False
    on_spans: bool = False
    on_unnumbered: bool = True
