"""What must hold for every rule, present and future."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stagec.check import rules
from stagec.core.rule import AnyFamily, AnyRule, Family
from stagec.core.shelf import members

HERE = Path(__file__).parent
TOP = HERE.parent.parent
FAMILIES: tuple[AnyFamily, ...] = members(rules, Family)
RULES: tuple[tuple[AnyFamily, AnyRule], ...] = tuple((family, rule) for family in FAMILIES for rule in family.rules())


def spec_of(family: AnyFamily, rule: AnyRule) -> Path:
    return HERE / family.name / f"{rule.code.lower()}_{rule.name.replace('-', '_')}.md"


def test_every_rule_has_a_spec_and_every_spec_a_rule() -> None:
    assert {spec_of(family, rule) for family, rule in RULES} == {*HERE.glob("*/*.md")}


def test_every_spec_has_a_firing_and_a_silent_case(sections: Callable[[Path], Any]) -> None:
    said = {path.stem: {bool(each.expected.body) for each in sections(path)} for path in HERE.glob("*/*.md")}
    assert [name for name, cases in said.items() if cases != {True, False}] == []


def test_every_rule_has_a_page() -> None:
    assert [rule.code for _, rule in RULES if not is_page(rule.explanation)] == []


def is_page(explanation: str) -> bool:
    summary, _, rest = explanation.strip().partition("\n")
    headings = re.findall(r"^## .*$", rest, re.MULTILINE)
    return summary.endswith(".") and headings[:2] == ["## Why this matters", "## How to fix"]


def test_every_rule_says_where_it_comes_from() -> None:
    assert [rule.code for _, rule in RULES if not 1 <= len({*rule.origin}) == len(rule.origin) <= 6] == []


def test_codes_are_unique() -> None:
    assert len({rule.code for _, rule in RULES}) == len(RULES)


def test_names_are_unique() -> None:
    assert len({rule.name for _, rule in RULES}) == len(RULES)


def test_a_rule_speaks_of_every_topic() -> None:
    speaking = {"document", "envelopes", "orchestrator", "agent_files"}
    spoken_of = {rule.name for family in FAMILIES if family.name in speaking for rule in family.rules()}
    assert {topic for topic in (*_topics_of_sources(), *_topics_of_schemas()) if topic not in spoken_of} == set()


def _topics_of_sources() -> Iterator[str]:
    """Every text that code hands to `Fault` as its topic."""
    for path in (TOP / "compiler" / "stagec").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Fault(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Fault":
                topic = node.args[0] if node.args else None
                if isinstance(topic, ast.Constant):
                    yield str(topic.value)


def _topics_of_schemas() -> Iterator[str]:
    """Every rule that a schema names for one of its keywords or members."""
    for path in (TOP / "schemas").glob("*.json"):
        waiting: list[Any] = [json.loads(path.read_text(encoding="utf-8"))]
        while waiting:
            given = waiting.pop()
            if isinstance(given, list):
                waiting.extend(given)
            elif isinstance(given, dict):
                yield from given.get("x-rules", {}).values()
                waiting.extend(each for key, each in given.items() if key != "x-rules")
