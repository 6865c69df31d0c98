"""Random schemas in several files that refer to each other: a bundle accepts what they accept."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jsonschema
import jsonschema_rs
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from stagec.core.budgets import Budgets
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources

DRAFTS = {name: f"http://json-schema.org/{name}/schema#" for name in ("draft-04", "draft-06", "draft-07")} | {
    name: f"https://json-schema.org/draft/{name}/schema" for name in ("2019-09", "2020-12")
}
WITH_BOOLEANS = tuple(DRAFTS)[1:]
"""In draft-04, `true` is no schema."""
HEARING_SIBLINGS = ("2019-09", "2020-12")
"""Earlier drafts do not look at what stands beside a `$ref`."""
FILES = ("a.json", "sub/b.json", "sub/c d.json")
NAMES = ("x", "a/b", "m~n", "é %")
KEYS = ("p", "q", "$id", "default")
WHERE = "file:///project/"

Json = Any


class Node(NamedTuple):
    """A schema that others can refer to: a file, or one of its definitions."""

    file: int
    name: str | None

    @property
    def rank(self) -> int:
        return self.file * 10 + (0 if self.name is None else 1 + NAMES.index(self.name))


NODES = tuple(Node(file, name) for file in range(len(FILES)) for name in (None, *NAMES))


def anchor(node: Node) -> str:
    return f"n{node.rank}"


@st.composite
def references(draw: st.DrawFn, source: int, target: Node) -> str:
    """Return one way of writing where a node is."""
    folders = {0: ("", "sub/"), 1: ("../", ""), 2: ("../", "")}[source]
    path = folders[target.file > 0] + FILES[target.file].rpartition("/")[2].replace(" ", "%20")
    address = draw(st.sampled_from(("", path))) if source == target.file else path
    if target.name is None:
        return address or "#"
    pointer = "/$defs/" + target.name.replace("~", "~0").replace("/", "~1").replace("%", "%25").replace(" ", "%20")
    return f"{address}#{draw(st.sampled_from((pointer, anchor(target), f'{pointer}/properties/leaf')))}"


VALUES = st.sampled_from((None, True, 0, 1, 5, "p", "q", {}, [1], {"$ref": "#/gone"}, {"$id": "urn:x"}))
PLAIN = st.one_of(
    st.builds(lambda kind: {"type": kind}, st.sampled_from(("string", "integer", "object", "array", "null"))),
    st.builds(lambda values: {"enum": values}, st.lists(VALUES, min_size=1, max_size=3)),
    st.builds(lambda number: {"minimum": number}, st.integers(0, 5)),
    st.builds(lambda names: {"required": names}, st.lists(st.sampled_from(KEYS), max_size=2, unique=True)),
    st.builds(lambda value: {"default": value, "examples": [value]}, VALUES),
)


@st.composite
def parts(draw: st.DrawFn, file: int, rank: int, depth: int) -> Json:
    """Return a schema; it refers to nodes above `rank` alone where that would be asked of the same value."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.booleans())
    made: dict[str, Json] = {}
    for keyword in draw(st.lists(st.sampled_from(KEYWORDS), max_size=3, unique=True)):
        if keyword == "plain" or not depth:
            made.update(draw(PLAIN))
        elif keyword != "$ref":
            made[keyword] = draw(applied(keyword, file, rank, depth - 1))
        elif possible := [node for node in NODES if node.rank > rank]:
            made["$ref"] = draw(references(file, draw(st.sampled_from(possible))))
    return made


def applied(keyword: str, file: int, rank: int, depth: int) -> st.SearchStrategy[Json]:
    """Return what stands under a keyword that applies schemas to a value, or to what it holds."""
    if keyword in {"allOf", "anyOf"}:
        return st.lists(parts(file, rank, depth), min_size=1, max_size=2)
    if keyword == "not":
        return parts(file, rank, depth)
    inner = parts(file, -1, depth)
    return st.dictionaries(st.sampled_from(KEYS), inner, max_size=2) if keyword == "properties" else inner


KEYWORDS = ("$ref", "plain", "allOf", "anyOf", "not", "properties", "items", "additionalProperties")


@st.composite
def projects(draw: st.DrawFn) -> tuple[Json, ...]:
    """Return the schema of every file, with definitions and anchors."""
    files = []
    for file in range(len(FILES)):
        root = draw(parts(file, Node(file, None).rank, 2))
        whole = dict(root) if isinstance(root, dict) else {"not": {}} if root is False else {}
        whole["$id"] = f"{WHERE}{FILES[file].replace(' ', '%20')}"
        whole["$defs"] = {name: draw(definitions(Node(file, name))) for name in NAMES}
        files.append(whole)
    return tuple(files)


@st.composite
def definitions(draw: st.DrawFn, node: Node) -> Json:
    made = draw(parts(node.file, node.rank, 2))
    made = dict(made) if isinstance(made, dict) else {"not": {}} if made is False else {}
    return {"$anchor": anchor(node), **made, "properties": {**made.get("properties", {}), "leaf": draw(PLAIN)}}


INSTANCES = st.recursive(
    st.sampled_from((None, True, False, 0, 1, 3, 7, "p", "q", "")),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from((*KEYS, "leaf", "other")), inner, max_size=3)
    ),
    max_leaves=6,
)


