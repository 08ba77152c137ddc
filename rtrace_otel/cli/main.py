"""Entry point of ``rtrace``: finds the command, runs it, and turns errors into messages and exit codes."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rtrace_otel.version import __version__

if TYPE_CHECKING:
    import click

EXIT_ERROR: Final = 1
EXIT_INTERRUPTED: Final = 130

COMMANDS: Final = {
    "demo": "Run a real RL job in miniature, kill it, restore it, explain it.",
    "summary": "What a trace holds: runs, attempts, groups, steps, damage.",
    "age": "Batch age of each training step, and why its values differ.",
    "restore": "What each stop and restore cost, and the fate of every rollout.",
    "waste": "Where tokens and attempt time went, by fate and reason.",
    "compare": "Two traces or two runs side by side, with limits for CI.",
    "fleet": "Many jobs in one table: stops, losses, batch age, waste, findings.",
    "check": "Whether the numbers add up, with a line for each that does not.",
    "report": "One offline HTML page with the verdict, charts and tables.",
    "definitions": "What every number means: formula, unit, source.",
    "steps": "Training steps: how long each waited and trained, who waited for whom.",
    "groups": "Prompt groups: which ones waited, what held them up, how they ended.",
    "attempts": "Rollout attempts: the slow, the abandoned, the stuck; latencies.",
    "sql": "Answer a question in SQL over tables of runs, attempts, steps and so on.",
    "watch": "Follow the trace of a running job, full-screen.",
    "serve": "The report as a local page that follows the trace of a running job.",
    "replay": "Send a trace's spans to a collector, Jaeger or Tempo.",
    "export": "Write a trace for other tools: Perfetto, OTLP JSON, pictures, Parquet, CSV, DuckDB.",
}
"""Names and one-line helps; a command's own module is imported when it runs."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``rtrace``.

    Args:
        arguments: The command line without the program's name; by default that of the process.

    Raises:
        SystemExit: Always: 0 for success, 1 for an error in the data, 2 for a wrong command line, 3 if a check
            finds an error or a limit is not kept, 130 if interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        raise SystemExit(_run(given))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(EXIT_INTERRUPTED) from None
    finally:
        if arguments is not None:  # the process goes on, and has use for the memory
            gc.unfreeze()


def _run(given: list[str]) -> int:
    if sys.stdout is None:
        sys.stderr.write("error: standard output is closed\n")
        return EXIT_ERROR
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an id that the terminal's encoding lacks is shown escaped
    try:
        if given == ["--version"]:
            sys.stdout.write(f"rtrace {__version__}\n")
            status = 0
        else:
            status = _run_command(given)
        sys.stdout.flush()
        return status
    except OSError as error:  # a full disk behind standard output, or nobody who reads it
        _abandon_stdout()
        if isinstance(error, BrokenPipeError):
            return 0
        sys.stderr.write(f"error: standard output: {error.strerror or error}\n")
        return EXIT_ERROR


def _run_command(given: list[str]) -> int:
    import click

    from rtrace_otel.cli.common import StdoutError
    from rtrace_otel.errors import RTraceError
    from rtrace_otel.report.document import printable

    stdout = sys.stdout
    try:
        status = build_cli().main(given, prog_name="rtrace", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except SystemExit as ended:
        # click ends with 1 when nobody reads its help any more, and replaces standard output as it does so.
        return 0 if sys.stdout is not stdout else int(ended.code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except StdoutError as error:
        raise error.error from None
    except RTraceError as error:
        click.echo(printable(f"error: {error}"), err=True)
        return error.exit_code


def _abandon_stdout() -> None:
    """Let the interpreter's last flush go nowhere instead of complaining."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def build_cli() -> click.Group:
    """The ``rtrace`` group; its commands are loaded when they are asked for."""
    import importlib

    import click

    class LazyGroup(click.Group):
        """A group that imports a command when it runs."""

        def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
            return list(COMMANDS)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
            if cmd_name not in COMMANDS:
                return None
            command = getattr(importlib.import_module(f"rtrace_otel.cli.{cmd_name}"), cmd_name)
            assert isinstance(command, click.Command)
            return command

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
            with formatter.section("Commands"):
                formatter.write_dl(list(COMMANDS.items()))

        def resolve_command(
            self, ctx: click.Context, args: list[str]
        ) -> tuple[str | None, click.Command | None, list[str]]:
            if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
                import difflib

                near = difflib.get_close_matches(args[0], COMMANDS, 1)
                hint = f" Did you mean '{near[0]}'?" if near else f" Commands: {', '.join(COMMANDS)}."
                raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx)
            return super().resolve_command(ctx, args)

    group = LazyGroup(
        "rtrace",
        help="Explain a rollout trace: what ran, how stale it was, what a stop and restore cost.",
        epilog="FILE is a rollout_trace.jsonl, its folder, a .gz or .zst of it, or - for standard input.",
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
    )
    return click.version_option(__version__, prog_name="rtrace", message="%(prog)s %(version)s")(group)
