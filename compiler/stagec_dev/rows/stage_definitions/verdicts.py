"""From diagnostics to the kind of answer that upstream's validators give: the first code, its path, and every rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import Pointer

_OF_SCHEMAS = re.compile(r"STG16\d")
_CODE = re.compile(r"[A-Z][A-Za-z]+/[A-Z][A-Za-z]+")
_FALLBACK = "Validation/StageDefinitionInvalid"
_ORDER = ("StageTurnCapTooLow", "StageCtxUnresolved", "StageCompletionSchemaInvalid", "StageJoinDangling")
"""In which order upstream looks at one stage; it tells only the first fault."""
_MISTYPED = {"STG171", "STG172"}


def verdict(found: Iterable[Diagnostic], document: Any) -> dict[str, Any]:
    """Return whether something is in order, the slugs of all that is not, and what upstream would say first."""
    told = tuple(found)
    errors = [each for each in told if each.severity is Severity.ERROR]
    answer: dict[str, Any] = {"ok": not errors, "rules": rules(told)}
    if errors:
        first = min(errors, key=_rank)
        kind, _, code = _code(first).partition("/")
        answer |= {"class": kind, "code": code, "path": _path(first, document), "context": _context(first, document)}
    return answer


def rules(found: Iterable[Diagnostic]) -> list[str]:
    """Return the slugs of the specification that diagnostics are about."""
    return sorted({slug for each in found if each.severity is not Severity.NOTE for slug in _slugs(each)})


def _slugs(each: Diagnostic) -> Iterable[str]:
    yield from (origin.rpartition(":")[2] for origin in each.origin if origin.startswith("stage-definitions:"))
    member = next((key for key in _inside(each.at.pointer) if isinstance(key, str)), None)
    ending = "type" if each.code in _MISTYPED else "invalid" if _OF_SCHEMAS.match(each.code) else None
    if ending is not None and member is not None:
        yield re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", f"{member}-{ending}")


def _code(each: Diagnostic) -> str:
    if _OF_SCHEMAS.match(each.code) and "completionSchema" in each.at.pointer:
        return "Validation/StageCompletionSchemaInvalid"
    return next((origin for origin in each.origin if _CODE.fullmatch(origin)), _FALLBACK)


def _rank(each: Diagnostic) -> tuple[int, Pointer]:
    code = _code(each).partition("/")[2]
    return _ORDER.index(code) if code in _ORDER else len(_ORDER), tuple(map(str, each.at.pointer))


def _inside(pointer: Pointer) -> Pointer:
    """Return the way inside a stage: of a pipeline's stages, or of routes that it gives to one."""
    if pointer[:1] == ("stages",):
        return pointer[2:]
    return (pointer[0], *pointer[2:]) if pointer[:1] == ("next",) else pointer


def _path(each: Diagnostic, document: Any) -> str:
    member, *rest = (*_inside(each.at.pointer), "")[:3]
    if member == "body":
        names = re.findall(r"ctx\.(\w+)", str(_stage(each, document).get("body", "")))
        rest = [next((name for name in names if re.search(rf"\b{re.escape(name)}\b", each.message)), "")]
    shown = f"#{rest[0]}" if member in {"next", "body"} and rest and rest[0] else ""
    return f"/{member}{shown}"


def _context(each: Diagnostic, document: Any) -> Mapping[str, Any]:
    slugs = set(_slugs(each))
    if "entry-unknown" in slugs:
        return {"entryStage": document.get("entry")}
    name = _stage(each, document).get("id")
    return {"duplicateId": name} if "id-duplicate" in slugs else {"stageId": name}


def _stage(each: Diagnostic, document: Any) -> Mapping[str, Any]:
    """Return the stage object that a diagnostic is about, an empty one where it is about none."""
    stages = document.get("stages") if isinstance(document, dict) else None
    index = each.at.pointer[1] if each.at.pointer[:1] == ("stages",) and len(each.at.pointer) > 1 else None
    given = stages[index] if isinstance(index, int) and isinstance(stages, list) else None
    return given if isinstance(given, dict) else {}
