"""The part of the page about breaking changes that is made of the shelf of kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stagec.comparison.classify import list_kinds
from stagec.comparison.kind import ChangeKind, Grade
from stagec_dev.checkout import ROOT
from stagec_dev.table import table

BEGIN = "<!-- from here on written by `python -m stagec_dev docs`; edit the kinds in `comparison/kinds` instead -->\n"
_LEADS = {
    Grade.BREAKING: "Some state of a run in flight has no meaning after the change, or that cannot be excluded.",
    Grade.COMPATIBLE: "Runs in flight continue, and behave differently from then on.",
    Grade.ADDITIVE: "Runs in flight continue as before.",
}


def find_breaking_page(root: Path = ROOT) -> Path:
    """Return the path of the page."""
    return root / "docs" / "user-guide" / "breaking.md"


def write_breaking_page(root: Path = ROOT) -> tuple[Path, str]:
    """Return the path of the page and its text with the kinds as they are now."""
    path = find_breaking_page(root)
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
