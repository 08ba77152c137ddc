"""Tables become data frames of pandas and of Polars without loss."""

from __future__ import annotations

from rtrace_otel import load
from tests.columns.tables import DEMO
from tests.servers import need_package


def test_pandas_takes_a_table() -> None:
    """Tokens by outcome are those that Arrow has."""
    need_package("pandas")
    attempts = load(DEMO).attempts
    frame = attempts.to_pandas()
    expected: dict[str, int] = {}
    for outcome, tokens in zip(attempts["outcome"].to_pylist(), attempts["tokens"].to_pylist(), strict=True):
        expected[outcome] = expected.get(outcome, 0) + (tokens or 0)

    assert list(attempts.schema.names) == list(frame.columns)
    assert expected == {key: int(value) for key, value in frame.groupby("outcome")["tokens"].sum().items()}
    assert attempts.num_rows == len(frame)


def test_polars_takes_a_table() -> None:
    """Row by row the same values, lists included."""
    polars = need_package("polars")
    loaded = load(DEMO)

    for table in (loaded.attempts, loaded.checkpoints, loaded.restores):
        assert table.to_pylist() == polars.from_arrow(table).to_dicts()
