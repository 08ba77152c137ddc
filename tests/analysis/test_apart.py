"""A part of an overview that is done elsewhere, in another pass over the same file, is the same part."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.apart import apart_of
from rtrace_otel.analysis.overview import Overview, OverviewFold
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.share import Sharing
from tests.analysis.check.test_in_all_answers import SIMULATED
from tests.analysis.reading.test_reader_fuzz import DATA, HURTS, _hurt


def _overview(path: Path, secret: bytes | None, *, apart: bool) -> Overview:
    fold, sharing, reader = OverviewFold(apart=apart), Sharing(secret), read_events(path)
    for row in reader:
        fold.add(row if secret is None else sharing.row(row), reader.line)
    read = reader.report if secret is None else sharing.report(reader.report)
    return fold.result(read, (lambda: apart_of(read_events(path), secret)) if apart else None)


@pytest.mark.parametrize("secret", [None, b"key"])
def test_the_same_overview(secret: bytes | None, tmp_path: Path) -> None:
    """With names and without; compared as text, where NaN equals itself."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(SIMULATED[: len(SIMULATED) * 2 // 3] + b"\n\0\0\n" + DATA)
    found = _overview(path, secret, apart=True)
    found.self_check()

    assert repr(_overview(path, secret, apart=False)) == repr(found)
    assert found.check is not None
    assert len(found.check.findings) > 1


@settings(deadline=None, max_examples=30)
@given(
    st.lists(HURTS, max_size=4),
    st.integers(0, len(SIMULATED)),
    st.sampled_from([None, b"key"]),
)
def test_the_same_overview_of_any_file(
    hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]], cut: int, secret: bytes | None
) -> None:
    """However it is damaged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(_hurt(DATA * 2, hurts) + SIMULATED[max(0, cut - 20_000) : cut])
        assert repr(_overview(path, secret, apart=False)) == repr(_overview(path, secret, apart=True))
