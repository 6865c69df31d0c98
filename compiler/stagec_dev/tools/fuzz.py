"""Use damaged inputs of one kind, each made from its seed, and print and keep those that crash something."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

from stagec_dev.checkout import ROOT
from stagec_dev.tools import DeveloperTool


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="TARGET", help="json, yaml, markdown, patterns, logs, plans, scenarios, runs or projects"
    )
    parser.add_argument("--seeds", type=int, default=20_000, help="so many inputs (default: 20,000)")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="S", help="the first seed (default: 0)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the inputs that crash are written")


def _run(options: Namespace) -> int:
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    campaign: Any = import_module("fuzzing.campaign")
    if options.target not in campaign.TARGETS:
        sys.stderr.write(f"no target is called {options.target!r}; there are {', '.join(campaign.TARGETS)}\n")
        return 2
    seeds = range(options.first, options.first + options.seeds)
    return int(campaign.main(options.target, seeds, options.keep or campaign.KEPT) > 0)


FUZZ = DeveloperTool(_declare, _run)
