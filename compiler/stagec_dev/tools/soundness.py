"""Run random projects that compile without errors, and print the results and the runs that failed to route."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Any

from stagec_dev.checkout import ROOT
from stagec_dev.table import table
from stagec_dev.tools import DeveloperTool


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("transitions", nargs="?", type=int, default=20_000, help="at least so many transitions")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first project")
    parser.add_argument("--each", type=int, default=0, help="at least so many of each kind of thing that can happen")
    parser.add_argument("--projects", type=int, default=0, help="so many projects made freely, of each sort, besides")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes; the result is the same")


def _run(options: Namespace) -> int:
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    campaign: Any = import_module("properties.soundness.campaign")
    aim = campaign.Aim(options.transitions, options.each, workers=options.workers)
    tally = campaign.campaign(aim, options.seed)
    status = report(list(campaign.told(tally)), tally.found, tally.lagging(options.each))
    status = max(status, _run_stages(options))
    return max(status, _run_freely(options)) if options.projects else status


def _run_stages(options: Namespace) -> int:
    """Run random stage plans in worlds of chance, for half as many transitions."""
    envelopes: Any = import_module("properties.soundness.envelopes")
    tally = envelopes.campaign_stages(options.transitions // 2, options.seed)
    return report(list(tally.rows()), tally.found, tally.lagging(options.each))


def _run_freely(options: Namespace) -> int:
    """Make projects without asking whether they are sound, and print what came of them."""
    free: Any = import_module("properties.soundness.free")
    status = 0
    for system in free.FREE:
        seen = free.campaign_freely(system, range(options.seed, options.seed + options.projects), options.workers)
        print(table(("what", "how many"), list(free.rows(seen))))
        for each in seen.wrong:
            print(each)
        status = max(status, int(bool(seen.wrong)))
    return status


def report(rows: list[tuple[object, ...]], found: list[Any], wanting: tuple[str, ...] = ()) -> int:
    """Print the result of a campaign: counts, broken promises, and kinds that occurred too rarely.

    Return the exit status: 1 where there is anything of either sort.
    """
    print(table(("what", "how many"), rows))
    for each in found:
        print(f"{' '.join(map(str, each.job)).strip()}: {each.what}")
    for kind in wanting:
        print(f"too seldom: {kind}")
    return int(bool(found or wanting))


SOUNDNESS = DeveloperTool(_declare, _run)
