"""``rtrace check`` and ``rtrace definitions`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.analysis.check.registry import RULES
from tests.cli.conftest import JOB
from tests.cli.program import Run, rtrace, strict_json, write
from tests.record_demo import DATA
from tests.report.history import dispatched, ended, event, sealed, started, trace

DEMO = DATA / "rollout_trace.jsonl.gz"
CHECKPOINT = event("a", "checkpoint_started")
BROKEN = trace(
    started("a"), dispatched("a", "x"), sealed("a", "x"), sealed("a", "x"), CHECKPOINT, CHECKPOINT, ended("a")
)
"""One error of the attempt, one of the sum, one warning."""
BROKEN_TEXT = """\
Check of {}

2 errors, 1 warning: attempt sealed twice (RT101), rollouts do not add up (RT311) and checkpoint never
published (RT603). 38 rules over 7 rows.

Findings
  error RT101, line 4    Attempt x was sealed; it was sealed in line 3 already.
  error RT311            Rollouts: 1 generated, 2 with a fate; the difference is -1.
  warning RT603, line 5  A checkpoint started here and never ended, though the run went on.

Where it went
  rollouts  1 generated = 1 open or in a waiting group + 1 of ends without an open attempt; left over: -1
  tokens    0 generated = 0; nothing is left over
  unknown   tokens of 1 rollout: no row tells them

What a code means:
  rtrace definitions RT101
"""


def test_a_real_job_adds_up(run: Run) -> None:
    """Status 0, and the verdict is the first sentence."""
    found = run("check", DEMO)

    assert (0, "") == (found.code, found.err)
    assert (
        f"Everything adds up: {len(RULES)} rules over 1,394 rows, no error and no warning; 2 notes."
        == found.out.splitlines()[2]
    )


def test_an_error_ends_with_three(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The whole answer, and a status that scripts can act on."""
    write(tmp_path, BROKEN, "t.jsonl")
    monkeypatch.chdir(tmp_path)
    found = run("check", "t.jsonl")

    assert (3, BROKEN_TEXT.format("t.jsonl"), "") == (found.code, found.out, found.err)


def test_the_program_ends_with_three_too(tmp_path: Path) -> None:
    """The installed script passes the status on; a closed pipe or a file for the answer do not change it."""
    path = write(tmp_path, BROKEN, "t.jsonl")

    assert 3 == rtrace("check", path).code
    assert (3, "") == ((found := rtrace("check", path, "-o", tmp_path / "answer.txt")).code, found.out)
    assert BROKEN_TEXT.format(path) == (tmp_path / "answer.txt").read_text()


@pytest.mark.parametrize("form", ["json", "csv", "md", "table"])
def test_every_form_has_the_status(run: Run, form: str, tmp_path: Path) -> None:
    """What is printed does not decide on it."""
    path = write(tmp_path, BROKEN, "t.jsonl")

    assert (3, True) == ((found := run("check", path, "--format", form)).code, "RT101" in found.out)


@pytest.mark.parametrize(
    ("options", "codes", "status"),
    [
        ("--select RT101", ["RT101"], 3),
        ("--select rt603,RT2", ["RT603"], 0),
        ("--ignore RT101,RT311", ["RT603"], 0),
        ("--select RT1,RT6 --ignore RT101", ["RT603"], 0),
        ("--select RT1 --ignore RT1", [], 0),
    ],
)
def test_rules_are_selected_and_ignored(run: Run, options: str, codes: list[str], status: int, tmp_path: Path) -> None:
    """Only the wanted ones decide on the status."""
    found = run("check", write(tmp_path, BROKEN, "t.jsonl"), "--format", "json", *options.split())

    assert (status, codes) == (found.code, [one["code"] for one in strict_json(found.out)["findings"]])


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_a_code_that_does_not_exist(run: Run, option: str, job: Path) -> None:
    """A wrong command line, with the codes that there are."""
    found = run("check", job, option, "RT999")

    assert (2, "") == (found.code, found.out)
    assert f"Invalid value for '{option}': no rule has the code RT999; there are RT101, RT102," in found.err


def test_damage_is_noted_and_found(run: Run, tmp_path: Path) -> None:
    """On standard error as by every command, and as a finding with its line."""
    path = write(tmp_path, JOB, after=b'{"event":"train_step","t":99')
    found = run("check", path, "--format", "csv", "--select", "RT8")

    assert (0, 1) == (found.code, found.err.count("note: "))
    assert f"info,RT804,{len(JOB) + 1},,torn tail," in found.out


def test_strict_stops_at_damage(run: Run, tmp_path: Path) -> None:
    """As for every command."""
    found = run("check", write(tmp_path, JOB, after=b'{"event":"train_step","t":99'), "--strict")

    assert (1, "") == (found.code, found.out)


def test_a_term_is_explained(run: Run) -> None:
    """Meaning, formula, unit, source."""
    found = run("definitions", "batch_age")

    assert (0, "") == (found.code, found.err)
    assert "  formula      trained_version - sum(version x tokens) / sum(tokens)\n" in found.out


def test_a_code_is_explained(run: Run) -> None:
    """What stands on the page of checks."""
    found = run("definitions", "rt203")

    assert (0, "RT203: group trained twice on one timeline") == (found.code, found.out.splitlines()[0])


def test_an_unknown_term_is_a_wrong_command_line(run: Run) -> None:
    """What comes near is named."""
    found = run("definitions", "bacth-age")

    assert (2, "") == (found.code, found.out)
    assert (
        "Error: no number is called 'bacth-age'. Did you mean batch_age or batch_age_p95?" == found.err.splitlines()[-1]
    )


@pytest.mark.parametrize("term", ["batch_age", "RT101"])
def test_definitions_in_every_form(run: Run, term: str, tmp_path: Path) -> None:
    """JSON has no report of reading: there is no trace."""
    found = strict_json(run("definitions", term, "--format", "json").out)
    written = tmp_path / "d.csv"
    run("definitions", term, "--format", "csv", "-o", written)

    assert ["schema_version", "command", "definitions", "rule"] == list(found)
    assert 2 == written.read_text().count("\n")
    assert run("definitions", term, "--format", "md").out.startswith("# ")
