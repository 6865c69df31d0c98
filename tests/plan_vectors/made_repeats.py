"""A plan whose nodes repeat themselves as often as it allows, and are guarded before and after they act."""

from __future__ import annotations

from plan_vectors.writing import DONE, Contents, Json, complete, edge, go


def repeats() -> Json:
    """Return the payload."""
    contents = Contents()
    gate = {"is": "intent", "field": ["action"]}
    given = {"name": {"is": "given", "name": "name"}}
    work = {
        "is": "prompt",
        "prompt": contents.template("Work.\n"),
        "repeats": [
            {"prompt": contents.template("Work again.\n")},
            {"prompt": contents.template("Work for ", ["variable", "name"], ".\n"), "variables": given},
        ],
    }
    plan = {
        "id": "repeats",
        "names": {"node": "step", "outcome": "intent"},
        "entries": {"first": "work"},
        "entry": "first",
        "limits": {"executions": 12},
        "inputs": {"name": {}},
        "validators": {
            name: {"command": f"is {name}", "success": {"kind": "empty"}, "pattern": f"not-{name}"}
            for name in ("clean", "ready", "typed")
        },
        "nodes": {
            "work": {
                "act": work,
                "gate": {**gate, "intents": ["next", "repeat"]},
                "edges": [edge("next", go("close")), edge("repeat", go("work"))],
                "validation": {
                    "conditions": [{"validator": "typed"}],
                    "everyOutcome": True,
                    "attempts": 2,
                    "prompts": {"not-typed": contents.template("Mend the types.\n")},
                },
            },
            "close": {
                "act": {"is": "prompt", "prompt": contents.template("Close.\n"), "repeats": []},
                "gate": {**gate, "intents": ["closing", "repeat"]},
                "edges": [edge("closing", DONE), edge("repeat", go("close"))],
                "validation": {
                    "preflight": [{"validator": "ready"}, {"validator": "clean"}],
                    "conditions": [{"validator": "clean"}],
                },
            },
        },
    }
    return complete(plan, contents)
