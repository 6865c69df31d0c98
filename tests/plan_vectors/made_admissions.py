"""A plan of gates that always hold, as those on constants do, and of gates that never hold."""

from __future__ import annotations

from plan_vectors.writing import DONE, FAILED, Contents, Json, complete, edge, exists, go, reads


def admissions() -> Json:
    """Return the payload."""
    contents = Contents()
    schema = contents.add('{"type":"object"}')
    always, never = [exists(["ctx"])], [exists(["ctx"], present=False)]

    def stage(name: str, **of: Json) -> Json:
        act = {
            "is": "converse",
            "prompt": contents.template(f"{name}.\n"),
            "tools": [],
            "completion": "submit",
            "schema": schema,
            "turns": 1,
        }
        edges = [edge("ok", go("free"), reads(["verdict"], "skip")), edge("ok", DONE), edge("fail", FAILED)]
        return {"act": act, "gate": {"is": "verdict"}, "edges": edges, **of}

    def gated(name: str, on_defer: str = "fail", on_block: str = "fail", **terms: list[Json]) -> Json:
        return stage(name, admission={"onDefer": on_defer, "onBlock": on_block, **terms})

    names = ("skipped", "refused", "asked", "delayed", "both", "open", "free")
    plan = {
        "id": "admissions",
        "names": {"node": "stage", "outcome": "verdict"},
        "entries": {name: name for name in names},
        "limits": {"executions": 4},
        "nodes": {
            "skipped": gated("Skipped", on_block="skip", block=always),
            "refused": gated("Refused", on_defer="ask", block=always),
            "asked": gated("Asked", on_defer="ask", defer=always),
            "delayed": {
                **gated("Delayed", on_defer="retry-later", defer=always),
                "retry": {"attempts": 3, "backoff": {"kind": "fixed", "milliseconds": 5}},
            },
            "both": gated("Both", on_defer="ask", on_block="skip", defer=always, block=always),
            "open": gated("Open", on_defer="skip", on_block="skip", defer=never, block=[*always, *never]),
            "free": gated("Free", on_defer="skip", on_block="skip"),
        },
    }
    return complete(plan, contents)
