"""``rtrace report``: what it writes, where, and what it says."""

from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import JOB, RUN_A, RUN_B
from tests.cli.program import Result, Run, write
from tests.report.html.packed import carried


def test_it_says_what_it_wrote_and_what_to_type_next(run: Run, job: Path, tmp_path: Path) -> None:
    """Where the page is, how large, and of what."""
    page = tmp_path / "page.html"
    result = run("report", job, "-o", page)
    size = f"{page.stat().st_size / 1000:.0f} KB"

    assert (0, "") == (result.code, result.err)
    assert [
        f"{page}: {size}, 20 rows of 2 runs. Open it in a browser; it needs no network.",
        "Next:",
        f"  rtrace restore {job}",
        f"  rtrace check {job}",
    ] == result.out.splitlines()


def test_by_default_it_is_report_html(run: Run, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder where one is."""
    monkeypatch.chdir(tmp_path)

    assert Result(0, "", "") == run("report", job, "-q")
    head, document, _ = carried((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [RUN_A, RUN_B] == [one["run"] for one in head["runs"]]
    assert 20 == document["results"]["summary"]["rows"]


def test_standard_output(run: Run, job: Path, tmp_path: Path) -> None:
    """The page and nothing else; the same bytes as in the file."""
    page = tmp_path / "page.html"
    run("report", job, "-o", page)
    result = run("report", job, "-o", "-")

    assert (0, "") == (result.code, result.err)
    assert page.read_text(encoding="utf-8") == result.out


def test_title(run: Run, job: Path) -> None:
    """By default it has the name of the file without its folder; else what was given, as text."""
    assert "<title>Rollouts of rollout_trace.jsonl</title>" in run("report", job, "-o", "-").out
    assert "<h1>Monday &lt;b&gt;</h1>" in run("report", job, "-o", "-", "--title", "Monday <b>").out


def test_share(run: Run, job: Path) -> None:
    """No name of a machine, prompt or place of the trace is left; without the option they are there."""
    names = ("node1", "node2", str(job.parent), "rollout_trace.jsonl")
    plain = _texts(run("report", job, "-o", "-").out)
    shared = _texts(run("report", job, "-o", "-", "--share").out)

    assert [True] * 4 == [name in plain for name in names]
    assert [False] * 4 == [name in shared for name in names]
    assert "Rollouts of a trace" in shared
    assert "ids and names taken out" in shared


def _texts(page: str) -> str:
    return page[: page.index("<script type=")] + repr(carried(page))


def test_several_files_are_one_trace(run: Run, tmp_path: Path) -> None:
    """Parts in any order."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, two = write(tmp_path / "a", JOB[:12]), write(tmp_path / "b", JOB[12:])
    _, document, _ = carried(run("report", two, one, "-o", "-").out)

    assert (20, 1) == (document["results"]["summary"]["rows"], len(document["results"]["restore"]["stops"]))


def test_the_trace_itself_is_never_replaced(run: Run, job: Path) -> None:
    """Whatever it is called."""
    before = job.read_bytes()
    result = run("report", job, "-o", job)

    assert (1, f"error: {job}: is the trace itself. Give -o another name\n") == (result.code, result.err)
    assert before == job.read_bytes()


def test_a_failure_leaves_the_old_page_and_no_half_one(run: Run, job: Path, tmp_path: Path) -> None:
    """The page of a trace that cannot be read, and one in a folder that is not there."""
    page = tmp_path / "page.html"
    page.write_text("old")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")

    assert 1 == run("report", empty, "-o", page).code
    missing = run("report", job, "-o", tmp_path / "no" / "page.html")
    assert (1, "old") == (missing.code, page.read_text())
    assert f"error: {tmp_path / 'no' / 'page.html'}: cannot be written: No such file or directory\n" == missing.err
    assert {"page.html", "empty.jsonl", job.name} == {path.name for path in tmp_path.iterdir()}


def test_an_old_page_is_replaced_and_keeps_its_mode(run: Run, job: Path, tmp_path: Path) -> None:
    """Through a link, too, which stays one."""
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("old")
    page.chmod(0o600)
    link.symlink_to(page)

    assert 0 == run("report", job, "-o", link, "-q").code
    assert link.is_symlink()
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert 0o600 == stat.S_IMODE(page.stat().st_mode)


def test_a_device_is_written_to(run: Run, job: Path) -> None:
    """It is not replaced by a file."""
    assert 0 == run("report", job, "-o", os.devnull, "-q").code
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_damage_is_named(run: Run, tmp_path: Path) -> None:
    """On standard error and in the page; with ``--strict`` there is no page."""
    trace = write(tmp_path, JOB)
    with trace.open("a") as file:
        file.write('{"event": "torn')
    page = tmp_path / "page.html"

    result = run("report", trace, "-o", page)
    assert (0, True) == (result.code, "torn tail" in result.err)
    _, document, _ = carried(page.read_text(encoding="utf-8"))
    assert [["21", "torn tail"]] == [table["rows"][0][:2] for table in _damage(document)]
    strict = run("report", trace, "-o", tmp_path / "strict.html", "--strict")
    assert (1, False) == (strict.code, (tmp_path / "strict.html").exists())


def _damage(document: Any) -> list[dict[str, Any]]:
    return [block for block in document["texts"]["damage"] if block["title"] == "Damage"]


def test_compressed_traces(run: Run, job: Path, tmp_path: Path) -> None:
    """As with every command."""
    packed = tmp_path / "trace.jsonl.gz"
    packed.write_bytes(gzip.compress(job.read_bytes()))

    assert 20 == carried(run("report", packed, "-o", "-").out)[1]["results"]["summary"]["rows"]
