"""On one way, a run reads private data, reads what strangers wrote, and can send to the outside.

## Why this matters
A model cannot tell the text that it works on from the instructions that it follows. If strangers can write a part of
that text, they can tell it to send what it has read before: secrets, code, mail. Prompts that forbid it do not prevent
it. Each of the three alone is harmless, and so are any two of them. Only all three on one way are dangerous, be it in
one node or in several, because results and files pass from node to node.

What a node reads counts for all that follows it, also across loops and joins. What comes only after the sending node
does not count, nor does what runs beside it. A program with fixed arguments does the same whatever it reads: where no
model decides after strangers were read, nothing is reported.

## How to fix
Take one of the three away. Let the node that reads what strangers wrote have no tool that sends; or send from a flow
that reads nothing private, to which you hand only a checked value, such as a number or one word of a list. If a tool is
harmless in your project, say so in `tools.yaml`: `labels: {Read: {reads: []}}`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import format_count
from stagec.graph.information import InformationFlow
from stagec.model.rights import FlowRights, Label
from stagec.rules.rights import describe_leak, noun, relate_leak, rule


@rule(since="0.1", origin=("issue:lethal-trifecta",), severity=Severity.WARNING)
def check(access: FlowRights) -> Iterator[Finding]:
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
