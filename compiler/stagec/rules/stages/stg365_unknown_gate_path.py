"""A gate asks for something that the context does not have.

## Why this matters
A gate decides by the context whether its stage may start. The pipeline declares what a run is given there, and this is
not among it, or its JSON Schema rules it out: the condition never holds, and the gate never closes.

## How to fix
Correct the path, which begins with a name under `context`, without `ctx`; or declare the name.
"""

from collections.abc import Iterator

from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.condition_errors import ConditionError, WrongCondition, find_wrong_gates
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import asking, contradiction, elsewhere, rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_gates(pipeline):
        found = each.wrong
        again = tuple(one for one in elsewhere(each) if one.message != "the completion schema")
        message = f"the gate of stage {quote(each.stage.name)} {asking(found)}, but {_why(pipeline, found)}"
        yield Finding(found.at, message, (*again, Related((pipeline.at / "context").key, "the declared context")))


def _why(pipeline: Pipeline, found: WrongCondition) -> str:
    if found.kind is not ConditionError.UNKNOWN:
        return contradiction(found)
    meant = f"; did you mean {quote(found.meant)}?" if found.meant else ""
    known = pipeline.memo.once("context names", lambda: NameIndex(pipeline.context or ()))
    near = meant or hint(found.condition.path[0], known)
    return f"the context does not declare that{near}"
