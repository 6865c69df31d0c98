"""What runs after a stage is not written in a way that can be read.

## Why this matters
`next` holds the id of a stage, a route with `stages`, or a list of cases, each a route with a `when`. From anything
else it cannot be told where the run goes on.

## How to fix
Write one of the three:

```yaml
next:
  plan: execute
  execute: {stages: [test, lint], execution: parallel, join: review}
  review:
    - {when: {parsed.approved: true}, stages: []}
    - {stages: [execute]}
```

A route has exactly one of `stages`, its other name `nextStages`, and `terminate: true`, which is the same as
`stages: []`. A stage that is to end the run needs no entry.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.value import replace
from stagec.rules.document import misshapen, rule
from stagec.sources.tree import Fault, Tree


@rule(since="0.1", origin=("rulings:pipelines", "stage-definitions:execution-enum"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault, finding in zip(tree.about("malformed-routing"), misshapen(tree, "malformed-routing"), strict=True):
        yield replace(finding, message=f"{finding.message}{_advice(fault)}")


def _advice(fault: Fault) -> str:
    last = fault.at.pointer[-1] if fault.at.pointer else ""
    if fault.reason == "type" and isinstance(last, int) and fault.facts["allowed"] == ("object",):
        return "; a list holds cases, such as '{stages: [review]}'"
    return "; a stage without 'next' ends the run" if fault.reason == "minItems" else ""
