"""What rtrace_otel raises on its reading side; the recording side never raises into its host.

``RTraceError``
├── ``TraceFileError``   a file cannot be opened, or ``strict=True`` met damage in it
└── ``MissingExtraError``  a command needs a package that is not installed
"""

from __future__ import annotations


class RTraceError(Exception):
    """Base of every error that this package raises on purpose.

    Attributes:
        exit_code: The status with which the command line ends on this error.
    """

    exit_code = 1


class TraceFileError(RTraceError):
    """A trace cannot be read; the text names the file, the line where there is one, and the way out.

    Args:
        where: The file, as the user named it.
        problem: What is wrong.
        line: The physical line, counted from 1, if the fault is at one.
        hint: What to do about it.
    """

    def __init__(self, where: str, problem: str, *, line: int | None = None, hint: str | None = None) -> None:
        """Compose the message ``where:line: problem. hint``."""
        place = where if line is None else f"{where}:{line}"
        super().__init__(f"{place}: {problem}" + (f". {hint}" if hint else ""))
        self.where = where
        self.problem = problem
        self.line = line
        self.hint = hint


class MissingExtraError(RTraceError):
    """A command needs an optional extra; the text says which and how to install it."""

    def __init__(self, command: str, extra: str, missing: str) -> None:
        """Compose the message from the command, its extra and the module that failed to import."""
        super().__init__(f"{command} needs {missing}. Install it with: pip install 'rtrace-otel[{extra}]'")
