"""Which tool calls a stage may make: its own tools, and calls that people grant one by one (§ 3.12 of the format)."""

from __future__ import annotations

from collections.abc import Collection

from stagec.core.canonical import canonical
from stagec.core.json import Json
from stagec.core.value import value

APPROVE, DENY, ASK = "approve", "deny", "ask"
ENVELOPE, GRANT, GUARD = "sm-envelope", "sm-grant-token", "guard"


@value
class Decision:
    """What becomes of a call (`approve`, `deny`, or `ask` people first), who decided, and the code of a denial."""

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
    """What a stage allows: its tools, and the keys of the grants that it has used up."""

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
