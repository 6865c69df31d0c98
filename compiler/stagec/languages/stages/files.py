"""Assigns stages and configuration to pipelines; each file is read and judged."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from stagec.core.clock import read_milliseconds
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.place import Place, Pointer
from stagec.core.value import replace, value
from stagec.languages.stages.document import CONDUCT, MEMBERS, REQUIRED, Stage
from stagec.languages.stages.recognise import (
    CONFIGURATION,
    MARKDOWN,
    PIPELINES,
    has_stages,
    is_pipeline,
    is_stage,
    sees,
)
from stagec.sources.contract.combinations import types_of
from stagec.sources.contract.expansion import judge_expansion, judge_kept
from stagec.sources.ignore import Patterns
from stagec.sources.read import Sources, join, legible
from stagec.sources.shape import judge, judge_by, judge_member, judge_numbers
from stagec.sources.tree import Fault, Tree

_KNOWN = NameIndex(MEMBERS)
_PHASES = frozenset({"setup", "gate", "assert", "exit"})
_ANSWERS = frozenset({"defer", "block"})
_POLICY = frozenset({"model", "temperature", "maxOutputTokens", "requestTimeout", "requestAttempts"})
_KEYS_OTHERS = frozenset({"stage", "stages", "disallowedTools", "disallowed-tools"})
"""Words that are near to a key and far from what it means."""
_SHORT, _HEAD, _LONG = 5, 3, 8
"""Of short words only those that begin alike are taken for each other, of long ones all that are near."""


def find_misspelt_keys(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the keys of a stage that look like a known one, and that one.

    Keys that resemble an absent required key are left out: the error about the absent key names them.
    """
    lacking = NameIndex(each for each in REQUIRED if each not in stage.members)
    for key in stage.members:
        if key not in _KNOWN and key not in _KEYS_OTHERS and not key.startswith(("x-", "_", "$")):
            near = _KNOWN.nearest(key)
            if near is not None and _alike(key, near, written=near in stage.members) and lacking.nearest(key) is None:
                yield key, near


def _alike(key: str, near: str, *, written: bool) -> bool:
    """Tell whether a key is hardly another word; where the known key is written too, short ones must be the same."""
    if written and len(key) <= _LONG:
        return _letters(key) == _letters(near)
    return len(key) > _SHORT or key.lower()[:_HEAD] == near.lower()[:_HEAD]


def _letters(key: str) -> str:
    return "".join(filter(str.isalnum, key.lower()))


def find_misplaced_keys(stage: Stage) -> Iterator[str]:
    """Yield the keys of a stage that are read below `stagec` only, and hold what would be read there.

    Other programs have keys of these names, too, and hold other things in them.
    """
    yield from (key for key, holds in _BELOW.items() if key in stage.members and holds(stage.members[key]))


def _are_checks(given: Json) -> bool:
    return isinstance(given, list) and bool(given) and all("verdict" in object_of(each) for each in given)


_BELOW: Mapping[str, Callable[[Json], bool]] = {
    "next": lambda given: isinstance(given, str | dict | list),
    "checks": _are_checks,
    "gate": lambda given: bool(object_of(given)) and object_of(given).keys() <= _ANSWERS,
    "hooks": lambda given: bool(object_of(given)) and object_of(given).keys() <= _PHASES,
    "policy": lambda given: bool(object_of(given)) and object_of(given).keys() <= _POLICY,
    "deadline": lambda given: isinstance(given, str) and read_milliseconds(given) is not None,
}


