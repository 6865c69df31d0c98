"""A stage that runs in parallel with others may change things.

## Why this matters
Stages that run at the same time and change the same files get in each other's way. And when one of them fails, the
others are cut off in the middle, and nothing takes back what they have changed.

## How to fix
Prefer stages that only read in parallel, and let a stage after the join do what they found. If one has to change
something, keep it small, and so that doing it twice does no harm.
"""

from collections.abc import Iterator

from stagec.catalogue import Effects, well_known_effects
from stagec.catalogue.labels import LabelBook
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.stages.document import IncomingKind, Pipeline
from stagec.model.rights import Label
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:parallel-mutating-sibling",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    book = pipeline.memo.once("labels", lambda: LabelBook(pipeline.catalogue))
    for name, stage in pipeline.by_id.items():
        ways = [way for way in pipeline.incoming.get(name, ()) if way.kind is IncomingKind.SIBLING]
        mutating = [each for each in stage.allowed or () if ways and _changes(pipeline, book, each.name)]
        if mutating:
            names = listing(dict.fromkeys(each.name for each in mutating))
            message = f"{quote(name)} runs in parallel with others, and may change things with {names}"
            yield Finding(mutating[0].at, message, (Related(ways[0].at, "runs in parallel here"),))


def _changes(pipeline: Pipeline, book: LabelBook, name: str) -> bool:
    """Tell whether a tool may change something, as the catalogue says, else as its name does or its server is known."""
    tool = pipeline.catalogue.by_name.get(name) if pipeline.catalogue is not None else None
    effects = tool.effects if tool is not None else well_known_effects(name)
    return effects is Effects.MUTATING if effects is not Effects.UNKNOWN else Label.WRITE in book.find(name).labels
