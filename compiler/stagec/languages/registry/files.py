"""The files that belong to a registry: agent definition, schemas and prompts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from stagec.core.json import Json, Object, kind_of, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.observations import is_folder
from stagec.core.place import Place, Pointer
from stagec.core.value import NOTHING, replace, value
from stagec.languages.registry.conduct import AgentConduct
from stagec.languages.registry.generation import (
    LEGACY_COORDINATES,
    Generation,
    judge_agent,
    judge_registry,
    recognise_generation,
)
from stagec.sources.contract.expansion import judge_expansion, reach_named
from stagec.sources.contract.reach import Reference
from stagec.sources.read import Sources, join
from stagec.sources.shape import judge_patterns, judge_schema
from stagec.sources.tree import Fault, Tree

REGISTRY = "steps_registry.json"
AGENT = "agent.json"
PATHS = (rf"(?:^|/)(?:{re.escape(REGISTRY)}|{re.escape(AGENT)})$", r"(?:^|/)(?:schemas|prompts|_config|\.agent)/")
"""Patterns of the files of registries: their names, and the folders in which usually are all others."""
_NAMED_IN = ("runner", "flow", "prompts", "registry")


@value
class Folder:
    """A folder that belongs to a registry, and the member that names it, if any.

    `is_outside` tells that it lies outside the project, by its name or by a link; where the name leads out, `path` is
    the folder beside the registry. `is_displaced` tells that `path` stands for another folder that is named and absent,
    and that stagec did not run on a part of the project.
    """

    path: str
    member: str
    named: str | None
    is_outside: bool
    is_there: bool
    is_displaced: bool = False


@value
class CoordinateList:
    """The values that the C3L configuration allows for `c2` or `c3`: those of a pattern that lists them, else None."""

    coordinate: str
    at: Place
    values: tuple[str, ...] | None
    is_there: bool


@value
class SchemaFolder:
    """The folder of a registry's schemas: what lies in it, relative to it, and every reference written there."""

    path: str
    files: NameIndex
    members: Mapping[str, NameIndex]
    """The names under which each file holds schemas."""
    references: tuple[Reference, ...]

    def names(self, file: str) -> NameIndex:
        """Return the names of the schemas in a file."""
        return self.members.get(file, NameIndex(()))


@value
class RegistryFiles:
    """A registry's file and the folders its schemas and prompts lie in, its agent definition if it has one."""

    registry: Tree
    agent: Tree | None
    schemas: Folder
    prompts: Folder
    coordinates: tuple[CoordinateList, ...] = ()
    generation: Generation = Generation.V1_13
    generation_of_agent: Generation = Generation.V1_13


@value
class Attachment:
    """A file or folder that an agent definition names, relative to its own folder; `path` None outside the project."""

    named: str
    at: Place
    path: str | None
    is_there: bool


def claims(file: str) -> bool:
    """Tell whether a file is a step registry or an agent definition by its name."""
    return posixpath.basename(file) in {REGISTRY, AGENT}


def recognises(tree: Tree) -> bool:
    """Tell whether a file reads like a step registry."""
    return isinstance(tree.value, dict) and "steps" in tree.value and ("agentId" in tree.value or "c1" in tree.value)


def bundles(sources: Sources, files: tuple[str, ...]) -> tuple[RegistryFiles, ...]:
    """Return every registry that the files are or name, by file, with all its files read and judged."""
    registries = {file for file in files if posixpath.basename(file) != AGENT}
    neighbours = {beside for file in registries if sources.exists(beside := _beside(file, AGENT))}
    owners: dict[str, tuple[Tree, Generation] | None] = dict.fromkeys(registries)
    for file in sorted(neighbours.union(files) - registries):
        owned = _definition(sources, file)
        if owned is not None:
            owners[owned[0]] = owned[1:]
    read = [_bundle(sources, file, agent) for file, agent in sorted(owners.items())]
    found = tuple(bundle for bundle in read if bundle is not None)
    for schema in sorted({schema for bundle in found for schema in sources.below(bundle.schemas.path, ".json")}):
        if (tree := sources.tree(schema, "schema")) is not None:
            judged = judge_schema(tree, sources.budgets, sources.patterns)
            sources.replace(judge_expansion(sources, judged))
    for bundle in found:
        # the file and the name of every schema that a step of a registry means, each once
        steps = object_of(object_of(bundle.registry.value).get("steps")).values()
        meant = (object_of(object_of(step).get("outputSchemaRef")) for step in steps)
        for name, called in {(text_in(each, "file"), text_in(each, "schema")): None for each in meant}:
            path = join(bundle.schemas.path, name) if name is not None else None
            if path is not None and called is not None:
                reach_named(sources, path, called)
    return found


