"""Tools about what is wrong with a project: its findings, and the rules that find them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from stagec.check.pipeline import Compilation, list_families
from stagec.cli.agent_tools.arguments import LIMIT, OFFSET, TEXTS, Argument, cut
from stagec.cli.agent_tools.open_project import Hunk, OpenProject, compile_checked, list_hunks
from stagec.cli.rule_catalogue import CataloguedRule, find_rules, list_rules
from stagec.core.diagnostic import Diagnostic, Remark, Severity
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.place import Span
from stagec.core.words import quote

_SEVERITIES = tuple(each.value for each in Severity)
VALIDATE = (
    Argument("file", "string", "Only the findings in this file."),
    Argument("rule", "string", "Only the findings of this rule: its code or its name."),
    Argument("severity", "string", "Only the findings of this severity.", choices=_SEVERITIES),
    Argument("details", "boolean", "Also tell the places that explain a finding, and the lines that its fix changes."),
    TEXTS,
    LIMIT,
    OFFSET,
)
EXPLAIN = (Argument("rule", "string", "The code of a rule, such as STG201, or its name.", is_required=True),)
SEARCH = (
    Argument("words", "string", "Words that the page of a rule has, in any order.", is_required=True),
    LIMIT,
    OFFSET,
)


def validate(project: OpenProject, given: Mapping[str, Any]) -> Object:
    """Return the findings of a project, of which a few are told."""
    compilation = compile_checked(project.check(given["texts"]))
    file = None if given["file"] is None else project.name(given["file"])
    if file is not None and file not in compilation.trees:
        raise Failure(f"{quote(file)} is no file that stagec reads in this project")
    codes = None if given["rule"] is None else {each.rule.code for each in _find_rules(given["rule"])}
    found = [
        each
        for each in compilation.diagnostics
        if (file is None or each.at.file == file)
        and (codes is None or each.code in codes)
        and given["severity"] in {None, each.severity.value}
    ]
    counts = Counter(each.severity for each in compilation.diagnostics)
    part, following = cut(found, given)
    return {
        **{f"{each.value}s": counts[each] for each in Severity},
        "files": len(compilation.trees),
        "flows": [each.id for each in compilation.flows],
        "found": len(found),
        "findings": [_write_finding(each, compilation, is_whole=bool(given["details"])) for each in part],
        "next": following,
    }


def _write_finding(each: Diagnostic, compilation: Compilation, *, is_whole: bool) -> Object:
    told: dict[str, Json] = {
        "rule": each.code,
        "name": each.name,
        "severity": each.severity.value,
        "file": each.at.file,
        **_write_start(each.span),
        "message": each.message,
        "fix": None if each.fix is None else {"what": each.fix.message, "certain": each.fix.is_safe},
    }
    if is_whole:
        told["related"] = [_write_remark(one) for one in each.related]
        hunks = () if each.fix is None else list_hunks(compilation, each)
        told["edits"] = [_write_hunk(one) for one in hunks]
    return told


def _write_start(span: Span) -> dict[str, Json]:
    return {"line": span.start.line, "column": span.start.column}


def _write_remark(each: Remark) -> Object:
    return {"file": each.at.file, **_write_start(each.span), "message": each.message}


def _write_hunk(each: Hunk) -> Object:
    return {"file": each.file, "line": each.line, "old": each.old, "new": each.new}


def explain(given: Mapping[str, Any]) -> Object:
    """Return the page of a rule."""
    found = _find_rules(given["rule"])
    if len(found) > 1:
        names = ", ".join(f"{each.rule.code} {each.rule.name}" for each in found)
        raise Failure(f"{quote(given['rule'])} means {len(found)} rules: {names}")
    return {**_write_rule(found[0]), "page": found[0].rule.explanation.strip()}


def search_rules(given: Mapping[str, Any]) -> Object:
    """Return the rules whose pages have all words, those first whose names have most of them."""
    words = [word.lower() for word in re.findall(r"\w+", given["words"])]
    every = list_rules(list_families())
    found = [each for each in every if words and all(word in _text_of(each) for word in words)]
    found.sort(key=lambda each: -sum(word in f"{each.rule.code} {each.rule.name}".lower() for word in words))
    part, following = cut(found, given)
    return {"found": len(found), "rules": [_write_rule(each) for each in part], "next": following}


def _text_of(each: CataloguedRule) -> str:
    rule = each.rule
    return f"{rule.code} {rule.name} {each.family.name} {' '.join(rule.groups)} {rule.explanation}".lower()


def _write_rule(each: CataloguedRule) -> Object:
    return {
        "rule": each.rule.code,
        "name": each.rule.name,
        "severity": each.rule.severity.value,
        "optional": each.family.asks_first(each.rule),
        "summary": each.summary,
    }


def _find_rules(called: str) -> tuple[CataloguedRule, ...]:
    return find_rules(list_rules(list_families()), called)
