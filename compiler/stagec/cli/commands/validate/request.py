"""What a user asked `stagec validate` for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stagec.cli.files import read_file
from stagec.core.failure import Failure
from stagec.core.value import NOTHING, value

_STDIN = Path("-")


@value
class Request:
    """The arguments and options as given; None where nothing was said."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    output_format: str | None = None
    fail_on: str | None = None
    fix: bool = False
    diff: bool = False
    statistics: bool = False
    output: Path | None = None
    quiet: bool = False
    stdin_filename: str | None = None
    no_cache: bool = False

    def refuse_contradictions(self) -> None:
        """Raise `Failure` when options cannot be meant together."""
        if self.fix and self.diff:
            raise Failure("--fix and --diff exclude each other")
        if _STDIN not in self.paths:
            if self.stdin_filename is not None:
                raise Failure("--stdin-filename needs '-' among the paths")
        elif self.stdin_filename is None:
            raise Failure("'-' needs --stdin-filename, the name of the file that the text stands for")
        elif self.fix:
            raise Failure("--fix cannot change standard input; --diff shows what would change")

    def targets(self) -> tuple[Path, ...]:
        """Return the paths to look at, with the file that standard input stands for in place of `-`."""
        return tuple(Path(self.stdin_filename or "-") if path == _STDIN else path for path in self.paths)

    def overlay(self, root: Path) -> Mapping[str, bytes]:
        """Return the text on standard input by the project file that it stands for."""
        if _STDIN not in self.paths:
            return NOTHING
        target = Path(self.stdin_filename or "-").absolute()
        path = target.parent.resolve() / target.name
        if not path.is_relative_to(root.resolve()):
            raise Failure(f"--stdin-filename lies outside the project {str(root)!r}")
        return {path.relative_to(root.resolve()).as_posix(): read_file(_STDIN, "file-size")}

    def overrides(self) -> Mapping[str, object]:
        """Return the settings that the command line decides, by their names in the configuration file."""
        named = {
            "select": self.select,
            "extend-select": self.extend_select,
            "ignore": self.ignore,
            "output-format": self.output_format,
            "fail-on": self.fail_on,
        }
        return {name: given for name, given in named.items() if given is not None}
