"""Nothing in the package is there for tests alone: what no line of it uses goes."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import vulture
from laws.modules import PACKAGE, tree_of, walk

MEMBERS = ["COMMAND", "EMITTER", "FAMILY", "FORMAT", "FRONTEND", "READER", "REPORTER", "RULE"]
"""What children of shelves define: a shelf finds it by its type."""
DECORATED = [
    "@click.command*",
    "@COMMAND.subcommand*",
    "@sa.event.listens_for*",
    "@_checks",
    "@_tool",
    "@declare",
    "@declare_every",
    "@operator",
    "@rule",
    "@shape_rule",
    "@suppression_rule",
    "@_plan.command*",
]
"""What a decorator makes a member of a shelf."""
_IN_TEMPLATES = {"steps": {"has_meanings", "sentences", "passage", "receives"}}
"""What only templates of the handbook read."""
CALLED_BY_OTHERS = {
    "__init__.py": {"__getattr__"},  # Python asks it for public names
    "ir/plan/__init__.py": {"__getattr__"},  # the same
    **{f"cli/commands/handbook/{name}.py": used for name, used in _IN_TEMPLATES.items()},
    "cli/app.py": {"format_commands"},  # the library of the command line calls it
    "cli/parameters.py": {"format_options"},  # the same
    "cli/streams.py": {"daemon"},  # the library that the object is of reads it
    "core/interrupts.py": {"unraisablehook"},  # Python calls it
    "runtime/drivers/dbos/database.py": {"isolation_level"},  # the library of the database reads it
    # the server of Python calls them
    "runtime/drivers/dbos/health.py": {"address_family", "daemon_threads", "do_GET", "log_message", "verify_request"},
    "runtime/drivers/dbos/execution_setup.py": {"__call__"},  # a protocol's own method
    "runtime/drivers/local/drive.py": {"__call__"},  # the same
    "runtime/serve/server.py": {"capture_signals"},  # the library that the server is of calls it
    "check/pipeline.py": {"judgements"},  # `stagec_dev bench` prints it
}
"""What frameworks, Python, users or the contributors' tools call."""


@cache
def unused(*paths: Path) -> dict[str, set[str]]:
    """Return the names that no module uses, by the module that defines them."""
    found = vulture.Vulture(ignore_names=MEMBERS, ignore_decorators=DECORATED)
    found.scavenge([str(path) for path in paths])
    named: dict[str, set[str]] = {}
    for each in found.get_unused_code(min_confidence=60):
        file = Path(each.filename)
        if each.name in declared_members(file):
            continue
        name = file.relative_to(PACKAGE).as_posix() if file.is_relative_to(PACKAGE) else file.name
        named.setdefault(name, set()).add(each.name)
    return named


def declared_members(path: Path) -> set[str]:
    """Return the members that annotations declare: `ir/plan/codec` reads and writes all of them but hidden ones."""
    fields = (node for node in walk(tree_of(path)) if isinstance(node, ast.AnnAssign))
    notes = (
        (each.target, {one.id for one in ast.walk(each.annotation) if isinstance(one, ast.Name)}) for each in fields
    )
    return {
        target.id
        for target, names in notes
        if isinstance(target, ast.Name) and "Annotated" in names and "HIDDEN" not in names
    }


def test_nothing_is_there_that_nothing_uses() -> None:
    allowed = {file: CALLED_BY_OTHERS.get(file, set()) for file in unused(PACKAGE)}
    extra = {file: names - allowed[file] for file, names in unused(PACKAGE).items()}
    assert {file: names for file, names in extra.items() if names} == {}


def test_nothing_is_said_to_be_called_by_others_that_is_used_or_gone() -> None:
    found = unused(PACKAGE)
    stale = {file: names - found.get(file, set()) for file, names in CALLED_BY_OTHERS.items()}
    assert {file: names for file, names in stale.items() if names} == {}


def test_what_nothing_uses_is_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("def used(): ...\ndef lonely(): ...\nRULE = used()\n", encoding="utf-8")
    assert unused(path) == {"module.py": {"lonely"}}


def test_members_that_json_has_are_used_and_hidden_ones_are_not(tmp_path: Path) -> None:
    path = tmp_path / "report.py"
    path.write_text(
        'class A:\n    told: Annotated[int, "A member."]\n    kept: Annotated[int, HIDDEN]\nA()\n', encoding="utf-8"
    )
    assert unused(path) == {"report.py": {"kept"}}
