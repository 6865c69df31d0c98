"""From a stage to a node of the plan."""

from __future__ import annotations

from stagec.contract.schemas import Miss, Schema
from stagec.contract.texts import Texts
from stagec.core.json import text_in
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.frontends.stages.freezing.moves import moves
from stagec.frontends.stages.freezing.policies import admission, retry
from stagec.frontends.stages.freezing.prompt import prompt
from stagec.frontends.stages.freezing.terms import of_result
from stagec.frontends.stages.freezing.tools import allowed
from stagec.model import flow
from stagec.plan.act import Converse
from stagec.plan.gate import Check, VerdictGate
from stagec.plan.node import Node
from stagec.plan.numbers import counted


def node(pipeline: Pipeline, stage: Stage, meant: flow.Node, texts: Texts) -> Node:
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


def _converse(pipeline: Pipeline, stage: Stage, texts: Texts) -> Converse:
    return Converse(
        prompt=prompt(stage, texts),
        tools=allowed(pipeline, stage),
        completion=stage.completion.name if stage.completion is not None else "",
        schema=_schema(stage.result, texts),
        turns=counted(stage.members.get("turnCap")) or 1,
        accepts=None if stage.inputs is None else _schema(stage.inputs, texts),
    )


def _schema(schema: Schema | Miss, texts: Texts) -> str:
    """Return the name of a schema; what could not be read allows anything."""
    return texts.schema(schema) if isinstance(schema, Schema) else texts.text("true")
