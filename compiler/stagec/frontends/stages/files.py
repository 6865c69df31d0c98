"""Which stages and which configuration belong to which pipeline, each file read and judged."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from stagec.contract.expansion import judge_expansion
from stagec.core.json import Object, list_of, object_of
from stagec.core.place import Place, Pointer
from stagec.core.value import replace, value
from stagec.frontends.stages.document import MEMBERS
from stagec.frontends.stages.listed import Listed, find_closed_stages, find_listed, is_prompt
from stagec.frontends.stages.recognise import (
    CONFIGURATION,
    MARKDOWN,
    PIPELINES,
    has_stages,
    is_pipeline,
    is_stage,
    sees,
)
from stagec.sources.read import Sources, legible
from stagec.sources.shape import judge, judge_by, judge_member, judge_numbers
from stagec.sources.tree import Fault, Tree

_SCHEMAS = ("completionSchema", "inputsSchema")
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
    found = {file: _bundle(sources, file) for file in sorted(machines)}
    # the pipelines that nobody named to which some stages belong
    inside: dict[str, set[str]] = {}
    for stage in named:
        for folder in _around(stage):
            inside.setdefault(folder, set()).add(stage)
    for folder, below in sorted(inside.items()):
        for file in (posixpath.join(folder, name) for name in PIPELINES):
            if file not in machines and sources.exists(file) and _lists(sources, file, below):
                found[file] = _bundle(sources, file)
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


def _bundle(sources: Sources, file: str) -> PipelineFiles | None:
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
    tree = judge(tree, schema)
    held = tuple(_schemas_in(tree))
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
    """Yield the names by which a stage that cannot be read may be mentioned: its file's, and what looks like its id."""
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
    """Return the tree of the configuration in a file, judged; nothing when there is no such file."""
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
