"""``rtrace age`` with its options: what they add to each format, and what does not go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.analysis.age.definitions import DEFINITIONS_BY_NAME
from tests.cli.conftest import JOB
from tests.cli.program import Run, strict_json, write
from tests.cli.pseudo import on_terminal
from tests.report.hostile import HOSTILE, hostile_trace


def test_json_has_what_stands_behind_the_ages(run: Run, job: Path) -> None:
    """Ages of the job: 1,024 tokens of age 0; of 400 tokens 250 of age 1 and 150 of age 2."""
    found = strict_json(run("age", job, "--format", "json").out)

    assert [(0, 1024), (1, 250), (2, 150)] == [(bar["age"], bar["tokens"]) for bar in found["histogram"]]
    assert {"version in force at publication unknown": [5, 6]} == found["split_missing"]
    assert ([5], [6], 1.375) == (
        found["restores"][0]["before"]["steps"], found["restores"][0]["after"]["steps"], found["restores"][0]["change"],
    )  # fmt: skip
    assert [5, 6] == [detail["step"] for detail in found["step_details"]]
    assert {"by", "definitions"}.isdisjoint(found)


def test_by_a_field(run: Run, job: Path) -> None:
    """CSV has the table of values; JSON has it beside all else."""
    plain = strict_json(run("age", job, "--format", "json").out)
    found = strict_json(run("age", job, "--by", "instance", "--format", "json").out)

    assert "value,batch_age,tokens,share,groups,groups_without_tokens\n17,0.3862359550561798,1424,1.0,2,0\n" == (
        run("age", job, "--by", "prompt_id", "--format", "csv").out
    )
    assert ["not given"] == [value["kind"] for value in found.pop("by")["values"]]
    assert plain == found


def test_by_run(run: Run, job: Path) -> None:
    """The run of the group's latest row: the one that published it."""
    rows = run("age", job, "--by", "run", "--format", "csv").out.splitlines()

    assert ["aaaaaaaa00000001,0.0", "bbbbbbbb00000002,1.375"] == [",".join(row.split(",")[:2]) for row in rows[1:]]


def test_one_definition(run: Run, job: Path) -> None:
    """Step 6 was trained on two calls that ended on 5 and updates 6."""
    found = strict_json(run("age", job, "--definition", "verl", "--format", "json").out)

    assert "step,run,trained_version,verl\n5,aaaaaaaa00000001,4,0.0\n6,bbbbbbbb00000002,6,1.0\n" == (
        run("age", job, "--definition", "verl", "--format", "csv").out
    )
    assert [("verl", 0.5)] == [(one["name"], one["mean"]) for one in found["definitions"]]


def test_all_definitions(run: Run, job: Path) -> None:
    """A column each."""
    head = run("age", job, "--definition", "all", "--format", "csv").out.splitlines()[0]

    assert f"step,run,trained_version,{','.join(DEFINITIONS_BY_NAME)}" == head


def test_the_default_definition_changes_nothing(run: Run, job: Path) -> None:
    """It is the batch age."""
    assert run("age", job) == run("age", job, "--definition", "nemo-batch-age")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--by", "run", "--definition", "verl"), "--by and --definition do not go together; give one of them"),
        (("--by", ""), "--by: the name is empty; is a variable of your shell unset?"),
        (("--definition", "velr"), "'velr' is not one of"),
    ],
)
def test_wrong_command_lines(arguments: tuple[str, ...], expected: str, run: Run, job: Path) -> None:
    """What is wrong, and how it is right."""
    found = run("age", job, *arguments)

    assert (2, "") == (found.code, found.out)
    assert expected in found.err


@pytest.mark.parametrize("arguments", [(), ("--by", "reason"), ("--by", "run"), ("--definition", "all")], ids="-".join)
@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_of_the_file_is_obeyed(kind: str, arguments: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    """No control character of a run, a checkpoint or a value reaches the terminal or a page."""
    path = write(tmp_path, hostile_trace(HOSTILE[kind]))

    for form in ("table", "md"):
        out = run("age", path, *arguments, "--format", form).out
        assert [] == [line for line in out.split("\n") if not line.isprintable()]
    assert strict_json(run("age", path, *arguments, "--format", "json").out)


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("arguments", [("--by", "run"), ("--definition", "all"), ("--definition", "prime-rl")])
def test_a_terminal_is_not_overflowed(arguments: tuple[str, ...], columns: int, tmp_path: Path) -> None:
    """Columns give way, from the right sort first."""
    path = write(tmp_path, JOB)
    out = on_terminal("age", path, *arguments, columns=columns, env={"NO_COLOR": "1"}).out

    assert out
    assert columns >= max(len(line) for line in out.splitlines() if str(path) not in line)
