"""Grants: one-shot permissions for one call of a tool, in one attempt of one execution of a stage."""

from __future__ import annotations

from stagec.core.value import replace, value

_APPROVE = "approve"
_CONSUMED = "Validation/GrantAlreadyConsumed"


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
class Grants:
    """The tokens that were issued and not consumed, those that were, and the executions that have exited, by key."""

    issued: tuple[str, ...] = ()
    consumed: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()


@value
class Handled:
    """The grants afterwards, and the failure that it was, if it was one; then nothing has changed."""

    grants: Grants
    failure: str | None = None


def issue(grants: Grants, token: Token, decision: str = _APPROVE) -> Handled:
    """Issue a token; only an approval mints one, and no call is granted twice."""
    if decision != _APPROVE:
        return Handled(grants, "ToolTerminal/GrantDenied")
    if token.key in grants.consumed:
        return Handled(grants, _CONSUMED)
    if token.execution in grants.closed:
        return Handled(grants, "Validation/GrantStageExpired")
    return Handled(replace(grants, issued=tuple(dict.fromkeys((*grants.issued, token.key)))))


def consume(grants: Grants, token: Token) -> Handled:
    """Use a token up."""
    if token.key in grants.issued:
        left = tuple(key for key in grants.issued if key != token.key)
        return Handled(replace(grants, issued=left, consumed=(*grants.consumed, token.key)))
    if token.key in grants.consumed:
        return Handled(grants, _CONSUMED)
    if token.execution in grants.closed:
        return Handled(grants, "Validation/GrantStageExpired")
    return Handled(grants, "Validation/GrantNotFound")


def close(grants: Grants, execution: str) -> Grants:
    """Drop what an execution that exits has not used."""
    left = tuple(key for key in grants.issued if key.partition("\0")[0] != execution)
    return replace(grants, issued=left, closed=(*grants.closed, execution))
