"""Commands, help, exit codes: the program called in this process."""

from __future__ import annotations

import gc
import re
import shlex
from pathlib import Path

import click
import pytest

from rtrace_otel.cli import main as module
from rtrace_otel.cli.main import COMMANDS, build_cli, main
from rtrace_otel.version import __version__
from tests.cli.program import Result, Run


def test_the_version(run: Run) -> None:
    """Name and version, on standard output."""
    assert Result(0, f"rtrace {__version__}\n", "") == run("--version")


def test_a_process_that_goes_on_has_its_memory_back(run: Run, tmp_path: Path) -> None:
    """A command keeps what it read from the garbage collector; one that is called as a function gives it back."""
    path = tmp_path / "one.jsonl"
    path.write_text('{"event":"run_started","t":1.0,"run":"r","seq":0,"schema":1,"host":"h","pid":1}\n')

    assert (0, 0) == (run("summary", "--all", str(path)).code, gc.get_freeze_count())


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_the_help_lists_every_command(run: Run, flag: str) -> None:
    """On standard output, with one line for each command."""
    found = run(flag)
    listed = re.findall(r"^  (\w+)  +(.*)$", found.out.partition("Commands:\n")[2], re.MULTILINE)

    assert (0, "", list(COMMANDS)) == (found.code, found.err, [name for name, _ in listed])


def test_no_command_shows_the_help_as_a_wrong_command_line(run: Run) -> None:
    """Nothing was asked, so nothing is answered: the help goes to standard error."""
    assert Result(2, "", run("--help").out) == run()


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_examples(run: Run, name: str, flag: str) -> None:
    """Each example is a command line of this command."""
    found = run(name, flag)
    examples = re.findall(
        r"^    (.*rtrace .*)$", found.out.partition("Examples:\n")[2].partition("\n\n")[0], re.MULTILINE
    )

    assert (0, "") == (found.code, found.err)
    assert len(examples) >= 2
    assert {name} == {re.split(r"\brtrace ", example)[1].split()[0] for example in examples}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_are_right_command_lines(name: str) -> None:
    """Options and arguments of every example are accepted."""
    group = build_cli()
    command = group.get_command(click.Context(group), name)
    assert command is not None
    for line in re.findall(r"rtrace (\w+ .*|\w+)$", (command.help or "").partition("Examples:")[2], re.MULTILINE):
        _, *arguments = shlex.split(line.partition(" | ")[0])
        command.make_context(name, arguments).close()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    """No option is left without a help text."""
    group = build_cli()
    command = group.get_command(click.Context(group), name)
    assert command is not None

    assert [] == [option.name for option in command.params if isinstance(option, click.Option) and not option.help]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("sumary", "No such command 'sumary'. Did you mean 'summary'?"),
        ("aeg", "No such command 'aeg'. Did you mean 'age'?"),
        ("xyz", f"No such command 'xyz'. Commands: {', '.join(COMMANDS)}."),
    ],
)
def test_an_unknown_command_gets_the_nearest_one_or_all(run: Run, given: str, problem: str) -> None:
    """A slip of the finger is answered with what was meant."""
    usage = "Usage: rtrace [OPTIONS] COMMAND [ARGS]...\nTry 'rtrace --help' for help.\n\nError: "

    assert Result(2, "", f"{usage}{problem}\n") == run(given, "file")


@pytest.mark.parametrize(
    ("command_line", "named"),
    [
        ("-x", ["-x"]),
        ("--versoin", ["--versoin", "--version"]),
        ("age", ["FILE"]),
        ("summary a b", ["(b)"]),
        ("age f --fromat csv", ["--fromat", "--format"]),
        ("age f --format xml", ["--format", "xml", "table", "json", "csv", "md"]),
        ("age f -o", ["-o"]),
        ("demo --seed x", ["--seed", "x"]),
        ("demo extra", ["(extra)"]),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(run: Run, command_line: str, named: list[str]) -> None:
    """Status 2, nothing on standard output, and a last line that names the fault and the way out."""
    found = run(*command_line.split())
    last = found.err.splitlines()[-1]

    assert (2, "", True, []) == (
        found.code, found.out, last.startswith("Error: "), [word for word in named if word not in last],
    )  # fmt: skip


def test_abbreviations_are_not_guessed(run: Run) -> None:
    """``sum`` is not ``summary``: scripts would break when a command is added."""
    found = run("sum", "f")

    assert (2, "") == (found.code, found.out)


def test_an_interrupt_before_the_command_runs_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C while the program still loads its parts ends it as at any other time."""

    def interrupted() -> click.Group:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "build_cli", interrupted)
    # Caught here too: an interrupt that got out would end the whole test run.
    with pytest.raises((SystemExit, KeyboardInterrupt)) as caught:
        main(["age", "f"])
    out, err = capsys.readouterr()

    assert (SystemExit, (130,), "", "interrupted") == (caught.type, caught.value.args, out, err.strip())


def test_the_answer_is_printed_once_and_the_call_leaves_nothing_behind(run: Run, job: Path) -> None:
    """Two calls in one process give the same answer."""
    first, second = run("age", str(job)), run("age", str(job))

    assert (0, "") == (first.code, first.err)
    assert first == second
