"""Read trees as a registry: keep valid members, leave out the others, judge nothing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from marshal import dumps
from typing import Any, TypeVar

from stagec.core.json import Json, Object, list_of, object_of, objects_in, text_in
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place, Pointer
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan.document import Success
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
from stagec.sources.contract.choices import Choices, choices, follow_pointer
from stagec.sources.contract.conflict import emptiness
from stagec.sources.contract.promise import Excluded, Promise, find_blank, find_excluded, possible_values, promise
from stagec.sources.contract.reach import references_in
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources, join
from stagec.sources.shape.subschemas import tokens
from stagec.sources.tree import Tree

T = TypeVar("T")
_PLAIN = 2
"""A version of marshal's format in which equal bytes can only be equal values."""


def write_plainly(given: Any) -> bytes:
    """Return bytes that only equal JSON values have, with members in the same order."""
    return dumps(given, _PLAIN)


class GateReader:
    """The gates read so far, by their content."""

    def __init__(self) -> None:
        self._known: dict[bytes, Gate] = {}

    def read(self, given: Json) -> Gate | None:
        """Return the gate that a `structuredGate` describes; None if it is no object."""
        if not isinstance(given, dict):
            return None
        content = write_plainly(given)
        if content not in self._known:
            listed, handoff = given.get("allowedIntents"), given.get("handoffFields")
            fields = [each if isinstance(each, str) else "" for each in list_of(handoff)]
            field, pointer = text_in(given, "intentField"), text_in(given, "intentSchemaRef")
            self._known[content] = Gate(
                allowed={each: at for at, each in enumerate(list_of(listed)) if isinstance(each, str)},
                is_whole=isinstance(listed, list) and all(isinstance(each, str) for each in listed),
                fallback=text_in(given, "fallbackIntent"),
                field=field,
                pointer=pointer,
                target_field=text_in(given, "targetField"),
                target_mode=text_in(given, "targetMode"),
                handoff=tuple(fields) if isinstance(handoff, list) else None,
                fail_fast=given.get("failFast") is not False,
                points_at_field=_names_field(pointer, field),
            )
        return self._known[content]


def _names_field(pointer: str | None, field: str | None) -> bool:
    if pointer is None or field is None:
        return False
    return tokens(pointer) == tuple(each for name in field.split(".") for each in ("properties", name))


def read_reference(body: Object) -> tuple[str | None, str | None]:
    """Return the file and the name by which a step refers to the schema of its output."""
    reference = object_of(body.get("outputSchemaRef"))
    return text_in(reference, "file"), text_in(reference, "schema")


