"""Make a stage definition of one agent file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stagec.cli.files import write_file
from stagec.cli.streams import put, say
from stagec.core.budgets import Budgets
from stagec.core.failure import Failure
from stagec.core.words import listing, quote
from stagec.frontends.stages.adopt import Adopted, adopt
from stagec.frontends.stages.template import ESCAPE
from stagec.sources.read import Sources


def write_stage(source: Path, output: Path | None, *, force: bool) -> None:
    """Write the stage to a file or to standard output, and say what could not be converted."""
    adopted = _adopt(source)
    if output is None:
        put(adopted.text)
    elif output.is_dir():
        raise Failure(f"{quote(output)} is a folder; --output names the file to write")
    elif output.exists() and not force:
        raise Failure(f"{quote(output)} exists; --force replaces it")
    else:
        write_file(output, adopted.text.encode())
    for line in _remarks(adopted):
        say(f"stagec: note: {line}")


def _adopt(source: Path) -> Adopted:
    tree = Sources(source.parent, Budgets()).tree(source.name, "file")
    if tree is None or tree.faults or tree.body is None:
        raise Failure(f"{quote(source)} cannot be read as it is; 'stagec validate {source}' says why")
    return adopt(tree)


def _remarks(adopted: Adopted) -> Iterator[str]:
    yield "what only you can decide is marked with '# yours to decide'"
    if adopted.dropped:
        yield f"left out {listing(adopted.dropped)}: a stage runs with the model of its session"
    if adopted.limited:
        yield f"{listing(adopted.limited)} became plain names: a stage allows a tool for all arguments or not at all"
    if not adopted.has_tools:
        yield "the file lists no tools, which elsewhere means all of them; a stage without tools may call none"
    if adopted.is_escaped:
        yield f"each '{{{{' of the prompt became {ESCAPE}, which the model reads as it was"
