"""The command line: finds the command, and gives every kind of failure its one home and exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from stagec.cli import commands
from stagec.cli.streams import discard, finish, prepare, put_error, say
from stagec.core import interrupts
from stagec.core.collector import stop_collector
from stagec.core.docstring import docstring
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.shelf import member, names
from stagec.core.version import DOCUMENTATION, __version__
from stagec.core.words import quote, visible

_LIST = "\n\t"
"""What click writes before each of several choices."""


class Commands(click.Group):
    """The commands of the shelf; a command's module is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *names(commands)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or nothing when there is none of that name."""
        if cmd_name in names(commands):
            return _add_help(member(commands, cmd_name, click.Command))
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments ask for, or say which they may have meant."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"no command is called {quote(args[0])}{hint(args[0], NameIndex(known))}")
        return super().resolve_command(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the program is for."""
        _add_help(self)
        super().format_help_text(ctx, formatter)


def _add_help(command: click.Command) -> click.Command:
    """Give a command, and those below it, the help that Python may have stripped from their functions."""
    if command.help is None and command.callback is not None:
        command.help = docstring(command.callback) or None
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        _add_help(each)
    return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--budget",
    multiple=True,
    metavar="NAME=SIZE",
    help="Raise or lower a limit: file-size=5MB, depth=100, nodes, pattern-length or plan-size.",
)
@click.version_option(__version__, prog_name="stagec", message="%(prog)s %(version)s")
def stagec(budget: tuple[str, ...]) -> None:
    """Compile declarative agent workflows: every mistake in one run, exactly located.

    A flow without errors becomes a plan: one file, which stagec or a runner of your own runs.
    """
    _ = budget  # commands ask `cli.limits` for it
    try:
        os.getcwd()
    except OSError as error:  # every relative path would fail in a way of its own
        raise Failure(f"the working directory cannot be used: {error.strerror or error}") from error


def main() -> int:
    """Run the command line of this process and return its exit status; what is written has been handed over."""
    prepare()
    stop_collector()
    status = _complete() if "_STAGEC_COMPLETE" in os.environ else run(sys.argv[1:])
    finish()
    return status


def _complete() -> int:
    """Answer a shell that asks how a command line may go on."""
    try:
        stagec.main(prog_name="stagec")
    except SystemExit as ended:
        return int(ended.code or 0)
    return Exit.CLEAN


def run(arguments: Sequence[str], program: click.Group = stagec) -> int:
    """Run a command line and return its exit status; nothing but that leaves this function."""
    try:
        return _run_guarded(program, arguments)
    except (KeyboardInterrupt, click.Abort):
        return _report_interruption()
    except Exception as error:  # whatever nobody expected is a fault of stagec's own
        return _report_interruption() if interrupts.lies_behind(error) else _report_internal(error)


def _report_interruption() -> int:
    with suppress(KeyboardInterrupt):  # the second of two
        say("stagec: interrupted")
    return interrupts.status()


def _run_guarded(program: click.Group, arguments: Sequence[str]) -> int:
    try:
        _invoke(program, arguments)
    except click.exceptions.Exit as asked:
        return asked.exit_code
    except click.ClickException as refused:
        _show(refused)
        return Exit.USAGE
    except Failure as failure:
        for line in str(failure).split("\n"):
            say(f"stagec: error: {line}")
        return failure.status
    except ImportError as missing:
        return _report_missing(missing)
    except BrokenPipeError:
        discard(sys.stdout)
    return Exit.CLEAN


_LIBRARIES = {
    "graphviz": "graphviz",
    "jinja2": "jinja2",
    "jiter": "jiter",
    "jsonschema_rs": "jsonschema-rs",
    "networkx": "networkx",
    "referencing": "referencing",
    "ruamel": "ruamel.yaml",
}
"""The libraries that commands import when they need them, and what each is called where it is installed from."""


def _report_missing(missing: ImportError) -> Exit:
    """Say which library cannot be imported; whatever else cannot be is a fault of stagec's own."""
    library = _LIBRARIES.get((missing.name or "").partition(".")[0])
    if library is None:
        raise missing
    say(f"stagec: error: the library {library!r}, which this command needs, cannot be imported: {missing}")
    say(f"stagec: error: installing stagec installs it; 'python -m pip install {library}' adds it to this Python")
    return Exit.USAGE


def _invoke(program: click.Group, arguments: Sequence[str]) -> None:
    try:
        with program.make_context("stagec", list(arguments)) as context:
            program.invoke(context)
    except OSError:
        finish()  # fails once more when it was standard output that click could not write to, and says so
        raise


def _show(refused: click.ClickException) -> None:
    """Say what click does, but let no argument move the cursor or command a build service."""
    context = refused.ctx if isinstance(refused, click.UsageError) else None
    message = refused.format_message()
    if context is not None and message == context.get_help():  # a group that was called without a command
        put_error(f"{message}\n")
        return
    if context is not None:
        put_error(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n\n")
    say(f"Error: {message.replace(_LIST, ' ')}")


def _report_internal(error: Exception) -> int:
    from traceback import format_exception

    lines = "".join(format_exception(error)).splitlines()
    python = ".".join(str(part) for part in sys.version_info[:3])
    put_error("".join(f"{visible(line)}\n" for line in lines))
    say(f"stagec: internal error: this is a fault of stagec {__version__} (Python {python}, {sys.platform}), not yours")
    say(f"stagec: please report it with the lines above and what you ran: {DOCUMENTATION}/contributing/#reporting")
    return Exit.INTERNAL
