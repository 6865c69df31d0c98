"""Changes of plans in words, for pages, comments and drawings."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Annotated, Any

from stagec.change.comparison.change import Action, PlanChange, PlanPart
from stagec.change.comparison.kind import Grade
from stagec.change.comparison.situation import JudgedChange, list_kinds
from stagec.cli.markdown import quote_markdown
from stagec.cli.wording import describe_delay, describe_target, describe_way, format_value, shorten
from stagec.core.failure import Failure
from stagec.core.json import Json, object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import format_count, format_duration, quote
from stagec.ir.plan.codec import HIDDEN, UNBOUNDED, Known, codec_of
from stagec.ir.plan.gate import Term
from stagec.ir.plan.node import Target


def read_codes(given: Iterable[str]) -> frozenset[str]:
    """Return codes as kinds are called; raise `Failure` for one that no breaking kind has."""
    known = [each.code for each in list_kinds() if each.grade is Grade.BREAKING]
    codes = {each: each.upper() for each in given}
    for each, code in codes.items():
        if code not in known:
            raise Failure(f"{quote(each)} is not a code of a breaking change{hint(code, NameIndex(known))}")
    return frozenset(codes.values())


SIGNS = {Action.ADDED: "+", Action.REMOVED: "-", Action.CHANGED: "~"}
"""The sign of what has become of something."""
_LONGEST = 120
"""Characters of a value that are shown."""
_CONTENTS = frozenset({"schema", "accepts", "input-schema", "tool-schema"})
"""Topics whose values are the names of contents, which mean nothing to people."""
_UNSAID = frozenset({"flow", "node", "intent", "node-tool", "needed", "tool", "checks"})
"""Topics whose values say nothing that the name does not, or too much for a line."""


class _Everything:
    """Has every name."""

    def __contains__(self, name: object) -> bool:
        return True


_KNOWN: Known = dict.fromkeys(("nodes", "contents", "choices"), _Everything())


def describe_change(change: PlanChange, arrow: str) -> str:
    """Return `draft: turns 20 → 30`, `flow: tool 'Bash' removed`."""
    subject = "" if change.node is None or change.topic == "node" else f"{shorten(change.node)}: "
    name = change.node if change.topic == "node" else change.name
    is_named = (bool(name) or change.topic == "entry") and change.topic != "edge"  # of an edge, the value names it
    label = change.words + (f" {shorten(str(name)) or repr('')}" if is_named else "")
    if change.topic in _CONTENTS:
        return f"{subject}{label} {change.action}"
    parts = ", ".join(_compare_parts(change, arrow))
    if parts:
        return f"{subject}{label} {parts}"
    before, after = (_show(change, given, arrow) for given in (change.before, change.after))
    if change.action is Action.CHANGED:
        return f"{subject}{label}{f' {before} {arrow} {after}' if before or after else ' changed'}"
    told = after if change.action is Action.ADDED else before
    return f"{subject}{label} {change.action}{f': {told}' if told else ''}"


def _compare_parts(change: PlanChange, arrow: str) -> Iterator[str]:
    """Yield the differences inside of two objects, or between two lists of names; nothing for other values."""
    before, after = change.before, change.after
    if isinstance(before, dict) and isinstance(after, dict) and change.topic != "edge":
        show = _show_time if change.topic == "time-limit" else format_value
        for name in (each for each in {**before, **after} if before.get(each) != after.get(each)):
            shown = (shorten(show(side[name])) if name in side else "none" for side in (before, after))
            yield f"{shorten(name)} {f' {arrow} '.join(shown)}"
    elif change.topic in _NAMES and isinstance(before, list) and isinstance(after, list):
        for told, names in ((Action.REMOVED, (before, after)), (Action.ADDED, (after, before))):
            yield from (f"{told} {shorten(str(each))}" for each in names[0] if each not in names[1])


_NAMES = frozenset({"needs", "labels", "ordering-labels"})
"""Topics whose values are lists of names."""


def _show_time(given: Json) -> str:
    return format_duration(given) if isinstance(given, int) else format_value(given)


def _show(change: PlanChange, given: Json, arrow: str) -> str:
    if change.topic in _UNSAID or given is None:
        return ""
    if change.topic == "edge":
        return _describe_edge(given, arrow)
    if change.topic in {"edge-wait", "deadline", "run-deadline"}:
        return _show_time(given)
    if change.topic == "input":
        declared = object_of(given)
        need = "required" if declared["required"] else "optional"
        return need + (
            f", by default {shorten(format_value(declared['default']))}" if declared["default"] is not None else ""
        )
    text = given if change.topic == "prompt" and isinstance(given, str) else format_value(given)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _describe_edge(given: Any, arrow: str) -> str:
    target = codec_of(Target).read(given["target"], _KNOWN)
    return describe_way(
        shorten(given["on"]),
        codec_of(tuple[Term, ...]).read(given.get("when", []), _KNOWN),
        arrow,
        describe_target(target) + describe_delay(given.get("wait", 0)),
    )


ChangedPart = Annotated[PlanPart, "The part of the plan."]
ChangedTopic = Annotated[str, "The topic of the change."]
ChangeAction = Annotated[Action, "The kind of the change."]
ChangedNode = Annotated[str | None, "The node that the change is about; null for the whole flow."]
ChangedName = Annotated[str, "The subject of the change inside the part: an outcome, a tool, a variable; else empty."]
ValueBefore = Annotated[
    Json,
    "The old value; null when there was none. For a prompt or a schema: null, or the digest of its text.",
    UNBOUNDED,
]
ValueAfter = Annotated[Json, "The new value; null when there is none.", UNBOUNDED]
ChangedLines = Annotated[
    tuple[str, ...],
    "Lines of a prompt or parts of a schema: those that are gone after '- ', those that are new after '+ '.",
]


@value
class ReportedChange:
    """One change."""

    part: ChangedPart
    topic: ChangedTopic
    action: ChangeAction
    node: ChangedNode
    name: ChangedName
    before: ValueBefore
    after: ValueAfter
    lines: ChangedLines
    found: Annotated[PlanChange, HIDDEN]

    @classmethod
    def of(cls, given: PlanChange) -> ReportedChange:
        """Return the report of a change."""
        return cls(**_take_members(given), found=given)


@value
class ReportedJudgement:
    """One change, and what it means for runs in flight."""

    code: Annotated[str, "The code of the kind of change, such as `CHG101`."]
    kind: Annotated[str, "The name of the kind of change."]
    class_: Annotated[Grade, "The effect of the change on runs in flight."]
    allowed: Annotated[bool, "Whether the user allows the code."]
    message: Annotated[str, "The effect of the change, in a sentence."]
    part: ChangedPart
    topic: ChangedTopic
    action: ChangeAction
    node: ChangedNode
    name: ChangedName
    before: ValueBefore
    after: ValueAfter
    lines: ChangedLines
    found: Annotated[PlanChange, HIDDEN]

    @classmethod
    def of(cls, given: JudgedChange, allowed: Container[str]) -> ReportedJudgement:
        """Return the report of a change; `allowed` are the codes that are let through."""
        kind = given.kind
        return cls(
            code=kind.code,
            kind=kind.name,
            class_=kind.grade,
            allowed=kind.code in allowed,
            message=given.sentence,
            **_take_members(given.change),
            found=given.change,
        )


def _take_members(given: PlanChange) -> dict[str, Any]:
    """Return the members of a change in every report."""
    names = ("part", "topic", "action", "node", "name", "before", "after", "lines")
    return {name: getattr(given, name) for name in names}


def write_flows(title: str, old: str, new: str, changed: Sequence[Iterable[str]]) -> str:
    """Return the changes between two sides in Markdown: a heading, and the lines of each changed flow."""
    sides = f"from {quote_markdown(old)} to {quote_markdown(new)}"
    if not changed:
        return f"### {title}\n\nNothing has changed {sides}.\n"
    blocks = "\n".join(line for each in changed for line in each)
    return f"### {title}\n\n{format_count(len(changed), 'flow')} with changes {sides}.\n{blocks}\n"
