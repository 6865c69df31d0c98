"""A plan of forks and chains inside each other, with retries, admission and schemas of what is handed on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plan_vectors.writing import DONE, FAILED, Contents, Json, Piece, among, complete, edge, exists, go, reads


def scopes() -> Json:
    """Return the payload."""
    contents = Contents()
    schema = contents.add('{"type":"object"}')

    def stage(*pieces: Piece, edges: list[Json], **more: Any) -> Json:
        act = {
            "is": "converse",
            "prompt": contents.template(*pieces),
            "tools": more.pop("tools", []),
            "completion": "submit",
            "schema": schema,
            "turns": 1,
        }
        accepts = {"accepts": contents.add(more.pop("accepts"))} if "accepts" in more else {}
        gate = {"is": "verdict", **({"checks": more.pop("checks")} if "checks" in more else {})}
        return {"act": {**act, **accepts}, "gate": gate, "edges": edges, **more}

    plan = {
        "id": "scopes",
        "names": {"node": "stage", "outcome": "verdict"},
        "entries": {"": "start", "later": "last"},
        "limits": {"executions": 16, "parallel": 2},
        "tools": {"Read": {"origin": "unknown", "effects": "read"}},
        "inputs": {"level": {"default": 0, "schema": contents.add('{"type":"integer"}')}, "maybe": {}},
        "nodes": {**_around(contents, stage), **_siblings(stage)},
    }
    return complete(plan, contents)


Stage = Callable[..., Json]


def _around(contents: Contents, stage: Stage) -> Json:
    each = {"is": "each", "path": ["ctx", "upstream"], "body": contents.template(" ", ["this", "parsed", "out"])}
    failed = edge("fail", FAILED)
    return {
        "start": stage(
            "Begin at ",
            ["ctx", "level"],
            edges=[edge("ok", {"is": "chain", "nodes": ["first", "last"]}), failed],
        ),
        "first": stage(
            "After ",
            ["ctx", "upstream", 0, "verdict"],
            edges=[edge("ok", {"is": "fork", "nodes": ["a", "b", "c"], "join": "merge"}), failed],
        ),
        "merge": stage(
            "Merge",
            each,
            edges=[edge("ok", DONE), failed],
            checks=[{"verdict": "retry", "when": [exists(["parsed", "out"], present=False)], "reason": "no out"}],
            retry={"attempts": 3, "backoff": {"kind": "exponential", "milliseconds": 10}},
        ),
        "last": stage(
            "Last of ",
            ["ctx", "workflowRunId"],
            each,
            edges=[edge("ok", DONE, reads(["verdict"], "ok")), failed],
            accepts='{"properties":{"parsed":{"properties":{"out":{"not":{"type":"boolean"}}}}},"required":["parsed"]}',
            admission={
                "onDefer": "retry-later",
                "onBlock": "skip",
                "defer": [among(["ctx", "level"], 1, 2)],
                "block": [among(["ctx", "level"], 2)],
            },
            retry={"attempts": 3, "backoff": {"kind": "exponential", "milliseconds": 10}},
        ),
    }


def _siblings(stage: Stage) -> Json:
    failed = edge("fail", FAILED)
    unfit: Json = {"verdict": "fail", "when": [exists(["parsed", "mend"])], "reason": "unfit"}
    deeply: Json = {"is": "fork", "nodes": ["x", "y"], "join": "mend"}
    return {
        "a": stage(
            "A.\n",
            edges=[
                edge("fail", deeply, among(["parsed", "mend"], "deeply")),
                edge("fail", DONE, reads(["parsed", "mend"], "1", "true", '{"b":[1,null]}')),
                edge("fail", go("mend")),
                edge("ok", go("mend")),
            ],
            checks=[unfit],
            retry={"attempts": 2, "backoff": {"kind": "fixed", "milliseconds": 5}},
            tools=["Read"],
        ),
        "b": stage("B.\n", edges=[edge("fail", {"is": "chain", "nodes": ["mend", "x"]})], checks=[unfit]),
        "c": stage(
            "C.\n",
            edges=[edge("ok", DONE), failed],
            admission={
                "onDefer": "ask",
                "onBlock": "skip",
                "defer": [among(["ctx", "level"], 4)],
                "block": [among(["ctx", "level"], 3)],
            },
        ),
        "x": stage("X ", ["ctx", "maybe"], edges=[edge("ok", DONE), failed]),
        "y": stage(
            "Y.\n", edges=[edge("ok", DONE), failed], checks=[{"verdict": "fail", "when": [among(["capHit"], True)]}]
        ),
        "mend": stage(
            "Mend in ",
            ["ctx", "stageExecutionId"],
            edges=[edge("ok", go("a"), reads(["parsed", "mend"], "again")), edge("ok", DONE), failed],
        ),
    }
