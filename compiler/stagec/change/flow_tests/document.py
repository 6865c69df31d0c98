"""Flow tests as files: how they are read and written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.runtime.world.scenario import Scenario, parse_scenario
from stagec.sources.tree import Tree
from stagec.sources.yaml_text.members import write_value

ENDINGS = (".flow-test.yaml", ".flow-test.yml", ".flow-test.json")
"""Endings of the names of such files."""


@value
class FlowTest:
    """One test: its name, where it stands, the scenario with what it shares with others, and its expectations."""

    name: str
    at: Place
    scenario: Scenario
    expected: Object = NOTHING


@value
class FlowTestFile:
    """The tests in a file, and the flow that they test, None where the file leaves it to its folder."""

    file: str
    flow: str | None
    tests: tuple[FlowTest, ...]


def is_flow_test(file: str) -> bool:
    """Tell whether a file is one of flow tests, by its name."""
    return file.endswith(ENDINGS)


def read_flow_tests(tree: Tree) -> FlowTestFile:
    """Return the tests in a file that has the shape of one."""
    told = object_of(tree.value)
    return FlowTestFile(tree.file, text_in(told, "flow"), tuple(_list_tests(tree, told)))


def _list_tests(tree: Tree, told: Object) -> Iterator[FlowTest]:
    for name, each in object_of(told.get("tests")).items():
        test = object_of(each)
        scenario = merge(object_of(told.get("scenario")), object_of(test.get("scenario")))
        at = Place(tree.file, ("tests", name))
        yield FlowTest(name, at, parse_scenario(dict(scenario), tree.file), object_of(test.get("expect")))


def merge(common: Mapping[str, Json], own: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a scenario with the answers of two, by node and so on; where both answer, `own` counts."""
    both = {name: {**object_of(common[name]), **object_of(own[name])} for name in common.keys() & own.keys()}
    objects = {
        name: each for name, each in both.items() if isinstance(common[name], dict) and isinstance(own[name], dict)
    }
    return {**common, **own, **objects}


_WIDTH = 100
_DEEPEST = 14
"""Blocks inside each other; what lies deeper stands on one line."""


@value
class WrittenTest:
    """A test as it is written: its name, its scenario, and what it expects."""

    name: str
    scenario: Object
    expected: Object = NOTHING


def write_flow_tests(flow: str, tests: Iterable[WrittenTest], notes: Iterable[str] = ()) -> str:
    """Return the text of a file with tests of a flow, and notes in front; what all scenarios begin with stands once."""
    known = tuple(tests)
    shared = _find_shared(known)
    named: dict[str, Json] = {}
    for each in known:
        own = {name: told for name, told in each.scenario.items() if name not in shared}
        numbered = (f"{each.name} ({number})" for number in count(2))
        free = (name for name in chain((each.name,), numbered) if name not in named)
        named[next(free)] = {**({"scenario": own} if own else {}), "expect": dict(each.expected)}
    document: Json = {"flow": flow, **({"scenario": shared} if shared else {}), "tests": named}
    comments = (f"# {line}" for note in notes for line in write_comment(note).splitlines())
    return "".join(f"{line}\n" for line in (*comments, *_list_lines(document)))


def write_comment(text: str) -> str:
    """Return a text as it may stand in a comment: on one line, without what cannot be seen."""
    return "".join(each if each.isprintable() else " " for each in text)


def _find_shared(tests: tuple[WrittenTest, ...]) -> Object:
    """Return the inputs and the entry with which all runs of several tests begin."""
    first = tests[0].scenario if len(tests) > 1 else NOTHING
    return {
        name: first[name]
        for name in ("entry", "inputs")
        if name in first and all(each.scenario.get(name) == first[name] for each in tests)
    }


def _list_lines(document: Json) -> Iterator[str]:
    """Yield the lines of a document."""
    todo = [_Part(0, "", "", document, 0)]
    while todo:
        part = todo.pop()
        begin, line = f"{' ' * part.column}{part.dashes}{part.key}", _write_line(part.given)
        is_block = isinstance(part.given, dict | list) and part.given and part.depth < _DEEPEST
        if not is_block or (part.depth > _SHALLOW and len(begin) + len(line) <= _WIDTH):
            yield f"{begin}{line}"
            continue
        if part.key:
            yield begin.rstrip()
        todo += reversed([*part.open()])


@value
class _Part:
    """A value that is to be written: its column, the dashes and the name in front of it, and how deep it lies."""

    column: int
    dashes: str
    key: str
    given: Json
    depth: int

    def open(self) -> Iterator[_Part]:
        """Yield its parts; the first is on the line of the dashes in front, unless a name is there."""
        column, dashes = self.column + len(self.dashes), "" if self.key else self.dashes
        for at, (key, each) in enumerate(self._list_members()):
            first = at == 0 and bool(dashes)
            place = self.column if first else column + (2 if self.key else 0)
            dash = f"{dashes if first else ''}{'' if key else '- '}"
            yield _Part(place, dash, key, each, self.depth + 1)

    def _list_members(self) -> Iterator[tuple[str, Json]]:
        yield from ((f"{write_value(name)}: ", each) for name, each in object_of(self.given).items())
        yield from (("", each) for each in list_of(self.given))


_SHALLOW = 2
"""Down to here every member has a line of its own: `tests`, each test, and its `scenario` and `expect`."""


def _write_line(given: Json) -> str:
    """Return a value on one line: JSON, with quotes left out where YAML reads the same text without them."""
    shown = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return _TEXT.sub(lambda found: write_value(json.loads(found[0])), shown)


_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
