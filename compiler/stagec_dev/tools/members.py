"""Write the schemas of plans and reports, and the tables in the page about plans, or check that all are current."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from stagec.cli import commands, running
from stagec.cli.report import ReportForm
from stagec.core.canonical import MOST
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.shelf import names
from stagec.ir.plan.loader import schema
from stagec_dev.checkout import ROOT
from stagec_dev.table import table
from stagec_dev.tools import DeveloperTool

_BEGIN, _END = "<!-- members: begin -->\n", "<!-- members: end -->\n"
_HEAD = ("member", "form", "what it is")


def files(root: Path = ROOT) -> Mapping[Path, str]:
    """Return the files made of the forms of plans and reports: the text of each with tables or definitions."""
    page = root / "docs" / "plan-format.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    schemas = {"plan": schema(), **{each.name: each.schema() for each in list_forms()}}
    return {
        page: f"{before}{_BEGIN}\n{tables()}\n{_END}{after}",
        **{
            root / "schemas" / f"{name}.schema.json": json.dumps(each, ensure_ascii=False, indent=2) + "\n"
            for name, each in schemas.items()
        },
    }


def list_forms() -> Iterator[ReportForm]:
    """Yield the forms of the reports that commands print."""
    modules = (
        import_module(f"{package.__name__}.{name}") for package in (commands, running) for name in names(package)
    )
    for module in modules:
        yield from (each for each in vars(module).values() if isinstance(each, ReportForm))


def tables() -> str:
    """Return a table for every kind of object in a plan, the plan first."""
    found = object_of(object_of(schema()).get("$defs"))
    return "\n".join(_table(name, object_of(each)) for name, each in sorted(found.items(), key=_plan_first))


def _plan_first(named: tuple[str, Json]) -> tuple[bool, str]:
    return named[0] != "Plan", named[0]


def _table(name: str, defined: Object) -> str:
    needed = defined.get("required")
    rows = []
    for member, each in object_of(defined.get("properties")).items():
        optional = "" if isinstance(needed, list) and member in needed else ", optional"
        rows.append((f"`{member}`", _form(each) + optional + _default(each), _about(each)))
    return f"#### {name}\n\n{defined.get('description')}\n\n{table(_HEAD, rows)}"


def _about(given: Json) -> str:
    return text_in(object_of(given), "description") or "Which of several kinds it is."


def _default(given: Json) -> str:
    schema = object_of(given)
    return f", `{json.dumps(schema['default'])}` if absent" if "default" in schema else ""


def _form(given: Json) -> str:
    """Return in a few words what a schema allows."""
    schema = object_of(given)
    said = next((say(schema[member]) for member, say in _WORDS.items() if member in schema), "anything")
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(least, int) and isinstance(most, int) and most < MOST:
        return f"{said} from {least:,} to {most:,}"
    return next((f"{word} {said}" for member, word in _LEAST.items() if schema.get(member) == 1), said)


_LEAST = {"minItems": "non-empty", "minProperties": "non-empty", "minimum": "positive"}
"""The words for a schema with a member that is 1."""


def _one_of(given: Json) -> str:
    return " or ".join(_form(each) for each in given) if isinstance(given, list) else ""


def _words(given: Json) -> str:
    return " or ".join(f"`{each}`" for each in given) if isinstance(given, list | tuple) else ""


def _link(given: Json) -> str:
    name = str(given).rpartition("/")[2]
    return f"[{name}](#{name.lower()})"


def _elements(given: Json) -> str:
    return "path" if isinstance(object_of(given).get("type"), list) else f"list of {_form(given)}"


_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "boolean"}
_WORDS: Mapping[str, Callable[[Json], str]] = {
    "const": lambda given: f"`{given}`",
    "enum": _words,
    "$ref": _link,
    "oneOf": _one_of,
    "items": _elements,
    "additionalProperties": lambda given: f"object of {_form(given)}",
    "pattern": lambda given: "digest" if "sha256" in str(given) else "callable",
    "type": lambda given: _TYPES[str(given)],
}
"""Messages about members of a schema; each is made of the member's value, and the first that fits counts."""


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; fail when something is not current")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")


def _run(options: Namespace) -> int:
    stale = {path: wanted for path, wanted in files(options.root).items() if _read(path) != wanted}
    for path, wanted in stale.items():
        if options.check:
            sys.stdout.write(f"not current: {path.relative_to(options.root)}\n")
        else:
            path.write_text(wanted, encoding="utf-8")
    return int(bool(stale) and options.check)


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


MEMBERS = DeveloperTool(_declare, _run)
