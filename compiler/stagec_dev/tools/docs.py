"""Write the pages made from rules, kinds of changes and commands, or check that they are current."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

import click

from stagec.cli.app import SECTIONS, stagec
from stagec_dev.checkout import ROOT
from stagec_dev.rule_pages import find_changes_page, find_examples_file, pages, write_changes_page, write_examples
from stagec_dev.tools import DeveloperTool

_HEAD = """\
<!-- written by `python -m stagec_dev docs`; edit the help of the command instead -->
# Command line

You get every command of stagec with its options. `stagec COMMAND --help` prints the same in a terminal.

`--budget NAME=SIZE` stands before the command: `stagec --budget depth=100 validate`.
[Budgets](configuration.md#budgets) has the names.
"""


def find_command_page(root: Path = ROOT) -> Path:
    """Return the path of the page."""
    return root / "docs" / "command-line.md"


def write_command_page() -> str:
    """Return the text of the page."""
    top = click.Context(stagec, info_name="stagec")
    sections = [_HEAD]
    for title, commands in SECTIONS.items():
        sections.append(f"## {title}\n")
        for name in commands:
            command = stagec.get_command(top, name)
            if command is None:
                raise ValueError(f"no command is called {name}")
            sections += _describe(command, click.Context(command, parent=top, info_name=name))
    return "\n".join(sections)


def _describe(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the heading, the help and the options of a command, and then the same of its members."""
    yield f"### `{context.command_path}`\n"
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    yield f"Usage: `{usage}`\n"
    yield from (f"{part}\n" for part in _fill(command.help or ""))
    records = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    rows = [f"- `{option}`: {' '.join(text.split())}" for option, text in records if text and "--help" not in option]
    if rows:
        yield "\n".join(rows) + "\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            if member is not None:
                yield from _describe(member, click.Context(member, parent=context, info_name=name))


def _fill(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; one that is not wrapped in a terminal is shown as it is."""
    for part in re.split(r"\n\s*\n", text.strip()):
        if part.lstrip().startswith("\b"):
            body = "\n".join(line.strip() for line in part.replace("\b\n", "").splitlines())
            yield f"```text\n{body}\n```"
        else:
            yield " ".join(part.split())


_DECISIONS = """\
<!-- written by `python -m stagec_dev docs` from the titles of the decisions -->
# Decisions

You get why stagec is built as it is: one page for each decision, in the order in which they were made.

{}
"""


def find_decisions_page(root: Path = ROOT) -> Path:
    """Return the path of the index of decisions."""
    return root / "docs" / "decisions" / "index.md"


def write_decisions_page(root: Path = ROOT) -> str:
    """Return the index of decisions: the title of each, with a link."""
    pages = sorted((root / "docs" / "decisions").glob("[0-9]*.md"))
    titles = [(path.name, path.read_text(encoding="utf-8").partition("\n")[0]) for path in pages]
    return _DECISIONS.format("\n".join(f"- [{title.removeprefix('# ')}]({name})" for name, title in titles))


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


DOCS = DeveloperTool(_declare, _run)
