"""The values that an answer needs so that a run takes an edge, and the output that a command needs to succeed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import Json
from stagec.core.place import Key
from stagec.plan.gate import Among, Exists, Gate, IntentGate, Reads, Term
from stagec.plan.node import Node
from stagec.runtime import Program
from stagec.runtime.exchange import Run, Shell
from stagec.world.samples import RequiredValue


def collect_required_values(
    gate: Gate, outcome: str, named: str | None, terms: Iterable[Term]
) -> Iterator[RequiredValue]:
    """Yield what an answer must hold so that it has an outcome, names a node, and some conditions hold of it."""
    if isinstance(gate, IntentGate):
        yield RequiredValue(gate.field, outcome)
        if gate.target is not None and named is not None:
            yield RequiredValue(gate.target, named)
    for term in terms:
        path = find_in_answer(gate, term)
        if path:
            yield require_value(path, term)


def find_in_answer(gate: Gate, term: Term) -> tuple[Key, ...]:
    """Return where in an answer, or in what a stage hands in, stands what a condition is about; () for nowhere."""
    first, *rest = term.path
    if first in {"answer", "parsed"}:
        return tuple(rest)
    if first == "handoff" and isinstance(gate, IntentGate) and rest:
        return next((path for path in reversed(gate.handoff) if path and str(path[-1]) == str(rest[0])), ())
    return ()


def require_value(path: tuple[Key, ...], term: Term) -> RequiredValue:
    """Return the value that satisfies a condition, for the path where the condition reads it."""
    match term:
        case Among(values=values):
            return RequiredValue(path, values[0])
        case Reads(texts=texts):
            return RequiredValue(path, read_text(texts[0]))
        case Exists(present=present):
            return RequiredValue(path, "text", absent=not present)


def read_text(text: str) -> Json:
    """Return the number or the boolean that a text is, else the text."""
    try:
        given: Json = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return given if isinstance(given, bool | int | float) else text


def make_output(program: Program, node: Node, effect: Run | Shell, *, succeeds: bool) -> Mapping[str, Json]:
    """Return an output with which a command of a node counts as one that has succeeded, or as one that has not."""
    success = None
    if isinstance(effect, Shell) and node.validation is not None:
        known = [program.plan.validators[each.validator] for each in node.validation.checked]
        exact = (each.success for each in known if each.command == effect.command)
        begun = (each.success for each in known if effect.command.startswith(each.command.partition("${")[0]))
        success = next(exact, None) or next(begun, None)
    if success is None or success.kind == "exit":
        wanted = int(success.argument) if success and success.argument.isdigit() else 0
        return write_output(wanted if succeeds else int(wanted == 0))
    text = "" if success.kind == "empty" else success.argument
    return write_output(0 if succeeds else 1, text if succeeds else "" if text else "something")


def write_output(status: int, stdout: str = "") -> Mapping[str, Json]:
    """Return the answer about a command with an exit status and an output."""
    return {"exit": status, "stdout": stdout, "stderr": ""}
