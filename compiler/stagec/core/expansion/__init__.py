"""The cost of judging a value by a user's schema, counted without following any reference twice."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from stagec.core.budgets import Budgets
from stagec.core.expansion.pattern_size import (
    PATTERN_COST,
    PatternTally,
    Texts,
    backtracks,
    pattern_size,
    pattern_steps,
    texts_of,
)
from stagec.core.expansion.references import NO_KEYWORDS, Applied, LocalReferences, find_applied, patterns_in
from stagec.core.json import Json, Object
from stagec.core.precedence import components, repeats
from stagec.core.value import value
from stagec.core.words import quote

__all__ = [
    "ENDLESS",
    "PATTERN_COST",
    "Charge",
    "Expansion",
    "Extent",
    "Judging",
    "LocalReferences",
    "Meant",
    "PatternTally",
    "SchemaNode",
    "backtracks",
    "explain_size",
    "extent",
    "find_charge",
    "overweight",
    "pattern_size",
    "pattern_steps",
    "patterns_in",
    "steps",
    "texts_of",
    "weigh",
]


Meant = Callable[[Object, str, str], Sequence[Object]]
"""Returns the targets of a reference, given the schema, the keyword, and its text."""


ENDLESS = 1 << 60
"""The weight of a schema that comes back to itself without going into the value, and of all that use it."""
_FOREIGN = 1_000
"""The weight of a reference to another document: only schemas of JSON Schema itself are found there."""


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
        """An order of schemas: every other one that judges the same value has a lower rank."""
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


Judging = Mapping[int, int]
"""How often each schema judges a value."""


@value
class Extent:
    """The size of a value: the number of values in it, their depth, and the characters of its texts and names."""

    values: int
    depth: int
    characters: int


def extent(given: Json, most: int) -> Extent:
    """Return how large a value is; counting ends where it has more values than `most`."""
    values = characters = depth = 0
    level = [given]
    while level and values <= most:
        values += len(level)
        depth += 1
        inner: list[Json] = []
        for each in level:
            if isinstance(each, str):
                characters += len(each)
            elif isinstance(each, dict):
                characters += sum(map(len, each))
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        level = inner
    return Extent(values, depth, characters)


@value
class Charge:
    """The most work of judging a value by a schema, where the size of the value alone decides it.

    `weight` are steps for each value and each name. The others are how often keywords look at everything in a value, at
    each of its members, and at texts.
    """

    weight: int
    whole: int
    inner: int
    texts: int

    def most(self, size: Extent) -> int:
        """Return a number of steps that judging a value of a size never exceeds."""
        looks = size.values * (2 + self.whole * (size.depth + 1) + self.inner)
        return self.weight * (looks + self.texts * size.characters // 16)


def find_charge(expansion: Expansion, start: int) -> Charge | None:
    """Return the most that a schema costs; None if recursion, patterns or numbers in a value decide that."""
    if expansion.recursive[start] or expansion.weights[start] >= ENDLESS:
        return None
    reached = {start: None}
    todo = [start]
    for each in todo:  # grows while it is walked
        node = expansion.nodes[each]
        fresh = [other for other in (*node.beside, *node.inside()) if other not in reached]
        reached.update(dict.fromkeys(fresh))
        todo += dict.fromkeys(fresh)
    nodes = [expansion.nodes[each] for each in reached]
    every = [node.own.keywords for node in nodes]
    if any(node.foreign for node in nodes) or any(
        each.patterns or each.names or each.numbers or each.compiles for each in every
    ):
        return None
    most = (max(each.whole for each in every), max(each.inner for each in every), max(each.texts for each in every))
    return Charge(expansion.weights[start], *most)


_LOOKED = 1_000_000
"""Pairs of a schema and a value that are looked at to find out; with more, judging takes too long as well."""


def steps(expansion: Expansion, start: int, given: Json, most: int) -> int:
    """Return how many steps judging a value takes at most, or some number beyond `most`.

    Values that the same schemas judge are looked at together: all elements of an array, and all members of one name.
    """
    if expansion.weights[start] >= ENDLESS:
        return ENDLESS
    total = looked = 0
    todo: list[tuple[list[Json], Judging]] = [([given], {start: 1})]
    while todo and total <= most:
        values, judging = todo.pop()
        found = _beside(expansion, judging)
        total += _own(expansion, found, _Group(values, most))
        inner = [(expansion.nodes[each], times) for each, times in found.items() if expansion.nodes[each].goes_inside]
        groups = _below(inner, values) if inner and total <= most else []
        looked += len(found) + len(inner) * len(groups) + sum(len(each) for each, _ in groups)
        if looked > _LOOKED:
            return ENDLESS
        todo.extend(groups)
    return total


class _Group:
    """Values that the same schemas judge, and how large they are together: what nobody asks for is not counted."""

    def __init__(self, values: list[Json], most: int) -> None:
        self.count = len(values)
        self._values = values
        self._most = most

    @cached_property
    def texts(self) -> Texts:
        """The texts among the values."""
        return texts_of(each for each in self._values if isinstance(each, str))

    @cached_property
    def names(self) -> Texts:
        """The names of all members."""
        return texts_of(name for each in self._values if isinstance(each, dict) for name in each)

    @cached_property
    def inner(self) -> int:
        """How many members and elements the objects and arrays have."""
        return sum(len(each) for each in self._values if isinstance(each, dict | list))

    @cached_property
    def everything(self) -> int:
        """How many values are in the objects and arrays, at any depth."""
        return extent(self._values, self._most).values

    @cached_property
    def numbers(self) -> int:
        """How many numbers there are; a large one, and one with a fraction, counts for more."""
        numbers = [each for each in self._values if isinstance(each, int | float)]
        return sum(1 + each.bit_length() // 16 if isinstance(each, int) else _FRACTION for each in numbers)


_FRACTION = 20
"""How many whole numbers one counts for that may have a fraction, or a large exponent."""


def _beside(expansion: Expansion, judging: Judging) -> Judging:
    """Return how often each schema judges a value, counting those that others apply to the same value."""
    counts = dict(judging)
    waiting = [(-expansion.ranks[each], each) for each in counts]
    heapq.heapify(waiting)
    while waiting:
        _, each = heapq.heappop(waiting)
        node = expansion.nodes[each]
        times = counts[each] * node.own.factor
        for other in node.beside:
            if other not in counts:
                heapq.heappush(waiting, (-expansion.ranks[other], other))
            counts[other] = min(ENDLESS, counts.get(other, 0) + times)
    return counts


def _own(expansion: Expansion, judging: Judging, group: _Group) -> int:
    total = 0
    for each, times in judging.items():
        node = expansion.nodes[each]
        total += times * node.own.work * group.count
        if node.foreign:
            total += times * node.foreign * group.everything
        if node.own.keywords is not NO_KEYWORDS:
            keywords = node.own.keywords
            amount = keywords.whole * group.everything if keywords.whole else 0
            amount += keywords.numbers * group.numbers if keywords.numbers else 0
            amount += keywords.inner * group.inner if keywords.inner else 0
            amount += keywords.compiles * group.texts.count * PATTERN_COST if keywords.compiles else 0
            amount += keywords.texts * group.texts.characters // 16 if keywords.texts else 0
            amount += sum(pattern_steps(each, group.texts) for each in keywords.patterns)
            total += times * (amount + sum(pattern_steps(each, group.names) for each in keywords.names))
    return total


def _below(judging: list[tuple[SchemaNode, int]], values: list[Json]) -> list[tuple[list[Json], Judging]]:
    """Return the members of values, in groups that the same schemas judge."""
    longest = max(len(node.elements) for node, _ in judging)
    members: dict[str, list[Json]] = {}
    elements: dict[int, list[Json]] = {}
    for each in values:
        for name, inner in each.items() if isinstance(each, dict) else ():
            members.setdefault(name, []).append(inner)
        for index, inner in enumerate(each) if isinstance(each, list) else ():
            elements.setdefault(min(index, longest), []).append(inner)
    # the names that some schema names, in the time that the shorter way takes
    naming = [node.members for node, _ in judging if node.members]
    if len(naming) * len(members) < sum(map(len, naming)):
        named = {name for name in members if any(name in each for each in naming)}
    else:
        named = {name for each in naming for name in each if name in members}
    groups = [(members[name], [(_of_member(node, name), times) for node, times in judging]) for name in named]
    others = [inner for name, found in members.items() if name not in named for inner in found]
    groups.append((others, [(_of_member(node, None), times) for node, times in judging]))
    for at, found in elements.items():
        own = ((node, node.elements[at : at + 1], times) for node, times in judging)
        groups.append((found, [([*first, *node.every_element], times) for node, first, times in own]))
    if any(node.member_names for node, _ in judging):
        names: list[Json] = [name for each in values if isinstance(each, dict) for name in each]
        groups.append((names, [(node.member_names, times) for node, times in judging]))
    return [(found, _count(schemas)) for found, schemas in groups if found]


def _of_member(node: SchemaNode, name: str | None) -> list[int]:
    named = node.others if name is None else node.members.get(name, node.others)
    return node.every_member if named is None else [named, *node.every_member]


def _count(found: list[tuple[list[int], int]]) -> Judging:
    counts: dict[int, int] = {}
    for schemas, times in found:
        for each in schemas:
            counts[each] = counts.get(each, 0) + times
    return counts


_LIMITS = Budgets()


def weigh(schema: Object) -> Expansion:
    """Return the expansion of a schema that stands by itself."""
    expansion = Expansion()
    expansion.add((schema,), LocalReferences(schema).resolve)
    return expansion


def overweight(expansion: Expansion, schema: Object) -> str:
    """Return why judging by a schema can cost too much, or an empty text."""
    weight = expansion.weight(schema)
    if weight >= ENDLESS:
        return "is a schema that refers to itself without end, or to more than can be counted"
    if weight > _LIMITS.expansion:
        return f"is a schema that judges one place of a value by {weight:,} schemas, more than {_LIMITS.expansion:,}"
    return ""


def explain_size(patterns: Iterable[str], tally: PatternTally) -> str:
    """Return why patterns are too large to be compiled, or an empty text."""
    for each in patterns:
        excess = tally.excess(each)
        if excess:
            return f"has the pattern {quote(each)}, which {_EXCESS[excess]}"
    return ""


_EXCESS = {
    "size": f"is larger than {_LIMITS.pattern_size:,} units when it is compiled",
    "total": f"brings all patterns to more than {_LIMITS.patterns:,} units when they are compiled",
}
