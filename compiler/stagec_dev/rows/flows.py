"""Rows of flows: agents, routes and counterexamples."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from stagec.check.pipeline import list_families
from stagec.cli.app import run
from stagec.core.canonical import as_text
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit
from stagec.core.json import Json, Object, object_of
from stagec.core.place import pointer_text
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Go, Stop
from stagec.runtime.machine import gate as gates
from stagec.runtime.machine.program import Program, choose, program_of
from stagec_dev.checkout import diagnostics, plans
from stagec_dev.rows import Agreement, Row, RowKind, list_rows

_LISTED = frozenset({"soundness", "promise"})
"""Folders of counterexamples, each with a list of its cases."""


def _claims_agents(file: str) -> bool:
    path = PurePosixPath(file)
    return path.name == "steps_registry.json" and not {"bases", *_LISTED} & {*path.parts}


def _rows_agents(_root: Path, file: str) -> Iterable[Row]:
    folder = PurePosixPath(file).parent
    yield Row(str(folder.parent), folder.name)


def _answer_agents(root: Path, row: Row) -> Json:
    found = diagnostics(root / row.file / row.id)
    severities = Counter(each.severity for each in found)
    errors = severities[Severity.ERROR]
    codes = dict(sorted(Counter(each.code for each in found).items()))
    return {"exit": int(errors > 0), "errors": errors, "warnings": severities[Severity.WARNING], "codes": codes}


def _compare_agents(_row: Row, got: Any) -> Agreement:
    calm = isinstance(got, dict) and got.get("exit") in {0, 1}
    return Agreement.AGREE if calm else Agreement.DISAGREE


AGENTS = RowKind(_claims_agents, _rows_agents, _answer_agents, _compare_agents)


_CLOSING = frozenset({"closing", "abort"})


def _claims_routing(file: str) -> bool:
    return file == "routing/routing.json"


def _rows_routing(root: Path, file: str) -> Iterable[Row]:
    for each in json.loads((root / file).read_bytes())["rows"]:
        yield Row(f"{file}, {_group(root, each)}", str(each["id"]), each)


def _group(root: Path, given: Mapping[str, Any]) -> str:
    """Return the intent that an output asks for, and the kind of transition that its step has for it."""
    found = gates.ALIASES.get(said := _read_action(given["output"]), said)
    intent = found if found in _INTENTS else "no intent"
    transition = object_of(_transitions(root / given["agent"]).get(given["stepId"])).get(intent)
    if not isinstance(transition, dict):
        return f"{intent}, no transition"
    return f"{intent}, {'conditional' if 'targets' in transition else 'simple'}"


_INTENTS = frozenset({"next", "repeat", "jump", "handoff", "closing", "escalate", "abort"})


def _read_action(output: Json) -> str:
    action = object_of(object_of(output).get("next_action")).get("action")
    return as_text(action).lower()


@cache
def _transitions(agent: Path) -> Mapping[str, Json]:
    steps = json.loads((agent / "steps_registry.json").read_bytes())["steps"]
    return {name: each.get("transitions") for name, each in steps.items()}


@cache
def _program(agent: Path) -> Program:
    (plan,) = plans(agent)
    return program_of(plan)


def _answer_routing(root: Path, row: Row) -> Json:
    program, name = _program(root / str(row.given["agent"])), str(row.given["stepId"])
    node = program.plan.nodes.get(name)
    if node is None or not isinstance(node.gate, IntentGate):
        return {"phase": "start", "error": "no such node"}
    output = row.given["output"]
    intent = gates.read_intent(node.gate, output)
    if intent is None:
        return {"phase": "gate", "error": "no allowed intent"}
    handoff = gates.read_handoff(node.gate, output)
    result = {"answer": output, "handoff": handoff}
    target = choose(program.routes[name].get(intent, ()), result, gates.read_target(node.gate, output))
    told: dict[str, Json] = {"intent": intent, **({"handoff": handoff} if handoff else {})}
    if isinstance(target, Go):
        return {**told, "next": target.node, "signalClosing": False}
    if isinstance(target, Stop) or intent == gates.ABORT:
        return {**told, "next": row.given["stepId"], "signalClosing": True}
    return {"phase": "route", "error": "no edge"}


def _compare_routing(row: Row, got: Any) -> Agreement:
    wanted, note = dict(row.given["upstream"]), str(row.given["note"] or "")
    if note.startswith("R1:"):
        wanted = {"intent": gates.ABORT}
    elif note.startswith("R15"):
        wanted = {"phase": "gate"}
    elif note.startswith("R18"):
        wanted = {"phase": "start"}
    elif note.startswith("R3"):
        wanted.pop("next")
    compared = {key: each for key, each in wanted.items() if key in _COMPARED}
    return Agreement.AGREE if all(got.get(key) == each for key, each in compared.items()) else Agreement.DISAGREE


_COMPARED = frozenset({"phase", "intent", "handoff", "next", "signalClosing"})


ROUTING = RowKind(_claims_routing, _rows_routing, _answer_routing, _compare_routing)


_LIST = "index.json"
_SCENARIO = ".scenario.json"
_MINUTE = 60


_WANTS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "error": lambda got: got["errors"] > 0,
    "report": lambda got: bool(got["codes"]),
    "report-or-bound-3": lambda got: bool(got["codes"]) or str(got["bound"]) == "3",
    "no-STG198": lambda got: "STG198" not in got["codes"] and got["compile"] == Exit.CLEAN,
    "report-or-done": lambda got: bool(got["codes"]) or got["run"] == Exit.CLEAN,
    "no-error": lambda got: got["errors"] == 0 and got["compile"] == Exit.CLEAN,
    "one-error": lambda got: got["errors"] == 1,
}
"""The possible expectations of a case, and whether an answer meets them."""


def _claims_soundness(file: str) -> bool:
    return bool(_LISTED & {*PurePosixPath(file).parts[:-1]})


def _rows_soundness(root: Path, file: str) -> Iterable[Row]:
    """Yield the cases that the list names; scenarios and the projects themselves are no rows."""
    if PurePosixPath(file).name == _LIST:
        cases = json.loads((root / file).read_bytes())["cases"]
        yield from (Row(file, name, given) for name, given in cases.items())


def _answer_soundness(root: Path, row: Row) -> Json:
    """Validate the project; if nothing is wrong, compile it, and run the plan if there is a scenario."""
    project = (root / row.file).parent / row.id
    found = diagnostics(project)
    errors = sum(each.severity is Severity.ERROR for each in found)
    codes = dict(sorted(Counter(each.code for each in found).items()))
    done = {"compile": None, "run": None, "bound": None} if errors else _run(project)
    return {"errors": errors, "codes": codes, **done}


def _run(project: Path) -> dict[str, Json]:
    """Return the exit statuses of `compile` and `run`, and the bound of phases; nothing for what is not done."""
    scenario = project.with_name(project.name + _SCENARIO)
    with TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.json"
        compiled = _command(Path(folder), "compile", "--root", project, project, "-o", plan)
        runs = compiled == Exit.CLEAN and scenario.exists()
        ended = _command(Path(folder), "run", plan, "--scenario", scenario, "--runs", folder) if runs else None
        bounds = (each.phases.most for each in plans(project) if each.phases is not None)
        return {"compile": compiled, "run": ended, "bound": next(bounds, None)}


def _command(folder: Path, *arguments: str | Path) -> int:
    """Execute a command of stagec in a folder, and return its exit status."""
    with chdir(folder), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return run(list(map(str, arguments)))


def _compare_soundness(row: Row, got: Any) -> Agreement:
    wanted = _WANTS.get(str(row.given.get("want")))
    if wanted is None:
        return Agreement.UNKNOWN
    return Agreement.AGREE if "codes" in got and wanted(got) else Agreement.DISAGREE


SOUNDNESS = RowKind(_claims_soundness, _rows_soundness, _answer_soundness, _compare_soundness)


def _claims_mutants(file: str) -> bool:
    return PurePosixPath(file).name == "mutants.json"


def _rows_mutants(root: Path, file: str) -> Iterable[Row]:
    return list_rows(root, file)


def _answer_mutants(root: Path, row: Row) -> Json:
    base = (root / row.file).parent / "bases" / str(row.given["base"])
    with TemporaryDirectory() as folder:
        project = Path(folder) / base.name
        shutil.copytree(base, project, symlinks=True)
        _change(project, row.given.get("changes"))
        return _compare_diagnostics(_of_base(base), diagnostics(project))


@cache
def _of_base(base: Path) -> tuple[Diagnostic, ...]:
    return diagnostics(base)


def _change(project: Path, changes: Any) -> None:
    for file, text in changes.items() if isinstance(changes, dict) else ():
        path = project / file
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(str(text).encode("utf-8", "surrogatepass"))


def _compare_diagnostics(base: Sequence[Diagnostic], mutant: Sequence[Diagnostic]) -> Json:
    """Describe what the mutant shows and the base does not; lines may have moved, so they do not count."""
    left = Counter(_identity(each) for each in base)
    added: list[Diagnostic] = []
    for each in mutant:
        if left[_identity(each)]:
            left[_identity(each)] -= 1
        else:
            added.append(each)
    heaviest = max((each.severity for each in added), key=lambda each: each.weight, default=None)
    return {
        "expect": "report" if heaviest not in {None, Severity.NOTE} else "silent",
        "rules": sorted({slug for each in added for slug in _slugs(each)}),
        "places": sorted({(each.at.file, pointer_text(each.at.pointer)) for each in added}),
        "severity": heaviest,
        "errors_added": sum(each.severity is Severity.ERROR for each in added),
        "diagnostics": [_show(each) for each in added],
    }


def _identity(each: Diagnostic) -> tuple[str, str, str, str]:
    return each.code, each.at.file, pointer_text(each.at.pointer), each.message


def _slugs(each: Diagnostic) -> Iterable[str]:
    return (origin.rpartition(":")[2] for origin in each.origin)


def _show(each: Diagnostic) -> Object:
    place = {"file": each.at.file, "pointer": pointer_text(each.at.pointer)}
    return {"code": each.code, "severity": each.severity, "origin": each.origin, **place, "message": each.message}


def _compare_mutants(row: Row, got: Any) -> Agreement:
    wanted = row.given.get("expect")
    if wanted is None:
        return Agreement.UNKNOWN
    if "diagnostics" not in got:
        return Agreement.DISAGREE
    if wanted == "report" and not _list_slugs().intersection(row.rules):
        return Agreement.NOT_YET
    met = {"either": True, "silent": got["errors_added"] == 0, "report": _is_reported(row, got)}
    return Agreement.AGREE if met[str(wanted)] else Agreement.DISAGREE


@cache
def _list_slugs() -> frozenset[str]:
    """Every slug that some rule has a home for."""
    rules = (rule for family in list_families() for rule in family.rules())
    return frozenset(origin.rpartition(":")[2] for rule in rules for origin in rule.origin)


def _is_reported(row: Row, got: Mapping[str, Any]) -> bool:
    places, added = row.given["places"], got["diagnostics"]
    told = [each for each in added if set(row.rules).intersection(_slugs_of(each))]
    meets = any(_meets(each, place) for each in told for place in places)
    return meets and bool(got["errors_added"] <= 1)


def _meets(each: Mapping[str, Any], place: Sequence[str]) -> bool:
    """Tell whether a diagnostic stands at a place, inside it, or one level above it."""
    file, pointer = place
    stands = str(each["pointer"])
    above = pointer.rpartition("/")[0] if pointer else None
    return each["file"] == file and (stands in {pointer, above} or stands.startswith(f"{pointer}/"))


def _slugs_of(each: Mapping[str, Any]) -> Iterable[str]:
    return (str(origin).rpartition(":")[2] for origin in each["origin"])


MUTANTS = RowKind(_claims_mutants, _rows_mutants, _answer_mutants, _compare_mutants)
