"""A stage definition lacks members that every stage has.

## Why this matters
Eight members are required in the frontmatter of a stage: `id`, `name`, `allowedTools`, `completionTool`,
`completionSchema`, `retryPolicy`, `turnCap` and `resolutionPolicy`. A stage without one of them fails before its first
turn. A stage written as a JSON object requires `id`, `body`, `turnCap`, `completionTool` and `completionSchema`.

## How to fix
Add the members. If a member nearby is named as the likely misspelling, correct its name. An agent file of another
program, with `name`, `description` and `tools`, is made into a stage definition by `stagec init --from FILE`; what only
its author can say is marked in the result.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.value import replace
from stagec.rules.document import misshapen, rule
from stagec.sources.tree import Fault, Tree

_OWN = frozenset({"id", "allowedTools", "completionTool", "completionSchema", "turnCap", "resolutionPolicy"})
"""The members by which a stage is known."""


@rule(since="0.1", origin=("stage-definitions:field-missing",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault, finding in zip(tree.about("incomplete-stage"), misshapen(tree, "incomplete-stage"), strict=True):
        yield replace(finding, message=f"{finding.message}{_advice(fault)}")


def _advice(fault: Fault) -> str:
    missing = fault.facts["missing"]
    is_foreign = isinstance(missing, tuple) and _OWN.issubset(missing)
    after = " " if fault.facts["misspelt"] else "; "
    return f"{after}'stagec init --from' makes a stage of an agent file" if is_foreign else ""
