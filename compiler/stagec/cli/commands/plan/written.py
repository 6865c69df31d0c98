"""A plan, or one node of it, as JSON for programs."""

from __future__ import annotations

import json

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan import Loaded, Plan
from stagec.plan.node_codecs import NODE
from stagec.plan.plan_codec import PLAN
from stagec.plan.references import dangling


def plan_json(loaded: Loaded) -> str:
    """Return a plan and its digest, with blanks."""
    return _written({"digest": loaded.digest, "plan": PLAN.write(loaded.plan)})


def node_json(plan: Plan, name: str) -> str:
    """Return a node and the contents that it refers to, with blanks."""
    node = plan.nodes[name]
    alone = replace(plan, nodes={name: node}, contents={}, inputs={}, tools={}, system=None)
    needed = sorted(each for table, each in dangling(alone) if table == "contents")
    return _written({"id": name, "node": NODE.write(node), "contents": {each: plan.contents[each] for each in needed}})


def _written(given: Json) -> str:
    text = json.dumps(given, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it
