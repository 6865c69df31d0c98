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


class SchemaMigration:
    """Finds where the schemas of a registry's answers offer `abort` as an intent."""

    def __init__(self, registry: Registry, trees: Mapping[str, Tree], found: Findings) -> None:
        self._registry = registry
        self._trees = trees
        self._found = found

    def find_all(self) -> None:
        """Find the changes of the schemas, and what is open."""
        for step in self._registry.steps.values():
            offered = step.output.choices if step.output is not None else None
            for given, at in offered.values if isinstance(offered, Choices) else ():
                if given == "abort" and at.file in self._trees:
                    self._take(at)

    def _take(self, at: Place) -> None:
        *above, last = at.pointer or ("",)
        if isinstance(last, int) and above[-1:] == ["enum"] and len(self._look_up(at.file, above)) > 1:
            self._found.rewrite(at, "'abort' is not an intent", Edit(Change.REMOVE, at))
        elif all(each.at != at for each in self._found.decisions):
            what = "the schema offers 'abort', which is not an intent"
            self._found.ask(at, what, "remove this choice from the schema")

    def _look_up(self, file: str, way: Iterable[Key]) -> list[Json]:
        """Return the list at a place, an empty one where there is none."""
        given = self._trees[file].value
        for key in way:
            inner = given if isinstance(given, dict) else dict(enumerate(list_of(given)))
            given = inner.get(key)
        return list_of(given)