class OutputReader:
    """The outputs of one registry's steps; steps that name the same schema by equal gates share one."""

    def __init__(self, schemas: Schemas, folder: str) -> None:
        self._schemas = schemas
        self._folder = folder
        self._known: dict[tuple[object, ...], OutputSchema] = {}

    def output(self, file: str, name: str, gate: Gate | None, wanted: tuple[str, ...] = ()) -> OutputSchema:
        """Return the schema of `outputSchemaRef` as the step's gate sees it; `wanted` are members of the answer."""
        named = () if gate is None else (gate.pointer, gate.field, gate.target_field, gate.handoff)
        key, asked = (file, name, *named), (file, name, wanted, *named)
        if key not in self._known:
            self._known[key] = self.keep(("output", *key), lambda: self._look_up(file, name, gate))
        if wanted and asked not in self._known:
            whole = self._known[key]
            self._known[asked] = self.keep(
                ("wanted", *asked), lambda: replace(whole, members=self._promise_each(whole, wanted))
            )
        return self._known[asked if wanted else key]

    def keep(self, question: Hashable, answer: Callable[[], T]) -> T:
        """Return the answer to a question about the schemas, from an earlier check with the same ones if any."""
        return self._schemas.keep_here((self._folder, question), answer)

    @property
    def is_kept(self) -> bool:
        """Whether a later check may have use for what follows from the schemas."""
        return self._schemas.is_carried

    def look_up_each(self, bodies: Iterable[tuple[str, Object]]) -> Iterator[tuple[str, OutputSchema]]:
        """Yield the schemas to which validation steps refer, by the keys of these steps."""
        for key, body in bodies:
            file, name = read_reference(body)
            if file and name:
                yield key, self.output(file, name, None)

    def _promise_each(self, output: OutputSchema, wanted: tuple[str, ...]) -> Mapping[str, Promise]:
        if not isinstance(output.found, Schema) or output.void is not None:
            return {}
        schema = output.found
        return {name: promise(self._schemas, schema, (name,), of_object=True) for name in dict.fromkeys(wanted)}

    def _look_up(self, file: str, name: str, gate: Gate | None) -> OutputSchema:
        path = join(self._folder, file)
        found = Miss.OUTSIDE if path is None else self._schemas.find_named(path, name)
        void = emptiness(self._schemas, found) if isinstance(found, Schema) else None
        if not isinstance(found, Schema) or gate is None or void is not None:
            return OutputSchema(file, name, found, Miss.UNKNOWABLE, Miss.UNKNOWABLE, void=void)
        points = gate.pointer is not None and gate.pointer.startswith("#/")
        at = follow_pointer(self._schemas, found, gate.pointer or "") if points else Miss.UNKNOWABLE
        offered = choices(self._schemas, at) if isinstance(at, Schema) else at
        read = (gate.field, gate.target_field, *(gate.handoff or ()))
        paths = {each: promise(self._schemas, found, each.split("."), of_object=True) for each in read if each}
        values = {path: possible_values(self._schemas, promised, counts=True) for path, promised in paths.items()}
        targets = values.get(gate.target_field or "")
        return OutputSchema(
            file=file,
            name=name,
            found=found,
            pointed=at,
            choices=offered,
            excluded=self._find_excluded(offered, paths.get(gate.field or "")),
            targets=targets if isinstance(targets, tuple) else None,
            paths=paths,
            values=values,
            presences=frozenset(promised.presence for promised in paths.values()),
            narrow=partial(_narrow, self._schemas, found, gate.field) if gate.field is not None else None,
            find_blank=partial(find_blank, self._schemas),
        )

    def _find_excluded(self, offered: Choices | Miss, promised: Promise | None) -> tuple[Excluded, ...]:
        if promised is None or not isinstance(offered, Choices):
            return ()
        return find_excluded(self._schemas, offered, promised)


def _narrow(
    schemas: Schemas, found: Schema, field: str, path: str, intent: str
) -> tuple[Promise, tuple[Json, ...] | Miss]:
    """Return the promise of a schema for a path, and the possible values there, if the answer has an intent."""
    given = (tuple(field.split(".")), intent)

    def look_up() -> tuple[Promise, tuple[Json, ...] | Miss]:
        promised = promise(schemas, found, path.split("."), of_object=True, given=given)
        return promised, possible_values(schemas, promised, counts=True)

    return schemas.memo.once(("narrowed", found.at, *given, path), look_up)


def count_to_closure(registry: Registry, verdict: str) -> int | None:
    """Return how many steps the shortest way from the entry of a verdict type to a closure step has, both included.

    Nothing where no way is known to be the shortest: a step may lead anywhere, or a name on the way leads to nothing.
    """
    entry = registry.entries.get(verdict)
    first = registry.step(entry.name) if entry is not None else None
    reached, done, count = {first.key: first} if first is not None else {}, set[str](), 1
    while reached:
        if any(step.kind is StepKind.CLOSURE for step in reached.values()):
            return count
        if any(not _is_clear(registry, step) for step in reached.values()):
            return None
        done.update(reached)
        targets = (move.target for step in reached.values() for move in step.moves if move.target is not None)
        following = {step.key: step for step in map(registry.step, targets) if step is not None}
        reached, count = {key: step for key, step in following.items() if key not in done}, count + 1
    return None


def _is_clear(registry: Registry, step: Step) -> bool:
    """Tell whether it is known where a step leads."""
    if step.kind is None or step.is_section or step.gate is None or Intent.JUMP in step.gate.allowed:
        return False
    return all(registry.step(move.target) is not None for move in step.moves if move.target is not None)


_STATUSES = frozenset(map(str, range(256)))
"""The exit statuses that programs have."""
_STATUS = re.compile(r"exitCode:\s*([+-]?)0*([0-9]+)")


