"""Groups and parameters of commands; for an unknown name they suggest a similar known one."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stagec.cli.files import describe_absence
from stagec.core.clock import UNITS
from stagec.core.nearest import NameIndex, hint
from stagec.core.words import listing, quote

if TYPE_CHECKING:
    _Choice = click.Choice[str]
    _Seconds = click.ParamType[float]
else:
    _Choice, _Seconds = click.Choice, click.ParamType  # no generic class in the older versions of click
_Run = TypeVar("_Run", bound=Callable[..., None])


class Group(click.Group):
    """A group that names the command which was probably meant."""

    def subcommand(self, name: str, short_help: str) -> Callable[[_Run], _Run]:
        """Make a command of a function, which stays one: a module of the shelf names one command only."""

        def add(run: _Run) -> _Run:
            self.add_command(click.command(name, short_help=short_help)(run))
            return run

        return add

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments ask for, or say which they may have meant."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            options = {f"--{args[0]}"} & {name for each in self.get_params(ctx) for name in each.opts}
            near = hint(args[0], NameIndex(options or known))
            ctx.fail(f"{ctx.command_path} has no command {quote(args[0])}{near}")
        return super().resolve_command(ctx, args)


class SectionOption(click.Option):
    """An option of a command with many: help shows it below the title of its section."""

    def __init__(self, *given: Any, section: str, **more: Any) -> None:
        super().__init__(*given, **more)
        self.section = section


class SectionedCommand(click.Command):
    """A command with many options: help shows the common ones first, and the others in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each option with its help below the title of its section, in the order of the options."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if record is not None:
                title = each.section if isinstance(each, SectionOption) else "Options"
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class OneOf(_Choice):
    """One of a few words, in which a misspelt one is answered with the word that was probably meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a word of the list; refuse others."""
        known = [str(each) for each in self.choices]
        if str(value) not in known:
            near = hint(str(value), NameIndex(known))
            expected = f"one of {listing(known, 'or')}" if len(known) > 1 else listing(known)
            self.fail(f"{quote(value)} is not {expected}{near}", param, ctx)
        return super().convert(value, param, ctx)


class FiniteRange(click.FloatRange):
    """A number within bounds; no bound holds for what is none, such as `nan`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; refuse what is not finite."""
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{quote(value)} is not a number", param, ctx)
        return found


class Duration(_Seconds):
    """A number of seconds above zero: `90`, or with a unit `90s`, `5m`, `2h` or `1d`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; refuse what is no duration."""
        if isinstance(value, float):
            return value
        number, unit = (value[:-1], value[-1]) if value[-1:] in UNITS else (value, "s")
        try:
            seconds = float(number) * UNITS[unit]
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < _LONGEST:
            self.fail(f"{quote(value)} is not a duration, such as 90s, 5m, 2h or 1d", param, ctx)
        return seconds


_LONGEST = 10**9


class ExistingPath(click.Path):
    """A path that exists: a file, a folder, or either."""

    def __init__(self, *, file: bool = True, folder: bool = True) -> None:
        super().__init__(file_okay=file, dir_okay=folder, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; refuse what does not exist and what is of the other kind."""
        if not os.path.lexists(value):
            self.fail(describe_absence(Path(value)), param, ctx)
        if not self.dir_okay and os.path.isdir(value):
            self.fail(f"{quote(os.fsdecode(value))} is a folder, and a file is expected", param, ctx)
        if not self.file_okay and not os.path.isdir(value):
            self.fail(f"{quote(os.fsdecode(value))} is not a folder", param, ctx)
        return super().convert(value, param, ctx)
