"""``rtrace compare`` on the command line: its statuses, its messages, its two ways of reading."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from rtrace_otel.analysis.compare.metrics import METRICS
from tests.analysis.compare.jobs import KILLED, A, B, job
from tests.cli.program import Run, lines, rtrace, strict_json, write

NAMES = [metric.name for metric in METRICS]


@pytest.fixture
def a(tmp_path: Path) -> Path:
    """The first job."""
    return write(tmp_path, A, "a.jsonl")


@pytest.fixture
def b(tmp_path: Path) -> Path:
    """The second job."""
    return write(tmp_path, B, "b.jsonl")


def test_two_files(run: Run, a: Path, b: Path) -> None:
    """Status 0, whatever is worse, as long as no limit is given."""
    found = run("compare", a, b)

    assert (0, "") == (found.code, found.err)
    assert f"Comparison of A ({a}) and B ({b})" == found.out.splitlines()[0]
    assert "worse: refusals from 0 to 1, batch_age from 1.000 to 3.000 (+200.0 %) and" in " ".join(found.out.split())


def test_a_limit_that_is_kept(run: Run, a: Path, b: Path) -> None:
    """Status 0, and a sentence that says so."""
    found = run("compare", a, b, "--fail-on", "abandoned_tokens:+5%", "--fail-on", "tokens_per_s:<2")

    assert (0, "", "2 of 2 limits are kept.") == (found.code, found.err, found.out.splitlines()[2])


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
def test_limits_that_are_not_kept(run: Run, form: str, a: Path, b: Path) -> None:
    """Status 3 and a line each on standard error, also with --quiet; the whole answer is given all the same."""
    limits = ("--fail-on", "tokens_per_s:-5%", "--fail-on", "batch_age:>5", "--fail-on", "batch_age:>2.5")
    found = run("compare", a, b, "--quiet", "--format", form, *limits)

    assert (3, True) == (found.code, "wasted_share" in found.out.replace("\\", ""))
    assert [
        "not kept: tokens_per_s:-5%: B has 2.5, below the limit of 7.6 (A has 8.0)",
        "not kept: batch_age:>2.5: B has 3.000, above the limit of 2.500 (A has 1.000)",
    ] == found.err.splitlines()


def test_the_program_ends_with_three_too(a: Path, b: Path, tmp_path: Path) -> None:
    """The installed script passes the status on; the answer may go to a file."""
    found = rtrace("compare", a, b, "--fail-on", "refusals:+0", "-o", tmp_path / "answer.txt")

    assert (3, "", "not kept: refusals:+0: B has 1, above the limit of 0 (A has 0)\n") == (
        found.code, found.out, found.err,
    )  # fmt: skip
    assert "The limit is not kept. refusals:+0" in (tmp_path / "answer.txt").read_text()


def test_a_limit_on_what_is_not_known(run: Run, b: Path, tmp_path: Path) -> None:
    """It is not kept: file A has no step, so that nobody knows how stale its tokens were."""
    found = run("compare", write(tmp_path, A[:8], "early.jsonl"), b, "--fail-on", "batch_age:+5%")

    assert (3, "not kept: batch_age:+5%: cannot be judged, batch_age of A: no token data of a training step\n") == (
        found.code, found.err,
    )  # fmt: skip


def test_two_runs_of_a_file(run: Run, tmp_path: Path) -> None:
    """By the heads of their ids; what a stop took is then not known, and keeps no limit."""
    path = write(tmp_path, KILLED)
    found = run("compare", path, "--run", "k", "--run", "l", "--format", "json", "--fail-on", "lost_tokens:+5%")
    output = strict_json(found.out)

    assert (3, "k", "l", 7 - 1, len(KILLED) - 6) == (
        found.code, output["a"]["run"], output["b"]["run"], output["a"]["rows"], output["b"]["rows"],
    )  # fmt: skip
    assert ["B"] == [failure["side"] for failure in output["failures"]]
    assert {"one run does not show what a stop took"} == {
        metric["b_missing"] for metric in output["metrics"] if metric["name"] in {"stops", "dead_s", "wasted_share"}
    }


def test_only_some_metrics(run: Run, a: Path, b: Path) -> None:
    """In the order of the registry; what is limited is shown too."""
    options = ("--format", "csv", "--only", "refusals", "--only", "Batch-Age")
    shown = list(csv.DictReader(io.StringIO(run("compare", a, b, *options).out)))
    limited = list(csv.DictReader(io.StringIO(run("compare", a, b, *options, "--fail-on", "stops:>9").out)))

    assert ["batch_age", "refusals"] == [row["name"] for row in shown]
    assert ["batch_age", "stops", "refusals"] == [row["name"] for row in limited]
    assert ("1.0", "3.0", "2.0", "2.0", "worse") == tuple(
        shown[0][key] for key in ("a", "b", "difference", "relative", "verdict")
    )


def test_json(run: Run, a: Path, b: Path) -> None:
    """Every metric, with what the reader met on each side, and no ``read`` of its own."""
    found = strict_json(run("compare", a, b, "--format", "json").out)

    assert ["schema_version", "command", "a", "b", "metrics", "gates", "failures", "verdict", "notes"] == list(found)
    assert NAMES == [metric["name"] for metric in found["metrics"]]
    assert [(str(a), len(A), True), (str(b), len(B), True)] == [
        (side["source"], side["read"]["rows"], side["read"]["intact"]) for side in (found["a"], found["b"])
    ]


def test_missing_rows_are_compared(run: Run, a: Path, tmp_path: Path) -> None:
    """Two rows of the second file are gone: the sequence numbers tell, and a limit can hold it to none."""
    damaged = write(tmp_path, [*A[:4], *A[6:]], "damaged.jsonl")
    found = run("compare", a, damaged, "--fail-on", "rows_missing:>0", "--quiet")

    assert (3, "not kept: rows_missing:>0: B has 2, above the limit of 0 (A has 0)\n") == (found.code, found.err)


def test_standard_input_can_be_one_of_them(b: Path) -> None:
    """In either place."""
    assert (0, True) == ((found := rtrace("compare", "-", b, given=lines(A))).code, "A (<stdin>)" in found.out)
    assert (0, True) == ((found := rtrace("compare", b, "-", given=lines(A))).code, "B (<stdin>)" in found.out)


def test_damage_is_noted_for_each_file(run: Run, a: Path, tmp_path: Path) -> None:
    """On standard error, by name; --strict stops at it."""
    torn = write(tmp_path, B, "torn.jsonl", after=b'{"event":"train_step","t":99')
    noted, strict = run("compare", a, torn), run("compare", a, torn, "--strict")

    assert (0, 1) == (noted.code, noted.err.count(f"note: {torn}: 1 x torn tail"))
    assert (1, "") == (strict.code, strict.out)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("a.jsonl", "give two FILES, or one FILE and --run twice"),
        ("a.jsonl b.jsonl c.jsonl", "give two FILES, or one FILE and --run twice"),
        ("a.jsonl --run a", "--run takes two runs of one file: give one FILE and --run twice"),
        ("a.jsonl --run a --run b --run c", "--run takes two runs of one file: give one FILE and --run twice"),
        ("a.jsonl b.jsonl --run a --run b", "--run takes two runs of one file: give one FILE and --run twice"),
        ("- -", "standard input can be read once: only one of A and B can be '-'"),
        ("a b --only lost_token", "'--only': no metric is called 'lost_token'; did you mean lost_tokens or"),
        ("a b --fail-on lost_token:+5%", "'--fail-on': no metric is called 'lost_token'; did you mean lost_tokens or"),
        ("a b --fail-on lost_tokens", "'--fail-on': 'lost_tokens': there is no limit; write NAME:+5% or NAME:-5%,"),
        ("a b --fail-on lost_tokens:-5%", "lower is better for lost_tokens; did you mean lost_tokens:+5%?"),
    ],
)
def test_wrong_command_lines(run: Run, options: str, problem: str) -> None:
    """Status 2, before any file is read."""
    found = run("compare", *options.split())

    assert (2, "", True) == (found.code, found.out, problem in found.err.splitlines()[-1])


def test_an_empty_run_is_a_wrong_command_line(run: Run, a: Path) -> None:
    """A variable of the shell that is not set would take any run."""
    found = run("compare", a, "--run", "", "--run", "b")

    assert (2, "Error: --run: the id is empty; is a variable of your shell unset?") == (
        found.code, found.err.splitlines()[-1],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        (("x", "r1"), "no run has an id that begins with 'x'. Its runs: r1, r2\n"),
        (("r1", "r"), "more than one run has an id that begins with 'r': r1, r2. Give more of the id\n"),
    ],
)
def test_runs_that_cannot_be_told(run: Run, heads: tuple[str, str], problem: str, tmp_path: Path) -> None:
    """Status 1: only the file says so."""
    path = write(tmp_path, job("r1", 5) + job("r2", 6))
    found = run("compare", path, "--run", heads[0], "--run", heads[1])

    assert (1, "", f"error: {path}: {problem}") == (found.code, found.out, found.err)


def test_the_answer_replaces_neither_file(run: Run, a: Path, b: Path) -> None:
    """Neither of the two."""
    for path in (a, b):
        found = run("compare", a, b, "-o", path)
        assert (1, True) == (found.code, "is the trace itself" in found.err)
    assert lines(B) == b.read_bytes()


def test_what_is_not_kept_is_named_though_the_answer_cannot_be_written(run: Run, a: Path, b: Path) -> None:
    """The error of writing decides on the status; standard error has both."""
    found = run("compare", a, b, "--fail-on", "refusals:+0", "-o", a)

    assert (1, True, True) == (
        found.code, found.err.startswith("not kept: refusals:+0: "), "is the trace itself" in found.err,
    )  # fmt: skip


def test_a_file_that_cannot_be_read(run: Run, a: Path) -> None:
    """Status 1, and its name."""
    found = run("compare", a, "nowhere.jsonl", "--fail-on", "stops:>9")

    assert (1, "", True) == (found.code, found.out, "error: nowhere.jsonl: no such file" in found.err)