def read_success(written: str) -> Success | None:
    """Return when a command has succeeded; nothing for words that have no meaning."""
    kind, colon, argument = written.partition(":")
    status = _STATUS.match(written)
    if status is not None:
        return Success("exit", status[2] if status[2] == "0" else f"{status[1].strip('+')}{status[2]}")
    return Success(kind, argument) if written == "empty" or (colon and kind in {"contains", "matches"}) else None


def is_attainable(success: Success) -> bool:
    """Tell whether a command can succeed as far as its exit status goes."""
    return success.kind != "exit" or success.argument in _STATUSES


@value
class Exchange:
    """A validator and the failure pattern it names, and the names of values that pass between them.

    `extracted` are the members of `extractParams`, `wanted` the pattern's `params`, each by name; `wanted` is None
    where the pattern lists none. `read` are the names that the retry prompts of the pattern read, None without prompts.
    """

    validator: str
    pattern: str
    extracted: Mapping[str, Place]
    wanted: Mapping[str, Place] | None
    read: frozenset[str] | None


def list_validators(registry: Registry) -> Iterator[tuple[str, Object]]:
    """Yield the validators of a registry by name."""
    return objects_in(registry.body, "validators")


def find_exchanges(registry: Registry) -> Iterator[Exchange]:
    """Yield every validator with its failure pattern, where both can be read."""
    patterns = dict(objects_in(registry.body, "failurePatterns"))
    # the names that the retry prompts of each failure pattern read
    read: dict[str, frozenset[str]] = {}
    for each in registry.prompts.of_retries:
        if each.prompt.file is not None:
            names = frozenset(reading.name for reading in registry.prompts.readings.get(each.prompt.file, ()))
            read[each.pattern] = read.get(each.pattern, frozenset()) | names
    for name, body in list_validators(registry):
        pattern = text_in(body, "failurePattern")
        extracted = body.get("extractParams", {})
        if pattern not in patterns or not isinstance(extracted, dict):
            continue
        at = registry.at / "validators" / name / "extractParams"
        place = registry.at / "failurePatterns" / pattern / "params"
        given = patterns[pattern].get("params")
        if not isinstance(given, list):
            wanted = None
        else:
            wanted = {each: place / index for index, each in enumerate(given) if isinstance(each, str)}
        yield Exchange(name, pattern, {each: at / each for each in extracted}, wanted, read.get(pattern))


def find_unused(registry: Registry) -> Mapping[str, tuple[str, ...]]:
    """Return the validators and the failure patterns that nothing names, by their section.

    One that was most likely meant where a name leads to nothing is not among them.
    """
    sections = (
        ("validators", registry.validators, registry.validator_mentions),
        ("failurePatterns", registry.patterns, registry.pattern_mentions),
    )
    found: dict[str, tuple[str, ...]] = {}
    for section, names, mentions in sections:
        meant = {each.name if each.name in names else names.nearest(each.name) for each in mentions}
        found[section] = tuple(name for name in names if name not in meant)
    return {section: names for section, names in found.items() if names}


def find_conditionless(registry: Registry) -> Iterator[ValidationStep]:
    """Yield the validation steps that name no validator."""
    for guard in registry.validation_steps.values():
        lists = (guard.preflight_at, guard.post_llm_at)
        if all(guard.body.get(str(each.pointer[-1]), []) == [] for each in lists):
            yield guard


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
    """The input of reading all steps; `wanted` are the keys that others take, by their name of the step."""

    outputs: OutputReader
    gates: GateReader
    wanted: Mapping[str, tuple[str, ...]]
    generation: Generation

    def output(self, key: str, body: Object, gate: Gate | None) -> OutputSchema | None:
        """Return the schema of the answers of a step."""
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
    """Return the members that only steps of 1.14 have, and those of 1.13 that are refused there."""
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
    """Return the guards of steps, and the mentions of validators and failure patterns."""
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
"""Places of mistakes in an agent definition that may hide its parameters or its verdict."""


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
    """Return the entries by verdict type, `entryStep` under the empty text, and the second steps of pairs."""
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
