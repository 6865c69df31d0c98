"""Compare the findings of stagec about configurations, agents, skills and settings with their own programs."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from stagec_dev.owners.claude_files import LOADED
from stagec_dev.owners.claude_files import compare as compare_loaded
from stagec_dev.owners.claude_session import PACKAGE
from stagec_dev.owners.claude_settings import compare as compare_settings
from stagec_dev.owners.claude_settings import measure, read_rows
from stagec_dev.owners.programs import PROGRAMS, list_documents
from stagec_dev.owners.programs import compare as compare_program
from stagec_dev.owners.setting_rows import write
from stagec_dev.tools import DeveloperTool

_SETTINGS = "settings"
_File = TypeVar("_File")


def _declare(parser: ArgumentParser) -> None:
    owners = sorted({*PROGRAMS, *LOADED, _SETTINGS})
    parser.add_argument("owner", choices=owners, help="the program, or the file of it")
    parser.add_argument("--programs", type=Path, required=True, metavar="DIR", help="where npm installs the program")
    parser.add_argument("--mutants", type=int, default=500, help="so many files at most (default: 500)")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="N", help="the first (default: 0)")
    parser.add_argument("--workers", type=int, default=4, metavar="N", help="so many at a time (default: 4)")
    parser.add_argument(
        "--write", action="store_true", help="measure the settings and rewrite their rows; only for `settings`"
    )


def _choose(every: Sequence[_File], options: Namespace) -> Sequence[_File]:
    return every[options.first :: max(1, len(every) // options.mutants)][: options.mutants]


def _run(options: Namespace) -> int:
    owner, loaded = PROGRAMS.get(options.owner), LOADED.get(options.owner)
    package, command = (owner.package, owner.command[0]) if owner is not None else (PACKAGE, "claude")
    program = (options.programs / "node_modules/.bin" / command).absolute()
    if not program.exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", options.programs, package], check=True)
    if owner is not None:
        documents = _choose(list_documents(owner), options)
        count, differing = len(documents), [*compare_program(owner, program, documents, options.workers)]
    elif loaded is not None:
        heads = _choose([*loaded.heads()], options)
        count, differing = len(heads), [*compare_loaded(program, loaded, heads, options.workers)]
    else:
        record = measure(program, read_rows(), PACKAGE, options.workers)
        if options.write:
            write(record)
        count, differing = compare_settings(record)
    told = f"{count - len(differing)} of {count} files are judged as {package} judges them"
    sys.stdout.write("\n".join([*differing, told, ""]))
    return int(bool(differing))


OWNERS = DeveloperTool(_declare, _run)
