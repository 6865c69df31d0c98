"""A plan of stages that run as processes: two that need the same one, one that needs both, and one that runs once."""

from __future__ import annotations

from typing import Any

from plan_vectors.writing import DONE, FAILED, Contents, Json, complete, edge

_LIMITS = {"warn": 60000, "interrupt": 90000, "terminate": 95000, "kill": 98000}


def stages() -> Json:
    """Return the payload."""
    needs: dict[str, list[str]] = {
        "S01_load_data": [],
        "S02_train_model": ["S01_load_data"],
        "S03_explore_data": ["S01_load_data"],
        "S04_evaluate_model": ["S02_train_model", "S03_explore_data"],
        "S05_send_report": ["S03_explore_data"],
    }
    table: Json = {"table": {"node": "S01_load_data", "path": "wine_df.csv"}}
    model: Json = {"model": {"node": "S02_train_model", "path": "out/model.json"}}
    plan = {
        "id": "stages",
        "names": {"node": "stage", "outcome": "outcome"},
        "entries": {"": {"is": "schedule", "needs": needs}},
        "entry": "",
        "limits": {"parallel": 2},
        "nodes": {
            "S01_load_data": _stage(
                inputs={"wine": {"path": "data/wine.csv"}, "page": {"url": "https://example.org/wine"}},
                outputs={"table": "wine_df.csv"},
            ),
            "S02_train_model": _stage(inputs=table, outputs={"model": "out/model.json"}, checkpoint=False),
            "S03_explore_data": _stage(inputs=table, words=[]),
            "S04_evaluate_model": _stage(
                inputs={**model, **table}, outputs={"report": "report.md", "scores": "scores.csv"}
            ),
            "S05_send_report": _stage(retryable=False),
        },
    }
    return complete(plan, Contents())


def _stage(words: tuple[str, ...] | list[str] = ("python3", "work.py"), **act: Any) -> Json:
    program = {"words": list(words)} if words else {}
    retry = {"attempts": 3, "backoff": {"kind": "exponential", "milliseconds": 100}}
    return {
        "act": {"is": "process", "goal": "Do what is to be done", "limits": _LIMITS, **program, **act},
        "gate": {"is": "stage"},
        "edges": [
            edge("success", DONE),
            edge("failure", FAILED),
            edge("interrupted", {"is": "stop", "outcome": "interrupted"}),
        ],
        **({"retry": retry} if act.get("retryable", True) else {}),
    }
