"""Schedules of a database: declare, list, pause, resume and remove them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from stagec.cli.databases.run_sources import open_store
from stagec.cli.running.report import format_json
from stagec.cli.running.runs import check_name
from stagec.cli.sheet import draw_columns
from stagec.cli.streams import find_canvas, put, say
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import quote

if TYPE_CHECKING:
    from stagec.runtime.drivers.dbos import Schedules, Submission

_LONGEST = 80
"""Characters of a name: those of its runs have a time in addition."""


@value
class ScheduleOptions:
    """The options of a schedule as given; None where one is absent."""

    cron: str | None = None
    name: str | None = None
    time_zone: str | None = None
    catch_up: str | None = None


def check_options(given: ScheduleOptions) -> bool:
    """Tell whether a schedule is asked for; raise `Failure` for options that do not go together."""
    others = (("--name", given.name), ("--time-zone", given.time_zone), ("--catch-up", given.catch_up))
    if given.cron is None:
        unused = [option for option, each in others if each is not None]
        if unused:
            raise Failure(f"{unused[0]} has no effect without --every, which declares a schedule")
        return False
    if given.name is None:
        raise Failure("--every needs --name NAME, the name of the schedule: under it, 'stagec schedules' pauses it")
    check_name(given.name, "schedule", _LONGEST)
    return True


def declare(url: str | None, made: Submission, given: ScheduleOptions, output_format: str) -> None:
    """Declare a schedule of runs like one that is made, and print its next times."""
    from stagec.runtime.drivers.dbos import CatchUp

    zone = "UTC" if given.time_zone is None else given.time_zone
    with _open(url) as schedules:
        declared = schedules.declare(made, given.cron or "", zone, CatchUp(given.catch_up or CatchUp.SKIP))
    shown = [_show(each) for each in declared.next_times]
    if output_format == "json":
        told = {"version": 1, "digest": made.digest, "schedule": made.run, "new": declared.is_new}
        put(format_json({**told, "paused": declared.is_paused, "timeZone": zone, "next": [*shown]}, 2) + "\n")
        return
    if declared.is_paused:
        say(f"stagec: note: {quote(made.run)} is paused; 'stagec schedules resume {made.run}' starts its runs again")
    put("".join(f"{each}\n" for each in (f"{made.run}: the next times in the time zone {zone}", *shown)))


def list_schedules(url: str | None, output_format: str) -> None:
    """Print all schedules."""
    with _open(url) as schedules:
        found = schedules.list_all()
    if output_format == "json":
        rows: list[Json] = [
            {
                "name": each.name,
                "every": each.cron,
                "timeZone": each.time_zone,
                "catchUp": each.catch_up,
                "paused": each.is_paused,
                "next": None if each.is_paused else _show(each.next_time),
                "lastRun": each.last_run,
            }
            for each in found
        ]
        put(format_json({"version": 1, "schedules": rows}, 2) + "\n")
        return
    cells = [
        (
            each.name,
            each.cron,
            each.time_zone,
            f"catch-up {each.catch_up}",
            "paused" if each.is_paused else f"{'due since' if each.is_due else 'next'} {_show(each.next_time)}",
            "" if each.last_run is None else f"last {each.last_run}",
        )
        for each in found
    ]
    put(draw_columns(find_canvas(sys.stdout, os.environ), cells) if cells else "no schedules\n")


def pause(url: str | None, name: str) -> None:
    """Let a schedule start no more runs."""
    with _open(url) as schedules:
        schedules.pause(name)
    put(f"schedule {quote(name)} is paused\n")


def resume(url: str | None, name: str) -> None:
    """Let a schedule start runs again."""
    with _open(url) as schedules:
        schedules.resume(name)
    put(f"schedule {quote(name)} starts runs again\n")


def remove(url: str | None, name: str) -> None:
    """Remove a schedule."""
    with _open(url) as schedules:
        schedules.remove(name)
    put(f"schedule {quote(name)} is removed\n")


@contextmanager
def _open(url: str | None) -> Iterator[Schedules]:
    with open_store(url) as store:
        from stagec.runtime.drivers.dbos import Schedules

        yield Schedules(store)


def _show(time: datetime) -> str:
    return time.isoformat()
