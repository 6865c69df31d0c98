"""Put the plan of a pipeline together."""

from __future__ import annotations

from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Flow
from stagec.plan.draft import Draft
from stagec.sources.read import Sources


def freeze(pipeline: Pipeline, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a pipeline without errors."""
    raise NotImplementedError
