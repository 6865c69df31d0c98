"""Which calls of a model may be made: the stage decides about its own, the security mode about all others (§ 3.12)."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from stagec.core.json import Json
from stagec.core.value import value
from stagec.plan.canonical import canonical
from stagec.runtime.acts.grants import Grants, Token

APPROVE, DENY, ASK, HALT = "approve", "deny", "ask", "halt"
ENVELOPE, GRANT, MODE, GUARD = "sm-envelope", "sm-grant-token", "mode-gate", "guard"
NOBODY = "nobody"
"""What is heard from people who are not there."""


@value
class Decision:
    """What becomes of a call, and who has decided: `approve`, `deny`, `halt`, or `ask` people first."""

    kind: str
    source: str
    code: str | None = None


@value
class Envelope:
    """What a stage allows: its tools, and what was granted. `token` would allow the call, where there can be one."""

    tools: tuple[str, ...]
    token: Token | None = None
    grants: Grants = Grants()


@value
class Proposal:
    """A call that is to be decided: the tool, and for calls outside of stages the text that patterns are held against.

    `heard` is what people have said: `approve`, `deny`, `defer` or `nobody`; None when they were not asked yet.
    """

    tool: str
    key: str = ""
    heard: str | None = None


@value
class Rules:
    """What holds outside of stages beside the mode: the patterns of the allowlist, and the keys once approved."""

    patterns: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()


_NO_RULES = Rules()


def decide_call(
    mode: str | None, proposal: Proposal, envelope: Envelope | None = None, rules: Rules = _NO_RULES
) -> Decision:
    """Decide about a call before any guard is asked; in a stage, which has an envelope, the mode decides nothing."""
    if envelope is not None:
        return _in_stage(proposal, envelope)
    if mode == "yolo":
        return Decision(APPROVE, MODE)
    if mode == "allowlist":
        listed = any(matches(pattern, proposal.key) for pattern in rules.patterns)
        return Decision(APPROVE, MODE) if listed else Decision(DENY, MODE, "NotOnAllowlist")
    return _asked(proposal, rules)


def guarded(decision: Decision, refusals: Iterable[str | None]) -> Decision:
    """Return what guards leave of an approval: the first that refuses denies it, in any mode."""
    refusal = next((each for each in refusals if each is not None), None) if decision.kind == APPROVE else None
    return decision if refusal is None else Decision(DENY, GUARD, refusal)


def _in_stage(proposal: Proposal, envelope: Envelope) -> Decision:
    if proposal.tool in envelope.tools:
        return Decision(APPROVE, ENVELOPE)
    if envelope.token is None:
        return Decision(DENY, GRANT, "GrantDenied")
    if envelope.token.key in envelope.grants.consumed:
        return Decision(DENY, GRANT, "GrantAlreadyConsumed")
    if envelope.token.key in envelope.grants.issued or proposal.heard == APPROVE:
        return Decision(APPROVE, GRANT)
    return Decision(ASK, GRANT) if proposal.heard is None else Decision(DENY, GRANT, "GrantDenied")


def _asked(proposal: Proposal, rules: Rules) -> Decision:
    if proposal.key in rules.approved:
        return Decision(APPROVE, MODE)
    match proposal.heard:
        case None:
            return Decision(ASK, MODE)
        case "approve":
            return Decision(APPROVE, MODE)
        case "nobody":
            return Decision(HALT, MODE)
        case _:
            return Decision(DENY, MODE, "AskRefused")


def matches(pattern: str, key: str) -> bool:
    """Tell whether a pattern, in which `*` stands for any text, matches all of a key."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == key
    *inner, last = rest
    end = len(key) - len(last)
    if not (key.startswith(first) and key.endswith(last) and len(first) <= end):
        return False
    at = len(first)
    for part in inner:
        found = key.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def approval_key(tool: str, arguments: Json) -> str:
    """Return the text of a call that patterns are held against: the tool, a colon, and its arguments."""
    return f"{tool}:{_text(arguments) or ''}"


def digest_of(given: Json) -> str | None:
    """Return the digest by which a value is named, hexadecimal digits; nothing for what has no canonical text."""
    text = _text(given)
    return None if text is None else sha256(text.encode()).hexdigest()


def _text(given: Json) -> str | None:
    try:
        return canonical(given).decode()
    except (ValueError, RecursionError):
        return None
