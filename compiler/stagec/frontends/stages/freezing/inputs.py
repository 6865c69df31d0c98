"""What a run of a pipeline is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.contract.schemas import Schema
from stagec.contract.texts import Texts
from stagec.core.json import object_of
from stagec.frontends.stages.document import RESERVED, Form, Pipeline
from stagec.frontends.stages.freezing.terms import inside
from stagec.frontends.stages.slips import has_setup
from stagec.plan.document import Input
from stagec.plan.numbers import is_held


def inputs(pipeline: Pipeline, texts: Texts) -> Mapping[str, Input]:
    """Return what a run is given: the names that the context declares, else those that prompts and gates read.

    A run cannot begin without them, unless they have a default or a setup hook may provide them.
    """
    required, context = not has_setup(pipeline), pipeline.context
    if context is None:
        return dict.fromkeys(_read(pipeline), Input(required))
    return {name: _input(schema, texts, required=required) for name, schema in context.items() if name not in RESERVED}


def _input(schema: Schema, texts: Texts, *, required: bool) -> Input:
    name = None if schema.value in ({}, True) else texts.schema(schema)
    default = object_of(schema.value).get("default")
    if default is not None and is_held(default):
        return Input(default=default, schema=name)
    return Input(required, schema=name)


def _read(pipeline: Pipeline) -> Iterator[str]:
    for stage in pipeline.by_id.values():
        placeholders = (each.path for each in stage.body.placeholders if each.form is Form.PATH)
        named = [str(path[1]) for path in placeholders if path[0] == "ctx"]
        asked = [inside(each.path, None)[0] for when in stage.conduct.gate.values() for each in when]
        yield from (name for name in (*named, *asked) if name not in RESERVED)
