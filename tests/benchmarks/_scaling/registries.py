"""What a step registry can have many of."""

from __future__ import annotations

from typing import Any

from benchmarks._scaling._registry import CLOSURE, answer, chain, closure, parameters, registry, step, word
from stagec_dev.cost import Dimension, Dimensions, Files


def _steps(count: int, *, faulty: bool) -> Files:
    return registry(chain(count, **({"stepKind": "wrok"} if faulty else {})))


def _targets(count: int, *, faulty: bool) -> Files:
    """Make steps that lead to the next one, or to names of no step."""
    steps = chain(count)
    for at, each in enumerate(steps.values() if faulty else ()):
        each["transitions"]["next"]["target"] = f"nowhere.{at}.at-all"
    return registry(steps)


def _misspelt(count: int, *, faulty: bool) -> Files:
    steps = chain(count)
    for each in steps.values() if faulty else ():
        each["transitions"]["next"]["target"] += "x"
    return registry(steps)


def _unreached(count: int, *, faulty: bool) -> Files:
    """Make steps in a row, or each alone so that nothing leads to it."""
    steps = chain(count)
    for each in steps.values() if faulty else ():
        each["transitions"]["next"]["target"] = each["stepId"]
    return registry(steps)


def _trapped(count: int, *, faulty: bool) -> Files:
    """Make steps that come to the closure, or pairs of steps that lead only to each other."""
    steps = chain(count)
    names = list(steps)
    for at, each in enumerate(steps.values() if faulty else ()):
        each["structuredGate"]["allowedIntents"] = ["next"]
        each["outputSchemaRef"]["schema"] = "endless"
        each["transitions"] = {"next": {"target": names[at ^ 1 if at ^ 1 < count else at]}}
    return registry(steps, {"endless": answer("next")}, entryStepMapping=dict.fromkeys(["poll:state"], names[0]))


def _intents(count: int, *, faulty: bool) -> Files:
    """Make steps with as many intents as there are."""
    every = ("next", "handoff", "repeat", "abort")
    steps = chain(count, intents=every, schema="every")
    for each in steps.values():
        each["structuredGate"]["allowedIntents"] = [*each["structuredGate"]["allowedIntents"], *["nxet"] * faulty]
    return registry(steps, {"every": answer(*every)})


def _transitions(count: int, *, faulty: bool) -> Files:
    """Make transitions that lead from many steps to one."""
    steps = chain(count, intents=("next", "handoff", "repeat"))
    for each in steps.values():
        each["transitions"]["repeat"] = {"target": "initial.s00" if faulty else "initial.s0"}
    return registry(steps, {"step": answer("next", "handoff", "repeat")})


def _cases(count: int, *, faulty: bool) -> Files:
    """Make cases of one conditional transition."""
    names = [f"value-{at}" for at in range(count)]
    first = step("initial.first", gate={"handoffFields": ["chosen"]}, schema="chosen")
    targets = dict.fromkeys(names, "initial.nowhere" if faulty else "initial.second")
    first["transitions"]["next"] = {"condition": "chosen", "targets": targets}
    steps = {"initial.first": first, "initial.second": step("initial.second")}
    return registry(steps, {"chosen": answer("next", "handoff", chosen={"enum": names})})


def _handoff_fields(count: int, *, faulty: bool) -> Files:
    names = [f"field{at}" for at in range(count)]
    declared = {f"{name}d" if faulty else name: {"type": "string"} for name in names}
    first = step("initial.first", gate={"handoffFields": names}, schema="many")
    return registry({"initial.first": first}, {"many": answer("next", "handoff", **declared)})


def _undeclared_fields(count: int, *, faulty: bool) -> Files:
    """Make hand-off fields of an open schema that does not speak of them."""
    names = [f"field{at}" for at in range(count)]
    known = {name: {"type": "string"} for name in (() if faulty else names)}
    first = step("initial.first", gate={"handoffFields": names}, schema="open")
    schema = {**answer("next", "handoff", **{f"other{at}": {} for at in range(count)}, **known)}
    return registry({"initial.first": first}, {"open": {**schema, "additionalProperties": True}})


def _variables(count: int, *, faulty: bool) -> Files:
    names = [f"variable{at}" for at in range(count)]
    given = parameters(f"{name}x" if faulty else name for name in names)
    first = step("initial.first", uvVariables=names)
    files = registry({"initial.first": first}, agent={"given": given})
    return {**files, "prompts/steps/initial/all/f_default.md": "".join(f"{{uv-{name}}}\n" for name in names)}


def _inputs(count: int, *, faulty: bool) -> Files:
    """Make inputs of one step, each a variable of its prompt."""
    fields = [f"field{at}" for at in range(count)]
    first = step("initial.first", "initial.second", gate={"handoffFields": fields}, schema="many")
    inputs = {name: {"from": f"initial.first.{name}{'x' * faulty}", "required": True} for name in fields}
    names = [f"unknown{at}" if faulty else f"initial_first_{name}" for at, name in enumerate(fields)]
    second = step("initial.second", inputs=inputs, uvVariables=names)
    schema = answer("next", "handoff", **{name: {"type": "string"} for name in fields})
    return registry({"initial.first": first, "initial.second": second}, {"many": schema})


