"""A check of results or an admission is removed, or decides differently; a callable is not called."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_node, operator
from stagec.plan import Plan
from stagec.plan.gate import VerdictGate

_POLICIES = {"fail": "skip", "skip": "fail", "retry-later": "fail", "ask": "fail"}


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Drop and turn each check, drop each admission and each of its conditions, and drop each callable of a node."""
    for name, node in plan.nodes.items():
        checks = node.gate.checks if isinstance(node.gate, VerdictGate) else ()
        for index, check in enumerate(checks):
            other = "fail" if check.verdict == "retry" else "retry"
            changed = (*checks[:index], replace(check, verdict=other), *checks[index + 1 :])
            for told, rest in ((f"says {other!r}", changed), ("is gone", (*checks[:index], *checks[index + 1 :]))):
                sentence, gate = f"check {index + 1} {told}", VerdictGate(rest)
                wanted = "a run whose result it is about, and its 'outcome'"
                yield change_node(plan, name, ("gate", "checks", index), sentence, wanted, gate=gate)
        yield from _change_admission(plan, name)
        for phase, call in node.hooks.items():
            hooks = {key: each for key, each in node.hooks.items() if key != phase}
            told = f"{quote(call)} is not called at {phase}"
            yield change_node(plan, name, ("hooks", phase), told, "what the callable changes", hooks=hooks)


def _change_admission(plan: Plan, name: str) -> Iterator[Mutant]:
    admission = plan.nodes[name].admission
    if admission is None:
        return
    yield change_node(plan, name, ("admission",), "it is always admitted", "a run that is not", admission=None)
    for member in ("defer", "block"):
        if not getattr(admission, member):
            continue
        told, wanted = f"nothing makes it {member} now", f"a run in which something makes it {member}"
        changed = replace(admission, **{member: ()})
        yield change_node(plan, name, ("admission", member), told, wanted, admission=changed)
        policy = getattr(admission, f"on_{member}")
        other = replace(admission, **{f"on_{member}": _POLICIES[policy]})
        told = f"on {member} it does {_POLICIES[policy]!r} instead of {policy!r}"
        yield change_node(plan, name, ("admission", f"on_{member}"), told, wanted, admission=other)
