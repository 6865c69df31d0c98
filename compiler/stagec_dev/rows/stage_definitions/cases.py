"""Cases of stage definitions: files, and what is wrong in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec.core.place import Place
from stagec.languages.stages.placeholder_errors import object_body
from stagec_dev.row import Agreement, Row
from stagec_dev.rows.stage_definitions.projects import (
    CODE,
    context_of,
    diagnose_files,
    lacking,
    list_named,
    machine,
    markdown,
    minimal,
    rules,
    slug_of_file,
    verdict,
)

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
        return _configuration_files(document, given.get("machine"))
    if isinstance(document, dict) and isinstance(document.get("stages"), list):
        return _partial(document) if "pipeline" in document else _whole(document)
    if isinstance(document, dict) and set(CODE[-2:]) <= document.keys():
        return verdict(diagnose_files({"row.json": json.dumps(document)}, ("row.json",)), document)
    return _results(document)


def compare_files(row: Row, got: Any) -> Agreement:
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


def _configuration_files(document: Any, given: Any) -> Any:
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


_OF_PROMPTS = ("placeholder-", "ctx-", "upstream-", "stage-ref-")
_FILE = "pipeline.json"


def _stage(given: Given) -> Any:
    following = given.get("next")
    if following is not None and not isinstance(following, dict):
        return {"applicable": False}
    stage = dict(given["stage"], **({} if following is None else {"next": following}))
    others = [minimal(name) for name in list_named(following) if name != stage.get("id")]
    document = machine([stage, *others], stage.get("id") or "none", **context_of(given.get("contextSchema")))
    answer = verdict(diagnose_files({_FILE: json.dumps(document)}), document)
    return {**answer, "placeholders": {"code-0.1": _of_prompts(answer["rules"]), "wiki-1.0": _in_markdown(given)}}


def _in_markdown(given: Given) -> list[str]:
    """Return what is said of the same prompt in a Markdown stage."""
    stage = {**given["stage"], "id": "row"}
    pipeline = {"id": "row", "entry": "row", "stages": ["row.md"], **context_of(given.get("contextSchema"))}
    files = {"pipeline.yaml": json.dumps(pipeline), "row.md": markdown(stage, lacking(stage))}
    return _of_prompts(rules(diagnose_files(files, ("pipeline.yaml",))))


def _of_prompts(slugs: list[str]) -> list[str]:
    return [slug for slug in slugs if slug.startswith(_OF_PROMPTS)]


def _pipeline(given: Given) -> Any:
    document = machine(given.get("stages"), given.get("entry"), **context_of(given.get("contextSchema")))
    return verdict(diagnose_files({_FILE: json.dumps(document)}), document)


def _shape(given: Given) -> Any:
    """Judge one stage under both profiles.

    A row with members that stage objects do not have is about these; then what else a Markdown stage needs is filled
    in, otherwise only what a stage object cannot say.
    """
    stage = given["value"]
    document = machine([stage], stage.get("id") or "none" if isinstance(stage, dict) else "none")
    as_object = verdict(diagnose_files({_FILE: json.dumps(document)}), document)
    if not isinstance(stage, dict):
        return {"ok": False, "profiles": {"code-0.1": as_object}}
    about = set(stage) - set(CODE)
    filled = [key for key in lacking(stage) if about or key not in CODE]
    found = diagnose_files({"row.md": markdown(stage, filled)}, ("row.md",))
    return {"ok": as_object["ok"], "profiles": {"code-0.1": as_object, "wiki-1.0": verdict(found, stage)}}


def _configuration_cases(given: Given) -> Any:
    config = given["value"]
    entry = config.get("entry") if isinstance(config, dict) else None
    name = entry if isinstance(entry, str) and entry else "plan"
    files = {"row.json": json.dumps(machine([minimal(name)], name)), "row.config.json": json.dumps(config)}
    told = [each for each in diagnose_files(files, ("row.json",)) if each.at.file == "row.config.json"]
    return verdict(told, config)


def _references(given: Given) -> Any:
    body = object_body(str(given["body"]), Place(""))
    return {"refs": [each.path[1] for each in body.placeholders if each.path[0] == "ctx"]}


ANSWERS: Mapping[str, Callable[[Given], Any]] = {
    "validate-stage-definition": _stage,
    "validate-sm-stages": _pipeline,
    "stage-definition-schema": _shape,
    "sm-config-schema": _configuration_cases,
    "extract-ctx-references": _references,
}


def compare(given: Given, got: Any) -> Agreement:
    """Tell how an answer stands to stagec's own in a row, or to upstream's where there is no other."""
    if "refs" in given:
        return _agree(dict.fromkeys(given["refs"]) == dict.fromkeys(got.get("refs", ())))
    wanted = given.get("stagec", given.get("expect", {"ok": given.get("ok")}))
    if isinstance(wanted, str):
        return _agree(_as_told(wanted, got))
    if not isinstance(wanted, dict) or ("ok" not in wanted and "valid" not in wanted):
        return Agreement.UNKNOWN
    judged = got.get("profiles", {}).get(wanted.get("profile", "code-0.1"), got)
    return _agree(_meets(wanted, judged))


def _as_told(wanted: str, got: Any) -> bool:
    """Tell whether an answer is what a sentence says."""
    if wanted.startswith("not applicable"):
        return got.get("applicable") is False
    return bool(got.get("ok") and got.get("placeholders", {}).get("wiki-1.0"))


def _meets(wanted: Given, judged: Any) -> bool:
    right = judged.get("ok") is wanted.get("ok", wanted.get("valid"))
    same = all(judged.get(key) == wanted[key] for key in ("class", "code", "path") if key in wanted)
    context = judged.get("context", {})
    known = all(context.get(key) == each for key, each in wanted.get("context", {}).items())
    slug = str(wanted.get("rule", "")).partition(" ")[0]
    return right and same and known and (not slug or slug in judged.get("rules", ()))


def _agree(right: object) -> Agreement:
    return Agreement.AGREE if right else Agreement.DISAGREE
