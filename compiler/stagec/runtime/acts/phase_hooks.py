"""The phases of a stage: what each may do with the context, and the callables that take part (§ 3.10 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import value
from stagec.runtime.acts.conversation_state import conversation_of
from stagec.runtime.exchange import Hook
from stagec.runtime.execution import Execution
from stagec.runtime.json_values import equal
from stagec.runtime.step_builder import StepBuilder

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
FAILED = "ExtensionHost/LifecycleFailure"


@value
class HookReply:
    """What a callable has returned, and the context as it left it if it may; or the failure that it was."""

    value: Json = None
    context: Mapping[str, Json] | None = None
    failure: str | None = None


def find_refusal(phase: str, access: str) -> str | None:
    """Return the failure that an access to the context is in a phase, nothing when it is allowed."""
    return None if access in ACCESS[phase] else "Validation/ContextMutationForbidden"


def call_hook(builder: StepBuilder, execution: Execution, hook: str, **given: Json) -> bool:
    """Call the callable of a node for a phase; false when there is none."""
    named = builder.nodes[execution.node].hooks.get(hook)
    if named is not None:
        builder.request(execution, Hook, call=named, phase=hook, given={"ctx": context_of(execution), **given})
    return named is not None


def read_reply(execution: Execution, hook: str, given: Mapping[str, Json]) -> HookReply:
    """Return what a callable says; one that has written where it may not has failed."""
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