def _lean_inputs(count: int, *, faulty: bool) -> Files:
    """Make steps that all read one hand-off field of the first one, or one that it does not have."""
    steps = chain(count)
    reads = {"it": {"from": f"initial.s0.{'fuond' if faulty else 'found'}", "required": True}}
    for each in list(steps.values())[1:]:
        each["inputs"] = reads
    return registry(steps)


def _open_jumps(count: int, *, faulty: bool) -> Files:
    """Make steps with jumps whose target any answer names; faulty where the schema says nothing about it."""
    target = {} if faulty else {"target": {"type": "string"}}
    steps = chain(count, intents=("next", "handoff", "jump"), schema="jump", gate={"targetField": "target"})
    for each in steps.values() if faulty else ():
        del each["transitions"]["jump"]
    return registry(steps, {"jump": {**answer("next", "handoff", "jump", **target), "additionalProperties": True}})


def _named_jumps(count: int, *, faulty: bool) -> Files:
    """Make steps with jumps to any step that one shared schema names."""
    steps = chain(count, intents=("next", "handoff", "jump"), schema="jump", gate={"targetField": "target"})
    names = [f"{name}x" if faulty else name for name in steps]
    for each in steps.values() if faulty else ():
        del each["transitions"]["jump"]
    return registry(steps, {"jump": answer("next", "handoff", "jump", target={"enum": names})})


def _prompts(count: int, *, faulty: bool) -> Files:
    """Make steps with a prompt of their own, or one that is missing."""
    steps = chain(count)
    for at, each in enumerate(steps.values()):
        each["c3"] = word(at)
    files = registry(steps)
    known = {f"prompts/steps/initial/{each['c3']}/f_default.md": f"Do {name}.\n" for name, each in steps.items()}
    return {**files, **({} if faulty else known)}


def _placeholders(count: int, *, faulty: bool) -> Files:
    """Make variables that a prompt is made of, and that its step lists or does not list."""
    names = [f"variable{at}" for at in range(count)]
    first = step("initial.first", uvVariables=names[:1] if faulty else names)
    files = registry({"initial.first": first}, agent={"given": parameters(names)})
    return {**files, "prompts/steps/initial/all/f_default.md": "".join(f"{{uv-{name}}}\n" for name in names)}


def _validators(count: int, *, faulty: bool) -> Files:
    return _checked(count, 1, misspelt="validator" if faulty else "")


def _patterns(count: int, *, faulty: bool) -> Files:
    return _checked(count, count, misspelt="pattern" if faulty else "")


def _checked(count: int, patterns: int, misspelt: str) -> Files:
    """Return a registry whose closure has validators, each with a failure pattern."""
    wrong = {name: "x" if misspelt == name else "" for name in ("validator", "pattern")}
    validators = {
        f"check{at}": {
            "type": "command",
            "command": "true",
            "successWhen": "exitCode:0",
            "failurePattern": f"pattern{at % patterns}{wrong['pattern']}",
        }
        for at in range(count)
    }
    found = {
        f"pattern{at}": {"description": "It failed", "edition": "failed", "adaptation": "known"}
        for at in range(patterns)
    }
    checks: dict[str, Any] = {
        "stepId": CLOSURE,
        "name": "Checks",
        "c2": "retry",
        "c3": "all",
        "validationConditions": [{"validator": f"{name}{wrong['validator']}"} for name in validators],
        "onFailure": {"action": "retry", "maxAttempts": 3},
    }
    members = {"failurePatterns": found, "validators": validators, "validationSteps": {CLOSURE: checks}}
    files = registry({CLOSURE: closure()}, **members)
    return {**files, "prompts/steps/retry/all/f_failed_known.md": "Try again.\n"}


def _tools(count: int, *, faulty: bool) -> Files:
    names = tuple(f"tool{at if not faulty else at // 2}" for at in range(count))
    return registry(chain(2), agent={"tools": names})


def _unknown_keys(count: int, *, faulty: bool) -> Files:
    """Make members of a step that it has no use for, or in the faulty variant of the whole registry."""
    own = {f"member{at}": at for at in range(count)}
    return registry(chain(1), **own) if faulty else registry(chain(1, **own))


REGISTRIES = Dimensions(
    (
        Dimension("steps", _steps, 1200),
        Dimension("targets of transitions", _targets, 1200),
        Dimension("misspelt targets", _misspelt, 1200),
        Dimension("steps without a way in", _unreached, 1200),
        Dimension("steps without a way out", _trapped, 1200),
        Dimension("steps with every intent", _intents, 1000),
        Dimension("transitions to one step", _transitions, 1200),
        Dimension("conditional cases", _cases, 16_000),
        Dimension("hand-off fields", _handoff_fields, 12_000),
        Dimension("undeclared hand-off fields", _undeclared_fields, 8000),
        Dimension("variables", _variables, 7000),
        Dimension("inputs", _inputs, 5000),
        Dimension("inputs of many steps", _lean_inputs, 1000),
        Dimension("open jumps", _open_jumps, 1000),
        Dimension("jumps of a shared enum", _named_jumps, 1000),
        Dimension("prompts of steps", _prompts, 1000),
        Dimension("variables in a prompt", _placeholders, 7000),
        Dimension("validators", _validators, 4000),
        Dimension("failure patterns", _patterns, 2500),
        Dimension("tools of an agent", _tools, 20_000),
        Dimension("unknown members", _unknown_keys, 20_000),
    )
)
