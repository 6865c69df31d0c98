"""Make a stage definition of one agent file."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.files import write_file
from stagec.cli.streams import put, say
from stagec.core.failure import Failure
from stagec.core.words import quote, visible
from stagec.creation.conversion import convert_file


def write_stage(source: Path, output: Path | None, *, force: bool) -> None:
    """Write the stage to a file or to standard output, and say what could not be converted."""
    text, losses = convert_file(source)
    if output is None:
        put(text)
    elif output.is_dir():
        raise Failure(f"{quote(output)} is a folder; --output names the file to write")
    elif output.exists() and not force:
        raise Failure(f"{quote(output)} exists; --force replaces it")
    else:
        write_file(output, text.encode())
    say("stagec: note: what only you can decide is marked with '# yours to decide'")
    for each in losses:
        say(f"stagec: note: {visible(each.file)}:{each.line}: {each.key}: {each.why}")
