"""Find and read the files of tests that a user names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stagec.cli.running.inputs import refuse_faulty
from stagec.core.failure import Exit, Failure
from stagec.core.json import object_of
from stagec.core.place import Place, Pointer
from stagec.core.value import replace
from stagec.core.words import listing
from stagec.flow_tests.document import is_flow_test
from stagec.project.configuration import Configuration
from stagec.sources.discover import FileWish, discover
from stagec.sources.read import Sources
from stagec.sources.shape import judge
from stagec.sources.tree import Fault, Tree


def read_files(configuration: Configuration, paths: tuple[Path, ...]) -> tuple[Tree, ...]:
    """Return the files of tests, each of the right shape; else raise `Failure`."""
    settings = configuration.settings
    named = tuple(path.absolute() for path in paths)
    (files,) = discover(configuration.root, named, settings.scope, (FileWish(is_flow_test),)).claimed
    if not files:
        where = listing([os.path.relpath(path) for path in paths or (configuration.root,)])
        raise Failure(f"no tests: {where} holds no file '*.flow-test.yaml'", Exit.NOTHING)
    sources = Sources(configuration.root, replace(settings.budgets, file_size=_ROOM * settings.budgets.file_size))
    trees = [judge(tree, "flow_test") for file in files if (tree := sources.tree(file, "flow test")) is not None]
    judged = tuple(tree if tree.faults else replace(tree, faults=tuple(_judge_scenarios(tree))) for tree in trees)
    for each in judged:
        if each.faults:
            refuse_faulty(each, "file of flow tests")
    return judged


_ROOM = 10
"""What models and tools answered in a recorded run may be so many times as large as what somebody writes."""


def _judge_scenarios(tree: Tree) -> Iterator[Fault]:
    """Yield what is wrong in the scenarios of a file."""
    told = object_of(tree.value)
    scenarios: dict[Pointer, object] = {("scenario",): told.get("scenario", {})}
    for name, each in object_of(told.get("tests")).items():
        scenarios[("tests", name, "scenario")] = object_of(each).get("scenario", {})
    for pointer, scenario in scenarios.items():
        for fault in judge(replace(tree, value=scenario), "scenario").faults:
            yield replace(fault, at=Place(tree.file, (*pointer, *fault.at.pointer)))
