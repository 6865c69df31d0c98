"""A scenario that answers a whole run with made-up results, so that a new project can run before anybody writes one."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.value import value
from stagec.plan.act import Converse
from stagec.runtime import Program
from stagec.sources.yaml_text.edit import write_value
from stagec.templates import render
from stagec.world.samples import make_sample


@value
class SampleScenario:
    """The text of a scenario, and the nodes whose results nobody can make up simply."""

    text: str
    unanswered: tuple[str, ...] = ()


def make_scenario(program: Program, waiting: Iterable[str] = ()) -> SampleScenario:
    """Return a scenario for a plan of stages that models carry out; what is `waiting` for a route is a comment."""
    answers: dict[str, str] = {}
    unanswered: list[str] = []
    for name, node in program.plan.nodes.items():
        sample = make_sample(program, node.act.schema, ()) if isinstance(node.act, Converse) else None
        if sample is None:
            unanswered.append(name)
        else:
            answers[name] = write_value(sample)
    needed = (name for name, each in program.plan.inputs.items() if each.required and each.default is None)
    inputs = [(write_value(name), write_value(f"some {name}")) for name in needed]
    text = render(__package__, "scenario.yaml.jinja", inputs=inputs, answers=sorted(answers.items()), waiting=waiting)
    return SampleScenario(text, tuple(unanswered))
