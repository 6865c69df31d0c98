"""From trees to a registry: take what is well formed, leave out what is not, judge nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stagec.core.json import Json, Object, list_of, object_of, objects_in, text_in
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place, Pointer
from stagec.core.value import NOTHING, replace, value
from stagec.languages.registry.answers import agree
from stagec.languages.registry.conduct import BrokenBlock, PromptReading, read_conduct, read_retry_prompt
from stagec.languages.registry.document import (
    ALLOWED,
    KIND_OF_PHASE,
    Gate,
    Intent,
    OutputSchema,
    Registry,
    Step,
    StepKind,
    Transition,
)
from stagec.languages.registry.files import (
    Address,
    Agent,
    RegistryFiles,
    SchemaFolder,
    bundles,
    find_attached_file,
    find_attached_folder,
    is_prompt,
    read_address,
)
from stagec.languages.registry.gates import GateReader, OutputReader, read_reference, write_plainly
from stagec.languages.registry.generation import LEGACY_MEMBERS, Generation
from stagec.languages.registry.guards import (
    ValidationStep,
    read_chain,
    read_retry,
    read_validation_steps,
    read_validators,
)
from stagec.languages.registry.prompts import (
    VARIABLE,
    Prompts,
    PromptText,
    Store,
    WantedPrompt,
    find_prompts,
    read_text,
)
from stagec.sources.contract.reach import references_in
from stagec.sources.contract.schemas import Schemas
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

_KINDS = {kind.value: kind for kind in StepKind}


def read_steps(root: Object, at: Place, outputs: OutputReader, written: Generation) -> Mapping[str, Step]:
    """Return the steps of a registry by their keys."""
    found: dict[str, list[str]] = {}
    for _, body in objects_in(root, "steps"):
        for given in object_of(body.get("inputs")).values():
            step, _, key = (text_in(object_of(given), "from") or "").rpartition(".")
            found.setdefault(step, []).append(key)
    reading = _StepReading(outputs, GateReader(), {step: tuple(keys) for step, keys in found.items()}, written)
    if outputs.is_kept:
        return _keep_steps(root, at, reading)
    return {key: _step(key, body, at, reading) for key, body in objects_in(root, "steps")}


@value
class _StepReading:
    """What all steps are read with; `wanted` are the keys that others take as inputs, by what they call the step."""

    outputs: OutputReader
    gates: GateReader
    wanted: Mapping[str, tuple[str, ...]]
    generation: Generation

    def output(self, key: str, body: Object, gate: Gate | None) -> OutputSchema | None:
        """Return what the answers of a step look like."""
        file, name = read_reference(body)
        is_taken_whole = gate is None or not gate.handoff
        wanted = self.find_wanted(key, body) if is_taken_whole else ()
        return self.outputs.output(file, name, gate, wanted) if file and name else None

    def find_wanted(self, key: str, body: Object) -> tuple[str, ...]:
        """Return the keys that others take as inputs from a step."""
        return (*self.wanted.get(key, ()), *self.wanted.get(text_in(body, "stepId") or "", ()))


def _keep_steps(root: Object, at: Place, reading: _StepReading) -> Mapping[str, Step]:
    """Return the steps as an earlier check has read them, as far as all that they are read from is the same."""
    known = reading.outputs.keep(("steps", at.file, reading.generation), dict[str, tuple[object, Step]])
    found: dict[str, Step] = {}
    for key, body in objects_in(root, "steps"):
        content = write_plainly(body), reading.find_wanted(key, body)
        if key not in known or known[key][0] != content:
            known[key] = content, _step(key, body, at, reading)
        found[key] = known[key][1]
    for key in known.keys() - found.keys():
        del known[key]
    return found


def _step(key: str, body: Object, registry: Place, reading: _StepReading) -> Step:
    at = Place(registry.file, ("steps", key))
    address, is_old = read_address(body, at, reading.generation), reading.generation is Generation.V1_13
    is_section = address.c2 == "section" or key.startswith("section.")
    flow: Object = {} if is_section else body  # what a section says about running means nothing
    gate = reading.gates.read(flow.get("structuredGate"))
    routes, output = _read_routes(flow.get("transitions")), reading.output(key, flow, gate)
    kind_member, kind = _find_kind(flow, address if address.at == at else None, is_old=is_old)
    return Step(
        key=key,
        at=at,
        id=text_in(body, "stepId"),
        kind=kind,
        acts_as=kind if kind is None or gate is None or gate.allowed.keys() <= ALLOWED[kind] else None,
        phase=address.c2,
        is_section=is_section,
        gate=gate,
        **routes,
        output=output,
        body=body,
        declared=_list_declared(body),
        agrees=agree(gate, output, routes["intents"]),
        address=address,
        known=Memo(),
        kind_member=kind_member,
        **({} if is_old else _read_additions(body, at, gate)),
    )


def _list_declared(body: Object) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for index, each in enumerate(list_of(body.get("uvVariables"))):
        if isinstance(each, str) and (name := each.removeprefix(VARIABLE)):
            found.setdefault(name, index)
    return found or NOTHING


def _read_additions(body: Object, at: Place, gate: Gate | None) -> dict[str, Any]:
    """Return what only steps of 1.14 have, and what they have of 1.13 although it is refused."""
    legacy = tuple(each for each in LEGACY_MEMBERS if each in body)
    chain = read_chain(body, at)
    repeats = _USUAL_CHAIN if chain is None else tuple(each.name for each in chain)
    return {
        "adaptation_chain": chain,
        "repeats": repeats if gate is not None and Intent.REPEAT in gate.allowed else None,
        "retry": read_retry(body, at),
        "legacy": legacy,
    }


_USUAL_CHAIN = ("default",)


def _find_kind(flow: Object, inferring: Address | None, *, is_old: bool) -> tuple[str, StepKind | None]:
    """Return the member that states the kind of a step, and the kind; flat coordinates tell it where nothing does."""
    member = "stepKind" if is_old or ("kind" not in flow and "stepKind" in flow) else "kind"
    if member in flow or inferring is None or not flow:
        return member, _KINDS.get(str(flow.get(member)))
    return member, KIND_OF_PHASE.get(inferring.c2 or "")


def _read_routes(transitions: Json) -> dict[str, Any]:
    rules = object_of(transitions)
    return {
        "moves": tuple(_moves(rules)),
        "intents": frozenset(rules) if isinstance(transitions, dict) else None,
        "has_cases": any(isinstance(rule, dict) and "targets" in rule for rule in rules.values()),
    }


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


def read(sources: Sources, files: tuple[str, ...]) -> tuple[Registry, ...]:
    """Return the registries that the files are or name, with all that belongs to them."""
    found, schemas = bundles(sources, files), Schemas.carry(sources)
    readable = [each for each in found if each.registry.readable and isinstance(each.registry.value, dict)]
    return tuple(_registry(each, sources, schemas) for each in readable)


def _registry(bundle: RegistryFiles, sources: Sources, schemas: Schemas) -> Registry:
    root, at, outputs = object_of(bundle.registry.value), bundle.registry.at, OutputReader(schemas, bundle.schemas.path)
    aliases = _aliases(steps := read_steps(root, at, outputs, bundle.generation))
    guards = _list_guards(root, at, bundle.generation, outputs)
    strays = {fault.topic == _UNKNOWN for fault in bundle.registry.faults if _decides(fault.at.pointer)}
    return Registry(
        id=text_in(root, "agentId") or posixpath.basename(posixpath.dirname(at.file)) or at.file,
        at=at,
        body=root,
        agent=_agent(bundle.agent, bundle.generation_of_agent, sources),
        steps=steps,
        is_whole=False not in strays,
        has_strays=True in strays,
        broken_steps=frozenset(object_of(root.get("steps")).keys() - steps.keys()),
        aliases=aliases,
        memo=Memo(),
        step_names=outputs.keep(("names", tuple(steps)), lambda: NameIndex(steps)).renew(),
        **_list_mentions(root, at, steps, aliases),
        **guards,
        schemas=_schema_folder(bundle.schemas.path, sources, schemas),
        prompts=_prompts(bundle, sources, steps, guards["validation_steps"]),
        folders=(bundle.schemas, bundle.prompts),
        coordinates=bundle.coordinates,
        keeps_steps=outputs.is_kept,
        generation=bundle.generation,
    )


def _aliases(steps: Mapping[str, Step]) -> Mapping[str, str]:
    """Return the ids that differ from the key of their step, and are no key themselves."""
    return {step.id: key for key, step in steps.items() if step.id is not None and step.id not in steps}


def _list_guards(root: Object, at: Place, written: Generation, outputs: OutputReader) -> dict[str, Any]:
    """Return what guards steps, and the mentions of validators and failure patterns."""
    guards, validators = read_validation_steps(root, at, written), read_validators(root, at, written)
    named = ((each, text_in(each.body, "failurePattern")) for each in validators.values())
    return {
        "validators": NameIndex(object_of(root.get("validators"))),
        "validator_mentions": tuple(each.validator for guard in guards.values() for each in guard.conditions),
        "patterns": NameIndex(object_of(root.get("failurePatterns"))),
        "pattern_mentions": tuple(
            Mention(name, each.at / "failurePattern") for each, name in named if name is not None
        ),
        "guarded": dict(outputs.look_up_each(objects_in(root, "validationSteps"))),
        "validation_steps": guards,
        "declared_validators": validators,
    }


def _list_mentions(root: Object, at: Place, steps: Mapping[str, Step], aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return the entries, and the mentions of every step that does not exist, as a target and as a fallback."""
    known = {*object_of(root.get("steps")), *aliases}
    moves = ((step, move) for step in steps.values() for move in step.moves if move.target is not None)
    lost = [(step.mention(move), move.is_fallback) for step, move in moves if move.target not in known]
    return {
        "lost_targets": tuple(each for each, is_fallback in lost if not is_fallback),
        "lost_fallbacks": tuple(each for each, is_fallback in lost if is_fallback),
        **_list_entries(root, at),
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
_DECIDING = frozenset({"structuredGate", "transitions", "outputSchemaRef", "stepKind", "kind", "c2", "stepId"})


def _decides(pointer: Pointer) -> bool:
    """Tell whether what is wrong at a place may change where runs begin or go."""
    if pointer[:1] == ("steps",):
        return len(pointer) < len(("steps", "key", "member")) or pointer[2] in _DECIDING
    return pointer[:1] in {(), ("entryStep",), ("entryStepMapping",)}


def _prompts(
    bundle: RegistryFiles, sources: Sources, steps: Mapping[str, Step], guards: Mapping[str, ValidationStep]
) -> Prompts:
    """Return the prompts of every step but those that run a program instead."""
    folder = bundle.prompts.path
    if not bundle.prompts.is_there:
        return Prompts()
    store = Store(folder, sources.below(folder, ".md"), lambda path: is_prompt(sources, path))
    asking = ((key, step) for key, step in steps.items() if "runner" not in step.body)
    wanted = (WantedPrompt(key, step.address, step.repeats or ()) for key, step in asking)
    found = find_prompts(store, object_of(bundle.registry.value), wanted, guards, bundle.registry.faults)
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


def _agent(tree: Tree | None, written: Generation, sources: Sources) -> Agent | None:
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
        version=text_in(tree.value, "version"),
        generation=written,
        conduct=read_conduct(sources, tree, written),
    )


def _list_entries(root: Object, at: Place) -> dict[str, Any]:
    """Return where runs begin by verdict type, `entryStep` under the empty text, and the second steps of pairs."""
    first: dict[str, Mention] = {}
    second: dict[str, Mention] = {}
    single = text_in(root, "entryStep")
    if single is not None:
        first[""] = Mention(single, at / "entryStep")
    for verdict, given in object_of(root.get("entryStepMapping")).items():
        place, pair = at / "entryStepMapping" / verdict, object_of(given)
        initial, continuation = text_in(pair, "initial"), text_in(pair, "continuation")
        if isinstance(given, str):
            first[verdict] = Mention(given, place)
        if initial:
            first[verdict] = Mention(initial, place / "initial")
        if continuation:
            second[verdict] = Mention(continuation, place / "continuation")
    return {"entries": first, "continuations": second}