def _definition(sources: Sources, file: str) -> tuple[str, Tree, Generation] | None:
    """Return a registry's file with the agent definition that owns it, and the format of the definition.

    Nothing when there is no such registry.
    """
    tree = sources.tree(file, "agent")
    if tree is None:
        return None
    given = tree.value
    for key in _NAMED_IN:
        given = given.get(key) if isinstance(given, dict) else None
    named = given if isinstance(given, str) else None
    target = join(posixpath.dirname(file), named or REGISTRY)
    there = target is not None and sources.exists(target)
    if named is None and not there:
        if tree.readable:
            sources.forget(file)  # another system's `agent.json`
        return None
    beside = sources.tree(target, "registry") if target is not None and there else None
    known = recognise_generation(object_of(beside.value)) if beside is not None else None
    judged, written = judge_agent(tree, known)
    tree = _judge_parameters(judged)
    if target is not None and there:
        sources.replace(tree)
        return target, tree, written
    reason = "outside" if target is None else "no-file"
    fault = Fault("missing-registry", Place(file, _NAMED_IN), reason, {"named": named})
    sources.replace(replace(tree, faults=(*tree.faults, fault)))
    return None


_TYPES = {"string": ("string",), "number": ("integer", "number"), "boolean": ("boolean",), "array": ("array",)}
"""The types of parameters in JSON."""


def _judge_parameters(tree: Tree) -> Tree:
    """Return an agent definition with a fault for each parameter that does not fit itself or another one."""
    found: list[Fault] = []
    options: dict[str, Place] = {}
    for name, body in object_of(object_of(tree.value).get("parameters")).items():
        given, at = object_of(body), tree.at / "parameters" / name
        kind, option = text_in(given, "type"), text_in(given, "cli")
        wanted = _TYPES.get(kind or "")
        if wanted is not None and "default" in given and kind_of(given["default"]) not in wanted:
            facts = {"name": name, "type": kind, "kind": kind_of(given["default"])}
            found.append(Fault("mistyped-default", at / "default", facts=facts))
        if option is not None and options.setdefault(option, at / "cli") != at / "cli":
            related = ((options[option], "used here first"),)
            found.append(Fault("repeated-option", at / "cli", facts={"option": option}, related=related))
    return replace(tree, faults=(*tree.faults, *found)) if found else tree


def _bundle(sources: Sources, file: str, owner: tuple[Tree, Generation] | None) -> RegistryFiles | None:
    tree = sources.tree(file, "registry")
    if tree is None:
        return None
    tree, written = judge_registry(tree)
    # the patterns that validators look for in what their commands print, by place
    patterns: dict[Pointer, str] = {}
    for name, one in object_of(object_of(tree.value).get("validators")).items():
        kind, _, pattern = (text_in(object_of(one), "successWhen") or "").partition(":")
        if kind == "matches":
            patterns[("validators", name, "successWhen")] = pattern
    tree = judge_patterns(tree, patterns, sources.patterns)
    sources.replace(tree)
    root: Object = tree.value if isinstance(tree.value, dict) else {}
    schemas, prompts = (
        _folder(sources, root, member, _beside(file, beside))
        for member, beside in (("schemasBase", "schemas"), ("userPromptsBase", "prompts"))
    )
    for each in sources.below(prompts.path, ".md"):
        sources.tree(each, "prompt")
    agent, generation_of_agent = owner or (None, written)
    coordinates = tuple(_list_coordinates(sources, file, root))
    return RegistryFiles(tree, agent, schemas, prompts, coordinates, written, generation_of_agent)


_LISTED = re.compile(r"\^\(([\w-]+(?:\|[\w-]+)*)\)\$")
"""A pattern that lists values; of other patterns nothing is judged."""
_TYPES_OF_COORDINATES = (("c2", "directiveType"), ("c3", "layerType"))


def _list_coordinates(sources: Sources, file: str, root: Object) -> Iterator[CoordinateList]:
    """Yield the coordinates that a C3L configuration allows: the one beside the registry, or that of the project."""
    name = f"{text_in(root, 'agentId') or ''}-{text_in(root, 'c1') or ''}-user.yml"
    places = (_beside(file, f"_config/{name}"), f".agent/climpt/config/{name}")
    found = next((each for each in places if "/" not in name and sources.exists(each)), None)
    tree = sources.tree(found, "file") if found is not None else None
    if tree is None or not tree.readable or tree.faults:
        return
    params = object_of(object_of(object_of(tree.value).get("params")).get("two"))
    for coordinate, kind in _TYPES_OF_COORDINATES:
        pattern = text_in(object_of(params.get(kind)), "pattern")
        listed = _LISTED.fullmatch(pattern) if pattern is not None else None
        at = tree.at / "params" / "two" / kind / "pattern"
        values = tuple(listed[1].split("|")) if listed is not None else None
        yield CoordinateList(coordinate, at, values, pattern is not None)


