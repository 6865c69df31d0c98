"""Output schemas: the intent that is none any more is taken from those that gates point at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.contract.choices import Choices
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, list_of
from stagec.core.place import Key, Place
from stagec.frontends.registry.document import Registry
from stagec.migration.report import Findings
from stagec.sources.tree import Tree


def migrate_schemas(registry: Registry, trees: Mapping[str, Tree], found: Findings) -> None:
    """Find where schemas of answers offer `abort` as an intent."""
    for step in registry.steps.values():
        offered = step.output.choices if step.output is not None else None
        for given, at in offered.values if isinstance(offered, Choices) else ():
            if given == "abort" and at.file in trees:
                _take(at, trees[at.file], found)


def _take(at: Place, tree: Tree, found: Findings) -> None:
    *above, last = at.pointer or ("",)
    if isinstance(last, int) and above[-1:] == ["enum"] and len(_look_up(tree.value, above)) > 1:
        found.rewrite(at, "'abort' is no intent", Edit(Change.REMOVE, at))
    elif all(each.at != at for each in found.decisions):
        found.ask(at, "the schema offers 'abort', which is no intent", "remove this choice from the schema")


def _look_up(given: Json, way: Iterable[Key]) -> list[Json]:
    """Return the list at a place, an empty one where there is none."""
    for key in way:
        inner = given if isinstance(given, dict) else dict(enumerate(list_of(given)))
        given = inner.get(key)
    return list_of(given)
