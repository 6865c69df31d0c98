"""Describes acts, gates and edges of nodes in words for people."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import assert_never

from stagec.core.json import Json
from stagec.core.words import format_duration, quote
from stagec.ir.plan.act import (
    Act,
    Carried,
    Command,
    Converse,
    Delegate,
    Given,
    Process,
    Prompt,
    Provided,
    Rest,
    Supply,
)
from stagec.ir.plan.codec import Path
from stagec.ir.plan.gate import (
    Admission,
    AgentGate,
    Among,
    Exists,
    ExitGate,
    Gate,
    IntentGate,
    JudgeGate,
    Reads,
    RestGate,
    Retry,
    StageGate,
    Term,
    VerdictGate,
)
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Named, Pick, Schedule, Stop, Target

_PLAIN = re.compile(r"[\w$@#/:+-]+")


def format_path(path: Path) -> str:
    """Return `parsed.items.0`, with quotes around names that could be read otherwise."""
    return ".".join(str(part) if isinstance(part, int) or _PLAIN.fullmatch(part) else quote(part) for part in path)


def format_value(given: Json) -> str:
    """Return a value as people write it: a text that could be nothing else without quotes."""
    from json import dumps

    if isinstance(given, str) and _PLAIN.fullmatch(given) and given not in _WORDS and not given[:1].isdigit():
        return given
    try:
        return dumps(given, ensure_ascii=False)
    except RecursionError:
        return "…"


_WORDS = {"true", "false", "null", "present", "absent"}


_MOST = 8
"""Names that are printed of a long list."""
_LONGEST = 60
"""Characters of a name; names may have any length."""


def join_names(names: Collection[str], last: str = "and") -> str:
    """Return `a, b and c`, and how many more there are when there are many; `nothing` when there are none."""
    shown = [shorten(name) for name in islice(names, _MOST)]
    if len(names) > _MOST:
        shown.append(f"{len(names) - _MOST} more")
    *others, final = shown or ["nothing"]
    return f"{', '.join(others)} {last} {final}" if others else final


def shorten(text: str) -> str:
    """Return a text, without its end when it is so long that a line would drown in it."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def name_act(act: Act) -> str:
    """Return the name of an act in the format."""
    match act:
        case Prompt():
            return "prompt"
        case Converse():
            return "converse"
        case Command():
            return "command"
        case Process():
            return "process"
        case Delegate():
            return "agent"
        case Rest():
            return "rest"
        case _:
            assert_never(act)


def describe_edge(edge: Edge, arrow: str) -> str:
    """Return `ok: parsed.approved = true → review`, and `fail → ask, after 10 min`."""
    return describe_way(shorten(edge.on), edge.when, arrow, describe_target(edge.target) + describe_delay(edge.wait))


def describe_delay(milliseconds: int) -> str:
    """Return how long an edge waits, to be put behind where it leads."""
    return f", after {format_duration(milliseconds)}" if milliseconds else ""


def describe_way(outcome: str, when: Collection[Term], arrow: str, leads: str) -> str:
    """Return the target of an outcome, and its conditions."""
    conditions = f": {describe_conditions(when)}" if when else ""
    return f"{outcome}{conditions} {arrow} {leads}"


def _describe_condition(term: Term) -> str:
    match term:
        case Among(path=path, values=values):
            return f"{format_path(path)} {_join_values('=', list(map(format_value, values)))}"
        case Reads(path=path, texts=texts):
            return f"{format_path(path)} {_join_values('reads', list(map(format_value, texts)))}"
        case Exists(path=path, present=present):
            return f"{format_path(path)} {'present' if present else 'absent'}"
        case _:
            assert_never(term)


def _join_values(verb: str, values: list[str]) -> str:
    if len(values) == 1:
        return f"{verb} {values[0]}"
    return f"in {', '.join(values)}" if verb == "=" else f"{verb} {join_names(values, 'or')}"


def describe_elements(given: ForEach) -> str:
    """Return `for each of parsed.files, at most 50, 8 at a time`."""
    pace = "" if given.concurrency is None else f", {given.concurrency:,} at a time"
    kept = ", failed ones too" if given.collect else ""
    return f"for {given.elements}{pace}{kept}"


