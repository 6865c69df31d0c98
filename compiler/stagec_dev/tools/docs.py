"""Write the pages of the rules from the rules and their specifications, or check that they are current."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from stagec.core.rule import AnyFamily, AnyRule
from stagec.pipeline import list_families
from stagec_dev.checkout import ROOT
from stagec_dev.table import table
from stagec_dev.tools import Tool

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
    cells = ((f"[{rule.code}]({rule.code}.md)", rule.name, rule.severity, _summary(rule)) for _, rule in every)
    return f"# Rules\n\n{table(('code', 'name', 'severity', 'what it says'), cells)}"


def _summary(rule: AnyRule) -> str:
    return rule.explanation.strip().partition("\n")[0]


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is not current")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")


def _run(options: Namespace) -> int:
    wanted = pages(options.root)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    extra = [path for path in (options.root / "docs" / "rules").glob("*.md") if path not in wanted]
    if options.check:
        sys.stdout.writelines(f"not current: {path.relative_to(options.root)}\n" for path in [*stale, *extra])
        return int(bool(stale or extra))
    (options.root / "docs" / "rules").mkdir(parents=True, exist_ok=True)
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
    for path in extra:
        path.unlink()
    return 0


DOCS = Tool(_declare, _run)
