"""What a tools file says that tools read and do: in their entries, and by patterns of their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.catalogue.document import Effects, ToolLabels, well_known_effects
from stagec.core.json import Json, Object, object_of
from stagec.core.place import Place
from stagec.model.rights import Label
from stagec.sources.tree import Tree

LABELLING = "labels"
READING, DOING = "reads", "effects"
_LABELS: Mapping[str, Label] = {each.value: each for each in Label}
_CHANGES: Mapping[str, bool] = {"read": False, "mutating": True}


def list_labels(tree: Tree | None) -> Iterator[tuple[str, ToolLabels]]:
    """Yield what a tools file says of tools by patterns of their names."""
    for pattern, body in object_of(object_of(tree.value).get(LABELLING)).items() if tree is not None else ():
        labels = read_labels(object_of(body), tree.at / LABELLING / pattern) if tree is not None else None
        if labels is not None:
            yield pattern, labels


def read_labels(body: Object, at: Place) -> ToolLabels | None:
    """Return what is said that a tool reads and does; nothing where nothing is said."""
    reads, given = _label(body.get(READING)), body.get(DOING)
    changes = _CHANGES.get(given) if isinstance(given, str) else None
    does = None if changes is not None else _label(given)
    if reads is None and does is None and changes is None:
        return None
    return ToolLabels(reads, does, changes, at / (READING if reads is not None else DOING))


def _label(given: Json) -> frozenset[Label] | None:
    """Return the labels in a list, or the one that stands for a list of one."""
    if not isinstance(given, str | list):
        return None
    words = [given] if isinstance(given, str) else given
    return frozenset(_LABELS[each] for each in words if isinstance(each, str) and each in _LABELS)


def find_effects(name: str, labels: ToolLabels | None) -> Effects:
    """Return whether calling a tool changes something, as its entry says, else as its name does."""
    if labels is None or (labels.does is None and labels.changes is None):
        return well_known_effects(name)
    changes = labels.changes if labels.does is None else Label.WRITE in labels.does
    return Effects.MUTATING if changes else Effects.READ
