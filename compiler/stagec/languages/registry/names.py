"""The names in a step registry and the files that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.core.json import find_inside, object_of
from stagec.core.place import Mention, Place
from stagec.ir.flow import NameKind, Occurrence
from stagec.languages.registry.document import Registry
from stagec.sources.contract.schemas import Schema

_COORDINATES = ("c2", "c3", "edition", "adaptation")
"""The members of a step that lead to its prompt."""
_ASKED = ("properties", "stepId", "const")
"""The place of the step's id in the schema of an answer."""


def list_names(document: Registry) -> Iterator[Occurrence]:
    """Yield every place at which a name is defined or mentioned."""
    yield from _list_steps(document)
    for kind, section in ((NameKind.VALIDATOR, "validators"), (NameKind.PATTERN, "failurePatterns")):
        for name in object_of(document.body.get(section)):
            at = document.at / section / name
            yield Occurrence(kind, name, document.at.file, at.key, at)
    retries = [step.retry for step in document.steps.values() if step.retry is not None]
    named = (each for retry in retries for each in (*retry.preflight, *retry.post_llm))
    yield from _mention(document, NameKind.VALIDATOR, (*document.validator_mentions, *named))
    patterns = (retry.pattern for retry in retries if retry.pattern is not None)
    yield from _mention(document, NameKind.PATTERN, (*document.pattern_mentions, *patterns))
    yield from _list_variables(document)
    yield from _list_files(document)


def _mention(document: Registry, kind: NameKind, mentions: Iterable[Mention]) -> Iterator[Occurrence]:
    return (Occurrence(kind, each.name, document.at.file, each.at) for each in mentions)


def _list_steps(document: Registry) -> Iterator[Occurrence]:
    steps = document.steps.values()
    for step in steps:
        yield Occurrence(NameKind.STEP, step.key, document.at.file, step.at.key, step.at)
        if step.id is not None:
            yield Occurrence(NameKind.STEP, step.key, document.at.file, step.at / "stepId")
        schema = None if step.output is None else step.output.found
        if isinstance(schema, Schema) and find_inside(schema.value, _ASKED) in {step.key, step.id}:
            yield Occurrence(
                NameKind.STEP, step.key, document.at.file, Place(schema.at.file, (*schema.at.pointer, *_ASKED))
            )
    moves = (step.mention(move) for step in steps for move in step.moves if move.target is not None)
    for each in (*moves, *document.begun):
        name = document.aliases.get(each.name, each.name)
        yield Occurrence(NameKind.STEP, name, document.at.file, each.at)


def _list_variables(document: Registry) -> Iterator[Occurrence]:
    """Yield the variables of prompts, which parameters of the agent fill."""
    owner = document.at.file
    if document.agent is not None:
        for name in document.agent.declared:
            at = document.agent.at / "parameters" / name
            yield Occurrence(NameKind.VARIABLE, name, owner, at.key, at)
    for step in document.steps.values():
        for name, index in step.declared.items():
            yield Occurrence(NameKind.VARIABLE, name, owner, step.at / "uvVariables" / index)
    for text in document.prompts.texts.values():
        for name, at in text.reads.items():
            yield Occurrence(NameKind.VARIABLE, name, owner, at)


def _list_files(document: Registry) -> Iterator[Occurrence]:
    for key, step in document.steps.items():
        prompt = document.prompts.of_steps.get(key)
        if prompt is not None and prompt.file is not None:
            written = (each for each in _COORDINATES if each in step.address.body)
            yield from (Occurrence(NameKind.FILE, prompt.file, "", step.address.at / each) for each in written)
        if step.output is not None and isinstance(step.output.found, Schema):
            output, has_file = step.at / "outputSchemaRef", "file" in object_of(step.body.get("outputSchemaRef"))
            yield Occurrence(NameKind.FILE, step.output.found.at.file, "", output / "file" if has_file else output)
    for each in document.schemas.references:
        if isinstance(each.found, Schema):
            yield Occurrence(NameKind.FILE, each.found.at.file, "", each.at)
