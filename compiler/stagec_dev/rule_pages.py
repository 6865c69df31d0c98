"""Pages that are written from the rules and the kinds of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.change.comparison.classify import list_kinds
from stagec.change.comparison.kind import ChangeKind, Grade
from stagec.check.pipeline import list_families
from stagec.cli.rule_catalogue import CataloguedRule, write_page
from stagec.core.rule import AnyFamily, AnyRule
from stagec_dev.checkout import ROOT
from stagec_dev.specs import find_spec
from stagec_dev.table import table

_HEAD = "<!-- written by `python -m stagec_dev docs`; edit the rule or its spec instead -->\n"


def pages(root: Path = ROOT) -> Mapping[Path, str]:
    """Return every generated page, by path."""
    folder = root / "docs" / "rules"
    every = [(family, rule) for family in list_families() for rule in family.rules()]
    written = {folder / f"{rule.code}.md": _page(root, family, rule) for family, rule in every}
    return {folder / "index.md": _index(every), **written}


def _page(root: Path, family: AnyFamily, rule: AnyRule) -> str:
    spec = find_spec(root, family, rule)
    _, found, cases = spec.read_text(encoding="utf-8").partition("\n## ") if spec.exists() else ("", "", "")
    tested = f"\n## Tested cases\n\n### {cases.replace(f'{chr(10)}## ', f'{chr(10)}### ')}" if found else ""
    return f"{_HEAD}{write_page(CataloguedRule(family, rule))}{tested}"


def _index(every: list[tuple[AnyFamily, AnyRule]]) -> str:
    """Return a page with a list for each family; lists fit a narrow screen."""
    sections = ["# Rules", _INDEX]
    for family in dict.fromkeys(family for family, _ in every):
        rules = (rule for owner, rule in every if owner is family)
        lines = (f"- [{rule.code} {rule.name}]({rule.code}.md) ({rule.severity}): {_summary(rule)}" for rule in rules)
        codes = ", ".join(f"STG{each.start:03} to STG{each[-1]:03}" for each in family.numbers)
        title = f"## {family.name.replace('_', ' ').capitalize()}: {codes}"
        sections += [title, "\n".join(lines)]
    return "\n\n".join(sections) + "\n"


_INDEX = (
    "Find a rule by its code or its name with the search of this site or of your browser. `stagec explain CODE` prints "
    "the same page in a terminal."
)


def _summary(rule: AnyRule) -> str:
    return rule.explanation.strip().partition("\n")[0]


BEGIN = "<!-- from here on written by `python -m stagec_dev docs`; edit the kinds in `comparison/kinds` instead -->\n"
_LEADS = {
    Grade.BREAKING: "Some state of a run in flight has no meaning after the change, or that cannot be excluded.",
    Grade.COMPATIBLE: "Runs in flight continue, and behave differently from then on.",
    Grade.ADDITIVE: "Runs in flight continue as before.",
}


def find_changes_page(root: Path = ROOT) -> Path:
    """Return the path of the page."""
    return root / "docs" / "kinds-of-change.md"


def write_changes_page(root: Path = ROOT) -> tuple[Path, str]:
    """Return the path of the page and its text with the kinds as they are now."""
    path = find_changes_page(root)
    head, _, _ = path.read_text(encoding="utf-8").partition(BEGIN)
    return path, head + BEGIN + "\n" + "\n".join(_write_kinds())


def _write_kinds() -> Iterator[str]:
    for grade in Grade:
        kinds = [each for each in list_kinds() if each.grade is grade]
        yield f"## {grade.value.capitalize()} changes\n\n{_LEADS[grade]}\n"
        if grade is Grade.BREAKING:
            yield from map(_write_section, kinds)
        else:
            rows = [(each.code, each.name, each.explanation.partition("\n")[0]) for each in kinds]
            yield table(("code", "name", "what has changed"), rows)


def _write_section(kind: ChangeKind) -> str:
    page = kind.explanation.strip().replace("\n## ", "\n#### ")
    return f"### {kind.code} {kind.name}\n\n{page}\n"
