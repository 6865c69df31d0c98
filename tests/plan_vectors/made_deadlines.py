"""A plan with deadlines: of stages that call tools and try again, of siblings, and of the run."""

from __future__ import annotations

from plan_vectors.writing import DONE, FAILED, Contents, Json, among, complete, edge, go

_SOON, _LATER, _RUN = 60_000, 600_000, 3_600_000


def deadlines() -> Json:
    """Return the payload."""
    contents = Contents()
    schema = contents.add('{"type":"object"}')

    def stage(prompt: str, deadline: int, *edges: Json) -> Json:
        act = {
            "is": "converse",
            "prompt": contents.template(prompt),
            "tools": ["look"],
            "completion": "submit",
            "schema": schema,
            "turns": 1,
            **({"deadline": deadline} if deadline else {}),
        }
        retry = {"attempts": 2, "backoff": {"kind": "fixed", "milliseconds": 1_000}}
        return {"act": act, "gate": {"is": "verdict"}, "retry": retry, "edges": [*edges, edge("fail", FAILED)]}

    late = among(["reason"], "deadline-exceeded")
    pair = {"is": "fork", "nodes": ["left", "right"], "join": "both"}
    plan = {
        "id": "deadlines",
        "names": {"node": "stage", "outcome": "verdict"},
        "entries": {"": "ask"},
        "entry": "",
        "limits": {"executions": 8, "parallel": 2, "deadline": _RUN},
        "tools": {"look": {"origin": "unknown", "effects": "unknown"}},
        "nodes": {
            "ask": stage("Ask.\n", _LATER, edge("fail", go("ask"), late, wait=9_000), edge("ok", pair, wait=500)),
            "left": stage("Left.\n", _SOON, edge("fail", go("mend"), late), edge("ok", DONE)),
            "right": stage("Right.\n", _SOON, edge("ok", DONE)),
            "mend": stage("Mend.\n", 0, edge("ok", DONE)),
            "both": stage("Both.\n", 0, edge("ok", DONE)),
        },
    }
    return complete(plan, contents)
