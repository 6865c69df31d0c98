"""`stagec doctor`: facts about this machine for a bug report, and problems of the installation."""

from __future__ import annotations

import json
import locale
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import click

import stagec
from stagec.cli import options
from stagec.cli.limits import load_configuration
from stagec.cli.result_cache import find_folder
from stagec.cli.streams import find_canvas, put
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import quote, visible

EXTRAS = {
    "lsp": "lsp, findings and names in editors",
    "local-model": "run --model local:…, a model on this machine",
    "mcp": "tools lock and diff, and the MCP servers of runs",
    "models": "run --model, models of providers",
    "otel": "telemetry of runs",
    "dbos": "runs in a database, executed by many workers",
    "sign": "signatures of plans",
    "serve": "serve, the page of runs",
    "site": "the documentation as a site",
    "test": "the tests of stagec",
}
"""The purpose of each extra; those of the installed package are examined, installed or not."""
PROGRAMS = {
    "git": "hooks, and the top of a repository",
    "dot": "graph --format png",
    "node": "MCP servers in JavaScript",
    "npx": "MCP servers that npx fetches",
}
"""Programs that are not installed with stagec, and what they are for."""
_SHOWN = ("COLUMNS", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "PYTHONIOENCODING", "PYTHONUTF8", "TERM")
"""Variables whose values are shown; of others only the names."""
_TOLD = re.compile(r"STAGEC_|PYTHON|FORCE_COLOR$|CLICOLOR|XDG_(CACHE|CONFIG)_HOME$|OPENAI_|ANTHROPIC_|OTEL_|CI$")
_REQUIREMENT = re.compile(r"""(?P<name>[\w.-]+)(?:[^;]*;.*?extra\s*==\s*['"](?P<extra>[\w-]+)['"])?""")


@value
class Examination:
    """The facts found, section by section, and the problems."""

    sections: Mapping[str, Object]
    problems: tuple[str, ...]


def examine(paths: tuple[Path, ...], root: Path | None) -> Examination:
    """Return the facts; nothing missing or wrong stops the examination."""
    project, mistakes = _examine_project(paths, root)
    libraries, extras = _examine_libraries()
    problems = [f"the library {quote(name)} is missing" for name, version in libraries.items() if version is None]
    problems += mistakes
    problems += [f"{quote(hide_home(str(path)))} does not exist" for path in paths if not os.path.lexists(path)]
    told = sorted(name for name in os.environ if name in _SHOWN or _TOLD.match(name))
    sections: dict[str, Object] = {
        "stagec": {
            "version": __version__,
            "package": _find_version("stagec"),
            "folder": hide_home(str(Path(stagec.__file__).parent)),
        },
        "python": _examine_python(),
        "libraries": dict(libraries),
        "extras": extras,
        "programs": {
            name: {"path": None if (path := _find_program(name)) is None else hide_home(path), "for": purpose}
            for name, purpose in PROGRAMS.items()
        },
        "project": project,
        "terminal": _examine_terminal(),
        "environment": {name: os.environ[name] if name in _SHOWN else "set" for name in told},
    }
    return Examination(sections, tuple(problems))


def hide_home(path: str) -> str:
    """Return a path in which the user's home is `~`: it has a name that is nobody's business."""
    home = os.path.expanduser("~")
    is_inside = home != os.sep and (path == home or path.startswith(f"{home}{os.sep}"))
    return f"~{path[len(home) :]}" if is_inside else path


def _examine_python() -> Object:
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": hide_home(sys.executable or ""),
        "system": platform.platform(),
    }


def _find_program(name: str) -> str | None:
    """Return the path of a program that a shell would start."""
    paths = (os.path.join(folder, name) for folder in os.get_exec_path())
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def _examine_libraries() -> tuple[Mapping[str, str | None], Object]:
    """Return the version of each library, None where one is missing, and the extras with theirs."""
    try:
        required = metadata.requires("stagec") or []
    except metadata.PackageNotFoundError:
        required = []
    libraries: dict[str, str | None] = {}
    extras: dict[str, dict[str, str | None]] = {}
    for match in filter(None, map(_REQUIREMENT.match, required)):
        found = libraries if match["extra"] is None else extras.setdefault(match["extra"], {})
        found[match["name"]] = _find_version(match["name"])
    told: Object = {
        name: {"installed": None not in parts.values(), "libraries": dict(parts), "for": EXTRAS.get(name)}
        for name, parts in sorted(extras.items())
    }
    return libraries, told


