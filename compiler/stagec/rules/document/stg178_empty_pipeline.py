"""A pipeline has no stages.

## Why this matters
There is nothing to run. A pipeline without `stages` takes the stage definitions that lie beside it; an empty list says
that there are none.

## How to fix
List the files of the stages, such as `stages: ["stages/*.md"]`, or the stages themselves; or remove the empty list.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_NONE_BESIDE = (
    "this pipeline lists no stages, and there is no stage definition beside it; "
    "those in a folder are listed, such as 'stages: [\"stages/*.md\"]'"
)


@rule(since="0.1", origin=("stage-definitions:stages-empty", "Validation/StageDefinitionInvalid"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("empty-pipeline"):
        if fault.reason == "none-beside":
            yield Finding(fault.at, _NONE_BESIDE)
        else:
            yield Finding(fault.at, "'stages' is empty")
