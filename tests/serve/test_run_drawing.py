"""Every kind of plan has a drawing in which boxes and lines are known by their numbers."""

from __future__ import annotations

from collections.abc import Callable

import handmade
import playable
import pytest

from stagec.ir.plan import Plan
from stagec.runtime.serve.run_view import RunDrawing


@pytest.mark.parametrize("make", [handmade.steps, handmade.stages, handmade.processes, playable.steps])
def test_every_kind_of_plan_is_drawn(make: Callable[[], Plan]) -> None:
    plan = make()
    drawing = RunDrawing(plan)
    assert {each.name for each in drawing.boxes if each.role == "node"} == set(plan.nodes)
    assert drawing.svg.count("data-box=") == len(drawing.boxes)
    assert all(f'data-line="{number}"' in drawing.svg for number in range(len(drawing.picture.lines)))
