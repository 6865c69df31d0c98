"""Schemas in every dialect and spread over files, and answers for them: made freely, whatever a checker may think.

What an answer looks like is kept beside each schema as it is made, so that nobody has to follow the schema to answer it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

Json = Any

DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
_ORDER = tuple(DRAFTS)
_SCALARS: tuple[tuple[str, tuple[Json, ...]], ...] = (
    ("plain values", ("small", "large")),
    ("plain values", ("a", "b", "c")),
    ("plain values", (True, False)),
    ("plain values", (1, 2, 3)),
    ("odd values", ("", "default", "1.0", "null")),
    ("odd values", ("é", "ß/~1", "a b", "%25")),
    ("odd values", (None, "none")),
    ("odd values", (1, 1.5, "1")),
    ("big numbers", (10**21, "x")),
    ("big numbers", (2**53 + 2, 7)),
    ("big numbers", (1e300, -1e300)),
    ("big numbers", (-(2**63), 2**64)),
    ("inexact numbers", (2**53 + 1, "x")),
    ("inexact numbers", (0.1, 0.2)),
    ("inexact numbers", (1e-7, 5)),
)
"""What the values of a member may be, and what sort that is."""
_FREE: tuple[tuple[Json, tuple[Json, ...]], ...] = (
    ({"type": "string"}, ("", "a text", "é😀", "1")),
    ({"type": "string", "minLength": 2}, ("ab", "a text")),
    ({"type": "string", "pattern": "^[a-z]+$"}, ("abc", "x")),
    ({"type": "integer"}, (0, -7, 2**53 - 1, 10**15)),
    ({"type": "integer"}, (2**53 + 2, 2**60, 10**21)),
    ({"type": "number", "multipleOf": 0.5}, (0, 1.5, -2)),
    ({"type": "number", "minimum": 0, "maximum": 10**18}, (0, 0.5, 10**17)),
    ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, ([], ["a"], ["a", "b"])),
    ({"type": "array", "minItems": 1, "uniqueItems": True}, ([1], ["a", {}])),
    ({"type": ["string", "null"]}, (None, "x")),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, ({}, {"a": 1})),
    ({}, (None, 1, "x", [], {})),
)
HOME = "https://example.com/project/"
"""Where files with an address of their own say that they are."""
_NAMES = ("part", "a/b", "c~d", "é", "50%", "with space", "Upper", "1", "$weird", "properties")
"""Names of parts that references have to write in another way."""


class Draft:
    """A dialect of JSON Schema, and how some things are said in it; `none` is a file that names none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.at = _ORDER.index(name) if name in DRAFTS else len(_ORDER) - 1

    @property
    def header(self) -> dict[str, Json]:
        """What a file in this dialect begins with."""
        return {"$schema": DRAFTS[self.name]} if self.name in DRAFTS else {}

    def since(self, name: str) -> bool:
        """Tell whether this is the dialect of a name, or a later one."""
        return self.at >= _ORDER.index(name)

    def only(self, given: Json) -> Json:
        """Return the schema of one value."""
        return {"const": given} if self.since("draft-06") else {"enum": [given]}

    def row(self, first: Json) -> Json:
        """Return the members of a list whose first element has a schema."""
        return {"prefixItems" if self.since("2020-12") else "items": [first]}

    def named(self, name: str) -> dict[str, Json]:
        """Return what gives a part a name to be referred to by, without a pointer."""
        if self.since("2019-09"):
            return {"$anchor": name}
        return {"$id" if self.since("draft-06") else "id": f"#{name}"}

    @property
    def id(self) -> str:
        """The member that gives a part an address."""
        return "$id" if self.since("draft-06") else "id"


class Leaf(NamedTuple):
    """A member of an answer: by its dotted path, what it may be, and whether it must be there."""

    path: str
    values: tuple[Json, ...]
    schema: Json
    required: bool = True


class Placed(NamedTuple):
    """A schema where it stands: the file, the name in it, and answers of which most satisfy it."""

    file: str
    name: str
    answers: tuple[Json, ...]


