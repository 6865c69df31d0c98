"""One difference between two plans: its subject, the old value and the new one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum

from stagec.core.json import Json
from stagec.core.value import replace, value
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Plan


class Action(StrEnum):
    """The kind of a change: added, removed or changed."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class PlanPart(StrEnum):
    """The parts of a plan that changes concern, in the order of the list of changes."""

    FLOW = "flow"
    ENTRY = "entry"
    INPUT = "input"
    LIMIT = "limit"
    NODE = "node"
    EDGE = "edge"
    CONTRACT = "contract"
    PROMPT = "prompt"
    TOOL = "tool"
    CHECK = "check"
    HOOK = "hook"


@value
class PlanChange:
    """One difference.

    `topic` is one of `TOPICS`. `node` is the node that it is about, None for the whole flow; `name` is what it is about
    besides: an outcome, a tool, a variable. `before` and `after` are null where there is nothing; of prompts and
    schemas they are the names of contents. `lines` show a change of a text or a schema, line by line.
    """

    topic: str
    action: Action
    node: str | None = None
    name: str = ""
    before: Json = None
    after: Json = None
    lines: tuple[str, ...] = ()

    @property
    def part(self) -> PlanPart:
        """The part of the plan."""
        return TOPICS[self.topic][0]

    @property
    def words(self) -> str:
        """The name of the topic for people."""
        return TOPICS[self.topic][1]


_F, _E, _I, _L = PlanPart.FLOW, PlanPart.ENTRY, PlanPart.INPUT, PlanPart.LIMIT
_N, _D, _C, _P = PlanPart.NODE, PlanPart.EDGE, PlanPart.CONTRACT, PlanPart.PROMPT
_T, _K, _H = PlanPart.TOOL, PlanPart.CHECK, PlanPart.HOOK
TOPICS: Mapping[str, tuple[PlanPart, str]] = {
    "flow": (_F, "flow"),
    "title": (_F, "title"),
    "version": (_F, "version"),
    "names": (_F, "names"),
    "judge": (_F, "judge"),
    "entry": (_E, "entry"),
    "default-entry": (_E, "default entry"),
    "scheduled-node": (_E, "scheduled node"),
    "needs": (_E, "needs"),
    "input": (_I, "input"),
    "input-required": (_I, "required"),
    "input-default": (_I, "default"),
    "input-schema": (_C, "schema of input"),
    "executions": (_L, "node executions"),
    "reached": (_L, "end at the limit"),
    "deadline": (_N, "deadline"),
    "run-deadline": (_L, "deadline of the run"),
    "parallel": (_L, "nodes at the same time"),
    "turns": (_L, "turns"),
    "repeats": (_L, "repeats in a row"),
    "attempts": (_L, "attempts"),
    "backoff": (_L, "wait between attempts"),
    "validation-attempts": (_L, "validation attempts"),
    "time-limit": (_L, "time limit"),
    "transitions": (_L, "transitions"),
    "transitions-in-a-row": (_L, "transitions in a row"),
    "pause": (_L, "wait between phases"),
    "node": (_N, "node"),
    "agent": (_N, "agent"),
    "comment": (_N, "comment after"),
    "closing": (_N, "closing of the issue"),
    "labels": (_N, "labels of phase"),
    "ordering-labels": (_F, "labels for the order"),
    "node-title": (_N, "title"),
    "node-kind": (_N, "kind"),
    "act": (_N, "act"),
    "program": (_N, "program"),
    "model": (_N, "model"),
    "permission": (_N, "permission"),
    "policy": (_N, "model policy"),
    "process-input": (_N, "process input"),
    "output": (_N, "output"),
    "retryable": (_N, "retryable"),
    "checkpoint": (_N, "checkpoint"),
    "carried-record": (_N, "carried value"),
    "edge": (_D, "edge"),
    "choice": (_D, "choice"),
    "edge-order": (_D, "order of edges"),
    "edge-wait": (_D, "wait before the edge on"),
    "elements-most": (_D, "elements at most on"),
    "elements-together": (_D, "elements at the same time on"),
    "elements-collect": (_D, "failed elements passed on from"),
    "gate": (_D, "gate"),
    "intent": (_D, "intent"),
    "intent-field": (_D, "field of the intent"),
    "fail-fast": (_D, "fail fast"),
    "fallback": (_D, "fallback intent"),
    "target-field": (_D, "field of the target"),
    "handoff": (_D, "handoff"),
    "checks": (_D, "checks"),
    "agent-outcomes": (_D, "outcomes of the agent"),
    "schema": (_C, "answer schema"),
    "accepts": (_C, "schema of accepted results"),
    "completion": (_C, "completion tool"),
    "prompt": (_P, "prompt"),
    "builtin": (_P, "built-in prompt"),
    "variable": (_P, "variable"),
    "needed": (_P, "variable that must not be empty"),
    "system-prompt": (_P, "system prompt"),
    "system-variable": (_P, "variable of the system prompt"),
    "retry-prompt": (_P, "prompt after failed validation"),
    "node-tool": (_T, "tool"),
    "tool-choice": (_T, "choice of tools"),
    "tool": (_T, "tool"),
    "tool-effects": (_T, "effects of tool"),
    "tool-source": (_T, "source of tool"),
    "tool-schema": (_T, "input schema of tool"),
    "tool-description": (_T, "description of tool"),
    "server": (_T, "server"),
    "mode": (_T, "security mode"),
    "validator": (_K, "validator"),
    "validation": (_K, "validation"),
    "conditions": (_K, "conditions"),
    "preflight": (_K, "conditions before the model is asked"),
    "every-outcome": (_K, "validation of every outcome"),
    "validation-action": (_K, "action after failed validation"),
    "admission": (_K, "admission"),
    "hook": (_H, "hook"),
    "loop-hooks": (_H, "hooks of the message loop at"),
}
"""The topics of changes: the part of the plan, and its name for people."""


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
        written: Json = write(replace(plan.nodes[name], edges=(), title=None))
        found.setdefault(json.dumps(written, sort_keys=True), []).append(name)
    return found
