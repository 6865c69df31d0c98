"""A plan with waits between its nodes: before another attempt, in branches, and with one place for two branches."""

from __future__ import annotations

from plan_vectors.writing import DONE, FAILED, Contents, Json, among, complete, edge, go


def waits() -> Json:
    """Return the payload."""
    contents = Contents()
    schema = contents.add('{"type":"object"}')

    def stage(prompt: str, *edges: Json) -> Json:
        act = {
            "is": "converse",
            "prompt": contents.template(prompt),
            "tools": [],
            "completion": "submit",
            "schema": schema,
            "turns": 1,
        }
        return {"act": act, "gate": {"is": "verdict"}, "edges": [*edges, edge("fail", FAILED)]}

    again = among(["reason"], "provider-failed")
    plan = {
        "id": "waits",
        "names": {"node": "stage", "outcome": "verdict"},
        "entries": {"": "ask"},
        "entry": "",
        "limits": {"executions": 8},
        "nodes": {
            "ask": stage(
                "Ask.\n",
                edge("fail", go("ask"), again, wait=600_000),
                edge("ok", {"is": "fork", "nodes": ["left", "right"], "join": "both"}, wait=1),
            ),
            "left": stage("Left.\n", edge("ok", DONE), edge("fail", go("mend"), again, wait=500)),
            "right": stage("Right.\n", edge("ok", DONE), edge("fail", go("mend"), again, wait=500)),
            "mend": stage("Mend.\n", edge("ok", DONE)),
            "both": stage("Both.\n", edge("ok", {"is": "chain", "nodes": ["last", "last"]}, wait=20)),
            "last": stage("Last.\n", edge("ok", DONE)),
        },
    }
    return complete(plan, contents)
