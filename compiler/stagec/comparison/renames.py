"""Nodes that have another name and are else as they were."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.document import Plan
from stagec.plan.node_codecs import NODE


def find_renames(old: Plan, new: Plan) -> Mapping[str, str]:
    """Return the new names by the old ones.

    Such a node does the same, and no other node that is gone or new does. Where its edges lead may differ, for the
    nodes around it may be called otherwise as well.
    """
    gone = _index(old, old.nodes.keys() - new.nodes.keys())
    fresh = _index(new, new.nodes.keys() - old.nodes.keys())
    both = ((names, fresh.get(what, [])) for what, names in gone.items())
    return {before[0]: after[0] for before, after in both if len(before) == len(after) == 1}


def _index(plan: Plan, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of nodes by what these do; texts are known by their digests."""
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        written: Json = NODE.write(replace(plan.nodes[name], edges=(), title=None))
        found.setdefault(json.dumps(written, sort_keys=True), []).append(name)
    return found
