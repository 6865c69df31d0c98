"""The start of a process of stagec: the plain command lines of `stagec validate` are read without a library.

The library that reads command lines takes a fifth of the time of checking a small project. Hooks and editors only name
files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from stagec.cli.streams import finish, prepare
from stagec.core.collector import stop_collector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SWITCHES = {
    "--allow-empty": "allow_empty",
    "--no-cache": "no_cache",
    "--quiet": "quiet",
    "--statistics": "statistics",
    "--strict": "strict",
    "-q": "quiet",
}
"""Options without a value, and what they set."""


def main() -> int:
    """Run the command line of this process and return its exit status; what is written has been handed over."""
    given = None if "_STAGEC_COMPLETE" in os.environ else read_plain(sys.argv[1:])
    if given is None:
        from stagec.cli.app import main as run_any

        return run_any()
    prepare()
    stop_collector()
    from stagec.cli.endings import run_guarded

    status = run_guarded(partial(_validate, given))
    finish()
    return status


def read_plain(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the meaning of a command line of `stagec validate` with paths and switches; None for any other."""
    words = arguments[1:]
    is_plain = all(each in _SWITCHES or not each.startswith("-") for each in words)
    if not is_plain or list(arguments[:1]) != ["validate"] or not os.path.isdir(os.curdir):
        return None
    switches = {_SWITCHES[each]: True for each in words if each in _SWITCHES}
    return {"paths": tuple(Path(each) for each in words if each not in _SWITCHES), **switches}


def _validate(given: dict[str, Any]) -> int:
    from stagec.cli.checking import ValidateRequest, run

    return run(ValidateRequest(**given))
