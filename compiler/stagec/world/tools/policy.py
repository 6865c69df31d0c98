"""Whether a call of a step may be made; calls of stages are decided by the machine and carried out as they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import listing as list_names
from stagec.core.words import quote
from stagec.plan.surroundings import is_boundary_tool
from stagec.runtime.acts.authority import APPROVE, ASK, DENY
from stagec.runtime.exchange import Ask
from stagec.world.request_json import ToolDefinition


class ToolConduct(StrEnum):
    """What calling a tool does, as far as that is known."""

    READS = "reads"
    EDITS = "edits files"
    CHANGES = "changes something"
    UNKNOWN = "has unknown effects"


class Listing(StrEnum):
    """Whether a tool is on the list of a step, if the step has one."""

    LISTED = "listed"
    UNLISTED = "not listed"
    OPEN = "no list"


@value
class CallVerdict:
    """What becomes of a call (`approve`, `ask` or `deny`), and why."""

    kind: str
    reason: str


_DEFAULT, _ACCEPT, _PLAN, _BYPASS = "default", "acceptEdits", "plan", "bypassPermissions"
_EDITING = frozenset(name for each in ("Edit", "Write", "NotebookEdit") for name in (each, each.lower()))
_ORDER = (ToolConduct.READS, ToolConduct.EDITS, ToolConduct.CHANGES, ToolConduct.UNKNOWN)
_CAUTIOUS = (APPROVE, DENY, DENY, ASK)
_KINDS: Mapping[Listing, Mapping[str, tuple[str, str, str, str]]] = {
    Listing.LISTED: {
        _DEFAULT: (APPROVE, APPROVE, APPROVE, APPROVE),
        _ACCEPT: (APPROVE, APPROVE, APPROVE, APPROVE),
        _PLAN: _CAUTIOUS,
        _BYPASS: (APPROVE, APPROVE, APPROVE, APPROVE),
    },
    Listing.UNLISTED: {
        _DEFAULT: (ASK, ASK, ASK, ASK),
        _ACCEPT: (ASK, ASK, ASK, ASK),
        _PLAN: (ASK, DENY, DENY, ASK),
        _BYPASS: (DENY, DENY, DENY, DENY),
    },
    Listing.OPEN: {
        _DEFAULT: (APPROVE, ASK, ASK, ASK),
        _ACCEPT: (APPROVE, APPROVE, ASK, ASK),
        _PLAN: _CAUTIOUS,
        _BYPASS: (APPROVE, APPROVE, APPROVE, APPROVE),
    },
}
"""What becomes of a call, by its list, by the mode of its step, and by what the tool does, in the order above."""


def classify(tool: ToolDefinition) -> ToolConduct:
    """Return what calling a tool does."""
    if tool.effects == "mutating":
        return ToolConduct.EDITS if tool.name in _EDITING and tool.origin != "mcp" else ToolConduct.CHANGES
    return ToolConduct.READS if tool.effects == "read" else ToolConduct.UNKNOWN


def decide(mode: str | None, listing: Listing, tool: ToolDefinition) -> CallVerdict:
    """Decide about a call of a step in a permission mode; an unknown mode is as careful as none."""
    known = mode if mode in _KINDS[listing] else _DEFAULT
    if listing is not Listing.LISTED and is_boundary_tool(tool.name):
        return CallVerdict(DENY, f"only a closing step whose list has {quote(tool.name)} may call it")
    conduct = classify(tool)
    kind = _KINDS[listing][known or _DEFAULT][_ORDER.index(conduct)]
    on = {Listing.LISTED: "is on the list", Listing.UNLISTED: "is not on the list", Listing.OPEN: "has no list"}
    who = "its step" if listing is Listing.OPEN else quote(tool.name)
    return CallVerdict(kind, f"{who} {on[listing]}, the tool {conduct.value}, and the permission mode is {known}")


def decide_for(step: Ask, tool: ToolDefinition) -> CallVerdict:
    """Decide about a call in the course of a step."""
    if step.tools is None:
        return decide(step.permission, Listing.OPEN, tool)
    return decide(step.permission, Listing.LISTED if tool.name in step.tools else Listing.UNLISTED, tool)


_SHOWN = 10
"""Names of tools that a model is told at once."""


def explain_absence(tool: str, allowed: Iterable[str], *, is_there: bool) -> str | None:
    """Return that a call means no tool, with the nearest ones that are allowed; None for a tool that may be meant.

    A name that differs from that of an allowed tool only in its case means that one, whatever else has the name.
    """
    known = tuple(allowed)
    if tool in known or (is_there and all(each.lower() != tool.lower() for each in known)):
        return None
    others = f" The tools that may be called here are {list_names(known[:_SHOWN])}" if known else ""
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    near = hint(tool, NameIndex(known)) or ("." if known else ": none may be called here")
    return f"there is no tool {quote(tool)}{near}{others}{more}"