def describe_target(given: Target, end: str = "end") -> str:
    """Return the target of a move; `end` is its word for an end."""
    match given:
        case Go(node=node, otherwise=otherwise):
            return shorten(node) + (f", or {shorten(otherwise)} if it cannot start" if otherwise is not None else "")
        case Fork(nodes=nodes, join=join):
            return f"{join_names(nodes)} together" + (f", then {shorten(join)}" if join is not None else "")
        case ForEach(nodes=nodes, join=join):
            own = f"{', then '.join(map(shorten, nodes))} {describe_elements(given)}"
            return own + (f", then {shorten(join)}" if join is not None else "")
        case Chain(nodes=nodes):
            return ", then ".join(map(shorten, nodes))
        case Named() | Pick():
            return f"the one that the answer names{_describe_choices(given)}"
        case Schedule(needs=needs):
            return f"{join_names(needs)}, each as soon as what it needs is done"
        case Stop(outcome=outcome):
            return f"{end} ({outcome})"
        case _:
            assert_never(given)


def _describe_choices(given: Named | Pick) -> str:
    if isinstance(given, Pick):
        return f", of the choices {shorten(given.choices)}"
    return f": {join_names(sorted({*given.nodes.values()}), 'or')}"


def describe_gate(given: Gate) -> Iterator[str]:
    """Yield how what came of a node becomes an outcome, line by line."""
    match given:
        case IntentGate():
            yield from _describe_intent_gate(given)
        case VerdictGate():
            yield from _describe_verdict_gate(given)
        case JudgeGate():
            yield "verdict when the judge says that the work is done, next if not"
        case ExitGate():
            yield "closing when the program ends with 0, repeat if not"
        case StageGate():
            yield "success when it ends with 0 and leaves every output, interrupted when it was stopped, failure if not"
        case AgentGate() | RestGate():
            yield _describe_phase_gate(given)
        case _:
            assert_never(given)


def _describe_verdict_gate(given: VerdictGate) -> Iterator[str]:
    for check in given.checks:
        when = f" when {describe_conditions(check.when)}" if check.when else ""
        yield f"{check.verdict}{when}" + (f": {check.reason}" if check.reason is not None else "")
    yield f"{'else ' if given.checks else ''}retry when a cap was hit, ok if not"


def _describe_phase_gate(given: AgentGate | RestGate) -> str:
    if isinstance(given, RestGate):
        return f"{given.outcome}, at once"
    said = "the verdict" if given.role == "validator" else "success or failed"
    further = ", or the verdict of a failure" if given.verdicts else ""
    return f"{said}{further}: {join_names(given.outcomes, 'or')}, and {given.otherwise} for every other"


def _describe_intent_gate(given: IntentGate) -> Iterator[str]:
    yield f"the intent stands at {format_path(given.field)}: {join_names(given.intents, 'or')}"
    if given.fail_fast:
        yield "without an allowed intent the run fails"
    elif given.fallback is not None:
        yield f"without an allowed intent it is {given.fallback}"
    if given.target is not None:
        yield f"the node to jump to stands at {format_path(given.target)}"
    if given.handoff:
        yield f"kept for other nodes: {', '.join(map(format_path, given.handoff))}"


def describe_supply(given: Supply) -> str:
    """Return the source of a variable."""
    match given:
        case Given(name=name):
            return f"input {name}"
        case Provided(name=name):
            return f"the runner's {name}"
        case Carried():
            if given.default is not None:
                return f"{given.key} of {given.node}, else {format_value(given.default)}"
            return f"{given.key} of {given.node}" + ("" if given.required else ", if there is any")
        case _:
            assert_never(given)


def describe_retry(given: Retry) -> str:
    """Return how often a node may act in one execution."""
    said = given.backoff
    if said.kind == "none":
        pause = ""
    else:
        pause = f", {said.milliseconds:,} ms apart" + (", doubled each time" if said.kind == "exponential" else "")
    return f"at most {given.attempts:,} attempt{'' if given.attempts == 1 else 's'}{pause}"


def describe_admission(given: Admission, *, hooked: bool) -> Iterator[str]:
    """Yield the conditions that stop a node from acting, with their effect; a hook may decide instead."""
    for verb, terms, policy in (("deferred", given.defer, given.on_defer), ("blocked", given.block, given.on_block)):
        reasons = [*([describe_conditions(terms)] if terms else []), *(["its hook says so"] if hooked else [])]
        if reasons:
            yield f"{verb} when {', or '.join(reasons)}: {policy}"


def describe_conditions(terms: Iterable[Term]) -> str:
    """Return `parsed.approved = true and reason present`."""
    return " and ".join(map(_describe_condition, terms))
