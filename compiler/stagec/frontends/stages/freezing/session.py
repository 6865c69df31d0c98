"""What a pipeline says of the session around its stages."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import list_of, object_of, text_in
from stagec.frontends.stages.document import Pipeline
from stagec.plan.surroundings import LoopHook, Session


def session(pipeline: Pipeline) -> Session | None:
    """Return the security mode and the callables of the message loop, nothing when the pipeline says neither."""
    mode, hooks = text_in(pipeline.body, "securityMode"), tuple(_hooks(pipeline))
    return Session(mode, hooks) if mode is not None or hooks else None


def _hooks(pipeline: Pipeline) -> Iterator[LoopHook]:
    for each in list_of(pipeline.body.get("loopHooks")):
        stage, when, kind, call = (text_in(object_of(each), member) for member in ("stage", "when", "kind", "call"))
        if stage and when and kind and call:
            yield LoopHook(stage, when, kind, call)
