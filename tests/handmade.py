"""Plans made by hand, in which every kind of act, gate, term, target and piece of a template occurs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import (
    Carried,
    Choice,
    Command,
    Converse,
    Each,
    Given,
    Hole,
    Process,
    ProcessInput,
    ProcessLimits,
    Prompt,
    Provided,
    Repeat,
    Template,
    Text,
)
from stagec.ir.plan.document import (
    Contents,
    Input,
    JudgeDefinition,
    Limits,
    LoopHook,
    Names,
    Server,
    Session,
    Success,
    System,
    Tool,
    Validator,
)
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import (
    Admission,
    Among,
    Backoff,
    Check,
    Condition,
    Exists,
    ExitGate,
    IntentGate,
    JudgeGate,
    Reads,
    Retry,
    StageGate,
    Validation,
    VerdictGate,
)
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Named, Node, Outcome, Schedule, Stop

_DONE, _FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)


def completed(plan: Plan) -> Plan:
    """Return a plan with the facts that follow from it."""
    return replace(plan, facts=facts(plan))


def repeating() -> Plan:
    """Make a plan as of a step registry of 1.14: a step that can repeat twice, and is guarded before and after."""
    contents = Contents()
    text = _texts(contents)
    again = tuple(
        Repeat((*text(f"Try {word} with "), Hole(("variable", "issue")), *text(".\n")), {"issue": Given("issue")})
        for word in ("again", "harder")
    )
    work = Prompt(text("Do the work.\n"), variables={"issue": Given("issue")}, needed=("issue",), repeats=again)
    success = Success("empty")
    plan = Plan(
        id="repeater",
        names=Names("step", "intent"),
        entries={"": "work", "count:iteration (continuation)": "close"},
        entry="",
        contents=contents.texts,
        limits=Limits(9, Outcome.FAILED),
        nodes={
            "work": Node(
                work,
                IntentGate(("action",), ("next", "repeat")),
                (Edge("next", Go("close")), Edge("repeat", Go("work"))),
                "work",
                validation=Validation((Condition("clean"),), every_outcome=True, preflight=(Condition("ready"),)),
            ),
            "close": Node(
                replace(work, repeats=()),
                IntentGate(("action",), ("closing", "repeat")),
                (Edge("closing", _DONE), Edge("repeat", Go("close"))),
                "closure",
                validation=Validation(preflight=(Condition("ready"), Condition("clean"))),
            ),
        },
        inputs={"issue": Input()},
        validators={"clean": Validator("git status", success, "dirty"), "ready": Validator("test -d x", success, "x")},
    )
    return completed(plan)


def steps() -> Plan:
    """Make a plan as of a step registry."""
    contents = Contents()
    text = _texts(contents)
    schema = contents.add('{"type":"object","required":["action"],"properties":{"action":{"enum":["next","jump"]}}}')
    made = Prompt(
        prompt=(*text("Look at issue #"), Hole(("variable", "issue")), *text(".\nSay what to do.\n")),
        variables={
            "issue": Given("issue"),
            "agent": Provided("agent_name"),
            "found": Carried("verification.issue", "found", required=False),
            "tries": Carried("verification.issue", "tries", default=1),
        },
        needed=("issue",),
        schema=schema,
        tools=("Read", "run_tests"),
        model="opus",
        permission="plan",
    )
    plan = Plan(
        id="issue-solver",
        names=Names("step", "intent"),
        title="Issue Solver",
        version="1.2.0",
        entries={"": "initial.issue", "poll:state": "verification.issue"},
        entry="poll:state",
        contents=contents.texts,
        limits=Limits(20, Outcome.FAILED),
        nodes={
            "initial.issue": Node(
                made,
                IntentGate(("action",), ("next", "jump", "repeat"), target=("to",), handoff=(("found",), ("a", "b"))),
                (
                    Edge("next", Go("verification.issue", "closure.issue"), (Reads(("handoff", "state"), ("true",)),)),
                    Edge("next", Go("closure.issue")),
                    Edge("jump", Named({"check": "verification.issue", "verification.issue": "verification.issue"})),
                    Edge("repeat", Go("initial.issue")),
                ),
                "work",
                "Look at the issue",
            ),
            "verification.issue": Node(
                replace(made, prompt=None, builtin="verification_default", tools=None),
                IntentGate(("action",), ("next",), fail_fast=False, fallback="next"),
                (Edge("next", Go("closure.issue")),),
                "verification",
            ),
            "continuation.issue": Node(
                Prompt(),
                JudgeGate(),
                (Edge("verdict", _DONE), Edge("next", Chain(("closure.issue", "initial.issue")))),
                "work",
            ),
            "closure.issue": Node(
                Command((text("bash"), text("verify.sh"), (Hole(("input", "issue")),)), 30_000),
                ExitGate(),
                (Edge("closing", _DONE), Edge("repeat", Go("closure.issue"))),
                "closure",
                validation=Validation(
                    (Condition("clean", {"branch": "main"}), Condition("typed")),
                    prompts={
                        "dirty": (
                            *text("Not clean:\n"),
                            Each(("failure", "files"), (*text("- "), Hole(("this", "name")), *text("\n"))),
                            Choice(("failure", "more"), text("and more\n"), text("and no more\n")),
                        )
                    },
                ),
            ),
        },
        inputs={
            "issue": Input(required=True, schema=contents.add('{"type":"integer"}')),
            "branch": Input(default="main"),
            "stdin": Input(),
        },
        system=System(
            (*text("You are "), Hole(("variable", "agent")), *text(".\n")), {"agent": Provided("agent_name")}
        ),
        judge=JudgeDefinition("poll:state", {"maxIterations": 10}),
        validators={
            "clean": Validator("git status --porcelain ${branch}", Success("empty"), "dirty", {"files": "lines"}),
            "typed": Validator("mypy .", Success("exit", "0"), "type-error"),
        },
        tools={"Read": Tool("unknown", "read"), "run_tests": Tool("unknown", "unknown")},
        sources={"agent.json": f"sha256:{'a' * 64}", "prompts/f_default.md": f"sha256:{'b' * 64}"},
    )
    return completed(plan)


def stages() -> Plan:
    """Make a plan as of a pipeline."""
    contents = Contents()
    text = _texts(contents)
    schema = contents.add('{"type":"object","properties":{"done":{"type":"boolean"}}}')

    def stage(prompt: Template, *tools: str) -> Converse:
        return Converse(prompt, (*tools, "submit"), "submit", schema, 12)

    plan = Plan(
        id="review",
        names=Names("stage", "verdict"),
        title="Review",
        version="1.0.0",
        entries={"": "plan"},
        entry="",
        contents=contents.texts,
        limits=Limits(100, Outcome.FAILED, 4),
        nodes={
            "plan": Node(
                stage((*text("The task: "), Hole(("ctx", "task")), *text("\n")), "Read"),
                VerdictGate((Check("retry", (Exists(("parsed", "steps"), present=False),), "no steps"), Check("fail"))),
                (Edge("ok", Fork(("lint", "test"), "review")), Edge("fail", _FAILED)),
                admission=Admission("retry-later", "fail", defer=(Among(("ctx", "busy"), (True,)),)),
                retry=Retry(3, Backoff("exponential", 1000)),
                hooks={"setup": "hooks.review:prepare"},
            ),
            "lint": Node(stage(text("Lint.\n"), "lint"), VerdictGate(), (Edge("ok", _DONE), Edge("fail", _FAILED))),
            "test": Node(stage(text("Test.\n"), "Bash"), VerdictGate(), (Edge("ok", _DONE), Edge("fail", _FAILED))),
            "review": Node(
                replace(stage(text("Review.\n")), accepts=schema, turns=1),
                VerdictGate(),
                (
                    Edge("ok", _DONE, (Among(("parsed", "done"), (True,)),)),
                    Edge(
                        "ok",
                        Go("plan"),
                        (Among(("parsed", "severity"), ("high", "critical")), Exists(("reason",), present=True)),
                    ),
                    Edge("ok", Chain(("lint", "test"))),
                    Edge("fail", _FAILED),
                ),
                title="Look at all of it",
                retry=Retry(1, Backoff()),
            ),
        },
        inputs={"task": Input(required=True, schema=contents.add('{"type":"string"}'))},
        tools={
            "Read": Tool("bundled", "read"),
            "Bash": Tool("bundled", "mutating"),
            "lint": Tool("mcp", "read", "linter", digest=f"sha256:{'c' * 64}"),
            "submit": Tool("unknown", "unknown"),
        },
        servers={
            "linter": Server(f"sha256:{'d' * 64}", "npx", ("-y", "linter"), "tools", ("TOKEN",)),
            "remote": Server(url="https://example.org/mcp", headers=("Authorization",)),
        },
        session=Session("ask", (LoopHook("RECEIVE_INPUT", "pre", "guard", "hooks.review:guard"),)),
        sources={"pipeline.yaml": f"sha256:{'e' * 64}", "stages/plan.md": f"sha256:{'f' * 64}"},
    )
    return completed(plan)


def _texts(contents: Contents) -> Callable[[str], Template]:
    """Return what makes a template of a text."""
    return lambda text: (Text(contents.add(text)),)


LIMITS = ProcessLimits(240_000, 270_000, 275_000, 278_000)
ENDS = (
    Edge("success", _DONE),
    Edge("failure", _FAILED),
    Edge("interrupted", Stop(Outcome.INTERRUPTED)),
)
"""The edges of every process."""


def process(**given: object) -> Node:
    """Make a node that runs a stage; it may be tried three times if it is retryable."""
    act = Process(**{"goal": "Do what is to be done", "limits": LIMITS, "words": ("work",), **given})
    return Node(act, StageGate(), ENDS, retry=Retry(3, Backoff()) if act.retryable else None)


def scheduled(nodes: Mapping[str, Node], needs: Mapping[str, tuple[str, ...]], parallel: int = 2) -> Plan:
    """Make a plan of one schedule."""
    return completed(
        Plan(
            id="wine-quality",
            names=Names("stage", "outcome"),
            entries={"": Schedule(needs)},
            entry="",
            nodes=nodes,
            contents={},
            limits=Limits(parallel=parallel),
        )
    )


def processes() -> Plan:
    """Make a plan as of envelopes: one stage needs two others, and another one needs only one of these."""
    given = ProcessInput(path="data/wine.csv")
    nodes = {
        "S01_load_data": process(inputs={"wine": given}, outputs={"table": "wine_df.csv"}),
        "S02_train_model": process(
            inputs={"table": ProcessInput("wine_df.csv", "S01_load_data")},
            outputs={"model": "model.json", "notes": "notes/train.txt"},
            checkpoint=False,
        ),
        "S03_explore_data": process(inputs={"table": ProcessInput("wine_df.csv", "S01_load_data")}, words=()),
        "S04_evaluate_model": process(
            inputs={
                "model": ProcessInput("model.json", "S02_train_model"),
                "table": ProcessInput("wine_df.csv", "S01_load_data"),
                "page": ProcessInput(url="https://example.org/wine"),
            },
            outputs={"report": "report.md"},
        ),
        "S05_send_report": process(retryable=False, outputs={"receipt": "receipt.txt"}),
    }
    needs = {
        "S01_load_data": (),
        "S02_train_model": ("S01_load_data",),
        "S03_explore_data": ("S01_load_data",),
        "S04_evaluate_model": ("S02_train_model", "S03_explore_data"),
        "S05_send_report": ("S03_explore_data",),
    }
    return scheduled(nodes, needs)
