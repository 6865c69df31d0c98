"""A later node may do without asking what an earlier one may not.

## Why this matters
Somebody wrote a strict permission mode to decide about changes. What the strict node prepares is then carried out by a
node that asks nobody, and an instruction that slipped into the first one waits for the second. To leave `plan` for
`default` or `acceptEdits` is what planning is for, and is not meant here.

## How to fix
Give the later node the mode of the earlier one, or the earlier one the mode that the flow really has. A node without a
mode of its own has that of its kind.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.graph.orders import find_later
from stagec.model.rights import PLAN, FlowRights, PermissionMode
from stagec.rules.rights import noun, rule

_UNASKED = 3
"""The looseness of modes in which nobody is asked about anything."""


@rule(since="0.1", origin=("issue:loosened-mode",), severity=Severity.WARNING)
def check(access: FlowRights) -> Iterator[Finding]:
    whole = access.whole
    modes = {name: rights.mode for name, rights in whole.rights.items() if rights.mode is not None}
    own = {name: mode for name, mode in modes.items() if mode.at is not None and mode != whole.rights[name].general}
    told: set[str] = set()
    for looseness in sorted({mode.looseness for mode in own.values() if mode.looseness is not None}):
        strict = [name for name in whole.flow.nodes if name in own and own[name].looseness == looseness]
        for later, earlier in find_later(whole.flow, strict):
            if later not in told and later in modes and _loosens(modes[later], own[earlier]):
                told.add(later)
                yield _tell(whole, later, earlier)
    for name, mode in own.items():
        general = whole.rights[name].general
        if name not in told and general is not None and _loosens(mode, general):
            what = f"{noun(access)} {quote(name)} has the mode {quote(mode.name)}, but the agent {quote(general.name)}"
            yield Finding(mode.at or whole.flow.nodes[name].at, what, _relate(general, "the mode of the agent"))


def _loosens(later: PermissionMode, earlier: PermissionMode) -> bool:
    """Tell whether a mode asks less than one before it; a plan may be carried out, but not without asking anybody."""
    if later.looseness is None or earlier.looseness is None or later.looseness <= earlier.looseness:
        return False
    return earlier.name != PLAN or later.looseness >= _UNASKED


def _tell(access: FlowRights, later: str, earlier: str) -> Finding:
    mode, before = access.rights[later].mode, access.rights[earlier].mode
    after, strict = (quote(each.name if each is not None else "") for each in (mode, before))
    what = f"{noun(access)} {quote(later)} has the mode {after}, but {quote(earlier)} before it {strict}"
    at = mode.at if mode is not None and mode.at is not None else access.flow.nodes[later].at.key
    return Finding(at, what, _relate(before, f"the mode of {quote(earlier)}"))


def _relate(mode: PermissionMode | None, what: str) -> tuple[Related, ...]:
    return (Related(mode.at, what),) if mode is not None and mode.at is not None else ()
