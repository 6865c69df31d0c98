"""Answer whole files: stages, machines, configurations and results of `next` that lie in the corpus as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec_dev.row import Agreement, Row
from stagec_dev.rows.stage_definitions.projects import (
    CODE,
    diagnose_files,
    lacking,
    list_named,
    machine,
    markdown,
    minimal,
    slug_of_file,
)
from stagec_dev.rows.stage_definitions.verdicts import rules, verdict

Given = Mapping[str, Any]
_CONFIGURATION = ".config.json"
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KEY = re.compile(r"^(?P<key>[A-Za-z]+):[ \t]*(?P<rest>.*)$", re.MULTILINE)
_LACKS = re.compile(r"lacks (?P<names>[^;]*)")


def rows_of(root: Path, file: str) -> Iterable[Row]:
    """Yield the rows that a file is: one for most, one for each result of `next` in a list."""
    text = (root / file).read_text(encoding="utf-8")
    if file.endswith(".md"):
        yield Row(file, Path(file).name, {"markdown": text})
        return
    document = json.loads(text)
    if isinstance(document, list) and document and all("nextResult" in each for each in document):
        for index, each in enumerate(document):
            yield Row(file, str(index), {"document": each})
    else:
        yield Row(file, Path(file).name, {"document": document, **dict(_machine(root / file))})


def _machine(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the machine that a configuration is for, where it lies beside it or in the folder above."""
    for folder in (path.parent, path.parent.parent) if path.name.endswith(_CONFIGURATION) else ():
        beside = folder / f"{path.name.removesuffix(_CONFIGURATION)}.json"
        if beside.exists():
            yield "machine", json.loads(beside.read_text(encoding="utf-8"))
            return


def answer(row: Row) -> Any:
    """Return what stagec makes of a file; of one that is nothing of ours nothing is said."""
    given = row.given
    if "markdown" in given:
        name = row.id
        found = diagnose_files({name: given["markdown"]}, (name,))
        return {**verdict(found, {}), "missing": _missing(found)}
    document = given["document"]
    if row.id.endswith(_CONFIGURATION):
        return _configuration(document, given.get("machine"))
    if isinstance(document, dict) and isinstance(document.get("stages"), list):
        return _partial(document) if "pipeline" in document else _whole(document)
    if isinstance(document, dict) and set(CODE[-2:]) <= document.keys():
        return verdict(diagnose_files({"row.json": json.dumps(document)}, ("row.json",)), document)
    return _results(document)


def compare(row: Row, got: Any) -> Agreement:
    """Tell whether an answer is what the corpus says of its files; what it says follows from what they hold."""
    right = got.get("ok")
    if "markdown" in row.given:
        header = row.given["markdown"].split("\n---", 1)[0]
        keys = {each["key"]: each["rest"] for each in _KEY.finditer(header)}
        wanted = {"field-missing"} if lacking(keys) else set()
        wanted |= set() if _KEBAB.fullmatch(keys.get("id", "")) else {"id-kebab-case"}
        found = wanted == {"field-missing", "id-kebab-case"}.intersection(got["rules"])
        right = found and got["missing"] == lacking(keys) and got["ok"] is not bool(wanted)
    elif "partial" in row.file:
        stages = row.given["document"]["stages"]
        right = got["missing"] == {each["id"]: lacking(each) for each in stages}
        right = right and got["rules"] == ["field-missing", "id-kebab-case"] and got["kebab"] == len(stages)
    elif "mutating" in got:
        right = right and got["mutating"]
    return Agreement.AGREE if right else Agreement.DISAGREE


def _missing(found: Iterable[Diagnostic]) -> list[str]:
    """Return the members that stagec says are missing."""
    told = (_LACKS.search(each.message) for each in found if "stage-definitions:field-missing" in each.origin)
    return [name for match in told if match is not None for name in re.findall(r"'([^']+)'", match["names"])]


def _configuration(document: Any, given: Any) -> Any:
    entry = document.get("entry") if isinstance(document, dict) else None
    name = entry if isinstance(entry, str) and entry else "plan"
    whole = given if given is not None else machine([minimal(name)], name)
    files = {"row.json": json.dumps(whole), f"row{_CONFIGURATION}": json.dumps(document)}
    told = [each for each in diagnose_files(files, ("row.json",)) if each.at.file.endswith(_CONFIGURATION)]
    return verdict(told, document)


def _whole(document: Given) -> Any:
    told = verdict(diagnose_files({"row.json": json.dumps(document)}, ("row.json",)), document)
    return {**told, "mutating": "parallel-mutating-sibling" in told["rules"]}


def _partial(document: Given) -> Any:
    """Judge stages of which only some members are given as Markdown, each in a file of its own."""
    stages = {slug_of_file(each["id"]): each for each in document["stages"]}
    order = [str(name) for name in document["pipeline"]]
    pipeline = {"id": "row", "entry": order[0], "stages": list(stages)}
    files = {"pipeline.yaml": json.dumps(pipeline), **{file: markdown(each) for file, each in stages.items()}}
    found = diagnose_files(files, ("pipeline.yaml",))
    missing = {each["id"]: _missing(one for one in found if one.at.file == file) for file, each in stages.items()}
    kebab = sum("stage-definitions:id-kebab-case" in each.origin for each in found)
    errors = [each for each in found if each.severity == "error"]
    return {"ok": not errors, "missing": missing, "kebab": kebab, "rules": rules(errors)}


def _results(document: Any) -> Any:
    """Judge every result of `next` in a document, each in a pipeline that has the stages it names."""
    told = [
        verdict(diagnose_files({"pipeline.json": json.dumps(each)}), each) for each in map(_around, _find(document))
    ]
    slugs = sorted({slug for each in told for slug in each["rules"]})
    return {"ok": all(each["ok"] for each in told), "rules": slugs, "judged": len(told)}


def _around(result: Given) -> dict[str, Any]:
    join = result.get("join")
    names = dict.fromkeys((*list_named(result), *((join,) if isinstance(join, str) else ())))
    return machine([{**minimal("first"), "next": result}, *map(minimal, names)], "first")


def _find(given: Any) -> Iterator[Given]:
    for key, each in given.items() if isinstance(given, dict) else enumerate(given if isinstance(given, list) else ()):
        if key == "nextResult" and isinstance(each, dict):
            yield each
        else:
            yield from _find(each)
