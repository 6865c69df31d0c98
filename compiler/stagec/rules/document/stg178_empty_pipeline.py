"""A pipeline has no stages.

## Why this matters
There is nothing to run. A pipeline without `stages` takes the stage definitions that lie beside it; an empty list says
that there are none.

## How to fix
List the files of the stages or the stages themselves, or remove the empty list.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, rule


@rule(since="0.1", origin=("stage-definitions:stages-empty", "Validation/StageDefinitionInvalid"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("empty-pipeline"):
        if fault.reason == "none-beside":
            yield Finding(fault.at, "this pipeline lists no stages, and there is no stage definition beside it")
        else:
            yield Finding(fault.at, "'stages' is empty")
