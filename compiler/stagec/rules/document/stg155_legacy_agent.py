"""An agent definition is written in the format of version 1.11.

## Why this matters
That format keeps `behavior`, `prompts` and `logging` at the top. Runners since then read them below `runner` and
refuse the rest.

## How to fix
Move the members below `runner`: prompts into `runner.flow`, what ends the run into `runner.verdict`, tools and
permissions into `runner.boundaries`, logging into `runner.logging`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("steps-registry:agent.legacy-1.11", "steps-registry:agent.complete"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("legacy-agent"):
        members = fault.facts["members"]
        shown = listing(members) if isinstance(members, tuple) else ""
        yield Finding(
            fault.at, f"this agent definition is written in the format of 1.11: {shown} belong below 'runner'"
        )
