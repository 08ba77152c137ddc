"""Ways to read the batch ages of a trace, ours and others: ``python -m tests.benchmarks.readers NAME FILE``.

Each runs in a process of its own and prints its seconds, its memory and a check sum of the ages as JSON.
"""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading.reader import read_events

Ages = dict[int, float]
NEEDED = ("group_published", "train_step")


def just_lines(path: str) -> Ages:
    """No work: what iterating over the lines costs."""
    with Path(path).open("rb") as file:
        for _ in file:
            pass
    return {}


def just_text_lines(path: str) -> Ages:
    """The same with the lines decoded as text, as ``open`` does by default."""
    with Path(path).open(encoding="utf-8") as file:
        for _ in file:
            pass
    return {}


def json_lines(path: str) -> Ages:
    """The baseline: ``json.loads`` of each line."""
    with Path(path).open(encoding="utf-8") as file:
        return batch_age_by_step(map(json.loads, file))


def orjson_lines(path: str) -> Ages:
    """``orjson.loads`` of each line."""
    loads = importlib.import_module("orjson").loads
    with Path(path).open("rb") as file:
        return batch_age_by_step(map(loads, file))


def ours(path: str) -> Ages:
    """One process."""
    return batch_age_by_step(read_events(path))


def ours_two_jobs(path: str) -> Ages:
    """Two processes, beside the one that puts their results together."""
    return batch_age_by_step(read_events(path, jobs=2))


def ours_with_report(path: str) -> Ages:
    """One process, and the damage report from the same pass."""
    reader = read_events(path, one_pass=True)
    ages = batch_age_by_step(reader)
    assert reader.report.intact
    return ages


def just_gzip(path: str) -> Ages:
    """No work: what ``gzip -dc`` takes."""
    subprocess.run(["gzip", "-dc", path], stdout=subprocess.DEVNULL, check=True)
    return {}


def duckdb_json(path: str) -> Ages:
    """DuckDB's ``read_json`` with the columns named, the needed rows fetched; all threads."""
    connection = importlib.import_module("duckdb").connect()
    columns = (
        "{event: 'VARCHAR', group_id: 'VARCHAR', tokens_by_version: 'MAP(VARCHAR, BIGINT)', step: 'BIGINT', "
        "trained_version: 'BIGINT', group_ids: 'VARCHAR[]', run: 'VARCHAR'}"
    )
    found = connection.execute(
        f"SELECT * FROM read_json(?, format = 'newline_delimited', columns = {columns}) WHERE event IN {NEEDED}", [path]
    )
    names = [column[0] for column in found.description]
    return batch_age_by_step(_rows(names, found))


def _rows(names: list[str], found: Any) -> Iterator[dict[str, Any]]:
    while batch := found.fetchmany(10_000):
        for values in batch:
            yield dict(zip(names, values, strict=True))


def polars_lines(path: str) -> Ages:
    """polars, which has no column type for an object with any keys: it filters lines, json reads those needed."""
    pl = importlib.import_module("polars")
    wanted = pl.col("line").str.contains(r'"event":"(?:group_published|train_step)"')
    lines = (
        pl.scan_csv(path, has_header=False, separator="\x01", quote_char=None, new_columns=["line"])
        .filter(wanted)
        .collect()
    )
    return batch_age_by_step(map(json.loads, lines["line"]))


def pandas_json(path: str) -> Ages:
    """pandas, in chunks of 100,000 lines."""
    pd = importlib.import_module("pandas")
    return batch_age_by_step(_records(pd.read_json(path, lines=True, chunksize=100_000)))


def _records(chunks: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for chunk in chunks:
        for row in chunk[chunk["event"].isin(NEEDED)].to_dict("records"):
            if row["event"] == "train_step":  # a column that other rows lack holds floats
                row |= {name: int(row[name]) for name in ("step", "trained_version")}
            yield row


def json_spans(path: str) -> Ages:
    """``json.loads`` of each OTLP line and nothing more."""
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            json.loads(line)
    return {}


READERS: dict[str, Callable[[str], Ages]] = {
    name: found
    for name, found in list(globals().items())
    if getattr(found, "__module__", "") == __name__ and not name.startswith("_") and callable(found)
}


def main(name: str, path: str) -> None:
    """Read once and print what it took."""
    start, cpu = time.perf_counter(), time.process_time()
    ages = READERS[name](path)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    check = round(sum(step * age for step, age in ages.items()), 6)
    cpu += others.ru_utime + others.ru_stime
    # Not ru_maxrss: that of a process begins with what the one that started it had.
    mib = int(Path("/proc/self/status").read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mib": mib, "check": check}))


if __name__ == "__main__":
    main(*sys.argv[1:])
