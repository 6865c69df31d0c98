"""The kinds of things that have to happen often before anything is said of all runs: every edge, gate, join and so on."""

from __future__ import annotations


def _each(template: str, *words: str) -> tuple[str, ...]:
    return tuple(template.format(word) for word in words)


_CHOICES = ("always", "case", "default")
EDGES = (
    *_each("edge next, {}", *_CHOICES, "another", "another or another", "itself", "failed"),
    *_each("edge repeat, {}", *_CHOICES, "another", "another or another", "itself", "itself or another"),
    *_each("edge handoff, {}", *_CHOICES, "another", "another or another"),
    *_each("edge escalate, {}", *_CHOICES, "another", "another or another", "itself"),
    *_each("edge jump, {}", "always", "named", "another", "another or another", "itself"),
    *_each("edge ok, {}", *_CHOICES, "another", "itself", "chain", "fork", "fork with join", "done"),
    *_each("edge fail, {}", *_CHOICES, "another", "itself", "chain", "fork", "fork with join", "done", "failed"),
    *("edge closing, done", "edge abort, failed", "edge verdict, done", "another runs in its place"),
)
GATES = (
    *("gate that fails fast", "gate that falls back", "intent that was fallen back to", "intent by another word"),
    *_each("judge {}", "poll:state", "count:iteration", "count:check", "detect:keyword", "detect:structured"),
    *_each("judge {}", "detect:graph", "meta:custom", "meta:composite"),
    *_each("judge meta:composite, {}", "and", "or", "first"),
    *("program run", "check says ok", "check says retry", "check says fail", "check says retry after a cap"),
    *_each("validator {}", "empty", "exit", "contains", "matches"),
    "check says fail after a cap",
)
JOINS = (
    *("join starts", "chain goes on", "scope inside a scope", "branch waits for room"),
    *("ParallelSiblingFailure", "StageCancelled", "accepts only some results"),
)
CONDITIONS = (
    *_each("term {} of a result", "among", "reads", "exists", "absent"),
    *_each("term {} of the context", "among", "exists", "absent"),
)
POLICIES = (
    *_each("policy {} on defer", "retry-later", "skip", "fail", "ask"),
    *_each("policy {} on block", "retry-later", "skip", "fail", "ask"),
    *_each("backoff {}", "none", "fixed", "exponential"),
    *_each("validation failed, {}", "retry", "abort", "skip"),
)
WANTED = (*EDGES, *GATES, *JOINS, *CONDITIONS, *POLICIES)
