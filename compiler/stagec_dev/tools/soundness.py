"""Run random projects that compile without errors, and print what happened and whether any failed to route."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Any

from stagec_dev.checkout import ROOT
from stagec_dev.table import table
from stagec_dev.tools import Tool


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("transitions", nargs="?", type=int, default=20_000, help="at least so many transitions")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first project")
    parser.add_argument("--each", type=int, default=0, help="at least so many of each kind of thing that can happen")


def _run(options: Namespace) -> int:
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    campaign: Any = import_module("properties.soundness.campaign")
    tally = campaign.campaign(options.transitions, options.seed, options.each)
    return reported(list(campaign.told(tally)), tally.found)


def reported(rows: list[tuple[object, ...]], found: list[Any]) -> int:
    """Print what a campaign has seen and each promise that was broken; return the exit status."""
    print(table(("what", "how many"), rows))
    for each in found:
        print(f"{each.system} {each.seed}: {each.what}")
    return int(bool(found))


SOUNDNESS = Tool(_declare, _run)
