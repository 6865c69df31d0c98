"""STG55x: the rights of nodes, and their risks on the paths of a flow; opinions, silent until selected."""

import re
from collections.abc import Iterator, Mapping

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import format_count, listing, quote
from stagec.ir.catalogue.document import list_words
from stagec.ir.graph.information import InformationFlow, Leak, find_later
from stagec.ir.rights import PLAN, FlowRights, Label, PermissionMode, Right

FAMILY = Family(__name__, (range(550, 600),), FlowRights, optional=True)
rule = FAMILY.rule


_RIGHTS_SHOWN = 12
"""Nodes of a way that a message names."""


def noun(access: FlowRights) -> str:
    """Return the system's word for a node."""
    return access.flow.names.get("node", "node")


def group_rights(access: FlowRights) -> Mapping[tuple[Place, str], tuple[Right, tuple[str, ...]]]:
    """Return the allowed tools, by place and name, with the nodes that may use each."""
    found: dict[tuple[Place, str], tuple[Right, list[str]]] = {}
    for node, rights in access.rights.items():
        for right in rights.tools:
            found.setdefault((right.at, right.name), (right, []))[1].append(node)
    return {key: (right, tuple(nodes)) for key, (right, nodes) in found.items()}


def describe_leak(access: FlowRights, leak: Leak) -> str:
    """Name the sender, the readers, and the way between them."""
    sender, node = access.rights[leak.sender].find(Label.SEND), noun(access)
    sends = f"{node} {quote(leak.sender)} can send to the outside with {_name(sender)}"
    private, untrusted = (
        _tell_rights(access, leak, leak.private, Label.PRIVATE),
        _tell_rights(access, leak, leak.untrusted, Label.UNTRUSTED),
    )
    names = list(dict.fromkeys(each.node for each in leak.way))
    if len(names) == 1:
        return f"{sends}, {private} and {untrusted}"
    shown = names if len(names) <= _RIGHTS_SHOWN else [*names[: _RIGHTS_SHOWN // 2], "…", *names[-_RIGHTS_SHOWN // 2 :]]
    return f"{sends}, after {private} and {untrusted}: {' → '.join(shown)}"


def _tell_rights(access: FlowRights, leak: Leak, node: str, label: Label) -> str:
    """Return the readers of private data or untrusted text, as a part of the sentence about the sender."""
    what = "private data" if label is Label.PRIVATE else "untrusted text"
    tool = _name(access.rights[node].find(label))
    alone = len({each.node for each in leak.way}) == 1
    if alone:
        return f"read {what} with {tool}"
    who = "it" if node == leak.sender else quote(node)
    return f"{who} can read {what} with {tool}"


def _name(right: Right | None) -> str:
    return quote(right.name if right is not None else "")


def relate_leak(access: FlowRights, leak: Leak) -> Iterator[Related]:
    """Yield the places that allow the reads, and the places along the way."""
    for node, label, what in (
        (leak.private, Label.PRIVATE, "reads private data"),
        (leak.untrusted, Label.UNTRUSTED, "reads untrusted text"),
    ):
        right = access.rights[node].find(label)
        if right is not None:
            yield Related(right.at, f"{quote(right.name)} of {quote(node)} {what}")
    for step in leak.way[1:_RIGHTS_SHOWN]:
        at = access.flow.nodes[step.node].at.key if step.edge is None else step.edge.at
        yield Related(at, f"the way leads to {quote(step.node)}")


@rule(since="0.1", origin=("issue:lethal-trifecta",), severity=Severity.WARNING)
def stg551_lethal_trifecta(access: FlowRights) -> Iterator[Finding]:
    """On one path, a run reads private data, reads untrusted text, and can send to the outside.

    ## Why this matters
    A model cannot tell the text that it works on from the instructions that it follows. If strangers can write a part
    of that text, they can tell it to send what it has read before: secrets, code, mail. Prompts that forbid it do not
    prevent it. Each of the three alone is harmless, and so are any two of them. Only all three on one way are
    dangerous, be it in one node or in several, because results and files pass from node to node.

    The reads of a node count for all later nodes, also across loops and joins. Nodes after the sending node do not
    count, nor do those beside it. A program with fixed arguments does the same whatever it reads: where no model
    decides after untrusted text was read, nothing is reported.

    ## How to fix
    Take one of the three away. Give no sending tool to the node that reads untrusted text; or send from a flow that
    reads nothing private, to which you hand only a checked value, such as a number or one word of a list. If a tool is
    harmless in your project, say so in `tools.yaml`: `labels: {Read: {reads: []}}`.
    """
    whole = access.whole
    labels = {name: rights.labels for name, rights in whole.rights.items()}
    fixed = {name for name, rights in whole.rights.items() if rights.is_fixed}
    ways = InformationFlow(whole.flow, labels, fixed)
    told: dict[Place, list[str]] = {}
    for sender in ways.find_senders():
        right = whole.rights[sender].find(Label.SEND)
        if right is not None:
            told.setdefault(right.at if len(told) < _MOST else list(told)[-1], []).append(sender)
    for at, (first, *others) in told.items():
        leak = ways.describe(first)
        more = f"; so can {format_count(len(others), f'other {noun(access)}')}" if others else ""
        yield Finding(at, f"{describe_leak(whole, leak)}{more}", tuple(relate_leak(whole, leak)))


_MOST = 100
"""Places of which something is said for each flow; what is allowed at others is counted at the last."""


_RISKY = frozenset({Label.WRITE, Label.SEND, Label.UNTRUSTED})
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SHORTEST = 4
"""Letters of a part of a name that stands for the name."""
_MOST_FOREIGN = 0.1
"""The share of letters outside ASCII from which a text is not read."""
_UNMENTIONED_TOOL_SHOWN = 8


@rule(since="0.1", origin=("issue:unmentioned-tool",), severity=Severity.NOTE)
def stg552_unmentioned_tool(access: FlowRights) -> Iterator[Finding]:
    """A tool is allowed of which no prompt says anything.

    ## Why this matters
    A model uses the tools that it has. A tool that changes data, sends data or reads untrusted text is a risk. If no
    prompt mentions the tool, the risk has no use. Often such a tool was copied from another agent.

    ## How to fix
    Take the tool out of the list, or say in the prompt what it is for. `stagec permissions` shows which tools the
    tests of the flow need. Tools that only read the project need no mention. A prompt speaks of a tool by its name or
    by a word for what it does, such as "fetch" or "URL" for `WebFetch`; of prompts in other scripts than Latin,
    nothing is said.
    """
    texts: dict[str, str | None] = {}
    for (at, _), (right, nodes) in group_rights(access).items():
        if right.is_program or not _RISKY & right.labelled.labels:
            continue
        prompts = [access.rights[name].prompts for name in nodes]
        told = dict.fromkeys(text for each in prompts for text in each or ())
        texts.update((each, _fold(each)) for each in told if each not in texts)
        if None in prompts or any(text is None or _speaks(text, right) for text in map(texts.get, told)):
            continue
        who = listing(nodes) if len(nodes) <= _UNMENTIONED_TOOL_SHOWN else format_count(len(nodes), noun(access))
        plural = "s" if len(nodes) > 1 else ""
        where = f"{noun(access)}{plural} {who}" if len(nodes) <= _UNMENTIONED_TOOL_SHOWN else who
        yield Finding(at, f"no prompt of {where} says what {quote(right.name)} is for")


def _fold(prompt: str) -> str | None:
    """Return the prompt of a model in lower case; None for an unreadable text."""
    text = prompt.lower()
    letters = sum(map(str.isalpha, text))
    foreign = sum(not each.isascii() for each in text if each.isalpha())
    return None if foreign > _MOST_FOREIGN * max(1, letters) else text


def _speaks(text: str, right: Right) -> bool:
    """Tell whether a text names a tool, a part of its name, or what it does."""
    own = right.name.rpartition("__")[2] or right.name
    parts = [each.lower() for each in _PARTS.findall(own)]
    words = [right.name.lower(), own.lower(), *(each for each in parts if len(each) >= _SHORTEST), *list_words(own)]
    return any(word in text for word in words if word)


_UNASKED = 3
"""The looseness of modes in which nobody is asked about anything."""


@rule(since="0.1", origin=("issue:loosened-mode",), severity=Severity.WARNING)
def stg553_loosened_mode(access: FlowRights) -> Iterator[Finding]:
    """A later node may do without a question what an earlier one must ask for.

    ## Why this matters
    Somebody wrote a strict permission mode to decide about changes. A node without questions then carries out the work
    of the strict one, and an instruction that slipped into the first one waits for the second. To leave `plan` for
    `default` or `acceptEdits` is what planning is for, and is not meant here.

    ## How to fix
    Give the later node the mode of the earlier one, or the earlier one the mode that the flow really has. A node
    without a mode of its own has that of its kind.
    """
    whole = access.whole
    modes = {name: rights.mode for name, rights in whole.rights.items() if rights.mode is not None}
    own = {name: mode for name, mode in modes.items() if mode.at is not None and mode != whole.rights[name].general}
    told: set[str] = set()
    for looseness in sorted({mode.looseness for mode in own.values() if mode.looseness is not None}):
        strict = [name for name in whole.flow.nodes if name in own and own[name].looseness == looseness]
        for later, earlier in find_later(whole.flow, strict):
            if later not in told and later in modes and _loosens(modes[later], own[earlier]):
                told.add(later)
                yield _describe_loosened_mode(whole, later, earlier)
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


def _describe_loosened_mode(access: FlowRights, later: str, earlier: str) -> Finding:
    mode, before = access.rights[later].mode, access.rights[earlier].mode
    after, strict = (quote(each.name if each is not None else "") for each in (mode, before))
    what = f"{noun(access)} {quote(later)} has the mode {after}, but {quote(earlier)} before it has {strict}"
    at = mode.at if mode is not None and mode.at is not None else access.flow.nodes[later].at.key
    return Finding(at, what, _relate(before, f"the mode of {quote(earlier)}"))


def _relate(mode: PermissionMode | None, what: str) -> tuple[Related, ...]:
    return (Related(mode.at, what),) if mode is not None and mode.at is not None else ()


@rule(since="0.1", origin=("issue:injectable-command",), severity=Severity.WARNING)
def stg554_injectable_command(access: FlowRights) -> Iterator[Finding]:
    """A text from outside becomes a part of a program.

    ## Why this matters
    A shell, or an interpreter behind `-c` or `-e`, reads its argument as a program. A text that is put into it can end
    a word and begin a command of its own: an issue title such as `x; curl …` then runs on your machine. Quotation
    marks do not help, because the text can contain some, too.

    ## How to fix
    Start the program itself, and give the text as a word of its own: `"command": "gh", "args": ["issue", "view",
    "${context.issue}"]`. Or pass the text by a file. A parameter whose type is a number cannot hold a program.
    """
    for name, rights in access.rights.items():
        for each in rights.shell:
            program = each.program if each.program.startswith("the ") else quote(each.program)
            what = f"{program} of {noun(access)} {quote(name)} reads {quote(each.what)} as a part of its program"
            yield Finding(each.at, what)
