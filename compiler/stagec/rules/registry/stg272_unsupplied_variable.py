"""A prompt's variable comes from nowhere.

## Why this matters
A step's `uvVariables` are put into its prompt. A variable that nothing supplies ends the run when the step starts.

A variable is supplied by a parameter of the agent of the same name, by an input of the step, whose variable is named
after where it comes from (`initial.issue.approach` gives `initial_issue_approach`), or by the runner: `iteration`,
`completed_iterations`, `max_iterations`, `remaining`, `previous_summary`, `check_count`, and with the setting of the
verdict that it is made of `completion_keyword` (`verdictKeyword`) and `max_checks` (`maxChecks`). Where the verdict is
`poll:state`, the caller gives `repository`. System prompts are made of `agent_name` and `verdict_criteria`, and steps
may have them too. The name may begin with `uv-`.

## How to fix
Correct the spelling, declare the parameter, or add the input. The name must be that of the parameter: `issue`, not
`issue_number`.
"""

from collections.abc import Iterator, Mapping, Sequence

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.agent import Agent
from stagec.frontends.registry.document import Registry, Step
from stagec.frontends.registry.inputs import PROVIDED
from stagec.frontends.registry.supply import find_unsupplied
from stagec.rules.registry import rule

_SHOWN = 3


@rule(since="0.1", origin=("steps-registry:doc.R-A2", "steps-registry:uv.no-supply", "rulings:R17"))
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is None or not agent.is_whole:
        return
    known = NameIndex((*agent.parameters, *sorted(PROVIDED)))
    lost = find_unsupplied(registry)
    if not agent.declared and len(lost.keys() - _WHY.keys()) > 0:
        yield _report_undeclared(agent, {name: found for name, found in lost.items() if name not in _WHY})
        lost = {name: found for name, found in lost.items() if name in _WHY}
    for name, ((step, at), *others) in lost.items():
        also = f" and {len(others)} more" if others else ""
        related = tuple(Related(other, "needed here too") for _, other in others[:_SHOWN])
        message = f"nothing supplies the variable {quote(name)} of step {quote(step.key)}{also}"
        meant = None if name in _WHY else guess(name, known, *(other for _, other in others))
        yield Finding(at, f"{message}{_WHY.get(name) or _hint(name, known)}", related, meant)


def _report_undeclared(agent: Agent, lost: Mapping[str, Sequence[tuple[Step, Place]]]) -> Finding:
    """Say once of an agent without parameters what it would have to declare."""
    related = tuple(Related(at, "needed here") for (_, at), *_ in lost.values())[:_SHOWN]
    who = f"variable{'s' if len(lost) > 1 else ''} {listing(lost)}"
    return Finding(agent.at / "parameters", f"nothing supplies the {who}: the agent declares no parameters", related)


_WHY = {
    "completion_keyword": ": the agent's verdict has no 'verdictKeyword'",
    "max_checks": ": the agent's verdict has no 'maxChecks'",
    "repository": ": only an agent whose verdict is 'poll:state' is given one",
}
"""Why a variable of the runner is not supplied."""


def _hint(name: str, known: NameIndex) -> str:
    """Suggest the nearest parameter, or the one to which a word was added: `issue` for `issue_number`."""
    shorter = name.rpartition("_")[0]
    return hint(shorter, NameIndex((shorter,))) if shorter in known else hint(name, known)
