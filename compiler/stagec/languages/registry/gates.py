"""Read the gates and the output schemas of a registry's steps, equal ones once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from marshal import dumps
from typing import Any, TypeVar

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.value import replace
from stagec.languages.registry.document import Gate, Intent, OutputSchema, Registry, Step, StepKind
from stagec.sources.contract.choices import Choices, choices, follow_pointer
from stagec.sources.contract.conflict import emptiness
from stagec.sources.contract.promise import Excluded, Promise, find_blank, find_excluded, possible_values, promise
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import join
from stagec.sources.shape.subschemas import tokens

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
        """Return the gate that a `structuredGate` describes; nothing when it is no object."""
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
        """Return what a step's `outputSchemaRef` refers to, as its gate sees it; `wanted` are members of the answer."""
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
        """Return what follows from a question and from the schemas, as an earlier check found it out with them."""
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
        values = {path: possible_values(self._schemas, promised) for path, promised in paths.items()}
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
    """Return what a schema promises about a path, and which values can be there, when the answer has an intent."""
    given = (tuple(field.split(".")), intent)

    def look_up() -> tuple[Promise, tuple[Json, ...] | Miss]:
        promised = promise(schemas, found, path.split("."), of_object=True, given=given)
        return promised, possible_values(schemas, promised)

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
