"""An agent definition names a step registry that is not there.

## Why this matters
`runner.flow.prompts.registry` is where the agent's flow is read from. Without the file the agent cannot start.

## How to fix
Correct the path: it is relative to the folder of the agent definition and must stay inside the project.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_SENTENCES = {
    "no-file": "there is no step registry {named} beside the agent definition",
    "outside": "step registry {named} lies outside the project",
}


@rule(since="0.1", origin=("steps-registry:path.registry", "steps-registry:boot.registry-not-found", "SR-LOAD-003"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("missing-registry"):
        yield Finding(fault.at, _SENTENCES[fault.reason].format(named=quote(fault.facts["named"])))
