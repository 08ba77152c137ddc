"""Entries that are open, by run, in the order in which they were opened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.still_open import StillOpen


def test_entries_are_kept_in_order_by_run() -> None:
    """Changing one does not move it; another run's becomes the latest of the run that takes it."""
    book: StillOpen[int] = StillOpen()
    for place, (run, name) in enumerate([("a", "x"), ("a", "y"), ("b", "z"), ("a", "x"), ("b", "y")]):
        book.put(run, name, place)

    assert [("x", 3)] == list(book.oldest("a", 5))
    assert [("z", 2), ("y", 4)] == list(book.oldest("b", 5))
    assert [("z", 2)] == list(book.oldest("b", 1))
    assert (1, 2, 0, 3) == (book.count("a"), book.count("b"), book.count("c"), len(book))
    assert ("b", None) == (book.run_of("y"), book.run_of("q"))


def test_what_is_too_many_is_given_up_oldest_first() -> None:
    """Memory is bounded, and what was given up is told."""
    book: StillOpen[None] = StillOpen(2)

    assert [None, None, "x", "y"] == [book.put("a", name, None) for name in "xyzw"]
    assert (2, 2) == (len(book), book.forgotten)
    assert book.pop("x") is None


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.booleans()), max_size=30))
def test_the_runs_together_have_every_entry_once(steps: list[tuple[str, str, bool]]) -> None:
    """As a plain dictionary from id to run has it."""
    book: StillOpen[str] = StillOpen()
    plain: dict[str, str] = {}
    for run, name, opens in steps:
        if opens:
            book.put(run, name, run)
            plain[name] = run
        else:
            assert plain.pop(name, None) == book.pop(name)

    assert {"a": list(plain.values()).count("a"), "b": list(plain.values()).count("b")} == {
        "a": book.count("a"),
        "b": book.count("b"),
    }
    assert plain == {name: book.get(name) for name in "xyz" if name in book}
