"""The options with which ``rtrace attempts`` and ``rtrace groups`` choose what to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import click

from rtrace_otel.analysis.flow.choice import DEFAULT_LIMIT, Choice
from rtrace_otel.analysis.flow.records import Outcome

_Command = TypeVar("_Command", bound=Callable[..., Any])


def choosing_options(outcomes: Iterable[Outcome], sorts: Iterable[str]) -> Callable[[_Command], Callable[..., Any]]:
    """The options; the command gets them as one argument ``choice``.

    Args:
        outcomes: The outcomes to choose from.
        sorts: What to sort by; the first is the default.
    """
    keys = list(sorts)
    names = {str(outcome).replace(" ", "-"): str(outcome) for outcome in outcomes}
    options = (
        click.option("--prompt", help="Only this prompt, over all runs."),
        click.option("--group", help="Only this prompt group (the head of its id is enough)."),
        click.option("--run", help="Only this run (the head of its id is enough)."),
        click.option("--step", type=int, help="Only what this training step trained."),
        click.option("--outcome", type=click.Choice(list(names)), help="Only what ended so."),
        click.option("--reason", help="Only what ended for a reason that contains this."),
        click.option(
            "--open", "open_only", is_flag=True, help="Only what was left open, since when and waiting for what."
        ),
        click.option("--sort", type=click.Choice(keys), help=f"Order.  [default: {keys[0]}]"),
        click.option("--descending", is_flag=True, help="The greatest first."),
        click.option("--slowest", is_flag=True, help="Short for --sort seconds --descending."),
        click.option(
            "--limit",
            type=click.IntRange(min=0),
            default=DEFAULT_LIMIT,
            show_default=True,
            help="How many to show at most; 0 for all.",
        ),
    )

    def decorate(command: _Command) -> Callable[..., Any]:
        @wraps(command)
        def choosing(
            sort: str | None, descending: bool, slowest: bool, outcome: str | None, step: int | None, **given: Any
        ) -> Any:
            if slowest and (sort is not None or descending):
                raise click.UsageError("--slowest is --sort seconds --descending; give one or the other")
            chosen = {name: given.pop(name) for name in ("prompt", "group", "run", "reason", "open_only", "limit")}
            choice = Choice(
                **chosen,
                step=step,
                outcome=None if outcome is None else names[outcome],
                sort="seconds" if slowest else sort or keys[0],
                descending=slowest or descending,
            )
            return command(choice=choice, **given)

        decorated: Callable[..., Any] = choosing
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate
