"""The texts of a plan while it is drafted, and its completion: sources, facts, and the plans of the agents it needs."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping

from stagec.core.canonical import canonical, digest
from stagec.core.json import object_of
from stagec.core.place import Place
from stagec.core.value import NOTHING, replace
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Contents, Draft, Input, Plan
from stagec.ir.plan.facts import facts
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.reach import Reach
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources


class PlanTexts:
    """The texts collected so far; `files` are those in which the schemas among them lie, and what they refer to."""

    def __init__(self, schemas: Schemas) -> None:
        self.files: set[str] = set()
        self._schemas = schemas
        self._contents = Contents()
        self._known: dict[Place, str] = {}

    @property
    def texts(self) -> Mapping[str, str]:
        """Every text, by the name under which the plan holds it."""
        return self._contents.texts

    def text(self, text: str) -> str:
        """Keep a text and return its name."""
        return self._contents.add(text)

    def schema(self, schema: Schema) -> str:
        """Keep a schema with all that it refers to, and return its name."""
        if schema.at not in self._known:
            others, text = self._schemas.keep_equal("bundle", schema, lambda: self._bundle(schema))
            self.files.update((schema.at.file, *others))
            self._known[schema.at] = self.text(text)
        return self._known[schema.at]

    def _bundle(self, schema: Schema) -> tuple[frozenset[str], str]:
        """Return the other files that a schema refers to, and its text."""
        files = frozenset(at.file for at in Reach(self._schemas, schema).targets)
        return files - {schema.at.file}, bundle(self._schemas, schema)


class MissingAgentError(Exception):
    """A plan of an agent that another plan needs and that there is none of; `str()` says so in a few words."""


def freeze(draft: Draft, sources: Sources, file: str, agents: Mapping[str, Plan] = NOTHING) -> Plan:
    """Return the plan of a draft whose files are among the sources; `file` declares the flow.

    The paths of sources begin at the folder of that file, so a plan does not depend on the place of its project or on
    other files in it. `agents` are the plans of the agents that it needs.
    """
    read = {each: tree.data for each in draft.files if (tree := sources.find_tree(each)) is not None}
    folder = posixpath.dirname(f"/{file}")
    digests = {posixpath.relpath(f"/{each}", folder): digest(read[each]) for each in draft.files}
    plan = _add_agents(draft.plan, agents) if agents else draft.plan
    return replace(plan, sources=dict(sorted(digests.items())), facts=facts(plan))


def find_source(file: str, name: str) -> str:
    """Return the file of a project that a source of a plan is, whose flow is declared in `file`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), name))


def _add_agents(plan: Plan, agents: Mapping[str, Plan]) -> Plan:
    """Return a plan with the plans of its agents, and with what the runs of these are given as its own inputs."""
    payloads = {name: canonical(write(each)).decode() for name, each in agents.items()}
    named = {name: digest(text.encode()) for name, text in payloads.items()}
    wanted = dict.fromkeys(name for each in agents.values() for name in each.inputs)
    texts = Contents()
    inputs: dict[str, Input] = {}
    for name in wanted:
        known = [(each.inputs[name], each.contents) for each in agents.values() if name in each.inputs]
        needed = any(each.required and each.default is None for each, _ in known)
        schemas = dict.fromkeys(contents[each.schema] for each, contents in known if each.schema is not None)
        joined = _join([*schemas]) if len(schemas) == len({each.schema for each, _ in known}) else None
        inputs[name] = Input(required=needed, schema=None if joined is None else texts.add(joined))
    return replace(
        plan,
        inputs=inputs,
        contents={**plan.contents, **texts.texts, **{named[name]: text for name, text in payloads.items()}},
        plans=named,
        limits=replace(plan.limits, parallel=max((each.limits.parallel for each in agents.values()), default=1)),
    )


def _join(schemas: list[str]) -> str | None:
    """Return the schema of what fits all agents that want a value; none where they want other types of values.

    Then no value fits, and each agent judges what it is given: a run may need only one of them.
    """
    if len(schemas) == 1:
        return schemas[0]
    bodies = [object_of(json.loads(each)) for each in schemas]
    kinds = {str(body.get("type")) for body in bodies}
    kind = bodies[0].get("type")
    return canonical({"type": kind, "allOf": [*bodies]}).decode() if len(kinds) == 1 and isinstance(kind, str) else None
