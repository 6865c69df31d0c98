"""What is frozen can be run: what no rule has foreseen is refused before it is written."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.plans import Freezer, Frozen, Refused
from stagec.core.canonical import digest
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Prompt
from stagec.sources.project.configuration import configure

EXAMPLE = Path(__file__).parents[2] / "registries" / "issue-flow"


def with_schema(plan: Plan, text: str) -> Plan:
    """Return a plan of which every prompt asks for what a text says."""
    name = digest(text.encode())
    nodes = {
        key: replace(node, act=replace(node.act, schema=name)) if isinstance(node.act, Prompt) else node
        for key, node in plan.nodes.items()
    }
    return replace(plan, nodes=nodes, contents={**plan.contents, name: text})


def test_a_plan_with_a_schema_that_cannot_be_used_is_refused() -> None:
    freezer = Freezer(configure((EXAMPLE,), None), (EXAMPLE,))
    meaning, *_ = freezer.compilation.meanings
    odd = replace(meaning, plan=lambda: with_schema(meaning.plan(), '{"pattern": "("}'))
    assert isinstance(freezer.freeze(meaning), Frozen)
    assert freezer.freeze(odd) == Refused(meaning.flow, 'a schema of it cannot be used: "(" is not a "regex"')
