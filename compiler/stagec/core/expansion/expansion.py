"""How many schemas one value can be judged by once every reference is followed: counted, never expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from stagec.core.expansion.references import Applied, find_applied
from stagec.core.json import Object
from stagec.core.precedence import components, repeats

Meant = Callable[[Object, str, str], Sequence[Object]]
"""What a reference of a schema means: the schema, the keyword, and its text."""

ENDLESS = 1 << 60
"""The weight of a schema that comes back to itself without going into the value, and of all that use it."""
_FOREIGN = 1_000
"""What a reference weighs that leads out; only the schemas of JSON Schema itself are ever found there."""


class SchemaNode:
    """A schema with what it applies, as positions of other schemas."""

    __slots__ = (
        "beside",
        "elements",
        "every_element",
        "every_member",
        "foreign",
        "goes_inside",
        "member_names",
        "members",
        "others",
        "own",
    )

    def __init__(self, own: Applied, beside: list[int], foreign: int, index: Callable[[Object], int]) -> None:
        self.own = own
        self.beside = beside
        self.foreign = foreign
        self.members = {name: index(each) for name, each in own.members.items()}
        self.others = None if own.others is None else index(own.others)
        self.every_member = [index(each) for each in own.every_member]
        self.member_names = [index(each) for each in own.member_names]
        self.elements = [index(each) for each in own.elements]
        self.every_element = [index(each) for each in own.every_element]
        self.goes_inside = bool(self.inside())

    def inside(self) -> list[int]:
        """Return the schemas that judge what is inside a value."""
        others = () if self.others is None else (self.others,)
        of_members = (*self.members.values(), *others, *self.every_member, *self.member_names)
        return [*of_members, *self.elements, *self.every_element]


class Expansion:
    """Schemas that were weighed, with all that they refer to.

    The weight of a schema is at least the number of steps that judging one place of a value by it costs, at any depth,
    as long as no recursion is gone through: what recursion costs depends on the value, see `steps`. Linear in what is
    written. More schemas can be added; what is known already is not looked at again.
    """

    def __init__(self) -> None:
        self.nodes: list[SchemaNode] = []
        self.weights: list[int] = []
        self.ranks: list[int] = []
        """Which schema comes before which: every other one that judges the same value has a lower rank."""
        self.recursive: list[bool] = []
        self._known: dict[int, int] = {}
        self._bodies: list[Object] = []  # kept, so that no other object gets the identity of one

    def add(self, starts: Iterable[Object], meant: Meant) -> None:
        """Weigh schemas and all that they lead to."""
        first = len(self._bodies)
        for each in starts:
            self._index(each)
        position = first
        while position < len(self._bodies):  # grows while it is walked; what is known already is not even counted
            self._read(self._bodies[position], meant)
            position += 1
        if len(self._bodies) > first:
            self._weigh(first)

    def position(self, body: Object) -> int:
        """Return the position of a schema that was added."""
        return self._known[id(body)]

    def weight(self, body: Object) -> int:
        """Return the weight of a schema that was added."""
        return self.weights[self.position(body)]

    def _index(self, body: Object) -> int:
        known = self._known.setdefault(id(body), len(self._bodies))
        if known == len(self._bodies):
            self._bodies.append(body)
        return known

    def _read(self, body: Object, meant: Meant) -> None:
        own = find_applied(body)
        beside, foreign = [self._index(each) for each in own.beside], 0
        for keyword, text in own.references:
            found = meant(body, keyword, text)
            beside += [self._index(each) for each in found]
            foreign += not found
        self.nodes.append(SchemaNode(own, beside, foreign * _FOREIGN, self._index))
        self.weights.append(own.work + foreign * _FOREIGN)

    def _weigh(self, first: int) -> None:
        fresh = range(first, len(self.nodes))
        every = [self._leads(self.nodes[each], first) for each in fresh]
        group = [0] * len(fresh)
        repeating = [False] * len(fresh)
        for number, found in enumerate(components(every)):
            again = repeats(every, found)
            for each in found:
                group[each], repeating[each] = number, again
        self.recursive += repeating
        self.ranks += [0] * len(fresh)
        self._settle(first, group)

    def _leads(self, node: SchemaNode, first: int) -> list[int]:
        return [each - first for each in (*node.beside, *node.inside()) if each >= first]

    def _settle(self, first: int, group: list[int]) -> None:
        """Work the weights out, leaving out what goes inside a value within a recursion."""
        known = first

        def ahead(each: int) -> list[int]:
            node = self.nodes[each + known]
            inside = [other for other in node.inside() if other < known or group[other - known] != group[each]]
            return [other - known for other in (*node.beside, *inside) if other >= known]

        leads = [ahead(each) for each in range(len(self.nodes) - first)]
        for rank, found in enumerate(components(leads)):
            endless = repeats(leads, found)
            for each in found:
                position = each + first
                self.ranks[position] = first + rank
                self.weights[position] = ENDLESS if endless else self._sum(position, self._outside(each, first, group))
                self._inherit(position)

    def _outside(self, each: int, first: int, group: list[int]) -> Callable[[int], int]:
        """Return the weight of what judges inside a value: none within a recursion."""
        return lambda other: self.weights[other] if other < first or group[other - first] != group[each] else 0

    def _inherit(self, position: int) -> None:
        node = self.nodes[position]
        inside = (*node.beside, *node.inside())
        self.recursive[position] = self.recursive[position] or any(self.recursive[each] for each in inside)

    def _sum(self, position: int, inside: Callable[[int], int]) -> int:
        node = self.nodes[position]
        members = max(
            [*map(inside, node.members.values()), *([] if node.others is None else [inside(node.others)])], default=0
        )
        members += sum(map(inside, (*node.every_member, *node.member_names)))
        elements = max(map(inside, node.elements), default=0) + sum(map(inside, node.every_element))
        beside = sum(self.weights[each] for each in node.beside)
        return min(ENDLESS, self.weights[position] + node.own.factor * beside + max(members, elements))
