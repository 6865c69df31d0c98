"""A value of a hand-off is written as no expression, or uses a key that is not there.

## Why this matters
climpt stops with an error when the hand-off is due.

## How to fix
Write a text in single quotes, `$.agent.result.…`, `$.workflow.context.…`, `$.workflow.agents[id].…`, or a text with
`${payload.key}`. Each key is one of `payloadFrom`.
"""

import re
from collections.abc import Iterator

from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import ArtifactHandoff, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-expression",))
def check(workflow: Workflow) -> Iterator[Finding]:
    for handoff in workflow.handoffs:
        yield from _judge(handoff)


_EXPRESSION = re.compile(r"'.*'|\$\.agent\.result\b.*|\$\.workflow\.(?:context\.|agents\[[^\]]+\]).+", re.DOTALL)
_KEY = re.compile(r"\$\{payload\.([^}]*)\}")


def _judge(handoff: ArtifactHandoff) -> Iterator[Finding]:
    texts = [(key, text, handoff.at / "payloadFrom" / key) for key, text in handoff.payload.items()]
    for _, text, at in texts:
        is_told = text.startswith("templates.")  # which has a rule of its own
        if not is_told and _EXPRESSION.fullmatch(text) is None and _KEY.search(text) is None:
            message = f"{quote(text)} in {handoff.name} is no expression; a text stands in single quotes"
            yield Finding(at, message)
    if handoff.path is not None:
        texts.append(("", handoff.path, handoff.at / "emit" / "path"))
    for own, text, at in texts:
        others = NameIndex(key for key in object_of(handoff.body.get("payloadFrom")) if key != own)
        for name in dict.fromkeys(_KEY.findall(text)):
            if name not in others and _EXPRESSION.fullmatch(text) is None:
                message = (
                    f"{handoff.name} uses key {quote(name)}, which 'payloadFrom' does not have{hint(name, others)}"
                )
                yield Finding(at, message)
