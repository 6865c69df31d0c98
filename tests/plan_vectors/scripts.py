"""Play a scripted world to a run, and write down what happened: scenarios become traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plan_vectors.runner import Run

Json = Mapping[str, Any]


def play(plan: Json, scenario: Json) -> list[dict[str, Any]]:
    """Return the trace of a run in the world of a scenario: each event, what it made the run ask, and the state."""
    run, steps, known = Run(plan), [], set()
    for event in _events(run, scenario):
        run.tell(event)
        asked = [request for request in run.requests() if request["key"] not in known]
        known.update(request["key"] for request in asked)
        steps.append({"event": event, "asked": asked, "state": run.state()})
    return steps


def _events(run: Run, scenario: Json) -> Iterator[dict[str, Any]]:
    yield {"is": "start", **{name: scenario[name] for name in ("run", "entry", "inputs") if name in scenario}}
    for answer in scenario.get("answers", ()):
        if "resume" in answer:
            yield {"is": "resume", **answer["resume"]}
        elif answer.get("of") is None:
            yield {"is": "cancel"}
        else:
            told = {name: value for name, value in answer.items() if name != "of"}
            yield {"is": "answer", "to": _key(run, answer["of"]), "answer": told}


def _key(run: Run, of: str) -> str:
    """Return the key of the oldest request whose key goes on with these words behind the id of the run."""
    for request in run.requests():
        if request["key"].partition("/")[2].startswith(of):
            return request["key"]
    raise KeyError(of)
