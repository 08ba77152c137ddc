"""What ended long ago is let go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.check.recent import Recent


def test_the_oldest_entry_goes() -> None:
    """Room for two: putting an entry again makes it the latest."""
    recent: Recent[str, int] = Recent(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        recent.put(key, value)
    assert (False, 2) == (recent.dropped, len(recent))
    recent.put("c", 4)

    assert (3, None, 4, True, 2) == (recent.get("a"), recent.get("b"), recent.get("c"), recent.dropped, len(recent))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers())), st.integers(1, 4))
def test_it_holds_the_latest_entries(puts: list[tuple[int, int]], limit: int) -> None:
    """The last value of the last few distinct keys, as a plain search backwards finds them."""
    recent: Recent[int, int] = Recent(limit)
    latest: dict[int, int] = {}
    for key, value in puts:
        recent.put(key, value)
    for key, value in reversed(puts):
        if len(latest) < limit:
            latest.setdefault(key, value)

    assert {key: latest.get(key) for key in range(6)} == {key: recent.get(key) for key in range(6)}
