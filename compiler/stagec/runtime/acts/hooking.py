"""Call the hooks of a slot: guards until one denies, then transforms one after the other, then observers together."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, replace, value
from stagec.plan.surroundings import LoopHook
from stagec.runtime.acts.slots import KINDS, slot_of
from stagec.runtime.acts.talk import Chain, talk_of
from stagec.runtime.effect import Effect, Hook
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution

_SUBJECTS: Mapping[str, str] = {
    "RECEIVE_INPUT/pre": "input",
    "RECEIVE_INPUT/post": "input",
    "COMPOSE_REQUEST/pre": "request",
    "COMPOSE_REQUEST/post": "request",
    "SEND_REQUEST/pre": "request",
    "SEND_REQUEST/post": "response",
    "STREAM_RESPONSE/pre": "text",
    "STREAM_RESPONSE/post": "text",
    "TOOL_CALL/pre": "arguments",
    "TOOL_CALL/post": "result",
    "RENDER/pre": "payload",
    "RENDER/post": "payload",
}
"""What the hooks of a slot look at, and under which name they are given it."""


@value
class Passage:
    """What has come through a slot: the subject, and whether hooks have changed it; or the code of what has stopped it.

    `failed` tells that a hook has failed, rather than denied.
    """

    execution: Execution
    slot: str
    subject: Json
    changed: bool = False
    refused: str | None = None
    failed: bool = False


def is_attached(moment: Moment, slot: str) -> bool:
    """Tell whether a slot has any hooks."""
    return bool(_hooks(moment, slot))


def enter(
    moment: Moment, execution: Execution, slot: str, subject: Json, about: Mapping[str, Json] = NOTHING
) -> Passage | None:
    """Send something through a slot; None while hooks are called."""
    return _on(moment, execution, Chain(slot, subject, about))


def answered(moment: Moment, execution: Execution, effect: Effect, given: Mapping[str, Json]) -> Passage | None:
    """Take what a hook says."""
    chain = talk_of(execution).chain
    if chain is None or not isinstance(effect, Hook):
        return None
    if chain.watching:
        return _watched(moment, execution, chain, effect, given)
    hook = _deciding(moment, chain.slot)[chain.next]
    refused = _refusal(hook, given)
    if refused is not None:
        failed = "value" not in given
        return Passage(_done(execution), chain.slot, chain.subject, refused=refused, failed=failed)
    chain = replace(chain, next=chain.next + 1)
    if hook.kind == "transform":
        chain = replace(chain, subject=given["value"], changed=True)
    return _on(moment, execution, chain)


def _refusal(hook: LoopHook, given: Mapping[str, Json]) -> str | None:
    """Return the code with which a hook stops what comes through; a guard allows only by saying true."""
    if "value" not in given:
        return "HookGuardFailed" if hook.kind == "guard" else "HookTransformFailed"
    said = given["value"]
    if hook.kind != "guard" or said is True:
        return None
    return said if isinstance(said, str) and said else "GuardDenied"


def _on(moment: Moment, execution: Execution, chain: Chain) -> Passage | None:
    """Call the next hook; once there is none left to wait for, let the subject through."""
    deciding = _deciding(moment, chain.slot)
    if chain.next < len(deciding):
        execution = replace(execution, detail=replace(talk_of(execution), chain=chain))
        _call(moment, execution, deciding[chain.next], chain)
        return None
    observers = [hook for hook in _hooks(moment, chain.slot) if hook.kind == "observer"]
    if not observers:
        return _through(execution, chain)
    keys = []
    for hook in observers:
        keys.append(moment.key_of(execution))
        execution = _call(moment, execution, hook, chain)
    chain = replace(chain, watching=tuple(keys))
    moment.keep(replace(execution, detail=replace(talk_of(execution), chain=chain)))
    return None


def _watched(
    moment: Moment, execution: Execution, chain: Chain, effect: Hook, given: Mapping[str, Json]
) -> Passage | None:
    """Wait for the other observers; one that has failed stops nothing."""
    if "value" not in given:
        moment.tell("HookObserverFailed", execution, slot=chain.slot, call=effect.call)
    chain = replace(chain, watching=tuple(key for key in chain.watching if key != effect.key))
    if not chain.watching:
        return _through(execution, chain)
    moment.keep(replace(execution, detail=replace(talk_of(execution), chain=chain)))
    return None


def _through(execution: Execution, chain: Chain) -> Passage:
    return Passage(_done(execution), chain.slot, chain.subject, chain.changed)


def _done(execution: Execution) -> Execution:
    talk = talk_of(execution)
    return execution if talk.chain is None else replace(execution, detail=replace(talk, chain=None))


def _call(moment: Moment, execution: Execution, hook: LoopHook, chain: Chain) -> Execution:
    given = {
        "stage": hook.stage,
        "when": hook.when,
        "kind": hook.kind,
        "execution": execution.key,
        **chain.about,
        _SUBJECTS[chain.slot]: chain.subject,
    }
    return moment.request(execution, Hook, call=hook.call, phase=chain.slot, given=given)


def _hooks(moment: Moment, slot: str) -> list[LoopHook]:
    session = moment.program.plan.session
    return [] if session is None else [hook for hook in session.hooks if slot_of(hook) == slot]


def _deciding(moment: Moment, slot: str) -> list[LoopHook]:
    """Return the guards and the transforms of a slot, in the order in which they are called."""
    return [hook for kind in KINDS[:2] for hook in _hooks(moment, slot) if hook.kind == kind]
