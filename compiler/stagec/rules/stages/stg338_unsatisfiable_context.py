"""No value satisfies the schema of a value that every run needs.

## Why this matters
A run begins only with a value for each name of the context, and each value must satisfy its schema. Where two parts of
the schema exclude each other, every value is refused, so no run can begin.

## How to fix
Change the part that is shown, or the one that contradicts it: a bound that is higher than another, a value of another
type, a member that is required and forbidden.
"""

from collections.abc import Iterator

from stagec.contract.conflict import find_contradiction
from stagec.core.place import spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.freezing.draft import find_required
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    context = pipeline.context or {}
    needed = [name for name, is_needed in find_required(pipeline).items() if is_needed and name in context]
    for name in needed:
        found = find_contradiction(pipeline.schemas, context[name])
        if found is not None:
            why = f": nothing can be its {quote(spell_path(found.path))}" if found.path else ""
            related = () if found.against is None else (Related(found.against, "this contradicts it"),)
            yield Finding(found.at, f"no value of {quote(f'ctx.{name}')} satisfies its schema{why}", related)
