"""The state of a stage's conversation, and the tool calls that it may make (§ 3.12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from stagec.core.canonical import canonical
from stagec.core.json import Json, list_of, object_of, text_in
from stagec.core.value import replace, value
from stagec.runtime.machine.answer_schemas import UNREADABLE
from stagec.runtime.machine.exchange import Message, Request
from stagec.runtime.machine.execution import Conversation, Execution

APPROVE, DENY, ASK = "approve", "deny", "ask"
ENVELOPE, GRANT, GUARD = "sm-envelope", "sm-grant-token", "guard"


@value
class Decision:
    """The decision about a call (`approve`, `deny`, or `ask` people first), its source, and the code of a denial."""

    kind: str
    source: str
    code: str | None = None


@value
class Token:
    """The one call that a grant is for: the execution and the attempt, the proposal, the tool, and the digest."""

    execution: str
    attempt: int
    proposal: str
    tool: str
    digest: str

    @property
    def key(self) -> str:
        """All of it as one text."""
        return "\0".join((self.execution, str(self.attempt), self.proposal, self.tool, self.digest))


@value
class Authority:
    """The rights of a stage: its tools, and the keys of the grants that it has used up."""

    tools: Collection[str]
    consumed: Collection[str] = ()


def decide_call(tool: str, token: Token | None, authority: Authority, reply: str | None) -> Decision:
    """Decide about a call before any guard is asked.

    `token` is the grant that would allow the call, None when its arguments have no digest. `reply` is what people said
    (`approve`, `deny` or `defer`), None when they were not asked yet. The security mode decides nothing inside a stage.
    """
    if tool in authority.tools:
        return Decision(APPROVE, ENVELOPE)
    if token is None:
        return Decision(DENY, GRANT, "GrantDenied")
    if token.key in authority.consumed:
        return Decision(DENY, GRANT, "GrantAlreadyConsumed")
    if reply is None:
        return Decision(ASK, GRANT)
    return Decision(APPROVE, GRANT) if reply == APPROVE else Decision(DENY, GRANT, "GrantDenied")


def digest_of(given: Json) -> str | None:
    """Return the digest by which a value is named, hexadecimal digits; nothing for what has no canonical text."""
    try:
        text = canonical(given)
    except (ValueError, RecursionError):
        return None
    from hashlib import sha256  # which takes long to load, and few runs ask for it

    return sha256(text).hexdigest()


_EMPTY = Conversation()


def conversation_of(execution: Execution) -> Conversation:
    """Return the conversation of an execution."""
    found = execution.progress
    return found if isinstance(found, Conversation) else _EMPTY


def update(execution: Execution, **fields: object) -> Execution:
    """Return an execution with some fields of its conversation changed."""
    return replace(execution, progress=replace(conversation_of(execution), **fields))


_ROLES = frozenset({"system", "user", "assistant", "tool"})


def messages_to_json(messages: Iterable[Message]) -> list[Json]:
    """Return messages as JSON; members without a value are absent."""
    found: list[Json] = []
    for each in messages:
        members: dict[str, Json] = {"role": each.role, "text": each.text}
        if each.calls:
            members["calls"] = calls_to_json(each.calls)
        if each.call is not None:
            members["call"] = each.call
        found.append(members)
    return found


def calls_to_json(calls: Iterable[Request]) -> list[Json]:
    """Return calls as JSON."""
    return [{"id": each.id, "tool": each.tool, "arguments": each.arguments} for each in calls]


def explain_call(call: Request) -> str:
    """Return why a call cannot be read."""
    if not call.tool:
        return "the call names no tool" if call.unreadable is None else f"the call cannot be read: {call.unreadable}"
    if call.unreadable is not None:
        return f"the arguments cannot be read: {call.unreadable}"
    return "the arguments are no object"


def read_messages(given: Json) -> tuple[Message, ...] | None:
    """Return the messages that a callable means, None if it means none."""
    found = tuple(map(_message, list_of(given)))
    return tuple(filter(None, found)) if found and all(found) else None


def _message(given: Json) -> Message | None:
    told = object_of(given)
    role, text = text_in(told, "role"), text_in(told, "text")
    if role not in _ROLES or text is None:
        return None
    return Message(role, text, read_calls(told.get("calls"), ""), text_in(told, "call"))


def read_calls(given: Json, prefix: str) -> tuple[Request, ...]:
    """Return the calls in a list; one that cannot be read is a call all the same. `prefix` begins the ids they lack."""
    found: list[Request] = []
    for index, told in enumerate(map(object_of, list_of(given))):
        arguments = told.get("arguments")
        own = text_in(told, "id") or f"{prefix}{index}"
        unreadable = text_in(told, UNREADABLE)
        if arguments is None:
            arguments = {} if unreadable is None else ""
        found.append(Request(own, text_in(told, "tool") or "", arguments, unreadable))
    return tuple(found)
