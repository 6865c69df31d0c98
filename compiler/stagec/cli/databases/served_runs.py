"""The runs of a database, for the page: what it starts is submitted as `stagec submit` does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.cli.databases.run_sources import open_named
from stagec.cli.databases.submission import SubmissionMaker, SubmitRequest
from stagec.cli.running.inputs import read_program
from stagec.cli.running.runs import Runs, name_of
from stagec.runtime.serve.run_source import StartOrder

if TYPE_CHECKING:
    from stagec.runtime.drivers.dbos import Submission
    from stagec.runtime.serve.database_runs import DatabaseRuns

_CONNECTIONS = 10
"""Connections of the server at most, however many pages are open."""


@contextmanager
def open_served_runs(database: str, tell: Callable[[str], None]) -> Iterator[DatabaseRuns]:
    """Open the runs of a database for a page; raise `Failure` unless this version can use it."""
    with open_named(database, _CONNECTIONS) as opened:  # says what is not installed
        from stagec.runtime.drivers.dbos import RunStore, check
        from stagec.runtime.serve.database_runs import DatabaseRuns

        check(opened)
        yield DatabaseRuns(
            RunStore(opened), lambda name, plan: name_of(Runs(Path()).new(name, plan.id)), _make_submission, tell
        )


def _make_submission(order: StartOrder) -> Submission:
    data, program = read_program(order.plan.path, order.plan.digest)
    request = SubmitRequest(order.plan.path, None, entry=order.entry)
    return SubmissionMaker(request, data, program).make(order.name, order.inputs)
