"""Put the plan of a pipeline together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.contract.bundle import PlanTexts
from stagec.contract.schemas import Schema
from stagec.core.canonical import MOST, is_exact
from stagec.core.json import list_of, object_of, text_in
from stagec.frontends.stages.document import RESERVED, Pipeline, PlaceholderForm, Stage
from stagec.frontends.stages.freezing.nodes import freeze_node, inside
from stagec.frontends.stages.freezing.tools import files, list_allowed, servers, tools
from stagec.model.flow import Flow
from stagec.plan.document import Draft, Input, Limits, Names, Plan
from stagec.plan.surroundings import LoopHook, Session
from stagec.sources.read import Sources


def freeze(pipeline: Pipeline, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a pipeline without errors."""
    texts, catalogue = PlanTexts(pipeline.schemas), pipeline.catalogue
    allowed = {name: None for stage in pipeline.by_id.values() for name in list_allowed(pipeline, stage)}
    called = tools(catalogue, allowed, texts)
    most = pipeline.max_executions
    limits = Limits(None if most is None else min(most, MOST), parallel=min(pipeline.max_parallel, MOST))
    plan = Plan(
        id=pipeline.id,
        names=Names("stage", "verdict"),
        entries={name: entry.node for name, entry in flow.entries.items()},
        nodes={name: freeze_node(pipeline, stage, flow.nodes[name], texts) for name, stage in pipeline.by_id.items()},
        limits=limits,
        entry=next(iter(flow.entries), None),
        title=text_in(pipeline.body, "name"),
        version=text_in(pipeline.body, "version"),
        inputs=inputs(pipeline, texts),
        tools=called,
        servers=servers(catalogue, called.values()),
        session=session(pipeline),
        contents=texts.texts,
    )
    read = {pipeline.at.file, *(stage.at.file for stage in pipeline.stages), *texts.files}
    read |= files(catalogue) if catalogue is not None and called else set()
    return Draft(plan, frozenset(file for file in read if sources.find_tree(file) is not None))


def inputs(pipeline: Pipeline, texts: PlanTexts) -> Mapping[str, Input]:
    """Return what a run is given: the names that the context declares, else those that prompts and gates read.

    A run cannot begin without them, unless they have a default, or each stage whose prompt reads them has a setup hook,
    which may provide them.
    """
    context, required = pipeline.context, find_required(pipeline)
    if context is None:
        return {name: Input(each) for name, each in required.items()}
    return {name: _input(context[name], texts, required=each) for name, each in required.items()}


def find_required(pipeline: Pipeline) -> Mapping[str, bool]:
    """Return the names that a run may be given, and whether it needs them where they have no default."""
    stages, context = pipeline.by_id.values(), pipeline.context
    told = [stage for stage in stages if "setup" not in stage.conduct.hooks]
    needed = {name for stage in told for name in _list_prompted(stage)}
    names = context if context is not None else [name for stage in stages for name in _list_read(stage)]
    return {name: name in needed or len(told) == len(stages) for name in names if name not in RESERVED}


def _input(schema: Schema, texts: PlanTexts, *, required: bool) -> Input:
    name = None if schema.value in ({}, True) else texts.schema(schema)
    default = object_of(schema.value).get("default")
    if default is not None and is_exact(default):
        return Input(default=default, schema=name)
    return Input(required, schema=name)


def _list_prompted(stage: Stage) -> Iterator[str]:
    """Yield the names of the context that the prompt of a stage reads."""
    placeholders = (each.path for each in stage.body.placeholders if each.form is PlaceholderForm.PATH)
    return (str(path[1]) for path in placeholders if path[0] == "ctx")


def _list_read(stage: Stage) -> Iterator[str]:
    """Yield the names of the context that the prompt and the gate of a stage read."""
    yield from _list_prompted(stage)
    yield from (inside(each.path, None)[0] for when in stage.conduct.gate.values() for each in when)


def session(pipeline: Pipeline) -> Session | None:
    """Return the security mode and the callables of the message loop, nothing when the pipeline says neither."""
    found: list[LoopHook] = []
    for each in list_of(pipeline.body.get("loopHooks")):
        stage, when, kind, call = (text_in(object_of(each), member) for member in ("stage", "when", "kind", "call"))
        if stage and when and kind and call:
            found.append(LoopHook(stage, when, kind, call))
    mode, hooks = text_in(pipeline.body, "securityMode"), tuple(found)
    return Session(mode, hooks) if mode is not None or hooks else None
