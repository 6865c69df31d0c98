"""From a stage to a node of the plan: its prompt, its gate, and what it says of retries and admission."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.contract.bundle import PlanTexts
from stagec.contract.schemas import Miss, Schema
from stagec.core.json import Json, Object, object_of, text_in
from stagec.frontends.stages.document import Body, Pipeline, Placeholder, PlaceholderForm, Stage
from stagec.frontends.stages.freezing.edges import moves, of_context, of_result
from stagec.frontends.stages.freezing.tools import list_allowed
from stagec.model import flow
from stagec.plan.act import Converse
from stagec.plan.canonical import MOST, as_text, to_count
from stagec.plan.gate import Admission, Backoff, Check, Retry, VerdictGate
from stagec.plan.node import Node
from stagec.plan.template import Hole, Path, Piece, Template, Text


def node(pipeline: Pipeline, stage: Stage, meant: flow.Node, texts: PlanTexts) -> Node:
    """Return the node of a stage; `meant` is what the flow makes of it."""
    return Node(
        act=_converse(pipeline, stage, texts),
        gate=_gate(stage),
        edges=moves(meant),
        title=text_in(stage.members, "name"),
        admission=admission(pipeline, stage),
        retry=retry(stage),
        hooks=stage.conduct.calls,
    )


def _gate(stage: Stage) -> VerdictGate:
    return VerdictGate(tuple(Check(each.verdict, of_result(each.when), each.reason) for each in stage.conduct.checks))


def _converse(pipeline: Pipeline, stage: Stage, texts: PlanTexts) -> Converse:
    return Converse(
        prompt=prompt(stage, texts),
        tools=list_allowed(pipeline, stage),
        completion=stage.completion.name if stage.completion is not None else "",
        schema=_schema(stage.result, texts),
        turns=to_count(stage.members.get("turnCap")) or 1,
        accepts=None if stage.inputs is None else _schema(stage.inputs, texts),
    )


def _schema(schema: Schema | Miss, texts: PlanTexts) -> str:
    """Return the name of a schema; what could not be read allows anything."""
    return texts.schema(schema) if isinstance(schema, Schema) else texts.text("true")


def prompt(stage: Stage, texts: PlanTexts) -> Template:
    """Return the prompt of a stage: what it reads of the context is a hole, what it says of itself is put in."""
    pieces: list[Piece] = []
    gathered = ""
    for part in _parts(stage):
        if isinstance(part, str):
            gathered += part
            continue
        pieces += [*_text(gathered, texts), part]
        gathered = ""
    return (*pieces, *_text(gathered, texts))


def _text(gathered: str, texts: PlanTexts) -> list[Piece]:
    return [Text(texts.text(gathered))] if gathered else []


def _parts(stage: Stage) -> Iterator[str | Hole]:
    body, end = stage.body, 0
    for each in body.placeholders:
        start = _start(body, each, end)
        yield body.text[end:start]
        yield _part(stage, each)
        end = start + len(each.text)
    yield body.text[end:]


def _start(body: Body, placeholder: Placeholder, after: int) -> int:
    """Return where a placeholder begins in its body; in one that was read from JSON it is looked for."""
    if placeholder.at.range is not None and body.at.range is not None:
        return placeholder.at.range[0] - body.at.range[0]
    return body.text.index(placeholder.text, after)


def _part(stage: Stage, placeholder: Placeholder) -> str | Hole:
    if placeholder.form is PlaceholderForm.PATH and placeholder.path[0] == "ctx":
        return Hole(placeholder.path)
    if placeholder.form is PlaceholderForm.PATH and placeholder.path[0] == "stage":
        return as_text(_member(stage.members, placeholder.path[1:]))
    return placeholder.text


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
    return Retry(to_count(given.get("maxAttempts")) or 1, _backoff(given.get("backoff")))


def _backoff(given: Json) -> Backoff:
    """Return how long to wait; one that is not known does not wait."""
    found = _BACKOFF.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return Backoff()
    digits = found["milliseconds"]
    return Backoff(found["kind"], MOST if len(digits) > _DIGITS else min(int(digits), MOST))


def admission(pipeline: Pipeline, stage: Stage) -> Admission | None:
    """Return what may put a stage off and what happens then, nothing where nothing can: no gate, and no hook for it."""
    gate, names = stage.conduct.gate, pipeline.context
    defer, block = (of_context(gate.get(answer, ()), names) for answer in ("defer", "block"))
    if not (defer or block or "gate" in stage.conduct.calls):
        return None
    on_defer, on_block = _policies(stage.members.get("resolutionPolicy"))
    return Admission(on_defer, on_block, defer, block)


def _policies(given: Json) -> tuple[str, str]:
    """Return what happens on `defer` and on `block`; one word means both."""
    if isinstance(given, dict):
        said = object_of(given)
        return _policy(said.get("defer")), _policy(said.get("block"))
    return _policy(given), _policy(given)


def _policy(given: Json) -> str:
    return given if isinstance(given, str) and given in _POLICIES else _REFUSED
