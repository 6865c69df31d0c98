"""A plan of what runners read differently: dialects of schemas, the order of members, case, and names of digits."""

from __future__ import annotations

import json

from plan_vectors.writing import DONE, Contents, Json, complete, edge, go

_DRAFT = {
    4: "http://json-schema.org/draft-04/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
}


def words() -> Json:
    """Return the payload."""
    contents = Contents()
    handoff = {"word": {"is": "carried", "node": "old", "key": "action"}}

    def step(name: str, intents: list[str], *edges: Json, **of: Json) -> Json:
        prompt = contents.template(f"{name}: ", ["variable", "given"], "\n")
        variables = {"given": {"is": "given", "name": "given"}}
        act = {"is": "prompt", "prompt": prompt, "variables": variables, **of}
        gate = {"is": "intent", "field": ["action"], "intents": intents, "target": ["to"], "handoff": [["action"]]}
        return {"act": act, "gate": gate, "edges": [*edges]}

    def schema(dialect: int | None, **members: Json) -> str:
        named = {} if dialect is None else {"$schema": _DRAFT[dialect]}
        return contents.add(json.dumps({**named, "required": ["action"], "properties": members}))

    old_words = contents.template("old: ", ["variable", "word"], "\n")
    # `more` is only judged where 4 has `exclusiveMinimum` beside `minimum`, and `mail` only where formats are judged
    encoded = {"contentEncoding": "base64", "contentMediaType": "application/json"}
    upper = {"action": {"enum": ["NEXT"]}}
    mail = {"type": "string", "format": "email"}
    nodes = {
        "new": step("new", ["next"], edge("next", go("old")), schema=schema(None, mail=mail)),
        "old": step("old", ["next"], edge("next", go("oldest")), schema=schema(7, mail=mail, data=encoded, **upper)),
        "oldest": {
            **step("oldest", ["next"], edge("next", go("between"))),
            "act": {
                "is": "prompt",
                "prompt": old_words,
                "variables": handoff,
                "schema": schema(4, more={"minimum": 1, "exclusiveMinimum": True}),
            },
        },
        "between": step(
            "between",
            ["next", "jump"],
            edge("jump", {"is": "named", "nodes": {"10": "10"}}),
            edge("jump", {"is": "schedule", "needs": {"10": [], "9": [], "2": [], "b": []}}),
            edge("next", go("new")),
            schema=schema(2019, pair={"items": [{"type": "string"}]}),
        ),
        **{name: step(name, ["closing"], edge("closing", DONE)) for name in ("10", "9", "2", "b")},
    }
    plan = {
        "id": "words",
        "names": {"node": "step", "outcome": "intent"},
        "entries": {"first": "new", "last": "between"},
        "entry": "first",
        "limits": {"executions": 12},
        "inputs": {"given": {"required": True}},
        "nodes": nodes,
    }
    return complete(plan, contents)
