"""Write plans by hand: raw JSON, from the page of the format alone."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from plan_vectors.proved import facts

Json = dict[str, Any]
Piece = str | list[str | int] | Json
DONE, FAILED = {"is": "stop", "outcome": "done"}, {"is": "stop", "outcome": "failed"}


def framed(payload: Json) -> bytes:
    """Return the file of a plan that has neither odd numbers nor odd names, for which Python's JSON is canonical."""
    written = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    return b'{"digest":"sha256:%s","plan":%s}\n' % (hashlib.sha256(written).hexdigest().encode(), written)


class Contents:
    """Collects the contents of a plan."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        name = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        self.texts[name] = text
        return name

    def template(self, *pieces: Piece) -> list[Json]:
        """Return a template: texts, paths of holes, and what is a piece already."""
        return [self._piece(piece) for piece in pieces]

    def _piece(self, piece: Piece) -> Json:
        if isinstance(piece, str):
            return {"is": "text", "content": self.add(piece)}
        return {"is": "hole", "path": piece} if isinstance(piece, list) else piece


def edge(on: str, target: Json, *when: Json, wait: int = 0) -> Json:
    terms = {"when": list(when)} if when else {}
    return {"on": on, "target": target, **terms, **({"wait": wait} if wait else {})}


def go(node: str, **more: str) -> Json:
    return {"is": "go", "node": node, **more}


def among(path: list[str | int], *values: Any) -> Json:
    return {"is": "among", "path": path, "values": list(values)}


def reads(path: list[str | int], *texts: str) -> Json:
    return {"is": "reads", "path": path, "texts": list(texts)}


def exists(path: list[str | int], *, present: bool = True) -> Json:
    return {"is": "exists", "path": path, "present": present}


def complete(plan: Json, contents: Contents) -> Json:
    plan = {"is": "stagec.plan/1", **plan, "contents": contents.texts}
    return {**plan, "facts": facts(plan)}
