"""The flows that tests are about, compiled when the first test needs them."""

from __future__ import annotations

import posixpath

from stagec.cli.plans import Freezer, Refused
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.words import listing, quote
from stagec.flow_tests.document import FlowTestFile
from stagec.pipeline import Meaning
from stagec.project.configuration import Configuration
from stagec.runtime import Program, load


class TestedFlows:
    """The flows of a project, and the programs of those that tests have asked for."""

    def __init__(self, configuration: Configuration) -> None:
        self._freezer = Freezer(configuration, ())
        self.programs: dict[str, Program] = {}

    def load(self, file: FlowTestFile) -> Program:
        """Return the program of the flow that a file tests; raise `Failure` when it has none, or has errors."""
        meaning = self._choose(file)
        name = meaning.flow.id
        if name not in self.programs:
            frozen = self._freezer.freeze(meaning)
            if isinstance(frozen, Refused):
                why = f"{frozen.reason}; 'stagec validate' says what is wrong"
                raise Failure(f"{file.file}: the flow {quote(name)} is not compiled: {why}")
            self.programs[name] = load(frozen.data)
        return self.programs[name]

    def _choose(self, file: FlowTestFile) -> Meaning:
        """Return the flow that a file names, else the only one of the nearest folder that has any."""
        meanings = self._freezer.compilation.meanings
        if file.flow is not None:
            named = [each for each in meanings if each.flow.id == file.flow]
            if len(named) == 1:
                return named[0]
            names = NameIndex(each.flow.id for each in meanings)
            why = "several flows are called so" if named else f"there is no such flow{hint(file.flow, names)}"
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
