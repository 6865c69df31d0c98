"""Hooks of a stage: those of its phases (§ 3.10 of the format), and those of its message loop."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, equal
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan.document import LoopHook
from stagec.runtime.machine.acts.conversation_state import conversation_of, update
from stagec.runtime.machine.exchange import Effect, Hook
from stagec.runtime.machine.execution import Execution, HookCalls
from stagec.runtime.machine.step_builder import StepBuilder

READ, WRITE = "read", "write"
ACCESS: Mapping[str, frozenset[str]] = {
    "Setup": frozenset({READ, WRITE}),
    "Init": frozenset({READ}),
    "CheckGate": frozenset({READ}),
    "Act": frozenset(),
    "Assert": frozenset({READ}),
    "Exit": frozenset({READ}),
    "Next": frozenset({READ}),
}
"""The phases in order, and what each may do with the context."""
RESERVED = frozenset({"upstream", "workflowRunId", "stageExecutionId", "attempts", "host"})
"""The names of the context that no callable gives a value."""
_PHASES: Mapping[str, str] = {"setup": "Setup", "gate": "CheckGate", "assert": "Assert", "exit": "Exit"}
"""The phase in which a hook of a node is called."""
FAILED, FORBIDDEN = "ExtensionHost/LifecycleFailure", "Validation/ContextMutationForbidden"


@value
class HookReply:
    """The return value of a callable, with the context that it left if it may change it; or its failure."""

    value: Json = None
    context: Mapping[str, Json] | None = None
    failure: str | None = None


def find_refusal(phase: str, access: str) -> str | None:
    """Return the failure that an access to the context is in a phase, None if it is allowed."""
    return None if access in ACCESS[phase] else FORBIDDEN


def call_hook(builder: StepBuilder, execution: Execution, hook: str, **given: Json) -> bool:
    """Call the callable of a node for a phase; false when there is none."""
    named = builder.nodes[execution.node].hooks.get(hook)
    if named is not None:
        builder.request(execution, Hook, call=named, phase=hook, given={"ctx": context_of(execution), **given})
    return named is not None


def read_reply(execution: Execution, hook: str, given: Mapping[str, Json]) -> HookReply:
    """Return the reply of a callable; one that has written without permission has failed."""
    if "value" not in given:
        return HookReply(failure=FAILED)
    left = given.get("ctx")
    context = left if isinstance(left, dict) else None
    forbidden = find_refusal(_PHASES[hook], WRITE)
    if forbidden is not None and context is not None and not equal(context, context_of(execution)):
        return HookReply(failure=forbidden)
    return HookReply(given["value"], context)


def context_of(execution: Execution) -> dict[str, Json]:
    """Return the context as the callables of an execution see it."""
    conversation = conversation_of(execution)
    return {**conversation.context, "attempts": list(conversation.attempts)}


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


def find_misplacement(hook: LoopHook) -> str | None:
    """Return why a hook cannot be attached, None if it can."""
    kinds = SLOTS.get(slot_of(hook))
    if kinds is None:
        return "Validation/HookSlotUnknown"
    return None if hook.kind in kinds else "Validation/HookInvalidAttachment"


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
"""The subjects of the hooks of a slot, and their names in the arguments."""


@value
class HookResult:
    """The result of a slot: the subject, and whether hooks have changed it; or the code of the hook that stopped it.

    `failed` tells that a hook has failed, rather than denied.
    """

    execution: Execution
    slot: str
    subject: Json
    changed: bool = False
    refused: str | None = None
    failed: bool = False


def is_attached(builder: StepBuilder, slot: str) -> bool:
    """Tell whether a slot has any hooks."""
    return bool(_hooks(builder, slot))


def enter(
    builder: StepBuilder, execution: Execution, slot: str, subject: Json, about: Mapping[str, Json] = NOTHING
) -> HookResult | None:
    """Send something through a slot; None while hooks are called."""
    if not is_attached(builder, slot):
        return HookResult(_clear(execution), slot, subject)
    return _call_next(builder, execution, HookCalls(slot, subject, about))


def resume(builder: StepBuilder, execution: Execution, effect: Effect, given: Mapping[str, Json]) -> HookResult | None:
    """Take the answer of a hook."""
    hook_calls = conversation_of(execution).hooks
    if hook_calls is None or not isinstance(effect, Hook):
        return None
    if hook_calls.watching:
        return _accept_observer(builder, execution, hook_calls, effect, given)
    hook = _deciding_hooks(builder, hook_calls.slot)[hook_calls.next]
    # the code with which a hook stops what comes through; a guard allows only by saying true
    if "value" not in given:
        refused = "HookGuardFailed" if hook.kind == "guard" else "HookTransformFailed"
    else:
        said = given["value"]
        if hook.kind != "guard" or said is True:
            refused = None
        else:
            refused = said if isinstance(said, str) and said else "GuardDenied"
    if refused is not None:
        failed = "value" not in given
        return HookResult(_clear(execution), hook_calls.slot, hook_calls.subject, refused=refused, failed=failed)
    hook_calls = replace(hook_calls, next=hook_calls.next + 1)
    if hook.kind == "transform":
        hook_calls = replace(hook_calls, subject=given["value"], changed=True)
    return _call_next(builder, execution, hook_calls)


def _call_next(builder: StepBuilder, execution: Execution, hook_calls: HookCalls) -> HookResult | None:
    """Call the next hook; once there is none left to wait for, let the subject through."""
    deciding = _deciding_hooks(builder, hook_calls.slot)
    if hook_calls.next < len(deciding):
        execution = update(execution, hooks=hook_calls)
        _call(builder, execution, deciding[hook_calls.next], hook_calls)
        return None
    observers = [hook for hook in _hooks(builder, hook_calls.slot) if hook.kind == "observer"]
    if not observers:
        return _let_through(execution, hook_calls)
    keys = []
    for hook in observers:
        keys.append(builder.key_of(execution))
        execution = _call(builder, execution, hook, hook_calls)
    hook_calls = replace(hook_calls, watching=tuple(keys))
    builder.keep(update(execution, hooks=hook_calls))
    return None


def _accept_observer(
    builder: StepBuilder, execution: Execution, hook_calls: HookCalls, effect: Hook, given: Mapping[str, Json]
) -> HookResult | None:
    """Wait for the other observers; one that has failed stops nothing."""
    if "value" not in given:
        builder.emit("HookObserverFailed", execution, slot=hook_calls.slot, call=effect.call)
    hook_calls = replace(hook_calls, watching=tuple(key for key in hook_calls.watching if key != effect.key))
    if not hook_calls.watching:
        return _let_through(execution, hook_calls)
    builder.keep(update(execution, hooks=hook_calls))
    return None


def _let_through(execution: Execution, hook_calls: HookCalls) -> HookResult:
    return HookResult(_clear(execution), hook_calls.slot, hook_calls.subject, hook_calls.changed)


def _clear(execution: Execution) -> Execution:
    conversation = conversation_of(execution)
    return execution if conversation.hooks is None else update(execution, hooks=None)


def _call(builder: StepBuilder, execution: Execution, hook: LoopHook, hook_calls: HookCalls) -> Execution:
    given = {
        "stage": hook.stage,
        "when": hook.when,
        "kind": hook.kind,
        "execution": execution.key,
        **hook_calls.about,
        _SUBJECTS[hook_calls.slot]: hook_calls.subject,
    }
    return builder.request(execution, Hook, call=hook.call, phase=hook_calls.slot, given=given)


def _hooks(builder: StepBuilder, slot: str) -> list[LoopHook]:
    session = builder.program.plan.session
    return [] if session is None else [hook for hook in session.hooks if slot_of(hook) == slot]


def _deciding_hooks(builder: StepBuilder, slot: str) -> list[LoopHook]:
    """Return the guards and the transforms of a slot, in the order in which they are called."""
    return [hook for kind in KINDS[:2] for hook in _hooks(builder, slot) if hook.kind == kind]
