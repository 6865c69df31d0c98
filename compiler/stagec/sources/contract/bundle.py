"""Bundles: a schema with everything it refers to, as one self-contained text of a plan."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Any
from urllib.parse import quote

from stagec.core.canonical import text_of
from stagec.core.json import Json, Object, list_of
from stagec.core.place import Key, Place, Pointer, pointer_text
from stagec.core.value import replace, value
from stagec.sources.contract.choices import hold_number
from stagec.sources.contract.reach import Keyword, Reach, SchemaScope, restate
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.shape.dialects import LATEST, Dialect, drop_ignored
from stagec.sources.shape.subschemas import SchemaPart, position


def bundle(schemas: Schemas, schema: Schema) -> str:
    """Return the text of one self-contained JSON Schema equal to a schema with everything it refers to.

    What lies outside the schema stands once under its `$defs`, and every reference is a `$ref` to a pointer into the
    same text. `$dynamicRef` and `$recursiveRef` become `$ref`, too: they resolve to the root of the schema's file if it
    has the anchor, else to the static target. What the schemas are called (`$id`, `$anchor` and the like) is left out.
    A reference that leads to nothing is left as it is. The order of members is the author's.

    Keywords that the draft of a part does not know are left out, and so are those beside a `$ref` in drafts that ignore
    them.

    A file that names no draft is in the latest. The text is in the schema's own draft, and says so unless that is the
    latest, where every part means the same in it. Otherwise it is in the latest draft of any part, and the others are
    restated: `items` becomes `prefixItems`, `additionalItems` becomes `items`, `dependencies` become
    `dependentRequired` and `dependentSchemas`, and exclusive bounds become numbers. One difference is lost: in
    draft-04, 1.0 is no integer. Whole numbers are those that doubles hold.
    """
    # the text of a schema with its whole numbers as runs hold those of answers
    text = text_of(_Bundle(schemas, schema).build())
    if _LARGE.search(text) is None:
        return text
    try:
        return text_of(json.loads(text, parse_int=_read_number))
    except RecursionError:  # too deep to be used, as its own diagnostic says
        return text


def _read_number(text: str) -> int:
    return hold_number(int(text)) if len(text) < _LONGEST else int(text)


_LARGE = re.compile(r"[0-9]{16}")
_LONGEST = 400


@value
class _Task:
    """A part to be written: its target, its content, its source, and its final place."""

    sink: Any
    slot: Key
    given: Json
    stands: SchemaPart
    scope: SchemaScope
    at: Place
    pointer: Pointer

    def put(self, sink: Any, slot: Key, key: Key, given: Json) -> Iterator[_Task]:
        """Put the member `key` of this part, which is called `slot` from now on, in its place, or yield its task."""
        if isinstance(given, dict | list) and (stands := position(self.stands, key, given)) is not SchemaPart.DATA:
            yield _Task(sink, slot, given, stands, self.scope, self.at / key, (*self.pointer, slot))
        else:
            sink[slot] = given

    def append_parts(self, sink: list[Any], member: Keyword) -> Iterator[_Task]:
        """Put the schemas of an `allOf` behind others, and yield their tasks."""
        at, pointer = self.at / member.key, (*self.pointer, member.name)
        for index, each in enumerate(list_of(member.given)):
            slot = len(sink)
            sink.append(each)
            if isinstance(each, dict | list):
                stands = position(SchemaPart.LISTED, index, each)
                yield _Task(sink, slot, each, stands, self.scope, at / index, (*pointer, slot))


class _Bundle:
    """One schema in the making."""

    def __init__(self, schemas: Schemas, schema: Schema) -> None:
        self._root = schema.at
        self._reach = Reach(schemas, schema)
        self._landed: dict[Place, Pointer] = {}
        self._references: list[tuple[dict[str, Any], Place]] = []

    def build(self) -> Json:
        """Return the whole schema."""
        (schema, scope), *others = self._reach.targets.values()
        root = self._build_schema(schema, scope, ())
        if not isinstance(root, dict):
            return root
        defined = self._define(others, root.get("$defs"))
        for holder, at in self._references:
            holder["$ref"] = "#" + quote(pointer_text(self._landed[at]), safe=_URI)
        return self._with_draft({**root, "$defs": defined} if defined else root, schema.value)

    def _with_draft(self, root: dict[str, Any], written: Json) -> Json:
        """Return the whole schema with the right `$schema`."""
        draft = self._reach.draft
        named = Dialect.of(written, draft) if isinstance(written, dict) else draft
        if "$schema" in root:
            return root if named is draft else {**root, "$schema": draft.address}
        return root if draft is LATEST else {"$schema": draft.address, **root}

    def _define(self, targets: Iterable[tuple[Schema, SchemaScope]], own: Json) -> dict[str, Any]:
        """Return the schema's own definitions with what lies outside it, nothing when all lies inside."""
        defined: dict[str, Any] = dict(own) if isinstance(own, dict) else {}
        names = DefinitionNames(defined)
        before = len(defined)
        for schema, scope in sorted(targets, key=lambda each: len(each[0].at.pointer)):  # what holds others comes first
            if schema.at not in self._landed:
                name = names.name(schema.at)
                self._landed[schema.at] = ("$defs", name)
                defined[name] = self._build_schema(schema, scope, ("$defs", name))
        return defined if len(defined) > before else {}

    def _build_schema(self, schema: Schema, scope: SchemaScope, pointer: Pointer) -> Json:
        holder: list[Json] = [schema.value]
        start = _Task(holder, 0, schema.value, SchemaPart.SCHEMA, scope, schema.at, pointer)
        todo = [start] if isinstance(schema.value, dict | list) else []
        while todo:
            task = todo.pop()
            if task.stands is SchemaPart.SCHEMA and task.at in self._reach.targets:
                self._landed.setdefault(task.at, task.pointer)
            todo.extend(self._write_part(task))
        return holder[0]

    def _write_part(self, task: _Task) -> Iterator[_Task]:
        """Put a part in its place and yield the tasks of its own parts."""
        given = task.given
        if task.at == self._root and task.pointer and task.stands is SchemaPart.SCHEMA:
            task.sink[task.slot] = self._reference({}, self._root)
        elif not isinstance(given, dict):
            task.sink[task.slot] = made = [None] * len(list_of(given))
            for index, each in enumerate(list_of(given)):
                yield from task.put(made, index, index, each)
        elif task.stands is SchemaPart.SCHEMA:
            yield from self._schema(replace(task, scope=self._reach.inner(given, task.at, task.scope)), given)
        else:
            task.sink[task.slot] = named = dict.fromkeys(given)
            for name, each in given.items():
                yield from task.put(named, name, name, each)

    def _schema(self, task: _Task, given: Object) -> Iterator[_Task]:
        found = {keyword: target.at for keyword, target in self._reach.find_references(given, task.scope)}
        members = tuple(self._members(task, given))
        others = [each for each in members if each.key not in found]
        lonely = not others or (self._reach.draft.hears_siblings and all(each.name != "$ref" for each in others))
        keyword = "$ref" if lonely and len(found) == 1 else "allOf"
        made: dict[str, Any] = dict.fromkeys(keyword if each.key in found else each.name for each in members)
        task.sink[task.slot] = made
        if found and keyword == "allOf":
            made["allOf"] = [self._reference({}, each) for each in found.values()]
        for at in found.values() if keyword == "$ref" else ():
            self._reference(made, at)
        for each in others:
            if found and each.name == keyword:
                yield from task.append_parts(made["allOf"], each)
            else:
                yield from task.put(made, each.name, each.key, each.given)

    def _reference(self, holder: dict[str, Any], at: Place) -> dict[str, Any]:
        """Return an object whose `$ref` is filled in later, when the place of the target is known."""
        holder["$ref"] = None
        self._references.append((holder, at))
        return holder

    def _members(self, task: _Task, given: Object) -> Iterator[Keyword]:
        own, draft = task.scope.draft, self._reach.draft
        names = _NAMES | {"id"} if Dialect.FOUR in {own, draft} else _NAMES
        dropped = names if task.pointer else names - {"$schema"}
        same = not self._reach.is_mixed or own is draft
        known = restate(given, own, draft)
        if same:
            known = (Keyword(key, key, each) for key, each in drop_ignored(given, own).items())
        return (each for each in known if each.name not in dropped or not isinstance(each.given, str | bool))


_NAMES = frozenset({"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema"})
"""The keywords that name a schema and its draft."""
_URI = "/!$&'()*+,;=:@?~"
"""Characters of a fragment besides letters, digits and `-._`."""


_UNUSUAL = re.compile(r"[^\w.-]+")


class DefinitionNames:
    """The names in use, of which none is given again."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbered: Counter[str] = Counter()

    def name(self, at: Place) -> str:
        """Return a name for what comes from a place: the place's own last name, else with its file's, else a number."""
        stem = _UNUSUAL.sub("_", posixpath.basename(at.file).partition(".")[0])
        # the last name on the way to a place, with the indexes behind it
        last = max((index for index, key in enumerate(at.pointer) if isinstance(key, str)), default=0)
        own = _UNUSUAL.sub("_", "_".join(map(str, at.pointer[last:]))) or stem or "schema"
        usual = (own, own if own == stem else f"{stem}.{own}")
        numbered = (f"{own}_{number}" for number in count(self._numbered[own] + 2))
        name = next(each for each in chain(usual, numbered) if each not in self._taken)
        self._numbered[own] += name not in usual
        self._taken.add(name)
        return name
