"""Write the pattern of files in the hook of pre-commit from the front ends, or check that it is current."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from stagec import languages as frontends
from stagec.cli.baselines import USUAL
from stagec.core.shelf import members
from stagec.languages import FrontEnd
from stagec.sources.ignore import GITIGNORE
from stagec.sources.project.find import OWN, SHARED
from stagec_dev.checkout import ROOT
from stagec_dev.tools import DeveloperTool

_FILE = ".pre-commit-hooks.yaml"
_PATTERN = re.compile(r"(?P<before>- id: stagec-validate\n(?:  .*\n)*?)  files: .*\n(?:    .*\n)*")
"""The hook `stagec-validate` up to its pattern, and the pattern, in one line or below."""


def make_pattern() -> tuple[str, ...]:
    """Return the patterns of the files that change what a check of a project says."""
    settings = rf"(?:^|/)(?:{'|'.join(map(re.escape, (OWN, SHARED, USUAL, GITIGNORE)))})$"
    return tuple(dict.fromkeys((settings, *(path for end in members(frontends, FrontEnd) for path in end.paths))))


def write(text: str) -> str:
    """Return the text of the hooks with the current pattern."""
    lines = "\n    | ".join(make_pattern())
    return _PATTERN.sub(lambda found: f"{found['before']}  files: |\n    (?x)\n    {lines}\n", text)


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the pattern is not current")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")


def _run(options: Namespace) -> int:
    path = options.root / _FILE
    text = path.read_text(encoding="utf-8")
    wanted = write(text)
    if wanted != text and options.check:
        sys.stdout.write(f"not current: {_FILE}\n")
    elif wanted != text:
        path.write_text(wanted, encoding="utf-8")
    return int(wanted != text and options.check)


HOOKS = DeveloperTool(_declare, _run)
