"""A comment uses a value that the agent does not hand over.

## Why this matters
climpt leaves `{name}` as it is in the comment.

## How to fix
Use the last part of a path in `handoffFields` of the closing step, or add the path there.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Performer, Workflow
from stagec.frontends.orchestrator.outcomes import list_template_keys
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.template-variable",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if called is None or not called.is_whole:
            continue
        handed = next((each.handed for each in called.closings if each.handed), ())
        known = NameIndex(path.rpartition(".")[2] for path in handed)
        for key, name in _list_used(workflow, agent):
            if name not in known:
                message = f"comment {quote(key)} uses {quote(name)}, which agent {quote(agent.id)} does not hand over"
                yield Finding(workflow.at / "handoff" / "commentTemplates" / key, f"{message}{hint(name, known)}")


def _list_used(workflow: Workflow, agent: Performer) -> Iterator[tuple[str, str]]:
    """Yield the values that comments about an agent use, with the key of the comment."""
    given = object_of(object_of(workflow.body.get("handoff")).get("commentTemplates"))
    for key in list_template_keys(workflow, agent) if given else ():
        yield from ((key, name) for name in dict.fromkeys(_VARIABLE.findall(text_in(given, key) or "")))


_VARIABLE = re.compile(r"\{(\w+)\}")
