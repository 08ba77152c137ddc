"""``rtrace watch`` without a terminal: one frame, and command lines that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.cli.following import Follower
from rtrace_otel.report.watch import Screen
from tests.cli.conftest import JOB
from tests.cli.program import Run, lines, strict_json, write
from tests.cli.pseudo import on_terminal


def test_once_prints_one_frame(run: Run, job: Path) -> None:
    """Of the whole file, without codes for a terminal and without the line about keys."""
    found = run("watch", "--once", job)
    shown = found.out.splitlines()

    assert (0, "") == (found.code, found.err)
    assert "rows       20, 0.0/s, last row " == shown[1][:31]
    assert "! run aaaaaaaa was killed; its last row is " == shown[2][:43]
    assert [
        "attempts   0 open, 2 sealed, 1 abandoned, 1 interrupted",
        "groups     0 ready to train, 0 unfinished, 2 trained, 1 brought back",
        "per second 0.0 dispatched, 0.0 sealed, 0.0 tokens trained, over 60 s",
        "batch age  1.375 in step 6  \u2581\u2588",
    ] == shown[3:7]
    assert ("\x1b" in found.out, "q quits" in found.out) == (False, False)


def test_once_takes_a_last_row_without_a_newline(run: Run, tmp_path: Path) -> None:
    """As every other command does."""
    (tmp_path / "rollout_trace.jsonl").write_bytes(lines(JOB)[:-1])

    assert "rows       20," in run("watch", "--once", tmp_path).out


def test_once_is_as_wide_as_the_terminal(job: Path) -> None:
    """And leaves it alone: no other screen, no codes."""
    found = on_terminal("watch", "--once", job, columns=40)

    assert (0, True) == (found.code, max(map(len, found.out.splitlines())) <= 40)
    assert "\x1b" not in found.out


def test_once_as_json(run: Run, job: Path) -> None:
    """Everything, with raw values."""
    found = strict_json(run("watch", "--once", "--format", "json", job).out)

    assert ("watch", 1, 20, True) == (found["command"], found["schema_version"], found["rows"], found["read"]["intact"])
    assert {"begun": 4, "sealed": 2, "abandoned": 1, "interrupted": 1} == {
        key: value for key, value in found["attempts"].items() if value
    }
    assert [(5, 0.0), (6, 1.375)] == [(step["step"], step["batch_age"]) for step in found["steps"]]
    assert ["run aaaaaaaa was killed; its last row is "] == [text[:41] for text in found["warnings"]]


def test_once_as_csv(run: Run, job: Path) -> None:
    """Numbers by name; one that is unknown is empty: no step of the last minute, which is long ago, says its tokens."""
    found = run("watch", "--once", "--format", "csv", job)
    values = dict(line.split(",") for line in found.out.splitlines())

    assert (0, "name,value") == (found.code, found.out.splitlines()[0])
    assert ["20", "2", "4", "2", "1", "1", "0"] == [
        values[name]
        for name in ("rows", "runs", "attempts begun", "attempts sealed", "attempts abandoned", "attempts interrupted",
                     "attempts running")
    ]  # fmt: skip
    assert ("6", "1.375") == (values["last step"], values["batch age of the last step"])


def test_once_as_markdown(run: Run, job: Path) -> None:
    """Warnings, numbers and lists, under the file and the time."""
    found = run("watch", "--once", "--format", "md", job)
    shown = found.out.splitlines()

    assert 0 == found.code
    assert shown[0].endswith(" UTC")
    assert ["## Now", "## Runs, the latest first", "## Latest refits, checkpoints and restores"] == [
        line for line in shown if line.startswith("## ")
    ]
    assert "| batch age of the last step | 1.375 |" in shown
    assert "run aaaaaaaa was killed; its last row is " == shown[2][:41]


def test_once_of_a_torn_file_counts_its_tail_as_damage(run: Run, tmp_path: Path) -> None:
    """Nothing more is waited for."""
    found = run("watch", "--once", write(tmp_path, JOB, after=b'{"event":"torn'))

    assert '! 1 x torn tail (line 21: {"event":"torn)' in found.out
    assert "has no end yet" not in found.out


@pytest.mark.parametrize("content", [b"", b"hello\n"])
def test_once_of_a_file_without_events(content: bytes, run: Run, tmp_path: Path) -> None:
    """An error, as for every other command."""
    (tmp_path / "t").write_bytes(content)
    found = run("watch", "--once", tmp_path / "t")

    assert (1, "") == (found.code, found.out)
    assert f"error: {tmp_path / 't'}: no rollout event in this file. Is it a rollout trace?\n" == found.err


def test_once_of_no_file(run: Run, tmp_path: Path) -> None:
    """There is nothing to wait for."""
    found = run("watch", "--once", tmp_path / "no")

    assert (1, "") == (found.code, found.out)
    assert f"error: {tmp_path / 'no'}: no such file" in found.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["FILE"], ["--once"]),
        (["FILE", "--format", "json"], ["--once", "json"]),
        (["FILE", "--format", "md"], ["--once", "md"]),
        (["-", "--once"], ["standard input"]),
        (["FILE", "--once", "--interval", "0"], ["--interval", "0.05"]),
        (["FILE", "--once", "--interval", "nan"], ["--interval", "nan"]),
        (["FILE", "--once", "--interval", "x"], ["--interval", "x"]),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(arguments: list[str], named: list[str], run: Run, job: Path) -> None:
    """Status 2, nothing on standard output."""
    found = run("watch", *(str(job) if argument == "FILE" else argument for argument in arguments))

    assert (2, "", []) == (found.code, found.out, [word for word in named if word not in found.err.splitlines()[-1]])


def test_a_terminal_that_cannot_be_drawn_on_is_refused(job: Path) -> None:
    """With the way out."""
    found = on_terminal("watch", job, env={"TERM": "dumb"})

    assert (2, True) == (found.code, "--once prints one frame" in found.out)


def test_a_terminal_without_block_characters_shows_none(job: Path) -> None:
    """The last value is enough."""
    found = on_terminal("watch", "--once", job, env={"PYTHONIOENCODING": "latin-1"})

    assert "batch age  1.375 in step 6\n" in found.out


def test_the_clock_is_that_of_the_job(tmp_path: Path) -> None:
    """This machine is 100 s ahead; rows come 1 and 3 s late: the difference of the clocks is at most 101 s.

    The first row says nothing: its file may have been put there long after it was written.
    """
    clock = [2000.0]
    follower = Follower(str(tmp_path), lambda: clock[0])
    follower.look()
    for seq, (t, now) in enumerate(((1891.0, 2000.0), (1899.0, 2000.0), (1900.0, 2003.0))):
        clock[0] = now
        with (tmp_path / "rollout_trace.jsonl").open("ab") as file:
            file.write(lines([{"event": "mark", "t": t, "run": "a", "seq": seq}]))
        follower.look()

    assert 2003.0 - 101.0 == follower.now()
    assert "rows       3, 0.3/s, last row 2.0 s ago" == follower.frame(Screen(80, 24))[1].text


def test_old_rows_say_nothing_of_the_clock(tmp_path: Path) -> None:
    """A file that was there before is as old as it is."""
    write(tmp_path, JOB)
    follower = Follower(str(tmp_path), lambda: 2000.0)
    follower.look()

    assert 2000.0 == follower.now()


def test_a_file_that_is_replaced_is_counted_anew(tmp_path: Path) -> None:
    """What the first one held is gone."""
    write(tmp_path, JOB)
    follower = Follower(str(tmp_path), lambda: 2000.0)
    follower.look()
    write(tmp_path, JOB[:3])
    follower.look()

    assert "rows       3, 0.0/s, last row " == follower.frame(Screen(80, 24))[1].text[:30]
