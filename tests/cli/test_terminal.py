"""Reports as text for people: whole outputs, and what a terminal makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.cli.terminal import render_documents, render_terminal
from rtrace_otel.report.age import age_document
from rtrace_otel.report.document import Column, Document, Facts, Sentence, Table, printable
from rtrace_otel.report.summary import next_blocks, summary_document
from tests.cli.conftest import JOB
from tests.cli.program import Run, write
from tests.cli.pseudo import on_terminal
from tests.report.hostile import HOSTILE, hostile_trace
from tests.report.test_hostile import read_report

SUMMARY = """\
Summary of rollout_trace.jsonl

2 runs, 1 of them killed; 2 steps trained; 1 attempt in flight at a kill.

Runs
run        started (UTC)         lasted   ended    reason   restored from   steps   rows   host    pid
──────────────────────────────────────────────────────────────────────────────────────────────────────
aaaaaaaa   1970-01-01 00:16:40   11.0 s   killed   -        -               5         12   node1     7
bbbbbbbb   1970-01-01 00:16:52    7.0 s   clean    closed   ckpt-5          6          8   node2     8

What happened
  rows         20
  attempts     4 begun, 2 sealed (0 masked), 1 abandoned (server error 1), 1 interrupted by a kill, 0 open
  refused      0 dispatches
  resumed      0
  groups       2 reserved, 2 trained, 0 discarded, 1 brought back by a restore (0 trained again), 0 lost with
               a run, 0 open
  steps        2 trained, 0 of them again
  refits       1 (paused 2 calls, took 20 ms)
  checkpoints  1 published, 1 restored

Batch age 0.386 over 2 steps and 1,424 trained tokens (steps from 0.000 to 1.375).

Step 6 (run bbbbbbbb): the published age is 0.625 too old. 2 calls had been cut by refits in run aaaaaaaa,
before it stopped; the restored controller no longer had these cuts and counted their tokens under the version
that they began on. The recomputed age is right.

Damage and gaps
  file  intact: every line is one whole event, no row is missing

Next:
  rtrace restore rollout_trace.jsonl
  rtrace age rollout_trace.jsonl
  rtrace report rollout_trace.jsonl
  rtrace summary rollout_trace.jsonl --format json
"""
AGE = """\
Batch age of rollout_trace.jsonl

Batch age 0.386 over 2 steps and 1,424 trained tokens (steps from 0.000 to 1.375).

Batch age per step, in weight versions
step   run        version   logged   published   recomputed   p50   p95   max   tokens   in cut calls   groups
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
   5   aaaaaaaa         4    0.000       0.000        0.000     0     0     0    1,024            0 %        1
   6   bbbbbbbb         6    2.000       2.000        1.375     1     2     2      400          100 %        1

Step 6 (run bbbbbbbb): the published age is 0.625 too old. 2 calls had been cut by refits in run aaaaaaaa,
before it stopped; the restored controller no longer had these cuts and counted their tokens under the version
that they began on. The recomputed age is right.

The age of 2 of 2 steps cannot be split into parts: version in force at publication unknown (steps 5-6).

Token ages, in weight versions
token age   tokens   share   as old or older
────────────────────────────────────────────
        0    1,024    72 %             100 %
        1      250    18 %              28 %
        2      150    11 %              11 %

Batch age before each stop and after its restore
restored   by run     steps before   age before   steps after   age after   change
──────────────────────────────────────────────────────────────────────────────────
ckpt-5     bbbbbbbb   5                   0.000   6                 1.375   +1.375
"""
CODES = re.compile(r"\x1b\[([0-9;]*)m")


@pytest.mark.parametrize(("command", "expected"), [("summary", SUMMARY), ("age", AGE)])
def test_a_whole_report(command: str, expected: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of the report of a small job."""
    write(tmp_path, JOB)
    monkeypatch.chdir(tmp_path)

    assert expected == run(command, "rollout_trace.jsonl").out


def test_documents_stand_one_below_the_other() -> None:
    """A blank line between them."""
    assert "A\n\na\n\nB\n\nb\n" == render_documents([Document(name, (Sentence(name.lower()),)) for name in "AB"])


def test_commands_are_never_broken() -> None:
    """What is to be typed can be copied as it stands, however long the file name is."""
    name = "x" * 300

    commands = [f"rtrace {command} {name}" for command in ("restore", "age", "report", "summary")]
    assert "D\n  " + "\n  ".join(commands) + " --format json\n" == (
        render_terminal(Document("D", next_blocks(name)[1:]))
    )


