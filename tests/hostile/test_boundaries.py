"""At each boundary of what a plan can hold, a project has an error, or its plan is one that `verify` accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from benchmarks._scaling._pipeline import pipeline, stage
from benchmarks._scaling._registry import CLOSURE, chain, registry
from campaigns import sample

from stagec.cli.plans import Freezer, Frozen, Refused
from stagec.core.budgets import Budgets
from stagec.runtime.machine.program import verify
from stagec.sources.project.configuration import Configuration
from stagec.sources.project.settings import Settings

Files = Mapping[str, str | bytes]
MOST = 2**53 - 1
NUMBERS = {
    "the largest": MOST,
    "one more": MOST + 1,
    "no double": MOST + 2,
    "64 bits": 2**64,
    "no float": 10**400,
    "a large float": 1e308,
    "the smallest float": 5e-324,
    "a fraction": 1.5,
    "zero": 0,
    "minus zero": -0.0,
    "negative": -(10**400),
}
BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxItems",
    "minProperties",
    "const",
    "default",
)
SUCCESS = (
    "empty",
    "exitCode:0",
    f"exitCode:{10**30}",
    "exitCode:-1",
    "exitCode:",
    "exitCode:1.5",
    "exitCode:٣",
    "contains:",
    "contains:\n",
    "matches:",
    "matches:(",
    "matches:" + r"\p{L}{99}" * 3,
    "matches:(a{99}){99}",
    "matches:" + "a" * 999,
)
RETRIES = (
    "{{#each a}}" * 99 + "x" + "{{/each}}" * 99,
    "{{#each a}}" * 101 + "x" + "{{/each}}" * 101,
    "{{#if a}}" * 300 + "x" + "{{/if}}" * 300,
    "{{a}}{{/each}}",
    "{{#each a}}",
    "{{this}}",
    "{{a.b.[0]}}",
    "{{../a}}",
)


def nested(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


def two(first: Mapping[str, Any], case: Any = None, **members: Any) -> Files:
    """Return a pipeline of two stages; `case` is what a case asks of the member `n` of the result of the first."""
    stages = {"first": stage("first", {"n": first}), "second": stage("second")}
    ways = [("first", [{"when": {"parsed.n": case}, "stages": ["second"]}, {"stages": []}])]
    return pipeline(stages, None if case is None else ways, **members)


def checked(text: str = "Again.\n", params: Any = None, **members: Any) -> Files:
    """Return a registry whose closure has a validator; its retry prompt is a text."""
    validator = {"type": "command", "command": "true ${a}", "successWhen": "exitCode:0", "failurePattern": "p"}
    checks = {
        "stepId": CLOSURE,
        "name": "Checks",
        "c2": "retry",
        "c3": "all",
        "validationConditions": [{"validator": "v", "params": {} if params is None else {"a": params}}],
        "onFailure": {"action": "retry", "maxAttempts": members.pop("attempts", 3)},
    }
    files = registry(
        chain(2),
        validators={"v": {**validator, **members}},
        failurePatterns={"p": {"description": "It failed", "edition": "failed", "adaptation": "known"}},
        validationSteps={CLOSURE: checks},
    )
    return {**files, "prompts/steps/retry/all/f_failed_known.md": text}


def configured(config: Mapping[str, Any]) -> Files:
    """Return an agent whose verdict has a configuration."""
    files = registry(chain(2))
    agent = json.loads(files["agent.json"])
    agent["runner"]["verdict"]["config"] |= config
    return {**files, "agent.json": json.dumps(agent)}


def inherited(default: Any) -> Files:
    """Return an agent one of whose steps has an input with a default."""
    steps = chain(2)
    steps["initial.s1"] |= {"inputs": {"it": {"from": "initial.s0.found", "required": False, "default": default}}}
    return registry(steps)


def of_numbers() -> Iterator[tuple[str, Files]]:
    """Yield projects with a number at each place that takes one."""
    for name, number in NUMBERS.items():
        policy = {"maxAttempts": number, "backoff": f"fixed:{number}"}
        turns = {"first": stage("first", turnCap=number, retryPolicy=policy), "second": stage("second")}
        yield f"turns and executions of {name}", pipeline(turns, maxStageExecutions=number, maxParallel=number)
        yield f"default of {name}", two({}, context={"a": {"type": "number", "default": number}})
        yield f"default inside of {name}", two({}, context={"a": {"default": [{"x": number}]}})
        yield f"case of {name}", two({"type": "number"}, number)
        yield f"case of an enum of {name}", two({"enum": [number, 1]}, number)
        yield f"case within bounds of {name}", two({"type": "number", "minimum": number, "multipleOf": 2}, 2.5)
        yield f"settings of {name}", configured({"maxIterations": number, "more": {"x": [number]}})
        yield f"input of {name}", inherited(number)
        yield f"parameter of {name}", checked(params=number)
        yield f"attempts of {name}", checked(attempts=number)
        for key, kind in product(BOUNDS, ("integer", "number", "string", "array", "object")):
            yield f"{kind} with {key} of {name}", two({"type": kind, key: number})


def of_depths() -> Iterator[tuple[str, Files]]:
    for levels in (50, 58, 59, 60, 61, 62, 63, 64):
        yield f"default {levels} deep", two({}, context={"a": {"default": nested(levels)}})
        yield f"case {levels} deep", two({}, nested(levels))
        yield f"enum {levels} deep", two({"enum": [nested(levels)]})
        yield f"settings {levels} deep", configured({"x": nested(levels)})
        yield f"input {levels} deep", inherited(nested(levels))
        yield f"parameter {levels} deep", checked(params=nested(levels))


def of_texts() -> Iterator[tuple[str, Files]]:
    for success in SUCCESS:
        yield f"success when {success[:40]}", checked(successWhen=success)
    for text in RETRIES:
        yield f"retry prompt {text[:20]} of {len(text)}", checked(text)
    for pattern, many in product((r"\p{L}{99}", "a{1000}", ".{900}"), (5, 10, 60, 200)):
        properties = {f"a{at}": {"type": "string", "pattern": f"{pattern}x{at}"} for at in range(many)}
        stages = {f"s{at}": stage(f"s{at}", properties) for at in range(6)}
        yield f"{many} patterns {pattern} in each of six stages", pipeline(stages)


CASES: dict[str, Files] = dict((*of_numbers(), *of_depths(), *of_texts()))


def frozen(root: Path, files: Files, **budgets: int) -> list[Frozen | Refused] | None:
    """Return what the flows of a project compile to, nothing where the project has an error."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    freezer = Freezer(Configuration(root, Settings(budgets=Budgets(**budgets)), {}, None), (root,))
    return None if freezer.errors else [freezer.freeze(each) for each in freezer.compilation.meanings]


@pytest.mark.parametrize("name", sample([*CASES], 120, full=200))
def test_a_project_has_an_error_or_compiles(tmp_path: Path, name: str) -> None:
    for each in frozen(tmp_path, CASES[name]) or ():
        assert isinstance(each, Frozen)
        assert verify(each.data).plan == each.plan


def test_a_bound_that_no_float_holds_is_no_error(tmp_path: Path) -> None:
    assert frozen(tmp_path, two({"type": "integer", "maximum": 10**400}))


def test_a_plan_that_nobody_would_read_is_not_made(tmp_path: Path) -> None:
    files = pipeline({f"s{at}": stage(f"s{at}", body=f"{at}" + "y" * 300_000) for at in range(4)})
    (made,) = frozen(tmp_path, files, plan_size=1_000_000) or ()
    assert isinstance(made, Refused)
    assert made.reason.startswith("its plan has 1,2")
    assert made.reason.endswith(" bytes, more than the 1,000,000 of the budget 'plan-size'")
    assert isinstance((frozen(tmp_path, files) or ())[0], Frozen)
    assert Budgets().plan_size == 32_000_000
