"""What an agent definition supplies to its registry: verdicts, the entries for them, and the variables of prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import value
from stagec.frontends.registry.document import VERDICTS, Registry, Step

PROVIDED = frozenset(
    {
        "iteration",
        "completed_iterations",
        "completion_keyword",
        "max_iterations",
        "remaining",
        "previous_summary",
        "check_count",
        "max_checks",
        "repository",
        "agent_name",
        "verdict_criteria",
    }
)
"""The variables that a runner supplies itself, those of system prompts included."""


@value
class AgentVerdict:
    """How an agent, or one condition of a composite verdict, tells that the work is done; `at` is where it stands."""

    kind: str
    settings: Object
    at: Place
    is_condition: bool = False


def verdicts(registry: Registry) -> Iterator[AgentVerdict]:
    """Yield the verdict of the agent and each of its conditions; nothing where they are misshapen."""
    agent = registry.agent
    if agent is None or not agent.is_whole or agent.verdict is None:
        return
    at = agent.verdict_at
    whole = Place(at.file, at.pointer[:-1])
    yield AgentVerdict(agent.verdict, agent.settings, whole)
    for index, each in enumerate(
        list_of(agent.settings.get("conditions")) if agent.verdict == "meta:composite" else ()
    ):
        kind = text_in(object_of(each), "type")
        if kind is not None:
            settings = object_of(object_of(each).get("config"))
            yield AgentVerdict(kind, settings, whole / "config" / "conditions" / index, is_condition=True)


def find_unsupplied(registry: Registry) -> Mapping[str, list[tuple[Step, Place]]]:
    """Return the variables that nothing supplies, with every place that needs them.

    They come from the parameters of the agent, from the runner, or from a step's own inputs. What sections need is
    supplied by those who insert them, and cannot be known.
    """
    found: dict[str, list[tuple[Step, Place]]] = {}
    parameters = registry.agent.parameters if registry.agent is not None else NameIndex(())
    supplied: set[str] = set()
    for step in registry.steps.values():
        received = frozenset(() if step.is_section else _list_received(step))
        for index, each in enumerate(() if step.is_section else list_of(step.body.get("uvVariables"))):
            if not isinstance(each, str) or not each or each in supplied:
                continue
            name = each.removeprefix("uv-")
            if name in PROVIDED or name in parameters:
                supplied.add(each)
            elif name not in received:
                found.setdefault(name, []).append((step, step.at / "uvVariables" / index))
    return found


def _list_received(step: Step) -> Iterator[str]:
    """Yield the variables that the inputs of a step may be meant to supply."""
    for name, given in object_of(step.body.get("inputs")).items():
        yield name
        yield (text_in(object_of(given), "from") or "").replace(".", "_")


_KNOWN = NameIndex(VERDICTS)


def entry_mapping(registry: Registry) -> Json:
    """Return what stands under `entryStepMapping`, whatever it is; an empty mapping where nothing does."""
    return registry.body.get("entryStepMapping", {})


def find_unserved_verdict(registry: Registry) -> str | None:
    """Return the agent's verdict type when it is a known one and has no entry, although others have."""
    verdict, mapping = registry.agent.verdict if registry.agent is not None else None, entry_mapping(registry)
    if verdict not in VERDICTS or "entryStep" in registry.body or not isinstance(mapping, dict):
        return None
    return verdict if mapping and verdict not in mapping else None


def find_misspelt_verdict(registry: Registry) -> str | None:
    """Return the key of `entryStepMapping` that was most likely meant to be the unserved verdict type."""
    unserved, mapping = find_unserved_verdict(registry), entry_mapping(registry)
    if unserved is None or not isinstance(mapping, dict):
        return None
    return next((key for key in mapping if key not in VERDICTS and _KNOWN.nearest(key) == unserved), None)
