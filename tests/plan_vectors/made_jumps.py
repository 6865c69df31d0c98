"""A plan of jumps: to any node, to nodes that several targets have in common, and to those of one target alone."""

from __future__ import annotations

from plan_vectors.writing import DONE, Contents, Json, complete, edge, go


def jumps() -> Json:
    """Return the payload."""
    contents = Contents()

    def step(*edges: Json) -> Json:
        gate = {
            "is": "intent",
            "field": ["next", "action"],
            "intents": ["jump", "closing"],
            "target": ["next", "to"],
        }
        prompt = {"is": "prompt", "prompt": contents.template("Where to?\n")}
        return {"act": prompt, "gate": gate, "edges": [*edges, edge("closing", DONE)]}

    plan = {
        "id": "jumps",
        "names": {"node": "step", "outcome": "intent"},
        "entries": {"first": "begin"},
        "entry": "first",
        "limits": {"executions": 5},
        "choices": {
            "any": {"begin": "begin", "work": "work", "w": "work", "check": "check", "last": "last"},
            "back": {"begin": "begin", "again": "work"},
        },
        "nodes": {
            "begin": step(edge("jump", {"is": "pick", "choices": "any"})),
            "work": step(edge("jump", {"is": "pick", "choices": "back"}), edge("jump", go("check"))),
            "check": step(
                edge("jump", {"is": "named", "nodes": {"begin": "last"}}),
                edge("jump", {"is": "pick", "choices": "back"}),
            ),
            "last": step(edge("jump", {"is": "pick", "choices": "any"})),
        },
    }
    return complete(plan, contents)
