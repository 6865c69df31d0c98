"""From trees to a registry: take what is well formed, leave out what is not, judge nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from stagec.contract.reach import references_in
from stagec.contract.schemas import Schemas
from stagec.core.json import Object, list_of, object_of, text_in
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place, Pointer
from stagec.core.value import replace, value
from stagec.frontends.registry.agreement import agree
from stagec.frontends.registry.blocks import BrokenBlock, PromptReading, read_retry_prompt
from stagec.frontends.registry.document import (
    ALLOWED,
    KIND_OF_PHASE,
    Agent,
    Gate,
    OutputSchema,
    Registry,
    SchemaFolder,
    Step,
    StepKind,
    Transition,
)
from stagec.frontends.registry.files import RegistryFiles, bundles, find_attached_file, find_attached_folder, is_prompt
from stagec.frontends.registry.gates import GateReader, OutputReader, read_reference
from stagec.frontends.registry.prompts import Prompts, PromptText, Store, find_prompts, read_text
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

_KINDS = {kind.value: kind for kind in StepKind}


def read(sources: Sources, files: tuple[str, ...]) -> tuple[Registry, ...]:
    """Return the registries that the files are or name, with all that belongs to them."""
    found, schemas = bundles(sources, files), Schemas(sources)
    readable = [each for each in found if each.registry.readable and isinstance(each.registry.value, dict)]
    return tuple(_registry(each, sources, schemas) for each in readable)


def _registry(bundle: RegistryFiles, sources: Sources, schemas: Schemas) -> Registry:
    root, at, outputs = object_of(bundle.registry.value), bundle.registry.at, OutputReader(schemas, bundle.schemas.path)
    aliases = _aliases(steps := _steps(root, at, outputs))
    strays = {fault.topic == _UNKNOWN for fault in bundle.registry.faults if _decides(fault.at.pointer)}
    return Registry(
        id=text_in(root, "agentId") or posixpath.basename(posixpath.dirname(at.file)) or at.file,
        at=at,
        body=root,
        agent=_agent(bundle.agent, sources),
        steps=steps,
        is_whole=False not in strays,
        has_strays=True in strays,
        broken_steps=frozenset(object_of(root.get("steps")).keys() - steps.keys()),
        aliases=aliases,
        memo=Memo(),
        step_names=NameIndex(steps),
        **_list_mentions(root, at, steps, aliases),
        entries=dict(_entries(root, at)),
        validators=NameIndex(object_of(root.get("validators"))),
        patterns=NameIndex(object_of(root.get("failurePatterns"))),
        schemas=_schema_folder(bundle.schemas.path, sources, schemas),
        prompts=_prompts(bundle, sources, steps),
        folders=(bundle.schemas, bundle.prompts),
        coordinates=bundle.coordinates,
        guarded=dict(outputs.look_up_each(_objects(root, "validationSteps"))),
    )


def _aliases(steps: Mapping[str, Step]) -> Mapping[str, str]:
    """Return the ids that differ from the key of their step, and are no key themselves."""
    return {step.id: key for key, step in steps.items() if step.id is not None and step.id not in steps}


def _steps(root: Object, at: Place, outputs: OutputReader) -> Mapping[str, Step]:
    found: dict[str, list[str]] = {}
    for _, body in _objects(root, "steps"):
        for given in object_of(body.get("inputs")).values():
            step, _, key = (text_in(object_of(given), "from") or "").rpartition(".")
            found.setdefault(step, []).append(key)
    reading = _StepReading(outputs, GateReader(), {step: tuple(keys) for step, keys in found.items()})
    return {key: _step(key, body, at, reading) for key, body in _objects(root, "steps")}


@value
class _StepReading:
    """What all steps are read with; `wanted` are the keys that others take as inputs, by what they call the step."""

    outputs: OutputReader
    gates: GateReader
    wanted: Mapping[str, tuple[str, ...]]

    def output(self, key: str, body: Object, gate: Gate | None) -> OutputSchema | None:
        """Return what the answers of a step look like."""
        file, name = read_reference(body)
        is_taken_whole = gate is None or not gate.handoff
        wanted = (*self.wanted.get(key, ()), *self.wanted.get(text_in(body, "stepId") or "", ()))
        return self.outputs.output(file, name, gate, wanted if is_taken_whole else ()) if file and name else None


def _list_mentions(
    root: Object, at: Place, steps: Mapping[str, Step], aliases: Mapping[str, str]
) -> dict[str, tuple[Mention, ...]]:
    """Return the mentions of every step that does not exist, of targets and of fallbacks, and of validators."""
    known = {*object_of(root.get("steps")), *aliases}
    moves = ((step, move) for step in steps.values() for move in step.moves if move.target is not None)
    lost = [(step.mention(move), move.is_fallback) for step, move in moves if move.target not in known]
    validator_mentions: list[Mention] = []
    for key, body in _objects(root, "validationSteps"):
        for index, condition in enumerate(list_of(body.get("validationConditions"))):
            name = text_in(object_of(condition), "validator")
            if name is not None:
                validator_mentions.append(
                    Mention(name, at / "validationSteps" / key / "validationConditions" / index / "validator")
                )
    pattern_mentions: list[Mention] = []
    for key, body in _objects(root, "validators"):
        name = text_in(body, "failurePattern")
        if name is not None:
            pattern_mentions.append(Mention(name, at / "validators" / key / "failurePattern"))
    return {
        "lost_targets": tuple(each for each, is_fallback in lost if not is_fallback),
        "lost_fallbacks": tuple(each for each, is_fallback in lost if is_fallback),
        "validator_mentions": tuple(validator_mentions),
        "pattern_mentions": tuple(pattern_mentions),
    }


def _schema_folder(folder: str, sources: Sources, schemas: Schemas) -> SchemaFolder:
    files = {posixpath.relpath(file, folder or "."): file for file in sources.below(folder, ".json")}
    return SchemaFolder(
        path=folder,
        files=NameIndex(files),
        members={name: NameIndex(schemas.names(file)) for name, file in files.items()},
        references=tuple(each for file in files.values() for each in references_in(schemas, schemas.root(file))),
    )


_UNKNOWN = "unknown-key"
"""Faults of members that no run looks at."""
_DECIDING = frozenset({"structuredGate", "transitions", "outputSchemaRef", "stepKind", "c2", "stepId"})


def _decides(pointer: Pointer) -> bool:
    """Tell whether what is wrong at a place may change where runs begin or go."""
    if pointer[:1] == ("steps",):
        return len(pointer) < len(("steps", "key", "member")) or pointer[2] in _DECIDING
    return pointer[:1] in {(), ("entryStep",), ("entryStepMapping",)}


def _prompts(bundle: RegistryFiles, sources: Sources, steps: Mapping[str, Step]) -> Prompts:
    """Return the prompts of every step but those that run a program instead."""
    folder = bundle.prompts.path
    if not bundle.prompts.is_there:
        return Prompts()
    store = Store(folder, sources.below(folder, ".md"), lambda path: is_prompt(sources, path))
    wanted = ((key, step.body) for key, step in steps.items() if "runner" not in step.body)
    found = find_prompts(store, object_of(bundle.registry.value), wanted, bundle.registry.faults)
    files = dict.fromkeys(each.prompt.file for each in found.of_retries if each.prompt.file is not None)
    own = dict.fromkeys(each.file for each in found.of_steps.values() if each.file is not None)
    retries = {file: _read_retry_prompt(sources, file) for file in files}
    # what each prompt says of variables; nothing of one that cannot be read
    texts: dict[str, PromptText] = {}
    for file in own:
        tree = sources.tree(file, "prompt")
        if tree is not None and tree.readable:
            texts[file] = read_text(tree)
    return replace(
        found,
        broken_blocks=tuple(each for broken, _ in retries.values() for each in broken),
        readings={file: names for file, (_, names) in retries.items()},
        blank=tuple(_find_blank(sources, {**own, **files})),
        texts=texts,
    )


def _find_blank(sources: Sources, files: Iterable[str]) -> Iterator[Place]:
    """Yield the prompts that say nothing."""
    for file in files:
        tree = sources.tree(file, "prompt")
        if tree is not None and tree.readable and tree.data:
            text = tree.data.decode(errors="replace")
            if not text[slice(*(tree.body or (0, None)))].strip():
                yield tree.at


def _read_retry_prompt(sources: Sources, file: str) -> tuple[tuple[BrokenBlock, ...], tuple[PromptReading, ...]]:
    tree = sources.tree(file, "prompt")
    if tree is None or not tree.readable:
        return (), ()
    text = tree.data.decode(errors="replace")
    return read_retry_prompt(text, tree.at, *(tree.body or (0, len(text))))


_SYSTEM_PROMPT = ("runner", "flow", "systemPromptPath")
_FALLBACK_FOLDER = ("runner", "flow", "prompts", "fallbackDir")


_LIMITING: frozenset[Pointer] = frozenset({(), ("parameters",), ("runner",), ("runner", "verdict")})
"""Where what is wrong with an agent definition may be its parameters or its verdict."""


def _agent(tree: Tree | None, sources: Sources) -> Agent | None:
    if tree is None or not isinstance(tree.value, dict):
        return None
    verdict = object_of(object_of(tree.value.get("runner")).get("verdict"))
    faulty = {each.at.pointer[:2] for each in tree.faults}
    return Agent(
        at=tree.at,
        name=text_in(tree.value, "name"),
        verdict=text_in(verdict, "type"),
        settings=object_of(verdict.get("config")),
        parameters=NameIndex(object_of(tree.value.get("parameters"))),
        declared=object_of(tree.value.get("parameters")),
        is_whole=tree.readable and "runner" in tree.value and faulty.isdisjoint(_LIMITING),
        system_prompt=find_attached_file(sources, tree, _SYSTEM_PROMPT),
        fallback_folder=find_attached_folder(sources, tree, _FALLBACK_FOLDER),
    )


def _step(key: str, body: Object, registry: Place, reading: _StepReading) -> Step:
    phase = text_in(body, "c2")
    is_section = phase == "section" or key.startswith("section.")
    flow: Object = {} if is_section else body  # what a section says about running means nothing
    gate = reading.gates.read(flow.get("structuredGate"))
    transitions = flow.get("transitions")
    intents = frozenset(transitions) if isinstance(transitions, dict) else None
    output = reading.output(key, flow, gate)
    kind = _KINDS.get(str(flow["stepKind"])) if "stepKind" in flow else KIND_OF_PHASE.get(text_in(flow, "c2") or "")
    return Step(
        key=key,
        at=Place(registry.file, ("steps", key)),
        id=text_in(body, "stepId"),
        kind=kind,
        acts_as=kind if kind is None or gate is None or gate.allowed.keys() <= ALLOWED[kind] else None,
        phase=phase,
        is_section=is_section,
        gate=gate,
        moves=tuple(_moves(object_of(transitions))),
        intents=intents,
        output=output,
        body=body,
        has_cases=any(isinstance(rule, dict) and "targets" in rule for rule in object_of(transitions).values()),
        agrees=agree(gate, output, intents),
    )


def _moves(transitions: Object) -> Iterator[Transition]:
    for intent, rule in transitions.items():
        if not isinstance(rule, dict):
            continue
        target, fallback = rule.get("target", ...), rule.get("fallback")
        if target is None or isinstance(target, str):
            yield Transition(intent, (intent, "target"), target)
        if isinstance(fallback, str):
            yield Transition(intent, (intent, "fallback"), fallback)
        for case, conditional in object_of(rule.get("targets")).items():
            if conditional is None or isinstance(conditional, str):
                yield Transition(intent, (intent, "targets", case), conditional, case)


def _entries(root: Object, at: Place) -> Iterator[tuple[str, Mention]]:
    single = text_in(root, "entryStep")
    if single is not None:
        yield "", Mention(single, at / "entryStep")
    for verdict, name in object_of(root.get("entryStepMapping")).items():
        if isinstance(name, str):
            yield verdict, Mention(name, at / "entryStepMapping" / verdict)


def _objects(given: Object, member: str) -> Iterator[tuple[str, Object]]:
    for key, body in object_of(given.get(member)).items():
        if isinstance(body, dict):
            yield key, body
