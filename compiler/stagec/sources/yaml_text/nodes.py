"""What a YAML text consists of: nodes that know where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from stagec.core.place import Pointer
from stagec.core.value import value


class Kind(StrEnum):
    """What a node is."""

    SCALAR = "scalar"
    SEQUENCE = "sequence"
    MAPPING = "mapping"
    ALIAS = "alias"


@value
class YamlNode:
    """One node and its range in characters of the text, end exclusive, trailing blanks left out.

    `items` are the elements of a sequence, the keys and values of a mapping by turns, or the one target of an alias.
    `style` is the opening character of a scalar (empty for a plain one) or of a flow collection. `size` counts the
    values inside, aliases as often as they are used.
    """

    kind: Kind
    start: int
    end: int
    text: str = ""
    style: str = ""
    items: tuple[YamlNode, ...] = ()
    anchor: str = ""
    tag: str = ""
    size: int = 1

    @property
    def pairs(self) -> Iterator[tuple[YamlNode, YamlNode]]:
        """The keys and values of a mapping."""
        return zip(self.items[::2], self.items[1::2], strict=True)

    @property
    def meant(self) -> YamlNode:
        """The node an alias stands for; any other node itself."""
        return self.items[0] if self.kind is Kind.ALIAS else self


@value
class Member:
    """A member of a collection: its own node and, in a mapping, the node of its key."""

    node: YamlNode
    key: YamlNode | None = None


class Finder:
    """Finds the members along pointers into one document; each mapping is searched by name once, whatever is asked."""

    def __init__(self, root: YamlNode) -> None:
        self._root = root
        self._names: dict[int, dict[str, Member]] = {}

    def find(self, pointer: Pointer) -> tuple[Member, ...]:
        """Return the members along a pointer, the root first, as far as they are written."""
        path = [Member(self._root)]
        for key in pointer:
            found = self._member(path[-1].node.meant, key)
            if found is None:
                break
            path.append(found)
        return tuple(path)

    def _member(self, node: YamlNode, key: str | int) -> Member | None:
        if node.kind is Kind.SEQUENCE and isinstance(key, int) and 0 <= key < len(node.items):
            return Member(node.items[key])
        if node.kind is Kind.MAPPING and isinstance(key, str):
            return self._name(node).get(key)
        return None

    def _name(self, node: YamlNode) -> dict[str, Member]:
        """Return the members of a mapping by name, of repeated ones the last."""
        if id(node) not in self._names:
            self._names[id(node)] = {name.meant.text: Member(item, name) for name, item in node.pairs}
        return self._names[id(node)]
