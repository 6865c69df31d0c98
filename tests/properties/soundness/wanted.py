"""The kinds of things that have to happen often before anything is said of all runs, and what shows each of them."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.runtime.machine.acts.hooks import SLOTS
from stagec.runtime.machine.gate import ALIASES

Lean = tuple[str, str]
"""A system, and what its projects lean to when they show something more often than usual."""


def _each(template: str, *words: str) -> tuple[str, ...]:
    return tuple(template.format(word) for word in words)


_CHOICES = ("always", "case", "default")
_GO = ("another", "another or another", "itself", "itself or another")
_JUDGES = (
    *("poll:state", "count:iteration", "count:check", "detect:keyword", "detect:structured", "detect:graph"),
    *("meta:custom", "meta:composite"),
)
_POLICIES = ("retry-later", "skip", "fail", "ask")


def _of_steps() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what happens in step flows, by what projects lean to."""
    yield "split", _each("edge next, {}", *_CHOICES, *_GO)
    yield "repeat", _each("edge repeat, {}", *_CHOICES, *_GO)
    yield "handoff", _each("edge handoff, {}", *_CHOICES, "another", "another or another")
    yield "escalate", _each("edge escalate, {}", *_CHOICES, *_GO)
    yield "jump", _each("edge jump, {}", *_CHOICES, "named", "pick", *_GO)
    yield "abort", ("edge abort, failed",)
    yield "free", ("edge next, failed",)
    yield "", ("edge closing, done",)
    yield "judge detect:structured", ("edge verdict, done",)
    yield "otherwise", ("another runs in its place",)
    yield "", ("gate that fails fast", "act prompt", *_each("kind {}", "work", "verification", "closure"))
    yield "fallback", ("gate that falls back", "intent that was fallen back to")
    yield "open", ("intent by another word", "end: aborted (failed)", "end: no-intent (failed)")
    yield "open", tuple(f"intent {meant} as {said}" for said, meant in ALIASES.items())
    yield "free", ("kind of a step without one",)
    for each in _JUDGES:
        yield f"judge {each}", (f"judge {each}",)
    yield "judge meta:composite", _each("judge meta:composite, {}", "and", "or", "first")
    yield "judge poll:state", _each("judge outside says {}", "done", "no")
    yield "judge count:iteration", ("end: bound reached (done)",)
    yield "program", ("act command", *_each("program exits with {}", "0", "another status"))
    for word in ("succeeds", "fails"):
        yield "validated", _each(f"validator {{}} {word}", "empty", "exit", "contains", "matches")
    yield "validated", _each("validation failed, {}", "retry", "abort", "skip", "given up")
    yield "carried", _each("variable {}", "given", "provided", "carried")
    yield "carried", _each("variable carried, {}", "handed over", "default", "left empty")
    yield "split", ("term reads of a result", "condition on handoff")
    yield (
        "",
        (
            "answer that is asked for again",
            "end: invalid-answer (failed)",
            "cannot start (step)",
            "end: cannot-start (failed)",
        ),
    )


def _of_stages() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what happens in pipelines, by what projects lean to."""
    yield "", _each("edge ok, {}", *_CHOICES, "another", "done")
    yield "", ("edge ok, itself", "edge fail, itself")
    yield "chain", ("edge ok, chain", "chain goes on", "chain breaks off", "chain in a chain", "fork in a chain")
    yield "fork", ("edge ok, fork", "ParallelSiblingFailure", "StageCancelled", "branch waits for room")
    yield "fork", ("end by ParallelSiblingFailure", "branch that waits is cancelled", "ToolInvocationCancelled")
    yield "skipped skip", ("stage that is skipped fails its fork",)
    yield "join", ("edge ok, fork with join", "join starts", "end by LifecycleFailure")
    yield "branch", ("branch goes on after a failure", "fork in a fork", "chain in a fork")
    yield "unjoined", ("end by JoinPreconditionViolated", "end: cannot-join (failed)")
    yield "mend", _each("edge fail, {}", *_CHOICES, "another", "chain", "fork", "fork with join", "done", "failed")
    yield "", _each("term {} of a result", "among", "exists", "absent")
    yield "policy", _each("term {} of the context", "among", "exists", "absent")
    yield "mend", _each("condition on {}", "verdict", "capHit", "attemptCount")
    yield "reason", ("condition on reason",)
    yield "output", ("condition on output", "condition on parsed", "several terms at once")
    for policy in _POLICIES:
        yield f"policy {policy}", _each(f"policy {policy} on {{}}", "defer", "block")
    yield "policy ask", _each("person says {}", "yes", "no")
    yield "policy retry-later", ("admission is asked for again",)
    yield "retry", ("attempt on the same transcript", *_each("backoff {}", "none", "fixed", "exponential"))
    yield "cap", _each("check says {} after a cap", "ok", "retry", "fail")
    yield "retry", (*_each("check says {}", "ok", "retry", "fail"), *_each("stage ends as {}", "ok", "fail", "skip"))
    yield "cap", _each("turn {}", "without calls", "with calls", "that fails", "with completion")
    yield "cap", _each("turn with {}", "completion not accepted", "two completions", "completion and calls")
    yield (
        "",
        ("act converse", "call carried out", "call that fails", *_each("grant {}", "given", "denied", "left open")),
    )
    yield "", _each("call allowed by {}", "sm-envelope", "sm-grant-token")
    yield "", _each("call denied: {}", "GrantDenied", "GrantAlreadyConsumed", "OutputMalformed")
    yield "loop TOOL_CALL/pre, guard", ("call denied: guard", *_each("guard {}", "allows", "denies", "fails"))
    yield "mode", _each("call while the mode is {}", "ask", "allowlist", "yolo", "None")
    yield "hooks", (*_each("hook {}", "setup", "gate", "assert", "exit"), "hook fails", "accepts only some results")
    yield "hooks", _each("no beginning in {}", "Setup", "Init", "CheckGate")
    yield "loop", ("transform fails", "observer fails", "HookObserverFailed")
    for slot, kinds in SLOTS.items():
        for kind in sorted(kinds):
            yield f"loop {slot}, {kind}", (f"hook {slot}, {kind}",)
    yield "", _each("end: {}", "completed (done)", "failed (failed)", "bound reached (failed)", "enough (failed)")


LEANS: dict[str, Lean] = {
    kind: (system, lean)
    for system, told in (("registry", _of_steps()), ("pipeline", _of_stages()))
    for lean, kinds in told
    for kind in kinds
}
WANTED = tuple(LEANS)
