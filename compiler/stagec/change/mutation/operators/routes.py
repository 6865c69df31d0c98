"""Edges, conditions and choices that lead elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations

from stagec.change.mutation.equivalence import list_values
from stagec.change.mutation.mutant import (
    Mutant,
    add_text,
    change_edge,
    change_node,
    describe_edge,
    list_edges,
    operator,
)
from stagec.core.json import Json, list_of, object_of
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.gate import Among, Exists, IntentGate, Reads, Term, VerdictGate
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Named, Outcome, Stop, Target, list_targets


@operator
def edge_target(plan: Plan) -> Iterator[Mutant]:
    """An edge leads to another node."""
    for name, number, edge in list_edges(plan):
        for other, node, target in _redirect(plan, edge.target):
            beside = "" if isinstance(target, Go) else ", beside others"
            told = f"{describe_edge(edge, number)} leads to {quote(other)} instead of {quote(node)}{beside}"
            wanted = f"a run that takes it, and {quote(node)} in its 'path'"
            yield change_edge(plan, name, number, told, wanted, target=target)


def _redirect(plan: Plan, target: Target) -> Iterator[tuple[str, str, Target]]:
    """Yield targets with another node in the place of one, and the two."""
    if isinstance(target, Go):
        other = _find_other(plan, (target.node,), target.node)
        yield from () if other is None else [(other, target.node, replace(target, node=other))]
    elif isinstance(target, Fork | Chain | ForEach):
        for index, each in enumerate(target.nodes):
            other = _find_other(plan, list_targets(target), each)
            if other is not None:
                nodes = (*target.nodes[:index], other, *target.nodes[index + 1 :])
                yield other, each, replace(target, nodes=nodes)


def _find_other(plan: Plan, taken: tuple[str, ...], node: str) -> str | None:
    """Return the first node after another one, in the order of the plan, that is not taken."""
    names = [*plan.nodes]
    at = names.index(node)
    return next((each for each in (*names[at + 1 :], *names[:at]) if each not in taken), None)


_OTHERS = {Outcome.DONE: Outcome.FAILED, Outcome.BLOCKED: Outcome.DONE}


@operator
def edge_end(plan: Plan) -> Iterator[Mutant]:
    """An edge ends the run instead of leading to a node, or ends it with another outcome."""
    for name, number, edge in list_edges(plan):
        edge_name = describe_edge(edge, number)
        if isinstance(edge.target, Stop):
            other = _OTHERS.get(edge.target.outcome, Outcome.DONE)
            told = f"{edge_name} ends as {quote(other)} instead of {quote(edge.target.outcome)}"
            yield change_edge(plan, name, number, told, "a run that ends by it, and its 'outcome'", target=Stop(other))
        else:
            told = f"{edge_name} ends as 'done' instead of leading on"
            yield change_edge(
                plan, name, number, told, "a run that takes it, and what follows", target=Stop(Outcome.DONE)
            )


@operator
def case_order(plan: Plan) -> Iterator[Mutant]:
    """A case of an outcome is removed, or two cases are tested in the other order."""
    for name, node in plan.nodes.items():
        edges = node.edges
        for number, edge in enumerate(edges):
            same = [at for at, each in enumerate(edges) if each.on == edge.on]
            if len(same) > 1:
                rest = (*edges[:number], *edges[number + 1 :])
                told = f"case {number + 1} on {quote(edge.on)} is gone"
                yield change_node(plan, name, ("edges", number), told, "a run that takes this case", edges=rest)
            if number + 1 in same:
                swapped = (*edges[:number], edges[number + 1], edge, *edges[number + 2 :])
                told = f"case {number + 2} on {quote(edge.on)} is asked before case {number + 1}"
                wanted = "a run with a result that satisfies both cases"
                yield change_node(plan, name, ("edges", number), told, wanted, edges=swapped)


_WANTED = "a run with an answer that gives this name, and its 'path'"


@operator
def choice_changed(plan: Plan) -> Iterator[Mutant]:
    """A name in an answer leads to another node, or to none."""
    for name, number, edge in list_edges(plan):
        if isinstance(edge.target, Named):
            for told, nodes in _change_choices(edge.target.nodes):
                yield change_edge(plan, name, number, told, _WANTED, target=replace(edge.target, nodes=nodes))
    for name, choices in plan.choices.items():
        for told, nodes in _change_choices(choices):
            fields = {"choices": {**plan.choices, name: nodes}}
            yield Mutant(None, ("choices", name), told, _WANTED, fields=fields)


def _change_choices(choices: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for name, node in choices.items():
        rest = {key: each for key, each in choices.items() if key != name}
        if rest:
            yield f"an answer may no longer name {quote(name)}", rest
        other = next((each for each in rest.values() if each != node), None)
        if other is not None:
            yield f"the name {quote(name)} means {quote(other)} instead of {quote(node)}", {**choices, name: other}


Changed = tuple[str, tuple[Term, ...]]


@operator
def condition_changed(plan: Plan) -> Iterator[Mutant]:
    """A condition of a case is negated, dropped, or has one value more or less."""
    for name, number, edge in list_edges(plan):
        for index, term in enumerate(edge.when):
            values = list_values(plan, name, term.path)
            for told, terms in (("is dropped", ()), *_change_term(term, values)):
                path = ".".join(map(str, term.path))
                when = (*edge.when[:index], *terms, *edge.when[index + 1 :])
                sentence = f"the condition on {quote(path)} of case {number + 1} on {quote(edge.on)} {told}"
                wanted = "a run with a result that makes the difference, and where it leads"
                yield change_edge(plan, name, number, sentence, wanted, when=when)


def _change_term(term: Term, values: tuple[Json, ...]) -> Iterator[Changed]:
    """Yield possible replacements of a term; `values` are all that can occur, as far as known."""
    if isinstance(term, Exists):
        yield "is negated", (replace(term, present=not term.present),)
        return
    mine: tuple[Json, ...] = term.texts if isinstance(term, Reads) else term.values
    others = tuple(each for each in values if each not in mine)
    if others:
        yield "is negated", (_with(term, others),)
    for index, each in enumerate(mine if len(mine) > 1 else ()):
        yield f"no longer holds for {quote(each)}", (_with(term, mine[:index] + mine[index + 1 :]),)
    for each in others if values[2:] else ():
        yield f"holds for {quote(each)} as well", (_with(term, (*mine, each)),)


def _with(term: Among | Reads, values: tuple[Json, ...]) -> Term:
    if isinstance(term, Among):
        return replace(term, values=values)
    return replace(term, texts=tuple(map(str, values)))


@operator
def fallback_removed(plan: Plan) -> Iterator[Mutant]:
    """The fallback is removed for a node that cannot start, or for an intent that cannot be read."""
    for name, number, edge in list_edges(plan):
        if isinstance(edge.target, Go) and edge.target.otherwise is not None:
            told = f"{describe_edge(edge, number)} has no fallback {quote(edge.target.otherwise)}"
            wanted = f"a run in which {quote(edge.target.node)} cannot start"
            yield change_edge(plan, name, number, told, wanted, target=replace(edge.target, otherwise=None))
    for name, node in plan.nodes.items():
        gate = node.gate
        if not isinstance(gate, IntentGate) or gate.fail_fast:
            continue
        wanted = "a run with an answer without an intent"
        strict = replace(gate, fail_fast=True, fallback=None)
        yield change_node(plan, name, ("gate", "fallback"), "there is no fallback", wanted, gate=strict)
        for other in gate.intents:
            if other != gate.fallback:
                told = f"the fallback is {quote(other)} instead of {quote(gate.fallback)}"
                changed = replace(gate, fallback=other)
                yield change_node(plan, name, ("gate", "fallback"), told, wanted, gate=changed)


_POLICIES = {"fail": "skip", "skip": "fail", "retry-later": "fail", "ask": "fail"}


@operator
def gate_removed(plan: Plan) -> Iterator[Mutant]:
    """A check of results or an admission is removed, or decides differently; a callable is not called."""
    for name, node in plan.nodes.items():
        checks = node.gate.checks if isinstance(node.gate, VerdictGate) else ()
        for index, check in enumerate(checks):
            other = "fail" if check.verdict == "retry" else "retry"
            changed = (*checks[:index], replace(check, verdict=other), *checks[index + 1 :])
            for told, rest in ((f"says {other!r}", changed), ("is gone", (*checks[:index], *checks[index + 1 :]))):
                sentence, gate = f"check {index + 1} {told}", VerdictGate(rest)
                wanted = "a run whose result it is about, and its 'outcome'"
                yield change_node(plan, name, ("gate", "checks", index), sentence, wanted, gate=gate)
        yield from _change_admission(plan, name)
        for phase, call in node.hooks.items():
            hooks = {key: each for key, each in node.hooks.items() if key != phase}
            told = f"{quote(call)} is not called at {phase}"
            yield change_node(plan, name, ("hooks", phase), told, "what the callable changes", hooks=hooks)


def _change_admission(plan: Plan, name: str) -> Iterator[Mutant]:
    admission = plan.nodes[name].admission
    if admission is None:
        return
    yield change_node(plan, name, ("admission",), "it is always admitted", "a run that is not", admission=None)
    for member in ("defer", "block"):
        if not getattr(admission, member):
            continue
        told, wanted = f"nothing makes it {member} now", f"a run in which something makes it {member}"
        changed = replace(admission, **{member: ()})
        yield change_node(plan, name, ("admission", member), told, wanted, admission=changed)
        policy = getattr(admission, f"on_{member}")
        other = replace(admission, **{f"on_{member}": _POLICIES[policy]})
        told = f"on {member} it does {_POLICIES[policy]!r} instead of {policy!r}"
        yield change_node(plan, name, ("admission", f"on_{member}"), told, wanted, admission=other)


@operator
def join_changed(plan: Plan) -> Iterator[Mutant]:
    """A fork has no join, has one branch less, or runs its branches in turn; a chain or a list lacks a part."""
    for name, number, edge in list_edges(plan):
        target, told = edge.target, describe_edge(edge, number)
        if isinstance(target, Fork) and target.join is not None:
            sentence, wanted = f"{told} has no join {quote(target.join)}", "what runs after the fork"
            yield change_edge(plan, name, number, sentence, wanted, target=replace(target, join=None))
            sentence = f"{told} runs its branches one after the other, without the join"
            yield change_edge(plan, name, number, sentence, wanted, target=Chain(target.nodes))
        if isinstance(target, ForEach):
            yield from _change_elements(plan, name, number, target, told)
        if isinstance(target, Fork | Chain | ForEach):
            for each in target.nodes if len(target.nodes) > 1 else ():
                rest = tuple(other for other in target.nodes if other != each)
                sentence = f"{told} no longer leads to {quote(each)}"
                wanted = f"{quote(each)} in the 'path' of a run that takes it"
                yield change_edge(plan, name, number, sentence, wanted, target=replace(target, nodes=rest))


def _change_elements(plan: Plan, name: str, number: int, target: ForEach, told: str) -> Iterator[Mutant]:
    wanted = "a run in which an element fails, and its 'outcome'"
    does = "ends with the first element that fails" if target.collect else "does not end with an element that fails"
    yield change_edge(plan, name, number, f"{told} {does}", wanted, target=replace(target, collect=not target.collect))
    if target.join is not None:
        sentence, wanted = f"{told} has no join {quote(target.join)}", "what runs after the elements"
        yield change_edge(plan, name, number, sentence, wanted, target=replace(target, join=None))


@operator
def entry_changed(plan: Plan) -> Iterator[Mutant]:
    """A run begins with another node."""
    for entry, begun in plan.entries.items():
        for node in plan.nodes if isinstance(begun, str) else ():
            if node != begun:
                told = f"the entry{f' {quote(entry)}' if entry else ''} is {quote(node)} instead of {quote(begun)}"
                fields = {"entries": {**plan.entries, entry: node}}
                yield Mutant(None, ("entries", entry), told, "the 'path' of a run", fields=fields)
        if plan.entry is not None and entry != plan.entry:
            told = f"a run begins with the entry {quote(entry)} when none is named"
            yield Mutant(None, ("entry",), told, "a run without an 'entry', and its 'path'", fields={"entry": entry})


@operator
def outcomes_swapped(plan: Plan) -> Iterator[Mutant]:
    """Two outcomes of a node swap their targets."""
    for name, node in plan.nodes.items():
        for one, other in combinations(range(len(node.edges)), 2):
            first, second = node.edges[one], node.edges[other]
            if first.target == second.target:
                continue
            edges = [*node.edges]
            edges[one], edges[other] = (
                replace(first, target=second.target),
                replace(second, target=first.target),
            )
            both = f"{quote(first.on)} ({one + 1}) and {quote(second.on)} ({other + 1})"
            told = f"the edges on {both} lead where the other one leads"
            wanted = "a run that takes one of them, and its 'path'"
            yield change_node(plan, name, ("edges", one), told, wanted, edges=tuple(edges))


_INTENTS = ("next", "repeat", "handoff", "closing", "escalate", "jump")


@operator
def intent_added(plan: Plan) -> Iterator[Mutant]:
    """An intent that a gate does not allow is allowed, and leads back to the node itself or to the next one."""
    for name, node in plan.nodes.items():
        gate, act = node.gate, node.act
        intent = next((each for each in _INTENTS if each not in getattr(gate, "intents", _INTENTS)), None)
        if not isinstance(gate, IntentGate) or not isinstance(act, Prompt) or intent is None:
            continue
        target = Stop(Outcome.DONE) if intent == "closing" else Go(name)
        fields = {
            "gate": replace(gate, intents=(*gate.intents, intent)),
            "edges": (*node.edges, Edge(intent, target)),
        }
        told = f"the intent {quote(intent)} is allowed"
        wanted = f"'refuses': an answer with the intent {quote(intent)}"
        mutant = change_node(plan, name, ("gate", "intents"), told, wanted, **fields)
        if act.schema is not None:
            schema = _widen(json.loads(plan.contents[act.schema]), gate.field, intent)
            content, mutant = add_text(mutant, schema)
            nodes = {name: replace(mutant.nodes[name], act=replace(act, schema=content))}
            mutant = replace(mutant, nodes=nodes)
        yield mutant


def _widen(schema: Json, field: tuple[str | int, ...], intent: str) -> Json:
    """Return a schema in which the values at a path may be an intent as well, where it lists them."""
    part = dict(object_of(schema))
    if not field:
        return {**part, "enum": [*list_of(part["enum"]), intent]} if "enum" in part else schema
    inner = object_of(part.get("properties"))
    if field[0] not in inner:
        return schema
    return {**part, "properties": {**inner, str(field[0]): _widen(inner[str(field[0])], field[1:], intent)}}


@operator
def intent_removed(plan: Plan) -> Iterator[Mutant]:
    """An intent that a gate allows is no longer allowed."""
    for name, node in plan.nodes.items():
        gate = node.gate
        if not isinstance(gate, IntentGate) or not gate.intents[1:]:
            continue
        for intent in gate.intents:
            rest = tuple(each for each in gate.intents if each != intent)
            edges = tuple(each for each in node.edges if each.on != intent)
            told = f"the intent {quote(intent)} is gone, with its edges"
            wanted = f"a run in which the answer is {quote(intent)}"
            yield change_node(
                plan, name, ("gate", "intents"), told, wanted, gate=replace(gate, intents=rest), edges=edges
            )
