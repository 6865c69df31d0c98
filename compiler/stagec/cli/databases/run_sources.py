"""The runs that somebody names: those of a folder, or those of a database."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.running.history import RunStatus, find_status
from stagec.cli.running.runs import Runs, name_of, read_run
from stagec.drivers.following import StoredHistory


def read_named(run: str, folder: Path, database: str | None) -> tuple[str, StoredHistory]:
    """Return the name of a run and what has happened in it, or raise `Failure`."""
    if database is not None:
        from stagec.cli.databases.stored_runs import read_stored_run  # needs libraries that are an extra

        return run, read_stored_run(run, database)
    path = Runs(folder).find(run)
    return name_of(path), read_run(path)


def list_statuses(folder: Path, database: str | None) -> tuple[list[RunStatus], str]:
    """Return how all runs stand, and where they are."""
    if database is not None:
        from stagec.cli.databases.stored_runs import list_stored_runs

        return list_stored_runs(database)
    return [find_status(path) for path in Runs(folder)], str(folder)
