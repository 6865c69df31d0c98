"""What the tests of pages share: blocks, the files that they write, and whether a command prints what is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from stagec.cli.app import stagec

FENCE = re.compile(
    r"^(?P<lead>`{3,})(?P<kind>\w*)(?P<words>[^\n]*)\n(?P<text>.*?)^(?P=lead)$", re.DOTALL | re.MULTILINE
)
DIGEST = re.compile(r"sha256:[0-9a-f]+")
LEFT_OUT = "…"


class Block(NamedTuple):
    """A block of a page: its language, the words behind it, and its text."""

    kind: str
    words: str
    text: str


def blocks(text: str) -> Iterator[Block]:
    for fence in FENCE.finditer(text):
        yield Block(fence["kind"], fence["words"].strip(), fence["text"])


def change(text: str, diff: str) -> str:
    """Replace the lines of a diff without `+`, which occur once, by those without `-`."""
    lines = diff.splitlines(keepends=True)
    before, after = ("".join(line[1:] for line in lines if line[0] != sign) for sign in "+-")
    assert text.count(before) == 1, diff
    return text.replace(before, after)


def write(folder: Path, block: Block) -> None:
    """Write or change the file that a block names."""
    path = folder / block.words
    path.parent.mkdir(parents=True, exist_ok=True)
    text = change(path.read_text(encoding="utf-8"), block.text) if block.kind == "diff" else block.text
    path.write_text(text, encoding="utf-8")


def masked(text: str) -> str:
    """Leave out the digits of digests, which any other byte of an example changes."""
    return DIGEST.sub("sha256:…", text)


def expect(printed: str, shown: str) -> None:
    """Fail unless a command prints what a page shows; a line `…` stands for lines that the page leaves out."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == LEFT_OUT else re.escape(line)
        for line in masked(shown).splitlines(keepends=True)
    ]
    if not re.fullmatch("".join(lines), masked(printed)):
        assert masked(printed) == masked(shown)


def check_command(words: list[str]) -> click.Context:
    """Parse a command as the command line does, without doing it; raise `click.UsageError` for what it refuses."""
    command: Any = stagec
    context = click.Context(command, info_name="stagec")
    while isinstance(command, click.Group):
        _, command, words = command.resolve_command(context, words)
        assert command is not None
        context = click.Context(command, info_name=command.name, parent=context)
    command.parse_args(context, list(words))
    return context
