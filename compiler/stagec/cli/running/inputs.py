"""The inputs of a run: its plan, its scenario, and values from files and from the command line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from stagec.cli.files import STDIN, read_file
from stagec.cli.streams import find_canvas, put_error
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Severity
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import START, Place, Pointer, Position
from stagec.core.words import format_count, listing, quote
from stagec.ir.plan import Loaded, Plan, PlanError
from stagec.ir.plan.loader import read_frame
from stagec.runtime.machine import Program, Started, load, verify
from stagec.runtime.machine.advance import find_trouble
from stagec.runtime.world.scenario import Scenario, find_mistakes, list_hook_calls, parse_scenario
from stagec.sources.project.settings import Settings

TYPE_CHECKING = False  # what reads scenarios is loaded where there is one
if TYPE_CHECKING:
    from stagec.sources.tree import Tree

_SCENARIO_ROOM = 10
"""The answers of models and tools in a long run may be so many times as large as texts of people."""


def read_scenario(path: Path | None, plan: Plan, *, shows: bool = True) -> Scenario:
    """Return the scenario in a file, an empty one without a file; raise `Failure` when it is none for this plan.

    `shows` prints the findings in the file, as a command does; else the failure lists them.
    """
    return Scenario() if path is None else parse_scenario(read_scenario_document(path, plan, shows=shows), str(path))


def read_scenario_document(path: Path, plan: Plan, *, shows: bool = True) -> Json:
    """Return the document of a scenario, or raise `Failure`."""
    from stagec.sources.read import Sources
    from stagec.sources.shape import judge

    file = str(path)
    if not file.lower().endswith(_SUFFIXES) and (path == STDIN or os.path.isfile(path)):
        raise Failure(f"{quote(path)} is not a scenario: its name must end in {listing(_SUFFIXES, 'or')}")
    if path != STDIN and os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise Failure(f"{quote(path)} is not a scenario: it is not a regular file")
    tree = Sources(Path(), Budgets(), {file: read_file(path, "file-size", _SCENARIO_ROOM)}).tree(file, "scenario")
    if tree is None or (not isinstance(tree.value, dict) and not tree.faults):
        raise Failure(f"{quote(path)} is not a scenario: expected an object")
    tree = judge(tree, "scenario")
    if tree.faults:
        refuse_faulty(tree, "scenario", shows=shows)
    scenario = parse_scenario(tree.value, file)
    wrong = [(locate(tree, each.pointer), each.told) for each in find_mistakes(scenario, plan)]
    if wrong:
        lines = [
            f"{file}:{start.line}:{start.column}: {why}"
            for start, why in sorted(wrong, key=lambda each: (each[0].line, each[0].column))
        ]
        raise Failure("\n".join((*lines, f"{quote(path)} is not a scenario for the plan {quote(plan.id)}")))
    return tree.value


_SUFFIXES = (".yaml", ".yml", ".json")
"""Endings of the names of scenarios: they decide the syntax."""


def refuse_faulty(tree: Tree, noun: str, *, shows: bool = True) -> None:
    """Raise `Failure` for a file with errors that nothing but stagec reads.

    `shows` prints all findings; else the errors are hints of the failure.
    """
    from stagec.check.findings import Verdict, diagnose
    from stagec.check.pipeline import list_families
    from stagec.check.reporters import Report
    from stagec.check.reporters.text import REPORTER
    from stagec.sources.project.settings import Selection
    from stagec.sources.tree import Tree

    documents = [family for family in list_families() if family.subject is Tree]
    rules = [rule for family in documents for rule in family.rules()]
    verdicts = [Verdict(rule, finding) for rule in rules for finding in rule.check(tree)]
    found = diagnose(verdicts, {tree.file: tree}, Selection.of(_SETTINGS, documents))
    if shows:
        paper = find_canvas(sys.stderr, os.environ)
        put_error(REPORTER.render(Report(found, trees={tree.file: tree}, canvas=paper, quiet=True)))
    wrong = [each for each in found if each.severity is Severity.ERROR]
    if wrong:
        places = ((each, each.span.start) for each in wrong if not shows)
        hints = [f"{each.at.file}:{start.line}:{start.column}: {each.code} {each.message}" for each, start in places]
        raise Failure(f"{quote(tree.file)} is not a valid {noun}: {format_count(len(wrong), 'mistake')}", hints=hints)


_SETTINGS = Settings(severity={"unknown-key": Severity.ERROR})
"""An unknown key is a mistake here, whatever it is elsewhere: nothing but stagec reads scenarios."""


def locate(tree: Tree, pointer: Pointer) -> Position:
    """Return the position of the name of a member."""
    return locate_place(tree, Place(tree.file, pointer).key)


def locate_place(tree: Tree, at: Place) -> Position:
    """Return the position in its file at which a place begins."""
    return tree.format.locate(tree.data, [at]).get(at, START).start


def refuse_unfit(program: Program, started: Started) -> None:
    """Raise `Failure` when a run cannot begin as asked, with what would help."""
    why = find_trouble(program, started)
    if why is not None:
        raise Failure(f"{quote(program.plan.id)} cannot be run: {why}{_suggest(program, started)}")


def _suggest(program: Program, started: Started) -> str:
    """Return a suggestion: the known names, or the option that gives a missing input."""
    plan, entry = program.plan, started.entry
    if (plan.entry if entry is None else entry) not in plan.entries:
        near = "" if entry is None else hint(entry, NameIndex(plan.entries))
        return near or f"; --entry names {listing(sorted(plan.entries), 'or')}"
    foreign = next((name for name in started.inputs if name not in plan.inputs), None)
    if foreign is not None:
        return hint(foreign, NameIndex(plan.inputs))
    missing = (name for name, each in plan.inputs.items() if each.required and each.default is None)
    name = next((name for name in missing if name not in started.inputs), None)
    return "" if name is None else f": --input {name}=VALUE gives it"


def collect_inputs(program: Program, scenario: Object, given: Iterable[str]) -> Object:
    """Return the inputs of a run."""
    found = dict(scenario)
    for each in given:
        if each.startswith("@"):
            path = Path(each.removeprefix("@"))
            try:
                said = read_json(read_file(path, _BUDGET, _ROOM))
            except UnreadableError as error:
                raise Failure(f"{quote(path)} cannot be read: {error}") from error
            if not isinstance(said, dict):
                raise Failure(f"{quote(path)} holds no inputs: expected an object")
            found |= said
            continue
        name, equals, text = each.partition("=")
        if not equals:
            raise Failure(f"{quote(each)} is not an input: write NAME=VALUE or @FILE")
        found[name] = _interpret(program, name, text)
    return found


_BUDGET, _ROOM = "file-size", 10
"""Inputs are data: they may be so many times as large as what somebody writes."""


def _interpret(program: Program, name: str, text: str) -> Json:
    """Return the text itself if it satisfies the schema of the input; else what it is as JSON, if that does."""
    wanted = program.plan.inputs.get(name)
    schema = wanted.schema if wanted is not None else None
    if _satisfies(program, schema, text):
        return text
    try:
        parsed = read_json(text)
    except UnreadableError:
        return text
    return parsed if _satisfies(program, schema, parsed) else text


def _satisfies(program: Program, schema: str | None, given: Json) -> bool:
    """Tell whether a value satisfies a schema; one that no schema can judge, such as half a character, does not."""
    try:
        return program.answer_schemas.complaint(schema, given) is None
    except (ValueError, RecursionError):
        return False


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def read_program(path: Path, digest: str | None = None) -> tuple[bytes, Program]:
    """Return the bytes of a plan's file and its program, or raise `Failure`; `digest` is the only one it may have."""
    data = read_file(path)
    if digest is not None:
        # refuse a plan that is not the one with this digest, before anything in it is read
        if not _DIGEST.fullmatch(digest):
            raise Failure(f"{quote(digest)} is not the digest of a plan: expected 'sha256:' and 64 hexadecimal digits")
        try:
            found, _ = read_frame(data)
        except PlanError as error:
            raise Failure(f"{quote(path)} is refused: {error}") from error
        if found != digest:
            raise Failure(f"{quote(path)} is refused: its digest is {found}, and --digest asks for {digest}")
    return data, load_program(data, quote(path))


def verify_file(path: Path, status: Exit = Exit.USAGE) -> Loaded:
    """Return the plan in a file, or raise `Failure`."""
    try:
        return verify(read_file(path))
    except PlanError as error:
        raise Failure(f"{quote(path)} is refused: {error}", status) from error


def load_program(data: bytes, named: str) -> Program:
    """Return the program of a plan's bytes, or raise `Failure`."""
    try:
        return load(data)
    except PlanError as error:
        raise Failure(f"{named} is refused: {error}") from error


def refuse_hooks(program: Program, scenario: Scenario, *, allowed: bool) -> None:
    """Refuse a plan with callables that may not be called and that no scenario answers for."""
    open_ones = [each for each in list_hook_calls(program.plan) if each not in scenario.hooks]
    if open_ones and not allowed:
        hint = "--allow-hooks lets them be called, a scenario can answer for them under 'hooks'"
        raise Failure(f"the plan names Python callables, {listing(open_ones)}: {hint}")
