"""The options with which ``rtrace report`` chooses the attempts of its timeline."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from rtrace_otel.analysis.timeline.kept import MAX_ATTEMPTS, Selection
from rtrace_otel.cli.moments import unix_s

_Command = TypeVar("_Command", bound=Callable[..., Any])
_STEPS = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")

_OPTIONS = (
    click.option("--run", help="The timeline shows only attempts of this run (the head of its id is enough)."),
    click.option("--steps", metavar="N or N-M", help="The timeline shows only attempts that these steps trained."),
    click.option("--since", help="The timeline shows only attempts open at this time or later (ISO 8601, UTC)."),
    click.option("--until", help="The timeline shows only attempts open at this time or before."),
    click.option(
        "--attempts",
        type=click.IntRange(min=1),
        default=MAX_ATTEMPTS,
        show_default=True,
        help="The timeline shows at most so many; of more a sample that has the longest and those without a result.",
    ),
)


def selecting_options(command: _Command) -> Callable[..., Any]:
    """The options; the command gets them as one argument ``selection``."""

    @wraps(command)
    def selecting(
        run: str | None, steps: str | None, since: str | None, until: str | None, attempts: int, **given: Any
    ) -> Any:
        first, last = (None, None) if steps is None else _steps(steps)
        selection = Selection(run, first, last, unix_s(since, "--since"), unix_s(until, "--until"), attempts)
        return command(**given, selection=selection)

    decorated: Callable[..., Any] = selecting
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _steps(text: str) -> tuple[int, int]:
    """The first and the last of ``7`` or ``3-9``."""
    found = _STEPS.fullmatch(text)
    if found is None:
        raise click.BadParameter(f"{text!r} is no step and no range of steps, such as 7 or 3-9", param_hint="--steps")
    first, last = int(found[1]), int(found[2] or found[1])
    if first > last:
        raise click.BadParameter(f"{text!r} ends before it begins", param_hint="--steps")
    return first, last
