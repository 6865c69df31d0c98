"""The command line: finds the command, and gives every kind of failure its one home and exit status."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from stagec.cli import commands
from stagec.cli.endings import run_guarded
from stagec.cli.parameters import Group
from stagec.cli.streams import finish, prepare, put_error, say
from stagec.core.collector import stop_collector
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.shelf import docstring, member, names
from stagec.core.version import __version__
from stagec.core.words import listing, quote

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Check": ("validate", "format", "baseline", "explain"),
    "Draw": ("graph", "handbook"),
    "Compile": ("compile", "verify", "sign", "plan"),
    "Run": ("run", "resume", "runs", "serve"),
    "Test": ("test", "paths", "mutate", "simulate", "conformance"),
    "Compare": ("review", "diff", "breaking", "migrate"),
    "Scale": ("submit", "schedules", "worker", "database"),
    "Project": (
        *("init", "export", "tools", "permissions", "bounds"),
        *("config", "doctor", "schema", "completion", "lsp", "mcp"),
    ),
    "Stage protocol": ("markers", "checkpoint"),
}
"""The commands by what people want to do."""
MOVED: Mapping[str, str] = {
    **{name: f"runs {name}" for name in ("answer", "cancel", "pause", "questions", "replay")},
    "rules": "explain",
}
"""The new places of commands that people look for at the top level."""
_SHORT_HELP = re.compile(r'^(?:@click\.command|\w+ = Group)\((?:[^()]|\([^()]*\))*?short_help="([^"]*)"', re.MULTILINE)


def read_short_help(name: str) -> str:
    """Return the purpose of a command of the shelf in one line; its module is read, not imported."""
    top = os.path.join(commands.__path__[0], name)
    path = f"{top}.py" if os.path.exists(f"{top}.py") else os.path.join(top, "__init__.py")
    with open(path, encoding="utf-8") as source:
        found = _SHORT_HELP.search(source.read())
    return "" if found is None else found[1]


class Commands(Group):
    """The commands of the shelf; a command's module is imported when it is asked for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments ask for, or say where it is."""
        if args and args[0] in MOVED:
            ctx.fail(f"{ctx.command_path} has no command '{args[0]}'; did you mean '{MOVED[args[0]]}'?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *names(commands)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or None if there is none of that name."""
        if cmd_name in names(commands):
            return _add_help(member(commands, cmd_name, click.Command))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what people want to do; none of them is imported."""
        known = {*self.list_commands(ctx)}
        others = tuple(sorted(known.difference(*SECTIONS.values())))
        for title, members in {**SECTIONS, "Other commands": others}.items():
            rows = [(name, self._describe(ctx, name)) for name in members if name in known]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin like a word, with what they are for, and the options; none is imported."""
        from click.shell_completion import CompletionItem

        begun = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        found = [CompletionItem(name, help=self._describe(ctx, name)) for name in begun]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def _describe(self, ctx: click.Context, name: str) -> str:
        """Return the purpose of a command: from its source, or from the command if it is no member of the shelf."""
        if name in names(commands):
            return read_short_help(name)
        command = super().get_command(ctx, name)
        return "" if command is None else command.get_short_help_str()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the program is for."""
        _add_help(self)
        super().format_help_text(ctx, formatter)


def _add_help(command: click.Command) -> click.Command:
    """Give a command and its subcommands their help: also if Python has stripped it, and with examples as they are."""
    if command.help is None and command.callback is not None:
        command.help = docstring(command.callback) or None
    if command.help is not None:
        command.help = command.help.replace("\\b\n", "\b\n")  # as click marks a paragraph that it must not wrap
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

    A flow without errors becomes a plan: one file, which stagec or your own runner executes.
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
    return run_guarded(partial(_execute, program, arguments))


def _execute(program: click.Group, arguments: Sequence[str]) -> int:
    try:
        _invoke(program, arguments)
    except click.exceptions.Exit as asked:
        return asked.exit_code
    except click.ClickException as refused:
        _show(refused)
        return Exit.USAGE
    except click.Abort:
        raise KeyboardInterrupt from None
    return Exit.CLEAN


def _invoke(program: click.Group, arguments: Sequence[str]) -> None:
    try:
        with program.make_context("stagec", list(arguments)) as context:
            program.invoke(context)
    except OSError:
        finish()  # fails once more when it was standard output that click could not write to, and says so
        raise


def _show(refused: click.ClickException) -> None:
    """Tell the mistake of a command line, but let no argument move the cursor or command a build service."""
    context = refused.ctx if isinstance(refused, click.UsageError) else None
    message = refused.format_message()
    if context is not None and message == context.get_help():  # a group that was called without a command
        put_error(f"{message}\n")
        return
    for line in list_refusal_lines(refused):
        say(f"stagec: {line}")


def list_refusal_lines(refused: click.ClickException) -> Iterator[str]:
    """Yield the message about a refused command line: the mistake, then the usage of the command."""
    context = refused.ctx if isinstance(refused, click.UsageError) else None
    yield f"error: {describe_refusal(refused, context)}"
    if context is not None:
        usage = context.get_usage().removeprefix("Usage: ")
        yield f"help: {' '.join(usage.split())}"
        yield f"help: '{context.command_path} --help' explains it"


def describe_refusal(refused: click.ClickException, context: click.Context | None = None) -> str:
    """Return a mistake in a command line as a sentence that begins in lower case and has no full stop."""
    if isinstance(refused, click.NoSuchOption):
        program = "stagec" if context is None else context.command_path
        return f"{program} has no option {quote(refused.option_name)}{_suggest(refused, context)}"
    if isinstance(refused, click.MissingParameter):
        parameter = refused.param
        choices = getattr(None if parameter is None else parameter.type, "choices", ())
        expected = f": {listing([str(each) for each in choices], 'or')}" if choices else ""
        return f"{_name_parameter(refused)} is missing{expected}"
    if isinstance(refused, click.BadParameter):
        return f"{_name_parameter(refused)} {_trim(refused.message)}".lstrip()
    if isinstance(refused, click.FileError):
        return f"cannot read {quote(refused.ui_filename)}: {refused.message}"
    return _trim(refused.format_message())


def _name_parameter(refused: click.BadParameter) -> str:
    """Return an option as it is written, and an argument as the usage of its command shows it."""
    parameter = refused.param
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return "" if parameter is None else parameter.make_metavar(refused.ctx) if refused.ctx else parameter.name or ""


def _suggest(refused: click.NoSuchOption, context: click.Context | None) -> str:
    """Return the option that was probably meant: one of the command, or one that stands before all commands."""
    if context is None:
        return ""
    given = refused.option_name
    above = context.find_root()
    known = _list_options(context)
    if given not in known and above is not context and given in _list_options(above):
        return f"; it stands before the command: {above.command_path} {given} … {context.command_path.split()[-1]}"
    return hint(given, NameIndex(known))


def _list_options(context: click.Context) -> list[str]:
    every = context.command.get_params(context)
    return [name for each in every if isinstance(each, click.Option) for name in (*each.opts, *each.secondary_opts)]


def _trim(sentence: str) -> str:
    """Return a sentence of the library without its capital, its full stop and the lines of its lists."""
    line = " ".join(sentence.split()).removesuffix(".").removesuffix(" range")
    return line if line[1:2].isupper() else f"{line[:1].lower()}{line[1:]}"
