"""The inputs of a plan by where they come from."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.nearest import is_slip
from stagec.frontends.envelopes.document import DependencyKind, Envelope, InputKind, StageInput, StagePlan


def list_inputs(plan: StagePlan, kind: InputKind) -> list[tuple[Envelope, StageInput]]:
    """Return the inputs of one kind, each with its stage; outputs of other stages only where they are bare."""
    return plan.memo.once("inputs", lambda: _group_inputs(plan)).get(kind, [])


def _group_inputs(plan: StagePlan) -> Mapping[InputKind, list[tuple[Envelope, StageInput]]]:
    found: dict[InputKind, list[tuple[Envelope, StageInput]]] = {}
    for stage in plan.envelopes:
        for given in stage.inputs.odd.values():
            if given.bare or given.kind is not InputKind.OUTPUT:
                found.setdefault(given.kind, []).append((stage, given))
    return found


def has_clear_dependencies(stage: Envelope) -> bool:
    """Tell whether a stage says well enough what it depends on: nothing wrong stands there that may mean anything."""
    if any(odd.kind is DependencyKind.UNKNOWN and not odd.meant for odd in stage.oddities):
        return False
    if "dependencies" not in stage.members:
        return not any(is_slip(name, "dependencies") for name in stage.members)
    written = stage.members["dependencies"]
    return isinstance(written, list) and len(written) == len(stage.dependencies)
