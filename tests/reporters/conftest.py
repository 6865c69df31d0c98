"""The same findings for every reporter: plain, far apart, long, wide, hostile, and about no text at all."""

from __future__ import annotations

import pytest

from stagec.check.reporters import Report
from stagec.core.diagnostic import Change, Diagnostic, Edit, Fix, Remark, Severity
from stagec.core.place import START, Part, Place, Pointer, Position, Span
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.plan.node import Edge, Go, Outcome, Stop
from stagec.sources.formats.plain import FORMAT
from stagec.sources.tree import Tree

REGISTRY = ".agent/issue/steps_registry.json"
WIDE = "agents/審査/steps_registry.json"
HOSTILE = "::error::\x1b[2Jevil\u202e/x\nagent.json"
GONE = "gone/\udcff.json"

TEXTS = {
    REGISTRY: """{
  "steps": {
    "plan": {
      "gate": {
        "allowed": ["next", "repeat"],
\t\t"fallback": "stop"
      },
      "transitions": {
        "next": {"target": "wrok"}
      }
    },
    "work": {
      "structuredGate": {
        "allowedIntents": ["closing"]
      }
    }
  }
}
""",
    WIDE: '{"名前": "審査　する", "次": "ﾀﾞ\u0301終わり", "done": 1}\r\n',
    HOSTILE: '{"a": "\x1b[31m ##[error]red \u202eedoc\u202c", "b": 2}\n',
    "long.json": '{"x": "' + "a" * 400 + '", "target": "wrok", "y": "' + "ü" * 400 + '"}\n',
}


def span(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span(Position(line, column), Position(end_line, end_column))


def diagnostic(
    file: str, where: Span, message: str, *, number: int = 201, pointer: Pointer = (), **more: object
) -> Diagnostic:
    severity = more.pop("severity", Severity.ERROR)
    fields: dict[str, object] = {"origin": ("steps-registry:xref.target",), "related": (), "folded": 0, "fix": None}
    return Diagnostic(
        code=f"STG{number}",
        name="unknown-target",
        severity=severity,
        at=Place(file, pointer),
        span=where,
        message=message,
        url=f"https://example.org/rules/STG{number}/",
        **{**fields, **more},
    )


TARGET: Pointer = ("steps", "plan", "transitions", "next", "target")
FIX = Fix(
    "replace it by 'work'",
    (
        Edit(Change.REPLACE, Place(REGISTRY, TARGET), "work"),
        Edit(Change.RENAME, Place(REGISTRY, ("a/b", 0), Part.KEY), "~"),
    ),
)

DIAGNOSTICS = (
    diagnostic(
        REGISTRY,
        span(5, 20, 5, 38),
        "gate of 'plan' allows 'repeat', which no transition handles",
        number=301,
        pointer=("steps", "plan", "gate", "allowed"),
        severity=Severity.WARNING,
        origin=("steps-registry:gate.drift", "SR-VALID-003"),
        related=(
            Remark(
                Place(REGISTRY, ("steps", "plan", "gate", "fallback")), span(6, 3, 6, 21), "the fallback is named here"
            ),
            Remark(Place(REGISTRY, ("steps", "plan", "transitions")), span(8, 22, 10, 8), "the transitions are these"),
            Remark(Place(REGISTRY, ("steps", "work")), span(12, 13, 16, 6), "'work' does it right"),
        ),
    ),
    diagnostic(
        REGISTRY,
        span(9, 28, 9, 34),
        "step 'plan' goes to 'wrok' on 'next', but there is no such step; did you mean 'work'?",
        pointer=TARGET,
        related=(
            Remark(Place(REGISTRY, ("steps",)), span(2, 3, 2, 10), "the steps are declared here"),
            Remark(Place("schemas/plan.schema.json"), START, "there is nothing to show"),
        ),
        folded=3,
        fix=FIX,
    ),
    diagnostic(WIDE, span(1, 23, 1, 26), "step '審査　する' ends in '終わり'", severity=Severity.NOTE),
    diagnostic(
        HOSTILE,
        span(1, 7, 1, 37),
        "name '\x1b[31m\x07\x9b\r\n::error::boo\u202e\u2066' of \ud800 ##vso[task.logissue]",
        pointer=("a\n~/",),
    ),
    diagnostic("long.json", span(1, 421, 1, 427), "no such step"),
    diagnostic("long.json", span(1, 7, 1, 409), "this text is too long to be a name"),
    diagnostic("long.json", span(2, 1, 2, 1), "the end came too early"),
    diagnostic(GONE, START, "cannot be read: Permission denied", number=101),
)

AT = Place(REGISTRY)
FLOW = Flow(
    "issue",
    AT,
    {"manual": Entry("plan", AT)},
    {
        "plan": FlowNode(
            "plan",
            AT,
            "work",
            (
                WrittenEdge("plan", Edge("next", Go("work")), AT),
                WrittenEdge("plan", Edge("stop", Stop(Outcome.DONE)), AT),
            ),
        ),
        "work": FlowNode("work", AT, "closure", (WrittenEdge("work", Edge("closing", Stop(Outcome.DONE)), AT),)),
    },
)
TREES = {file: Tree(file, "file", FORMAT, text.encode()) for file, text in TEXTS.items()}


@pytest.fixture
def found() -> Report:
    """Return a report with every kind of finding."""
    return Report(DIAGNOSTICS, (FLOW,), TREES)


@pytest.fixture
def clean() -> Report:
    """Return a report about the same files without any finding."""
    return Report((), (FLOW,), TREES)
