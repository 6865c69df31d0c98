"""Where the variables of prompts come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.nearest import NameIndex
from stagec.frontends.registry.document import Registry, Step
from stagec.frontends.registry.freezing.templates import AGENT_NAME
from stagec.frontends.registry.inputs import PROVIDED, StepInput, list_inputs, list_provided
from stagec.plan.act import Carried, Given, Provided, Supply


class Variables:
    """Supplies the variables of a registry's prompts; what `given` names is not declared and has to be given."""

    def __init__(self, registry: Registry) -> None:
        self.given: dict[str, None] = {}
        self._registry = registry
        self._parameters = registry.agent.parameters if registry.agent is not None else NameIndex(())
        self._provided = list_provided(registry.agent)

    def of_system(self, names: Iterable[str]) -> Mapping[str, Supply]:
        """Return where the variables of a system prompt come from; what is not there is left empty."""
        return {name: Provided(name) if name in PROVIDED else self._supply(name, {}) for name in names}

    def of_step(self, step: Step, names: Iterable[str]) -> Mapping[str, Supply]:
        """Return where the variables of a step come from: those named, and every input that is none of them.

        An input is the variable that its source is named for, and the one that has its own name.
        """
        # what a step is handed by steps that there are
        carry: list[tuple[StepInput, Carried]] = []
        for one in list_inputs(step):
            listed = self._registry.step(one.step)
            if listed is not None and not listed.is_section:
                carry.append((one, Carried(listed.key, one.key, one.is_required, one.default)))
        inputs = tuple(carry)
        known = {each.name: carried for each, carried in inputs}
        known |= {each.variable: carried for each, carried in inputs}
        found = {name: self._supply(name, known) for name in names}
        for each, _ in inputs:
            if not found.keys() & {each.variable, each.name}:
                found[each.variable] = self._supply(each.variable, known)
        return found

    def _supply(self, name: str, carried: Mapping[str, Carried]) -> Supply:
        """Return where a variable comes from; what comes first wins."""
        if name in self._parameters:
            return Given(name)
        if name in self._provided:
            return Provided(name)
        if name in carried:
            return carried[name]
        self.given[name] = None
        return Given(name)


_MAY_BE_EMPTY = "previous_summary"
"""A model may end a step without a text."""


def list_needed(step: Step, agent: str | None) -> tuple[str, ...]:
    """Return the variables without which a step of an agent cannot start, in the order in which it declares them.

    The name of the agent is none, where it is known.
    """
    known = {_MAY_BE_EMPTY} if agent is None else {_MAY_BE_EMPTY, AGENT_NAME}
    return tuple(name for name in step.declared if name not in known)
