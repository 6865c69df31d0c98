"""Complete the draft of a plan: sources and facts are added."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from stagec.core.canonical import digest
from stagec.core.value import NOTHING, replace
from stagec.plan.delegates import add_agents
from stagec.plan.document import Draft, Plan
from stagec.plan.facts import facts
from stagec.sources.read import Sources


class MissingAgentError(Exception):
    """A plan of an agent that another plan needs and that there is none of; `str()` says so in a few words."""


def freeze(draft: Draft, sources: Sources, file: str, agents: Mapping[str, Plan] = NOTHING) -> Plan:
    """Return the plan of a draft whose files are among the sources; `file` declares the flow.

    Sources are named from the folder of that file, so that a plan is the same wherever its project lies, and whatever
    else the project holds. `agents` are the plans of the agents that it needs.
    """
    read = {tree.file: tree.data for tree in sources.trees}
    folder = posixpath.dirname(f"/{file}")
    digests = {posixpath.relpath(f"/{each}", folder): digest(read[each]) for each in draft.files}
    plan = add_agents(draft.plan, agents) if agents else draft.plan
    return replace(plan, sources=dict(sorted(digests.items())), facts=facts(plan))


def find_source(file: str, name: str) -> str:
    """Return the file of a project that a source of a plan is, whose flow is declared in `file`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
