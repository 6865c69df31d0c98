"""No false alarm: random pipelines that are right by construction have no finding, and none of their runs is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from campaigns import choose
from properties.right.pipelines import make_pipeline
from properties.soundness.runs import Tried

from stagec.core.diagnostic import Severity
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import program_of
from stagec_dev.checkout import diagnostics, plans

PROJECTS = choose(8, full=14, whole=300)
RUNS = 3


@pytest.mark.parametrize("seed", range(PROJECTS))
def test_a_right_pipeline_has_no_finding_and_routes(tmp_path: Path, seed: int) -> None:
    for file, text in make_pipeline(Random(seed)).items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    told = [each for each in diagnostics(tmp_path) if each.severity in {Severity.ERROR, Severity.WARNING}]
    assert not told, told
    for plan in plans(tmp_path):
        program, known = program_of(plan), {}
        for run in range(RUNS):
            failure = Tried(program, Random(f"{seed} {run}"), Counter(), known).run().failure
            assert failure is None or failure.kind is not FailureKind.NO_EDGE, failure