class SchemaFiles:
    """The schema files of one project in the making; `marks` are the constructions that stand in them."""

    def __init__(self, random: Random, marks: Counter[str], *, folder: str = "schemas/") -> None:
        self._random = random
        self._marks = marks
        self._folder = folder
        names = (*DRAFTS, "none")
        chosen = random.choice(names)
        self._drafts = [chosen, chosen if random.random() < 0.8 else random.choice(names)]
        self.files: dict[str, Json] = {}
        is_addressed = self.chance(0.15, "files with an $id")
        for at in range(random.choice((1, 1, 2, 3))):
            draft, name = Draft(self._drafts[at > 0]), f"{('all', 'other', 'deep/more')[at]}.schema.json"
            self.files[name] = {**draft.header, **({draft.id: f"{HOME}{name}"} if is_addressed else {})}
            marks[f"dialect {draft.name}"] += 1
        if len(self.files) > 1:
            marks["several schema files"] += 1

    def chance(self, share: float, mark: str) -> bool:
        """Tell whether something is made, and note it."""
        if self._random.random() < share:
            self._marks[mark] += 1
            return True
        return False

    def scalar(self) -> tuple[Json, ...]:
        """Return the values of a member."""
        mark, values = self._random.choice(_SCALARS[:4] if self._random.random() < 0.6 else _SCALARS)
        self._marks[mark] += 1
        return values

    def free(self, path: str, *, required: bool = True) -> Leaf:
        """Return a member of which little is said."""
        schema, values = self._random.choice(_FREE)
        return Leaf(path, values, schema, required)

    def chosen(self, path: str, values: tuple[Json, ...], *, required: bool = True, plainly: bool = False) -> Leaf:
        """Return a member that is one of some values, said in one of many ways."""
        draft, random = Draft(self._drafts[0]), self._random
        plain: Json = {"enum": [*values]}
        ways: list[Json] = [plain, plain, plain, {"anyOf": [draft.only(each) for each in values]}]
        ways += [{"oneOf": [draft.only(each) for each in values]}, {"allOf": [plain, {"enum": [*values, "never"]}]}]
        ways += [{"enum": [*values, "never"], "not": draft.only("never")}]
        if len(values) == 1:
            ways += [draft.only(values[0])] * 3
        if self.chance(0.04, "keyword of another dialect"):
            foreign = ({"const": values[0]}, {"enum": [*values], "if": {}, "then": False}, {"prefixItems": [False]})
            return Leaf(path, values, random.choice(foreign[plainly:2]), required)
        return Leaf(path, values, random.choice(ways) if not plainly and random.random() < 0.5 else plain, required)

    def place(self, name: str, leaves: list[Leaf], union: tuple[str, dict[Json, list[str]]] | None = None) -> Placed:
        """Write the schema of an object; `union` is a member and the members that must be there for its values."""
        random = self._random
        file = random.choice([*self.files])
        draft = Draft(self._drafts[file != "all.schema.json"])
        schema = self._object(draft, leaves)
        if union is not None:
            schema |= self._told_apart(draft, union)
        self._peculiar(draft, name, schema)
        self._scatter(file, name, schema, draft)
        self.files[file][name] = schema
        return Placed(file, name, tuple(self._answers(leaves)))

    def _object(self, draft: Draft, leaves: list[Leaf]) -> dict[str, Json]:
        schema: dict[str, Json] = {"type": "object", "required": [], "properties": {}}
        for leaf in leaves:
            at = schema
            *holders, last = leaf.path.split(".")
            for holder in holders:
                self._demand(at, holder, required=leaf.required)
                at = at["properties"].setdefault(holder, {"type": "object", "required": [], "properties": {}})
            self._demand(at, last, required=leaf.required or at is not schema)
            at["properties"][last] = leaf.schema
        for each in (schema, *(part for part in schema["properties"].values() if isinstance(part, dict))):
            if each.get("required") == []:
                del each["required"]  # draft-04 wants at least one
        if self.chance(0.15, "closed object"):
            schema["additionalProperties"] = False
        elif draft.since("2019-09") and self.chance(0.1, "unevaluatedProperties"):
            schema["unevaluatedProperties"] = False
        return schema

    @staticmethod
    def _demand(schema: dict[str, Json], name: str, *, required: bool) -> None:
        if required and name not in schema.setdefault("required", []):
            schema["required"].append(name)

    def _told_apart(self, draft: Draft, union: tuple[str, dict[Json, list[str]]]) -> dict[str, Json]:
        """Say for each value of a member what else must be there: as a union, or as conditions."""
        path, needs = union
        if draft.since("draft-07") and self.chance(0.5, "if and then"):
            given = [
                {"if": {**_within(path, draft.only(value)), "type": "object"}, "then": {"required": names}}
                for value, names in needs.items()
                if names
            ]
            return given[0] if len(given) == 1 else {"allOf": given} if given else {}
        self._marks["discriminated union"] += 1
        branches = [
            {**_within(path, draft.only(value)), **({"required": names} if names else {})}
            for value, names in needs.items()
        ]
        return {self._random.choice(("oneOf", "anyOf")): branches}

    def _peculiar(self, draft: Draft, name: str, schema: dict[str, Json]) -> None:
        """Say something more of an object, some of which nothing satisfies."""
        properties = schema["properties"]
        if self.chance(0.08, "unsatisfiable part that may be left out"):
            properties["never"] = self._impossible(draft)
        if properties and self.chance(0.03, "unsatisfiable part"):
            member = self._random.choice([*properties])
            properties[member] = {"allOf": [properties[member], self._impossible(draft)]}
        if self.chance(0.1, "recursion"):
            again = f"#/{quote(name)}/properties/tree"
            properties["tree"] = {
                "type": "object",
                "properties": {"inner": {"$ref": again}, "leaf": {"type": "string"}},
            }
        if self.chance(0.08, "patternProperties"):
            schema["patternProperties"] = {"^x-": {"type": "string"}}
        if self.chance(0.05, "not"):
            schema["not"] = {"required": ["forbidden"]}

    def _impossible(self, draft: Draft) -> Json:
        return self._random.choice(
            (
                {"type": "string", "enum": [1]},
                {"type": "integer", "minimum": 5, "maximum": 3},
                {"allOf": [draft.only("a"), draft.only("b")]},
                {"type": "string", "minLength": 4, "maxLength": 2},
                {"type": "object", "required": ["gone"], "properties": {}, "additionalProperties": False},
                {"type": "array", "minItems": 2, "maxItems": 1},
                *((False,) if draft.since("draft-06") else ()),
            )
        )

    def _scatter(self, file: str, name: str, schema: dict[str, Json], draft: Draft) -> None:
        """Let some members stand elsewhere, and refer to them in one of the ways that the dialect has."""
        for member, part in schema["properties"].items():
            if isinstance(part, dict) and member != "tree" and self._random.random() < 0.25:
                schema["properties"][member] = {"$ref": self._elsewhere(file, name, part, draft)}

    def _elsewhere(self, file: str, name: str, part: Json, draft: Draft) -> str:
        random = self._random
        others = [each for each in self.files if each != file]
        target = random.choice(others) if others and random.random() < 0.5 else file
        own = Draft(self._drafts[target != "all.schema.json"])
        box = random.choice(("$defs", "definitions"))
        held = self.files[target].setdefault(box, {})
        key = f"{random.choice(_NAMES)}{len(held)}"
        base = "" if target == file else _relative(file, target)
        if base and own.id in self.files[target] and random.random() < 0.5:
            base = f"{HOME}{target}"
            self._marks["reference by $id"] += 1
        self._marks["reference to another file" if base else f"reference into {box}"] += 1
        if key.rstrip("0123456789") not in {"part", "Upper", ""}:
            self._marks["pointer with escapes"] += 1
        held[key] = part
        pointer = quote(key.replace("~", "~0").replace("/", "~1"), safe="~$")
        is_known = box == ("$defs" if own.since("2019-09") else "definitions") or random.random() < 0.1
        if random.random() < 0.25 and own.name == draft.name and is_known and "$ref" not in part:
            anchor = f"anchor-{len(held)}-{box.strip('$')}"
            held[key] = {**part, **own.named(anchor)}
            self._marks["reference to an anchor"] += 1
            return f"{base}#{anchor}"
        if not base and own.since("draft-06") and is_known and self.chance(0.1, "part with its own $id"):
            held[key] = {own.id: f"own-{[*self.files].index(target)}-{box.strip('$')}-{len(held)}.json", **part}
        return f"{base}#/{box}/{pointer}"

    def _answers(self, leaves: list[Leaf]) -> Iterator[Json]:
        """Yield objects made of the members, of which most satisfy the schema."""
        for at in range(30):
            made: dict[str, Json] = {}
            for leaf in leaves:
                if leaf.required or self._random.random() < (0.9 if at % 2 else 0.3):
                    _put(made, leaf.path, self._random.choice(leaf.values))
            if at % 5 == 4:
                made[self._random.choice(("extra", "x-1", "never", "tree"))] = self._random.choice(("x", 1, {}, None))
            yield made

    def written(self) -> dict[str, str]:
        """Return the text of every file by its path."""
        return {f"{self._folder}{name}": json.dumps(each, ensure_ascii=False) for name, each in self.files.items()}


def _within(path: str, schema: Json) -> dict[str, Json]:
    """Return what says of the member at a path that it is there, and of a schema."""
    for name in reversed(path.split(".")):
        schema = {"properties": {name: schema}}
    return dict(schema)


def _put(made: dict[str, Json], path: str, given: Json) -> None:
    *holders, last = path.split(".")
    for holder in holders:
        made = made.setdefault(holder, {})
    made[last] = given


def _relative(file: str, target: str) -> str:
    return f"../{target}" if file.startswith("deep/") else target
