"""The pages of the rules, made of each rule's docstring and the specification that tests it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stagec.core.rule import AnyFamily, AnyRule
from stagec.pipeline import list_families
from stagec_dev.checkout import ROOT
from stagec_dev.table import table

_PAGE = """<!-- written by `python -m stagec_dev docs`; edit the rule or its spec instead -->
# {code} {name}

{explanation}

Since {since}. Default severity: {severity}. Family: {family}.{origin}

{examples}"""


def pages(root: Path = ROOT) -> Mapping[Path, str]:
    """Return every generated page, by path."""
    folder = root / "docs" / "rules"
    every = [(family, rule) for family in list_families() for rule in family.rules()]
    written = {folder / f"{rule.code}.md": _page(root, family, rule) for family, rule in every}
    return {folder / "index.md": _index(every), **written}


def _page(root: Path, family: AnyFamily, rule: AnyRule) -> str:
    spec = root / "tests" / "rules" / family.name / f"{rule.code.lower()}_{rule.name.replace('-', '_')}.md"
    _, found, examples = spec.read_text(encoding="utf-8").partition("\n## ") if spec.exists() else ("", "", "")
    origin = f" Comes from: {', '.join(f'`{each}`' for each in rule.origin)}." if rule.origin else ""
    return _PAGE.format(
        code=rule.code,
        name=rule.name,
        explanation=rule.explanation.strip(),
        since=rule.since,
        severity=rule.severity,
        family=family.name,
        origin=origin,
        examples=f"## {examples}" if found else "",
    )


def _index(every: list[tuple[AnyFamily, AnyRule]]) -> str:
    """Return a page with a table for each family."""
    sections = ["# Rules"]
    for family in dict.fromkeys(family for family, _ in every):
        rules = (rule for owner, rule in every if owner is family)
        cells = ((f"[{rule.code}]({rule.code}.md)", rule.name, rule.severity, _summary(rule)) for rule in rules)
        codes = ", ".join(f"STG{each.start} to STG{each[-1]}" for each in family.numbers)
        title = f"## {family.name.capitalize()}: {codes}"
        sections += [title, table(("code", "name", "severity", "what it says"), cells).rstrip()]
    return "\n\n".join(sections) + "\n"


def _summary(rule: AnyRule) -> str:
    return rule.explanation.strip().partition("\n")[0]
