"""Put the plan of a pipeline together."""

from __future__ import annotations

from stagec.contract.texts import Texts
from stagec.core.json import text_in
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.freezing.inputs import inputs
from stagec.frontends.stages.freezing.node import node
from stagec.frontends.stages.freezing.session import session
from stagec.frontends.stages.freezing.tools import allowed, files, servers, tools
from stagec.model.flow import Flow
from stagec.plan.document import Limits, Names, Plan
from stagec.plan.draft import Draft
from stagec.plan.numbers import MOST
from stagec.sources.read import Sources


def freeze(pipeline: Pipeline, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a pipeline without errors."""
    texts, catalogue = Texts(pipeline.schemas), pipeline.catalogue
    called = tools(catalogue, _called(pipeline), texts)
    plan = Plan(
        id=pipeline.id,
        names=Names("stage", "verdict"),
        entries={name: entry.node for name, entry in flow.entries.items()},
        nodes={name: node(pipeline, stage, flow.nodes[name], texts) for name, stage in pipeline.by_id.items()},
        limits=_limits(pipeline),
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
    return Draft(plan, frozenset(file for file in read if sources.known(file) is not None))


def _called(pipeline: Pipeline) -> dict[str, None]:
    """Return every tool that a stage may call."""
    return {name: None for stage in pipeline.by_id.values() for name in allowed(pipeline, stage)}


def _limits(pipeline: Pipeline) -> Limits:
    most = pipeline.max_executions
    return Limits(None if most is None else min(most, MOST), parallel=min(pipeline.max_parallel, MOST))
