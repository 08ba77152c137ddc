"""Moments that a user types."""

from __future__ import annotations

import datetime

import click


def unix_s(text: str | None, option: str) -> float | None:
    """A moment in Unix seconds; without a time zone it is UTC.

    Args:
        text: ISO 8601, or ``None``.
        option: The option that it was given with.

    Raises:
        click.BadParameter: It is no ISO 8601.
    """
    if text is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is no ISO 8601 time, such as 2026-11-29T12:00", param_hint=option
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
