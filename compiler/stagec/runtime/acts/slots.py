"""The slots of the message loop, and which kinds of hook each takes."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.plan.surroundings import LoopHook

KINDS = ("guard", "transform", "observer")
"""In this order hooks of one slot are called."""
_ALL = frozenset(KINDS)
_CHANGING = frozenset({"transform", "observer"})
_WATCHING = frozenset({"observer"})

SLOTS: Mapping[str, frozenset[str]] = {
    "RECEIVE_INPUT/pre": _ALL,
    "RECEIVE_INPUT/post": _CHANGING,
    "COMPOSE_REQUEST/pre": _ALL,
    "COMPOSE_REQUEST/post": _CHANGING,
    "SEND_REQUEST/pre": _ALL,
    "SEND_REQUEST/post": _WATCHING,
    "STREAM_RESPONSE/pre": _ALL,
    "STREAM_RESPONSE/post": _WATCHING,
    "TOOL_CALL/pre": _ALL,
    "TOOL_CALL/post": _CHANGING,
    "RENDER/pre": _CHANGING,
    "RENDER/post": _WATCHING,
}
"""The kinds that each slot takes: the six stages of the loop, before and after."""


def slot_of(hook: LoopHook) -> str:
    """Return the slot that a hook is to be attached to."""
    return f"{hook.stage}/{hook.when}"


def misplaced(hook: LoopHook) -> str | None:
    """Return why a hook cannot be attached, nothing when it can."""
    kinds = SLOTS.get(slot_of(hook))
    if kinds is None:
        return "Validation/HookSlotUnknown"
    return None if hook.kind in kinds else "Validation/HookInvalidAttachment"