def find_fallen_keywords(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the keys of a stage that are keywords of the schema above them, and the key of this schema.

    Their indentation is lost, or is made of spaces that YAML takes for letters.
    """
    above: str | None = None
    for key, given in stage.members.items():
        keyword = key.strip()
        if key in _SCHEMAS:
            above = key
        elif above is None or key in MEMBERS or not _TAKES.get(keyword, _takes_nothing)(given):
            above = None
        else:
            yield key, above


def _takes_nothing(_: Json) -> bool:
    return False


def _is_schema(given: Json) -> bool:
    return isinstance(given, bool | dict)


def _are_schemas(given: Json) -> bool:
    return isinstance(given, dict) and all(map(_is_schema, given.values()))


def _are_names(given: Json) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _is_count(given: Json) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


_SCHEMAS = ("completionSchema", "inputsSchema")
_TAKES: Mapping[str, Callable[[Json], bool]] = {
    "required": _are_names,
    "type": lambda given: types_of({"type": given}) is not None,
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "items", "propertyNames"), _is_schema),
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _are_schemas),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), lambda given: isinstance(given, list) and all(map(_is_schema, given))),
    **dict.fromkeys(("minProperties", "maxProperties"), _is_count),
}
"""Keywords that a schema of objects often has, and whether they take a value."""


_SPECIAL = frozenset("*?[")
MOST_COMPARED = 1_000_000
"""Comparisons of patterns with files for one pipeline; the pattern that passes the limit is compared to the end."""


_LISTED_OTHERS = frozenset({"pipeline", "registry", "agent"})
"""Other files that a pattern may match, which are no stages."""


@value
class Listed:
    """One path or pattern of a pipeline's `stages`, and the files found under it.

    `index` is its position in the list, None for files beside a pipeline without a list. `searched` is False for a
    pattern that is left out because those before it were compared with too many files.
    """

    index: int | None
    text: str
    files: tuple[str, ...]
    searched: bool = True


def find_listed(sources: Sources, pipeline: Tree) -> tuple[Listed, ...]:
    """Return the stage files that a pipeline lists; where it lists none, every stage definition beside it."""
    body = object_of(pipeline.value)
    search = _Search(sources, pipeline.file)
    if "stages" in body:
        return tuple(
            search.find(index, each)
            for index, each in enumerate(list_of(body["stages"]))
            if isinstance(each, str) and each
        )
    beside = [file for suffix in MARKDOWN for file in search.find(None, f"*{suffix}").files]
    seen = tuple(file for file in beside if not is_prompt(sources, file) and sees(sources, file))
    return (Listed(None, "", seen),)


class _Search:
    """The search for the files of one pipeline: each folder is walked once, and each pattern is compared once."""

    def __init__(self, sources: Sources, pipeline: str) -> None:
        self._sources = sources
        self._pipeline = pipeline
        self._left = MOST_COMPARED
        self._below: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, tuple[str, ...]] = {}

    def find(self, index: int | None, text: str) -> Listed:
        """Return the files that a path means, relative to a pipeline; `*` stays in a name, `**` goes into folders."""
        path = join(posixpath.dirname(self._pipeline), text)
        if path is None:
            return Listed(index, text, ())
        if not _SPECIAL.intersection(path):
            if path not in self._found:
                is_there = path != self._pipeline and (self._sources.exists(path) or self._sources.has_folder(path))
                self._found[path] = (path,) if is_there else ()
            return Listed(index, text, self._found[path])
        if path not in self._found:
            if self._left <= 0:
                return Listed(index, text, (), searched=False)
            self._found[path] = tuple(self._matching(path))
        return Listed(index, text, self._found[path])

    def _matching(self, path: str) -> Iterator[str]:
        names = path.split("/")
        fixed = "/".join(names[: next(index for index, name in enumerate(names) if _SPECIAL.intersection(name))])
        if fixed not in self._below:
            self._below[fixed] = self._sources.below(fixed, "")
        self._left -= len(self._below[fixed]) + 1
        suffix = posixpath.splitext(path)[1]
        ending = "" if _SPECIAL.intersection(suffix) else suffix
        pattern = Patterns.of([f"/{path}"])
        for file in self._below[fixed]:
            if file.endswith(ending) and pattern.verdict(file, folder=False):
                tree = self._sources.find_tree(file)
                if posixpath.basename(file) not in PIPELINES and (tree is None or tree.kind not in _LISTED_OTHERS):
                    yield file


def is_prompt(sources: Sources, file: str) -> bool:
    """Tell whether a file is a prompt of a step registry, and a stage only where a pipeline lists it."""
    tree = sources.find_tree(file)
    return tree is not None and tree.kind == "prompt"


_ENTRIES = ("entry", "entryStage")


def find_closed_stages(sources: Sources, pipeline: Tree, stages: Iterable[Tree]) -> Iterator[str]:
    """Yield such files where a pipeline mentions a stage that no other file can be; their trees say what is wrong."""
    known = {name for tree in stages for name in _names_of(tree)}
    # the names of stages that a pipeline says: where runs begin, what it speaks of, and where cases lead
    mentioned: list[str] = []
    body = object_of(pipeline.value)
    mentioned.extend(filter(None, (text_in(body, name) for name in _ENTRIES)))
    for member in CONDUCT:
        mentioned.extend(object_of(body.get(member)))
    for way in object_of(body.get("next")).values():
        for case in list_of(way) if isinstance(way, list) else (way,):
            to = object_of(case)
            named = (case, *list_of(to.get("stages")), to.get("stages"), to.get("join"))
            mentioned.extend(each for each in named if isinstance(each, str))
    if known.issuperset(mentioned):
        return
    folder = posixpath.dirname(pipeline.file)
    for file in sources.below(folder, ""):
        is_beside = posixpath.dirname(file) == folder and file.endswith(MARKDOWN)
        if is_beside and sources.is_closed(file):
            yield file


def _names_of(tree: Tree) -> Iterator[str]:
    yield posixpath.splitext(posixpath.basename(tree.file))[0]
    yield text_in(object_of(tree.value), "id") or ""


_IDS = 2
"""So many of what look like the ids of one stage count: it may have been written twice."""
_ID = re.compile(rb"""^[ \t{]*["']?id["']?[ \t]*:[ \t]*["']?([^\s"'#,]+)""", re.MULTILINE)


@value
class PipelineFiles:
    """A pipeline's file, None for stages that belong to none, and the trees of its stages, broken ones included.

    `configuration` is the file beside a state machine that configures it; `lost` is a pipeline that cannot be read.
    """

    pipeline: Tree | None
    stages: tuple[Tree, ...]
    listed: tuple[Listed, ...] = ()
    configuration: Tree | None = None
    lost: Tree | None = None


def bundles(sources: Sources, files: tuple[str, ...]) -> tuple[PipelineFiles, ...]:
    """Return the pipelines that the files are or belong to, and the stages that belong to none, by folder."""
    named = {file for file in files if file.endswith(MARKDOWN)}
    machines = {_machine(sources, file) for file in set(files) - named}
    found = {file: bundle_of(sources, file) for file in sorted(machines)}
    # the pipelines that nobody named to which some stages belong
    inside: dict[str, set[str]] = {}
    for stage in named:
        for folder in _around(stage):
            inside.setdefault(folder, set()).add(stage)
    for folder, below in sorted(inside.items()):
        for file in (posixpath.join(folder, name) for name in PIPELINES):
            if file not in machines and sources.exists(file) and _lists(sources, file, below):
                found[file] = bundle_of(sources, file)
    joined = [bundle for bundle in found.values() if bundle is not None and bundle.pipeline is not None]
    members = {tree.file for bundle in joined for tree in bundle.stages}
    loose: dict[str, list[Tree]] = {}
    unlisted = (file for file in sorted(named - members) if not is_prompt(sources, file))
    for tree in _stages(sources, unlisted):
        if _is_meant(sources, tree):
            loose.setdefault(posixpath.dirname(tree.file), []).append(tree)
    # what a pipeline that cannot be read lists is anybody's guess: it may be any stage below
    unread = (each.pipeline for each in found.values() if each is not None and each.pipeline is not None)
    lost = {posixpath.dirname(tree.file): tree for tree in unread if not tree.readable}
    alone = (
        PipelineFiles(
            None, tuple(inside), lost=next((lost[each] for each in _around(inside[0].file) if each in lost), None)
        )
        for inside in loose.values()
    )
    kept = (each for file, each in sorted(found.items()) if file not in members)  # stage objects that a pipeline lists
    return (*(each for each in kept if each is not None), *alone)


def _machine(sources: Sources, file: str) -> str:
    """Return the state machine that a configuration is for, any other file as it is."""
    machine = f"{file.removesuffix(CONFIGURATION)}.json"
    return machine if file.endswith(CONFIGURATION) and sources.exists(machine) else file


def _around(file: str) -> Iterator[str]:
    """Yield the folder of a file and every folder around it."""
    folder = posixpath.dirname(file)
    yield folder
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _lists(sources: Sources, pipeline: str, stages: set[str]) -> bool:
    """Tell whether some stages belong to a pipeline; one that was read and has nothing to do with them is forgotten."""
    tree = sources.tree(pipeline, "file")
    if tree is not None and any(not stages.isdisjoint(each.files) for each in find_listed(sources, tree)):
        return True
    if not sources.is_closed(pipeline):
        sources.forget(pipeline)
    return False


def bundle_of(sources: Sources, file: str) -> PipelineFiles | None:
    """Return the pipeline in a file that nobody has judged yet, with the trees of its stages."""
    tree = sources.tree(file, "file")
    if tree is None:
        return None
    if file.endswith(CONFIGURATION):
        return PipelineFiles(None, (), configuration=beside(sources, file, None))
    if has_stages(tree.value) and not is_pipeline(tree.value):
        return PipelineFiles(None, tuple(_stages(sources, (file,))))
    tree = with_configuration(_judge_with_schemas(sources, replace(tree, kind="pipeline"), "pipeline"))
    found = find_listed(sources, tree)
    stages = tuple(_stages(sources, dict.fromkeys(name for each in found for name in each.files)))
    if found and found[0].index is None:
        stages += tuple(_stages(sources, find_closed_stages(sources, tree, stages)))
    if not stages and found and found[0].index is None and tree.readable:
        tree = replace(tree, faults=(*tree.faults, Fault("empty-pipeline", tree.at, "none-beside")))
    sources.replace(tree)
    other = beside(sources, f"{file.removesuffix('.json')}{CONFIGURATION}", tree) if file.endswith(".json") else None
    return PipelineFiles(tree, stages, found, other)


def _stages(sources: Sources, files: Iterable[str]) -> Iterator[Tree]:
    for file in files:
        tree = sources.tree(file, "file")
        if tree is None:
            continue
        if tree.kind != "stage":
            root = replace(tree, kind="stage")
            if not root.readable:
                tree = root
            elif root.body is None and isinstance(root.value, dict | list):
                tree = _judge_with_schemas(sources, root, "stage_object")
            elif root.value is None:
                is_late = root.data.lstrip().startswith(b"---")
                fault = Fault("missing-frontmatter", Place(root.file, range=(0, 0)), "late" if is_late else "")
                tree = replace(root, faults=(*root.faults, fault), readable=False)
            else:
                tree = _judge_with_schemas(sources, root, "stage_definition")
            sources.replace(tree)
        yield tree


def _is_meant(sources: Sources, tree: Tree) -> bool:
    """Tell whether a file that no pipeline lists is a stage after all: a glance at its text may have been wrong."""
    if not tree.readable or is_stage(tree.value) or not sees(sources, tree.file):
        return True
    sources.forget(tree.file)
    return False


def _judge_with_schemas(sources: Sources, tree: Tree, schema: str) -> Tree:
    """Judge a file, every schema that it holds, and the numbers outside these."""
    held = tuple(_schemas_in(tree))
    return judge_kept(sources, tree, held, schema, lambda: _judge_shape(sources, tree, schema, held))


def _judge_shape(sources: Sources, tree: Tree, schema: str, held: tuple[Pointer, ...]) -> Tree:
    tree = judge(tree, schema)
    for pointer in held:
        tree = judge_member(tree, pointer, sources.budgets, sources.patterns)
    tree = judge_expansion(sources, tree, held)
    # the members that mean nothing to a run: what hosts of a machine read, and metadata of a stage
    unread: list[Pointer] = []
    if tree.kind == "pipeline":
        unread.append(("config",))
    elif tree.body is not None:
        unread.extend((name,) for name in object_of(tree.value) if name not in MEMBERS)
    return judge_numbers(tree, schema, (*held, *unread))


def _schemas_in(tree: Tree) -> Iterator[Pointer]:
    if isinstance(tree.value, list):
        yield from ((index, name) for index in range(len(tree.value)) for name in _SCHEMAS)
        return
    body = object_of(tree.value)
    yield from ((name,) for name in (*_SCHEMAS, "configSchema") if name in body)
    if "stateSlot" in body:
        yield ("stateSlot", "schema")
    for index, each in enumerate(list_of(body.get("stages"))):
        yield from (("stages", index, name) for name in _SCHEMAS if name in object_of(each))
    yield from (("context", name) for name in object_of(body.get("context")))


def guess_names(tree: Tree) -> Iterator[str]:
    """Yield the possible names of an unreadable stage: that of its file, and a text that looks like its id."""
    yield posixpath.splitext(posixpath.basename(tree.file))[0]
    for found in islice(_ID.finditer(legible(tree.data)), _IDS):
        yield found[1].decode(errors="replace")


def objects(tree: Tree) -> Iterator[tuple[Pointer, Object]]:
    """Yield the stage objects that a pipeline, or a file of stages, holds."""
    if isinstance(tree.value, list):
        yield from (((index,), each) for index, each in enumerate(tree.value) if isinstance(each, dict))
    elif tree.kind == "stage":
        yield (), object_of(tree.value)
    for index, each in enumerate(list_of(object_of(tree.value).get("stages")) if tree.kind == "pipeline" else ()):
        if isinstance(each, dict):
            yield ("stages", index), each


_CONFIG_SCHEMA = "configSchema"
_TOPIC = "unfit-configuration"


def with_configuration(machine: Tree) -> Tree:
    """Return the tree of a machine with what is wrong with the configuration that it holds."""
    held = object_of(machine.value).get("config")
    return judge_by(machine, ("config",), _config_schema(machine), _TOPIC) if isinstance(held, dict) else machine


def beside(sources: Sources, file: str, machine: Tree | None) -> Tree | None:
    """Return the tree of the configuration in a file, judged; None if there is no such file."""
    tree = sources.tree(file, "file")
    if tree is not None and tree.kind != "configuration":
        tree = judge_by(replace(tree, kind="configuration"), (), _config_schema(machine), _TOPIC)
        sources.replace(tree)
    return tree


def _config_schema(machine: Tree | None) -> Object | str:
    """Return the schema that a machine gives for its configuration, or the general one; none where it is broken."""
    given = object_of(machine.value).get(_CONFIG_SCHEMA) if machine is not None else None
    if machine is None or given is None:
        return "state_machine_config"
    broken = any(fault.at.pointer[:1] == (_CONFIG_SCHEMA,) for fault in machine.faults)
    return {} if broken else object_of(given)
