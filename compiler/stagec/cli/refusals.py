"""What the library of the command line refuses, in the sentences that stagec says everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import click

from stagec.core.nearest import NameIndex, hint
from stagec.core.words import listing, quote


def list_lines(refused: click.ClickException) -> Iterator[str]:
    """Yield what stagec says of a refused command line: the mistake, then how the command is called."""
    context = refused.ctx if isinstance(refused, click.UsageError) else None
    yield f"error: {describe(refused, context)}"
    if context is not None:
        usage = context.get_usage().removeprefix("Usage: ")
        yield f"help: {' '.join(usage.split())}"
        yield f"help: '{context.command_path} --help' explains it"


def describe(refused: click.ClickException, context: click.Context | None = None) -> str:
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