def _find_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _examine_project(paths: tuple[Path, ...], root: Path | None) -> tuple[Object, list[str]]:
    """Return the root and the configuration in force, and what is wrong with it."""
    cache = find_folder(None)
    kept = {"folder": None if cache is None else hide_home(cache), "exists": cache is not None and os.path.isdir(cache)}
    here: Object = {"here": hide_home(os.getcwd()), "cache": kept}
    try:
        configuration = load_configuration(paths, root)
    except (Failure, ImportError) as error:
        return here, str(error).split("\n")
    changed = {key: origin for key, origin in configuration.provenance.items() if origin != "default"}
    found: Object = {
        **here,
        "root": hide_home(str(configuration.root)),
        "configuration": configuration.file,
        "settings": {key: hide_home(origin) for key, origin in changed.items()},
    }
    return found, []


def _examine_terminal() -> Object:
    canvas = find_canvas(sys.stdout, os.environ)
    return {
        "stdout": "terminal" if sys.stdout.isatty() else "no terminal",
        "stderr": "terminal" if sys.stderr.isatty() else "no terminal",
        "width": canvas.width,
        "colour": canvas.colour,
        "encoding": canvas.encoding,
        "file names": sys.getfilesystemencoding(),
        "locale": locale.setlocale(locale.LC_CTYPE),
    }


def print_examination(paths: tuple[Path, ...], root: Path | None, output_format: str) -> Exit:
    """Print what is there, and return the exit status."""
    found = examine(paths, root)
    if output_format == "json":
        text = json.dumps({**found.sections, "problems": list(found.problems)}, indent=2) + "\n"
    else:
        text = "".join(f"{visible(line)}\n" for line in _list_lines(found))
    put(Redactor(os.environ).redact_output(text))
    return Exit.FINDINGS if found.problems else Exit.CLEAN


def _list_lines(found: Examination) -> Iterator[str]:
    for title, section in found.sections.items():
        yield title
        rows = {
            name: _describe_part(each) if isinstance(each, dict) else _describe(each) for name, each in section.items()
        }
        width = max(map(len, rows), default=0)
        yield from (f"  {name:<{width}}  {each}".rstrip() for name, each in rows.items())
        yield ""
    if found.problems:
        yield "problems"
        yield from (f"  {each}" for each in found.problems)
    else:
        yield "no problem found"


def _describe(each: Json) -> str:
    """Return a fact as one line."""
    if isinstance(each, bool):
        return "yes" if each else "no"
    return "-" if each is None else str(each)


def _describe_part(part: Object) -> str:
    if "for" not in part:
        return ", ".join(f"{name}: {_describe(each)}" for name, each in part.items()) or "-"
    if "libraries" in part:
        libraries: Mapping[str, Json] = object_of(part["libraries"])
        missing = [name for name, version in libraries.items() if version is None]
        state = f"missing {', '.join(missing)}" if missing else "installed"
    else:
        state = str(part["path"] or "missing")
    return f"{state}  ({part['for'] or 'unknown'})"


@click.command(short_help="Print versions, extras, programs and configuration for a bug report.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@options.output_format("text", "json", default="text")
@click.pass_context
def doctor(context: click.Context, paths: tuple[Path, ...], root: Path | None, output_format: str) -> None:
    """Print what a bug report needs: versions, extras, programs, the effective configuration, and the terminal.

    stagec starts no program, sends nothing, and prints no secret: it prints environment variables only by name, except
    those of the terminal and the locale, and the home folder as '~'.

    Exit status: 0 no problem, 1 a library is missing or the configuration is wrong, 2 usage or environment, 4 internal
    error.
    """
    context.exit(print_examination(paths, root, output_format))
