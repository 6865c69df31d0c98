"""The flows that tests are about, compiled when the first test needs them."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from stagec.cli.plans import Freezer, Refused
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import pointer_text
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.flow_tests.document import FlowTestFile
from stagec.pipeline import Meaning
from stagec.plan import Plan
from stagec.project.configuration import Configuration
from stagec.sources.tree import Tree


@value
class TestedFlow:
    """A flow that tests are about, what it means, its plan, and the file of that."""

    meaning: Meaning
    plan: Plan
    data: bytes


class TestedFlows:
    """The flows of a project, and those that tests have asked for, by where they are declared."""

    def __init__(self, configuration: Configuration) -> None:
        self._freezer = Freezer(configuration, ())
        self.found: dict[str, TestedFlow] = {}

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The files that the project was read from."""
        return self._freezer.compilation.trees

    def load(self, file: FlowTestFile) -> str:
        """Return under which name in `found` the flow is that a file tests; raise `Failure` if there is none."""
        meaning = self._choose(file)
        place = meaning.flow.at
        name = f"{place.file}#{pointer_text(place.pointer)} {meaning.flow.id}"
        if name not in self.found:
            frozen = self._freezer.freeze(meaning)
            if isinstance(frozen, Refused):
                why = frozen.advice
                raise Failure(f"{file.file}: the flow {quote(meaning.flow.id)} is not compiled: {why}")
            self.found[name] = TestedFlow(meaning, frozen.plan, frozen.data)
        return name

    def _choose(self, file: FlowTestFile) -> Meaning:
        """Return the flow that a file names, else the only one of the nearest folder that has any."""
        meanings = self._freezer.compilation.meanings
        if file.flow is not None:
            named = [each for each in meanings if each.flow.id == file.flow]
            if len(named) == 1:
                return named[0]
            names = NameIndex(each.flow.id for each in meanings)
            why = "several flows have this id" if named else f"there is no such flow{hint(file.flow, names)}"
            raise Failure(f"{file.file}: 'flow' is {quote(file.flow)}: {why}")
        folder = file.file
        while folder:
            folder = posixpath.dirname(folder)
            near = [each for each in meanings if posixpath.dirname(each.flow.at.file) == folder]
            if len(near) == 1:
                return near[0]
            if near:
                ids = listing(sorted(each.flow.id for each in near), "or")
                raise Failure(f"{file.file}: 'flow' must name one of several flows: {ids}")
        raise Failure(f"{file.file}: 'flow' must name a flow: no folder above the file has one")
