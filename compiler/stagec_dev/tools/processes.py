"""Ask commands to end, or kill runs, at random moments, and print how long each took and what it left behind."""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from stagec_dev.checkout import ROOT
from stagec_dev.table import table
from stagec_dev.tools import DeveloperTool


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=("signals", "kills"), help="what is done to the processes")
    parser.add_argument("count", nargs="?", type=int, default=100, help="so many times")
    parser.add_argument("--seed", type=int, default=0, help="another seed chooses other moments")
    parser.add_argument("--seconds", type=float, default=1, help="in which each must end")


def _run(options: Namespace) -> int:
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    attack: Any = import_module(f"crash.{options.what}")
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "kills":
            return report_kills(list(attack.killed(Path(folder), options.count, options.seed)))
        endings = list(attack.asked_to_end(Path(folder), options.count, options.seed))
        return report(endings, attack.left_behind(Path(folder)), options.seconds)


def report_kills(kills: Iterable[Any]) -> int:
    """Print a line for each command and each fault; return the exit status: 1 where there is a fault."""
    counts: Counter[str] = Counter()
    running: Counter[str] = Counter()
    faults: list[str] = []
    for each in kills:
        counts[each.command] += 1
        running[each.command] += each.was_running
        faults += each.faults
    print(table(("command", "kills", "while it ran"), [(each, counts[each], running[each]) for each in counts]))
    for told in faults:
        print(told)
    return int(bool(faults))


def report(endings: Iterable[Any], left: list[str], limit: float) -> int:
    """Print a line for each command and each fault; return the exit status: 1 where there is a fault."""
    taken: dict[str, list[float]] = defaultdict(list)
    faults = list(left)
    for each in endings:
        taken[each.command].append(each.seconds)
        late = [f"{each.seconds:.2f} s"] if each.seconds > limit else []
        faults += [f"{each.command} {each.signals} at {each.moment:.3f} s: {told}" for told in (*late, *each.faults)]
    rows = [(name, len(found), f"{max(found):.2f}") for name, found in sorted(taken.items())]
    print(table(("command", "times", "longest s"), rows))
    for told in faults:
        print(told)
    return int(bool(faults))


PROCESSES = DeveloperTool(_declare, _run)