def bundled(files: tuple[Json, ...], start: Node) -> str:
    with TemporaryDirectory() as folder:
        Path(folder, "sub").mkdir()
        for file, content in zip(FILES, files, strict=True):
            Path(folder, file).write_text(json.dumps(content))
        schemas = Schemas(Sources(Path(folder), Budgets()))
        file = FILES[start.file]
        schema = schemas.root(file) if start.name is None else schemas.find_named(file, start.name)
        assert isinstance(schema, Schema)
        return bundle(schemas, schema)


def original(files: tuple[Json, ...], start: Node) -> jsonschema.protocols.Validator:
    """Return a validator of the files as they are, all in the latest draft."""
    resources = [
        (f"{WHERE}{file.replace(' ', '%20')}", Resource.from_contents(content, default_specification=DRAFT202012))
        for file, content in zip(FILES, files, strict=True)
    ]
    address = resources[start.file][0] + ("" if start.name is None else f"#{anchor(start)}")
    return jsonschema.Draft202012Validator({"$ref": address}, registry=Registry().with_resources(resources))


def agree(schema: Json, oracle: jsonschema.protocols.Validator, instances: list[Json]) -> None:
    for judge in (jsonschema.validators.validator_for(schema)(schema), jsonschema_rs.validator_for(schema)):
        for instance in instances:
            assert judge.is_valid(instance) == oracle.is_valid(instance), instance


@given(projects(), st.sampled_from(NODES), st.lists(INSTANCES, min_size=5, max_size=10))
@settings(deadline=None, max_examples=choose(25, whole=75))
def test_a_bundle_accepts_what_the_files_accept(files: tuple[Json, ...], start: Node, instances: list[Json]) -> None:
    agree(json.loads(bundled(files, start)), original(files, start), instances)


@given(
    projects(),
    st.sampled_from(NODES),
    st.lists(INSTANCES, min_size=5, max_size=10),
    st.tuples(*[st.sampled_from((None, *HEARING_SIBLINGS))] * len(FILES)),
)
@settings(deadline=None, max_examples=choose(25, whole=75))
def test_what_stands_beside_a_reference_counts_in_the_drafts_that_say_so(
    files: tuple[Json, ...], start: Node, instances: list[Json], drafts: tuple[str | None, ...]
) -> None:
    written = tuple(
        content if draft is None else {"$schema": DRAFTS[draft], **content}
        for content, draft in zip(files, drafts, strict=True)
    )
    agree(json.loads(bundled(written, start)), original(files, start), instances)


def leaf(keyword: str, values: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return values.map(lambda given: {keyword: given})


def numbers(bound: str, exclusive: str, draft: str) -> st.SearchStrategy[Json]:
    limit = st.booleans() if draft == "draft-04" else st.integers(0, 5)
    least = st.integers(0, 5).map(lambda number: {bound: number})
    return least | st.tuples(least, limit).map(lambda both: {**both[0], exclusive: both[1]})


def old(draft: str) -> st.SearchStrategy[Json]:
    """Return schemas with the keywords about which drafts do not agree, those included that came later."""
    simple = st.sampled_from(("string", "integer", "object", "array")).map(lambda kind: {"type": kind})

    def grown(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
        several = st.lists(inner, min_size=1, max_size=2)
        items = inner if draft == "2020-12" else inner | several
        either = inner | st.just(["q"])
        lone = [leaf(name, inner) for name in ("additionalItems", "contains", "if", "then", "else", "propertyNames")]
        named = [leaf("dependentSchemas", inner.map(lambda each: {"p": each})), leaf("prefixItems", several)]
        wanted = leaf("dependencies", either.map(lambda each: {"p": each}))
        return st.lists(
            st.one_of(
                *lone,
                *named,
                leaf("items", items),
                leaf("dependentRequired", st.just({"p": ["q"]})) if draft.startswith("2") else wanted,
                leaf("minContains", st.integers(0, 2)),
                leaf("const", st.sampled_from((1, "p"))),
                leaf("unevaluatedProperties", st.just({"type": "integer"})),
                numbers("minimum", "exclusiveMinimum", draft),
                numbers("maximum", "exclusiveMaximum", draft),
                simple,
            ),
            max_size=4,
        ).map(lambda found: {key: each for one in found for key, each in one.items()})

    return st.recursive(simple, grown, max_leaves=6)


@given(st.data(), st.sampled_from(sorted(DRAFTS)), st.lists(INSTANCES, min_size=5, max_size=10))
@settings(deadline=None, max_examples=choose(40, whole=150))
def test_what_is_restated_in_a_later_draft_means_the_same(
    data: st.DataObject, draft: str, instances: list[Json]
) -> None:
    schema = {"$schema": DRAFTS[draft], **data.draw(old(draft))}
    with TemporaryDirectory() as folder:
        Path(folder, "old.json").write_text(json.dumps(schema))
        Path(folder, "new.json").write_text('{"$ref": "old.json"}')
        schemas = Schemas(Sources(Path(folder), Budgets()))
        found = schemas.root("new.json")
        assert isinstance(found, Schema)
        text = json.loads(bundle(schemas, found))
    assert "$schema" not in text
    agree(text, jsonschema.validators.validator_for(schema)(schema), instances)
