"""The configuration of a state machine: inside its file or beside it, judged by the schema the machine gives for it."""

from __future__ import annotations

from stagec.core.json import Object, object_of
from stagec.core.value import replace
from stagec.sources.read import Sources
from stagec.sources.shape import judge_by
from stagec.sources.tree import Tree

_SCHEMA = "configSchema"
_TOPIC = "unfit-configuration"


def with_configuration(machine: Tree) -> Tree:
    """Return the tree of a machine with what is wrong with the configuration that it holds."""
    held = object_of(machine.value).get("config")
    return judge_by(machine, ("config",), _schema(machine), _TOPIC) if isinstance(held, dict) else machine


def beside(sources: Sources, file: str, machine: Tree | None) -> Tree | None:
    """Return the tree of the configuration in a file, judged; nothing when there is no such file."""
    tree = sources.tree(file, "file")
    if tree is not None and tree.kind != "configuration":
        tree = judge_by(replace(tree, kind="configuration"), (), _schema(machine), _TOPIC)
        sources.replace(tree)
    return tree


def _schema(machine: Tree | None) -> Object | str:
    """Return the schema that a machine gives for its configuration, or the general one; none where it is broken."""
    given = object_of(machine.value).get(_SCHEMA) if machine is not None else None
    if machine is None or given is None:
        return "state_machine_config"
    broken = any(fault.at.pointer[:1] == (_SCHEMA,) for fault in machine.faults)
    return {} if broken else object_of(given)
