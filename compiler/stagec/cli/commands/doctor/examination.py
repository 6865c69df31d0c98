"""Collect what is there of stagec, its libraries, the programs beside it, the project and the terminal."""

from __future__ import annotations

import locale
import os
import platform
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import stagec
from stagec.cli.limits import load_configuration
from stagec.cli.result_cache import find_folder
from stagec.cli.streams import find_canvas
from stagec.core.failure import Failure
from stagec.core.json import Object
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import quote

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
"""What extras are for; those that the installed package has are examined, whether they are here or not."""
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
    """What was found, section by section, and what is wrong."""

    sections: Mapping[str, Object]
    problems: tuple[str, ...]


def examine(paths: tuple[Path, ...], root: Path | None) -> Examination:
    """Return what is there; nothing that is missing or wrong stops it."""
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
    """Return where a program is that a shell would start."""
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
