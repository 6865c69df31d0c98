"""Permission rules as Claude Code reads them."""

from __future__ import annotations

import pytest

from stagec.core.memo import Memo
from stagec.core.place import Place
from stagec.languages.agent_files.known import Known, read_data
from stagec.languages.agent_files.permission_rules import (
    Behaviour,
    Neglect,
    PermissionRule,
    Refusal,
    read_permission_rule,
    read_permission_rules,
)
from stagec.languages.agent_files.tool_names import Denials

AT = Place("settings.json")


def read(text: str, behaviour: Behaviour = Behaviour.DENY) -> PermissionRule:
    return read_permission_rule(text, AT, behaviour)


@pytest.mark.parametrize(
    "text",
    [
        "Bash",
        " Bash ",
        "Bash(*)",
        "Bash(echo (a) (b))",
        "Bash(git commit -m 'x')",
        "Read(//tmp/**)",
        "mcp__a",
        "mcp__a__b",
        "mcp__a__*",
        "Agent(model:opus)",
        "WebFetch(*)",
        "WebFetch(domain:*)",
        "Änderung(x)",
        "_Tool",
    ],
)
@pytest.mark.parametrize("behaviour", Behaviour)
def test_rules_that_are_kept(text: str, behaviour: Behaviour) -> None:
    assert read(text, behaviour).refusal is None


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", Refusal.EMPTY),
        (" \t", Refusal.EMPTY),
        ("(x)", Refusal.NO_TOOL),
        ("bash", Refusal.LOWER_CASE),
        ("bash(rm)", Refusal.LOWER_CASE),
        ("Bash()", Refusal.EMPTY_PARENTHESES),
        ("Bash( )", Refusal.EMPTY_PARENTHESES),
        ("Bash(rm", Refusal.UNCLOSED),
        ("Bash(rm) ;", Refusal.UNCLOSED),
        ("Bash)", Refusal.UNOPENED),
        ("WebFetch(https://a.example)", Refusal.ADDRESS),
        ("WebFetch(domain:https://a.example)", Refusal.ADDRESS),
        ("WebFetch(a.example)", Refusal.NO_DOMAIN),
    ],
)
def test_rules_that_are_dropped(text: str, refusal: Refusal) -> None:
    assert read(text).refusal is refusal


@pytest.mark.parametrize("text", ["*", "B*", "mcp__*", "mcp__a*__b", "mcp__a*"])
def test_only_allow_rules_are_narrow(text: str) -> None:
    assert read(text, Behaviour.ALLOW).refusal is Refusal.WIDE_ALLOWANCE
    assert read(text, Behaviour.ASK).refusal is None
    assert read(text).refusal is None


@pytest.mark.parametrize(
    ("text", "neglect"),
    [
        ("Write(a)", Neglect.PATH),
        ("Glob(**)", Neglect.PATH),
        ("Write(*)", None),
        ("Write", None),
        ("Write(content:x)", None),
        ("Bash(command:rm)", Neglect.CONTENT_FIELD),
        ("Bash( command : rm)", Neglect.CONTENT_FIELD),
        ("Bash(commander:*)", None),
        ("Bash(git:* push)", Neglect.INNER_PREFIX_MARK),
        ("Bash(git:*)", None),
        ("Bash(npm run a:* b)", None),
        ("PowerShell(Get-Item:* a)", Neglect.INNER_PREFIX_MARK),
    ],
)
def test_rules_that_never_match(text: str, neglect: Neglect | None) -> None:
    assert read(text).neglect is neglect


def test_a_path_of_an_allow_rule_may_look_like_a_parameter() -> None:
    assert read("Write(content:x)", Behaviour.ALLOW).neglect is Neglect.PATH


@pytest.mark.parametrize(
    ("rule", "tool", "covers"),
    [
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("*", "Read", True),
        ("mcp__*", "mcp__a__b", True),
        ("mcp__*", "Read", False),
        ("mcp__a", "mcp__a__b", True),
        ("mcp__a", "mcp__ab__c", False),
        ("mcp__a__b", "mcp__a__bc", False),
        ("mcp__a__get_*", "mcp__a__get_x", True),
        ("Notebook*", "NotebookEdit", True),
        ("[a]*", "a", False),
    ],
)
def test_which_tools_a_rule_covers(rule: str, tool: str, *, covers: bool) -> None:
    denials = Denials([read(rule)], Known(read_data(), Memo()))
    assert (denials.find(tool) is not None) is covers


@pytest.mark.parametrize("given", [None, 5, "x", [], {"allow": "Bash"}, {"deny": {"a": 1}}, {"other": ["x"]}])
def test_what_has_no_rules(given: object) -> None:
    assert [*read_permission_rules(given, AT)] == []  # type: ignore[arg-type]


def test_each_rule_has_its_place() -> None:
    found = [*read_permission_rules({"deny": ["Bash", None], "allow": ["Read"]}, AT)]
    assert [(each.at.pointer, each.given, each.refusal) for each in found] == [
        (("allow", 0), "Read", None),
        (("deny", 0), "Bash", None),
        (("deny", 1), "", Refusal.NO_TEXT),
    ]
    assert [each.is_bare for each in found] == [True, True, False]