def test_nothing_of_a_cell_is_cut_in_a_pipe() -> None:
    """A value of any length is there in one piece."""
    value = "x" * 20_000
    text = render_terminal(Document("D", (Table("T", (Column("a", "a", align="left"),), [{"a": value}]),)))

    assert value in text


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_a_file_holds_is_shown_not_obeyed(kind: str) -> None:
    """No control character of an id, a reason, a name or a damaged line reaches the terminal, and no markup acts."""
    text, read = HOSTILE[kind], read_report(HOSTILE[kind])
    documents = [
        summary_document(summarise(hostile_trace(text)), read),
        age_document(step_ages(hostile_trace(text)), read.source),
        Document("facts", (Facts("F", (("a", printable(text)),)), Sentence(printable(text)))),
    ]
    drawn = render_documents(documents)

    assert [] == [line for line in drawn.split("\n") if not line.isprintable()]
    assert printable(text).replace(" ", "") in re.sub(r"\s", "", drawn)


@pytest.fixture(scope="module")
def long_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The job in a file with a short path, so that the path fits into narrow terminals."""
    return write(tmp_path_factory.mktemp("t"), JOB)


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("command", ["age", "summary"])
def test_a_terminal_is_not_overflowed(command: str, columns: int, long_job: Path) -> None:
    """No line of the report is wider than the terminal; commands to type are as long as they are."""
    found = on_terminal(command, "rollout_trace.jsonl", columns=columns, cwd=long_job.parent)
    lines = CODES.sub("", found.out).splitlines()

    assert (0, []) == (found.code, [line for line in lines if cell_len(line) > columns])


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_the_ages_can_be_read_at_any_width(columns: int, long_job: Path) -> None:
    """Each step has its number, its run and its three ages unbroken on one line."""
    found = on_terminal("age", "rollout_trace.jsonl", columns=columns, cwd=long_job.parent)
    lines = [set(line.split()) for line in CODES.sub("", found.out).splitlines()]
    steps = ({"5", "aaaaaaaa", "0.000"}, {"6", "bbbbbbbb", "2.000", "1.375"})

    assert [True, True] == [any(step <= line for line in lines) for step in steps]


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_the_runs_can_be_read_at_any_width(columns: int, long_job: Path) -> None:
    """Each run has its id, its start and its ending unbroken on one line."""
    found = on_terminal("summary", "rollout_trace.jsonl", columns=columns, cwd=long_job.parent)
    lines = [set(line.split()) for line in CODES.sub("", found.out).splitlines()]
    runs = ({"aaaaaaaa", "1970-01-01", "00:16:40", "killed"}, {"bbbbbbbb", "1970-01-01", "00:16:52", "clean"})

    assert [True, True] == [any(run <= line for line in lines) for run in runs]


def test_wide_characters_do_not_overflow_a_terminal(tmp_path: Path) -> None:
    """Characters that take two cells count twice."""
    write(tmp_path, hostile_trace(HOSTILE["wide"]))
    found = on_terminal("summary", "rollout_trace.jsonl", columns=100, cwd=tmp_path)

    assert [] == [line for line in CODES.sub("", found.out).splitlines() if cell_len(line) > 100]


def _codes(text: str) -> set[int]:
    return {int(number or 0) for codes in CODES.findall(text) for number in codes.split(";")}


def test_a_terminal_has_colours(long_job: Path) -> None:
    """Findings are bold, commands are coloured, and all words are those of the pipe."""
    found = on_terminal("summary", "rollout_trace.jsonl", columns=200, cwd=long_job.parent)

    assert (0, "", SUMMARY) == (found.code, found.err, "\n".join(map(str.rstrip, CODES.sub("", found.out).split("\n"))))
    assert {1, 36} <= _codes(found.out)


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}], ids=str)
def test_no_color_turns_colours_off(changes: dict[str, str], long_job: Path) -> None:
    """Bold is no colour; everything that sets one is gone."""
    found = on_terminal("summary", long_job, columns=200, env=changes)

    assert (0, set()) == (found.code, {code for code in _codes(found.out) if code >= 30})


def test_an_empty_no_color_is_none(long_job: Path) -> None:
    """As the convention has it: set, and not empty."""
    assert 36 in _codes(on_terminal("summary", long_job, columns=200, env={"NO_COLOR": ""}).out)


def test_a_dumb_terminal_gets_no_codes(long_job: Path) -> None:
    """It would print them."""
    assert "\x1b" not in on_terminal("summary", long_job, columns=200, env={"TERM": "dumb"}).out


@pytest.mark.parametrize("form", ["json", "csv", "md"])
def test_data_has_no_codes_on_a_terminal(form: str, long_job: Path) -> None:
    """Only the table is for people."""
    assert "\x1b" not in on_terminal("age", long_job, "--format", form, columns=40).out
