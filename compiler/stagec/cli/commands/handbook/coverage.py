"""The tests of flows in the handbook: which pass, and the parts of a flow that they do not run."""

from __future__ import annotations

from stagec.cli.testing.files import read_files
from stagec.cli.testing.flows import TestedFlows
from stagec.cli.testing.runs import RunTest, run_tests
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place
from stagec.core.value import value
from stagec.flow_tests.coverage import describe_missing, measure_coverage
from stagec.project.configuration import Configuration


@value
class TestSummary:
    """Tests of one flow by name, each with its complaints; the percentage of the flow that they run; the rest."""

    tests: tuple[tuple[str, tuple[str, ...]], ...]
    percent: float
    missing: tuple[str, ...]


class HandbookTests:
    """The tests of a project, run once. `troubles` has the reasons why files of tests cannot be run."""

    def __init__(self, configuration: Configuration) -> None:
        self.troubles: list[str] = []
        self._run: list[RunTest] = []
        try:
            trees = read_files(configuration, ())
        except Failure as failure:
            if failure.status is not Exit.NOTHING:
                self.troubles.append(str(failure))
            return
        flows = TestedFlows(configuration)
        for tree in trees:
            try:
                self._run += run_tests([tree], flows, None, None)
            except Failure as failure:  # its flow has errors, or there is none
                self.troubles.append(str(failure))

    def summarize(self, flow: str, at: Place) -> TestSummary | None:
        """Return what the tests say of a flow; nothing if it has none."""
        own = [each for each in self._run if each.flow.meaning.flow.id == flow and each.flow.meaning.flow.at == at]
        if not own:
            return None
        plan = own[0].flow.plan
        coverage = measure_coverage(plan, (each.found for each in own))
        tests = tuple((each.test.name, tuple(told for _, told in each.list_complaints())) for each in own)
        return TestSummary(tests, coverage.percent, tuple(describe_missing(plan, coverage)))
