"""A plan whose prompts show the whole context: which names it has, and in which order."""

from __future__ import annotations

from plan_vectors.writing import DONE, FAILED, Contents, Json, Piece, complete, edge


def contexts() -> Json:
    """Return the payload."""
    contents = Contents()
    schema = contents.add('{"type":"object"}')

    def stage(*prompt: Piece, then: Json = DONE) -> Json:
        act = {
            "is": "converse",
            "prompt": contents.template(*prompt),
            "tools": [],
            "completion": "submit",
            "schema": schema,
            "turns": 1,
        }
        return {"act": act, "gate": {"is": "verdict"}, "edges": [edge("ok", then), edge("fail", FAILED)]}

    plan = {
        "id": "contexts",
        "names": {"node": "stage", "outcome": "verdict"},
        "entries": {"whole": "whole", "hidden": "hidden"},
        "entry": "whole",
        "limits": {"executions": 4},
        "inputs": {
            **{name: {} for name in ("9", "list", "item", "host", "attempts", "upstream")},
            "10": {"default": [1]},
            "b": {"default": "text"},
        },
        "nodes": {
            "whole": stage(["ctx"], then={"is": "each", "list": ["ctx", "list"], "most": 2, "nodes": ["element"]}),
            "element": stage(["ctx"]),
            "hidden": stage(["ctx", "host"]),
        },
    }
    return complete(plan, contents)
