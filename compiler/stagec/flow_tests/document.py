"""Files of flow tests: the flow, and each test with its scenario and its expectations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.sources.tree import Tree
from stagec.world.scenario import Scenario, parse_scenario

ENDINGS = (".flow-test.yaml", ".flow-test.yml", ".flow-test.json")
"""How the names of such files end."""


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
