"""Points in time as people type them."""

from __future__ import annotations

import pytest

from rtrace_otel.fleet.moment import MomentError, moment_of

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", NOW - 5400),
        ("24h", NOW - 86_400),
        (" 1.5d ", NOW - 129_600),
        ("2w", NOW - 1_209_600),
        ("1970-01-02", 86_400.0),
        ("1970-01-01T01:00", 3600.0),
        ("1970-01-01T01:00+01:00", 0.0),
        ("1970-01-01 00:00:01Z", 1.0),
    ],
)
def test_moments(text: str, expected: float) -> None:
    """Ages count back from now; dates are UTC unless they say otherwise."""
    assert expected == moment_of(text, NOW)


@pytest.mark.parametrize("text", ["", "7", "7 days", "yesterday", "-1d", "1e3d", "2026-13-01", "٣d", "2026-01-01T"])
def test_what_is_none(text: str) -> None:
    """The message says what would be."""
    with pytest.raises(MomentError) as caught:
        moment_of(text, NOW)
    assert f"--since: {text!r} is neither a date such as 2026-11-30 nor an age such as 7d" == str(caught.value)
    assert 2 == caught.value.exit_code