def _beside(file: str, name: str) -> str:
    return posixpath.join(posixpath.dirname(file), name)


_TOP = ".agent"
"""The folder at the root of a project that has all agents."""


def _folder(sources: Sources, root: Object, member: str, default: str) -> Folder:
    """Return a folder that a registry names relative to the project, or the default one beside the registry.

    Where there is no such folder, but one of that name beside the registry, stagec was run on a part of the project.
    """
    named = text_in(root, member) or None
    base = join("", named) if named is not None else default
    if base is None:
        return Folder(default, member, named, is_outside=True, is_there=sources.has_folder(default))
    near = posixpath.join(posixpath.dirname(default), posixpath.basename(base))
    path = near if not sources.has_folder(base) and sources.has_folder(near) else base
    is_there = sources.has_folder(path)
    # the root of a part of a project lacks the first folders of the path, all those above the agent's own
    parts = base.split("/")
    lacks_root = base.endswith("/" + near) and ("/" in near or text_in(root, "agentId") in parts or parts[0] == _TOP)
    is_outside = not is_there and is_folder(sources.root / path)
    return Folder(path, member, named, is_outside, is_there, path != base and not lacks_root)


def find_attached_file(sources: Sources, agent: Tree, way: tuple[str, ...]) -> Attachment | None:
    """Return the file that a member of an agent definition names, having read it as a prompt if it is there."""
    return _find_attachment(agent, way, lambda path: is_prompt(sources, path))


def find_attached_folder(sources: Sources, agent: Tree, way: tuple[str, ...]) -> Attachment | None:
    """Return the folder that a member of an agent definition names."""
    return _find_attachment(agent, way, sources.has_folder)


def is_prompt(sources: Sources, path: str) -> bool:
    """Tell whether a file is there, having read it as a prompt; a search of its folder misses what links lead to."""
    return sources.exists(path) and sources.tree(path, "prompt") is not None


def _find_attachment(agent: Tree, way: tuple[str, ...], is_there: Callable[[str], bool]) -> Attachment | None:
    given: Json = agent.value
    for key in way:
        given = object_of(given).get(key)
    if not isinstance(given, str) or not given:
        return None
    path = join(posixpath.dirname(agent.file), given)
    return Attachment(given, Place(agent.file, way), path, path is not None and is_there(path))


@value
class Address:
    """The coordinates of a prompt; what is no text is None, and what is absent too unless there is a usual value.

    `at` is the object that they are members of, `body` that object as it is written. `c1` is one of 1.14, and unread.
    """

    at: Place
    body: Object
    c1: str | None
    c2: str | None
    c3: str | None
    edition: str | None = "default"
    adaptation: str | None = ""

    @property
    def coordinates(self) -> tuple[str | None, str | None, str | None, str | None]:
        """Everything that tells one prompt of a registry from the others."""
        return self.c2, self.c3, self.edition, self.adaptation


def read_address(body: Object, at: Place, written: Generation) -> Address:
    """Return the address of a step or of a validation step; in 1.14 coordinates of 1.13 count where no others are."""
    is_flat = written is Generation.V1_13 or (
        "address" not in body and any(each in body for each in LEGACY_COORDINATES)
    )
    place, owner = (at, body) if is_flat else (at / "address", object_of(body.get("address")))
    return Address(
        at=place,
        body=owner,
        c1=None if is_flat else text_in(owner, "c1"),
        c2=text_in(owner, "c2"),
        c3=text_in(owner, "c3"),
        edition=text_in(owner, "edition") if "edition" in owner else "default",
        adaptation=text_in(owner, "adaptation") if "adaptation" in owner else "",
    )


@value
class Agent:
    """The agent definition beside a registry; what is missing or misshapen in it is None."""

    at: Place
    name: str | None
    verdict: str | None
    settings: Object
    """`runner.verdict.config`"""
    parameters: NameIndex
    """The inputs that callers give to a run of the agent; `declared` has them as they are written."""
    declared: Object = NOTHING
    is_whole: bool = True
    """Whether it is of the current format, and its parameters and its verdict are not misshapen."""
    system_prompt: Attachment | None = None
    fallback_folder: Attachment | None = None
    version: str | None = None
    generation: Generation = Generation.V1_13
    conduct: AgentConduct = AgentConduct()
    """Its tools and its permission mode: of its `boundaries` in 1.13, of the settings file in 1.14."""

    @property
    def verdict_at(self) -> Place:
        """The place of the verdict type."""
        return self.at / "runner" / "verdict" / "type"
