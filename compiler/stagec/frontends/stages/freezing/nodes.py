"""From a stage to a node of the plan: its prompt, its gate, retries and admission, and its edges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from stagec.contract.bundle import PlanTexts
from stagec.contract.schemas import Miss, Schema
from stagec.core.canonical import MOST, as_text, to_count
from stagec.core.json import Json, Object, object_of, text_in
from stagec.frontends.stages.document import Pipeline, PlaceholderForm, Stage, StageCondition
from stagec.frontends.stages.freezing.tools import list_allowed
from stagec.model import flow
from stagec.plan.act import Converse
from stagec.plan.gate import Admission, Among, Backoff, Check, Exists, Retry, Term, VerdictGate
from stagec.plan.node import Chain, Edge, Fork, Go, Node, Outcome, Stop, Target
from stagec.plan.template import Hole, Path, Piece, Template, Text


def freeze_node(pipeline: Pipeline, stage: Stage, meant: flow.Node, texts: PlanTexts) -> Node:
    """Return the node of a stage; `meant` is what the flow makes of it."""
    converse = Converse(
        prompt=prompt(stage, texts),
        tools=list_allowed(pipeline, stage),
        completion=stage.completion.name if stage.completion is not None else "",
        schema=_schema(stage.result, texts),
        turns=to_count(stage.members.get("turnCap")) or 1,
        accepts=None if stage.inputs is None else _schema(stage.inputs, texts),
    )
    return Node(
        act=converse,
        gate=VerdictGate(
            tuple(Check(each.verdict, of_result(each.when), each.reason) for each in stage.conduct.checks)
        ),
        edges=freeze_edges(meant),
        title=text_in(stage.members, "name"),
        admission=admission(pipeline, stage),
        retry=retry(stage),
        hooks=stage.conduct.calls,
    )


def _schema(schema: Schema | Miss, texts: PlanTexts) -> str:
    """Return the name of a schema; what could not be read allows anything."""
    return texts.schema(schema) if isinstance(schema, Schema) else texts.text("true")


def prompt(stage: Stage, texts: PlanTexts) -> Template:
    """Return the prompt of a stage: what it reads of the context is a hole, what it says of itself is put in."""
    pieces: list[Piece] = []
    body, gathered, end = stage.body, "", 0
    for each in body.placeholders:
        # where a placeholder begins in its body; in one that was read from JSON it is looked for
        if each.at.range is not None and body.at.range is not None:
            start = each.at.range[0] - body.at.range[0]
        else:
            start = body.text.index(each.text, end)
        gathered += body.text[end:start]
        end = start + len(each.text)
        if each.form is PlaceholderForm.PATH and each.path[0] == "ctx":
            pieces += [*_text(gathered, texts), Hole(each.path)]
            gathered = ""
        elif each.form is PlaceholderForm.PATH and each.path[0] == "stage":
            gathered += as_text(_member(stage.members, each.path[1:]))
        elif each.form is PlaceholderForm.ESCAPE:
            gathered += "{{"
        else:
            gathered += each.text
    return (*pieces, *_text(gathered + body.text[end:], texts))


def _text(gathered: str, texts: PlanTexts) -> list[Piece]:
    return [Text(texts.text(gathered))] if gathered else []


def _member(members: Object, path: Path) -> Json:
    """Return what a stage says of itself at a path, null where it says nothing."""
    found: Json = members
    for key in path:
        if isinstance(found, dict):
            found = found.get(str(key))
        elif isinstance(found, list) and isinstance(key, int) and key < len(found):
            found = found[key]
        else:
            return None
    return found


_BACKOFF = re.compile(r"(?P<kind>fixed|exponential):0*(?P<milliseconds>[0-9]+)")
_DIGITS = len(str(MOST))
_POLICIES = frozenset({"retry-later", "skip", "fail", "ask"})
_REFUSED = "fail"


def retry(stage: Stage) -> Retry | None:
    """Return how often a stage may be tried and how long to wait, nothing where it does not say."""
    given = stage.members.get("retryPolicy")
    if not isinstance(given, dict):
        return None
    # how long to wait; one that is not known does not wait
    said = given.get("backoff")
    found = _BACKOFF.fullmatch(said) if isinstance(said, str) else None
    if found is None:
        return Retry(to_count(given.get("maxAttempts")) or 1, Backoff())
    digits = found["milliseconds"]
    return Retry(
        to_count(given.get("maxAttempts")) or 1,
        Backoff(found["kind"], MOST if len(digits) > _DIGITS else min(int(digits), MOST)),
    )


def admission(pipeline: Pipeline, stage: Stage) -> Admission | None:
    """Return what may put a stage off and what happens then, nothing where nothing can: no gate, and no hook for it."""
    gate, names = stage.conduct.gate, pipeline.context
    defer, block = (of_context(gate.get(answer, ()), names) for answer in ("defer", "block"))
    if not (defer or block or "gate" in stage.conduct.calls):
        return None
    # what happens on `defer` and on `block`; one word means both
    given = stage.members.get("resolutionPolicy")
    if isinstance(given, dict):
        said = object_of(given)
        on_defer, on_block = _policy(said.get("defer")), _policy(said.get("block"))
    else:
        on_defer, on_block = _policy(given), _policy(given)
    return Admission(on_defer, on_block, defer, block)


def _policy(given: Json) -> str:
    return given if isinstance(given, str) and given in _POLICIES else _REFUSED


_VERDICT, _FAIL = ("verdict",), "fail"


def freeze_edges(node: flow.Node) -> tuple[Edge, ...]:
    """Return the edges of a node in their order.

    A case for results of any verdict is one edge of the flow; a runner, which first asks for the outcome, needs two.
    """
    found: list[Edge] = []
    for each in node.edges:
        target, when = _target(each.target), of_result(each.when)
        found.append(Edge(each.outcome, target, when))
        allows_failure = (
            term.path == _VERDICT and (term.present is True or _FAIL in term.values) for term in each.when
        )
        if each.outcome != _FAIL and any(allows_failure):
            found.append(Edge(_FAIL, target, when))
    return tuple(found)


def _target(target: flow.Target) -> Target:
    match target:
        case flow.To(mode=flow.Mode.CHAIN):
            return Chain(target.nodes)
        case flow.To(mode=flow.Mode.ONE, join=None):
            return Go(target.nodes[0])
        case flow.To():
            return Fork(target.nodes, target.join)
        case flow.Stop():
            return Stop(Outcome(target.end.value))
        case flow.Pick():
            raise TypeError("no result of a stage names the stage that follows")
        case _:
            assert_never(target)


_CONTEXT = "ctx"


def of_result(when: Iterable[StageCondition] | Iterable[flow.Term]) -> tuple[Term, ...]:
    """Return conditions on the result of a stage."""
    return tuple(_term(each, each.path) for each in when)


def of_context(when: Iterable[StageCondition], names: Iterable[str] | None) -> tuple[Term, ...]:
    """Return conditions on the context; `names` are those that it declares."""
    return tuple(_term(each, (_CONTEXT, *inside(each.path, names))) for each in when)


def inside(path: tuple[str, ...], names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the path inside the context that a gate asks for; it may begin with the word that templates begin with."""
    spelt_out = path[:1] == (_CONTEXT,) and len(path) > 1 and _CONTEXT not in (names or ())
    return path[1:] if spelt_out else path


def _term(given: StageCondition | flow.Term, path: Path) -> Term:
    return Exists(path, given.present) if given.present is not None else Among(path, given.values)
