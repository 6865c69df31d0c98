"""Write what is made from rules, kinds of changes and commands, or check that it is current."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from stagec_dev.checkout import ROOT
from stagec_dev.reference_pages import find_command_page, find_decisions_page, write_command_page, write_decisions_page
from stagec_dev.rule_examples import find_examples_file, write_examples
from stagec_dev.rule_pages import find_changes_page, pages, write_changes_page
from stagec_dev.tools import Tool


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is not current")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")


def _run(options: Namespace) -> int:
    examples, written = find_examples_file(options.root), write_examples(options.root)
    if not _is_current(examples, written):
        if options.check:
            sys.stdout.write(f"not current: {examples.relative_to(options.root)}\n")
            return 1
        examples.parent.mkdir(parents=True, exist_ok=True)
        examples.write_text(written, encoding="utf-8")  # the pages of rules read it
    wanted = dict(pages(options.root))
    wanted[find_command_page(options.root)] = write_command_page()
    wanted[find_decisions_page(options.root)] = write_decisions_page(options.root)
    if find_changes_page(options.root).exists():
        path, text = write_changes_page(options.root)
        wanted[path] = text
    stale = [path for path, text in wanted.items() if not _is_current(path, text)]
    extra = [path for path in (options.root / "docs" / "rules").glob("*.md") if path not in wanted]
    if options.check:
        sys.stdout.writelines(f"not current: {path.relative_to(options.root)}\n" for path in [*stale, *extra])
        return int(bool(stale or extra))
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    for path in extra:
        path.unlink()
    return 0


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


DOCS = Tool(_declare, _run)
