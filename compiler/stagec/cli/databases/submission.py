"""Submit runs to a database: one as the options say, one for each line of a file, or those that a page starts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.cli.databases.run_sources import open_named, open_store
from stagec.cli.databases.schedules import ScheduleOptions, check_options, declare
from stagec.cli.files import STDIN, read_file
from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import collect_inputs, read_program, read_scenario_document, refuse_unfit
from stagec.cli.running.report import format_json
from stagec.cli.running.runs import Runs, check_name, name_of
from stagec.cli.running.stages import has_stages
from stagec.cli.signatures import SIGNATURE, demand_signature
from stagec.cli.streams import find_canvas, put
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.core.words import format_count, listing, quote, visible
from stagec.runtime.drivers.redaction import redact_value
from stagec.runtime.machine import Program, Started
from stagec.runtime.serve.run_source import StartOrder
from stagec.runtime.world.scenario import Scenario, parse_scenario

if TYPE_CHECKING:
    from stagec.runtime.drivers.dbos import Submission
    from stagec.runtime.serve.database_runs import DatabaseRuns

_KEYS = ("run", "entry", "inputs", "tenant", "priority", "at")
"""The members of a job, each optional but `run`."""
_ROOM = 10
_LARGEST = 10_000
"""The number of the lowest priority."""


@value
class SubmitRequest:
    """The arguments and options as given; None where one is absent."""

    plan: Path
    database: str | None
    name: str | None = None
    digest: str | None = None
    inputs: tuple[str, ...] = ()
    entry: str | None = None
    scenario: Path | None = None
    jobs: Path | None = None
    tenant: str | None = None
    priority: int | None = None
    at: str | None = None
    every: str | None = None
    schedule: str | None = None
    time_zone: str | None = None
    catch_up: str | None = None
    output_format: str = "text"


def submit(request: SubmitRequest) -> Exit:
    """Submit runs and print the name of each, and whether it is new; or declare a schedule of runs."""
    schedule = ScheduleOptions(request.every, request.schedule, request.time_zone, request.catch_up)
    is_schedule = check_options(schedule)
    data, program = read_program(request.plan, request.digest)
    maker = SubmissionMaker(request, data, program)
    if is_schedule:
        declare(request.database, maker.make_for(str(schedule.name)), schedule, request.output_format)
        return Exit.CLEAN
    submissions = list(maker.make_all())  # nothing begins when one of them is wrong
    with open_store(request.database) as store:
        found = list(zip(submissions, store.submit(submissions), strict=True))
    if request.output_format == "json":
        rows: list[Json] = [{"run": each.run, "new": is_new} for each, is_new in found]
        put(format_json({"version": 1, "digest": program.digest, "runs": rows}, 2) + "\n")
        return Exit.CLEAN
    paper = find_canvas(sys.stdout, os.environ)
    if request.jobs is None:
        put("".join(f"{visible(each.run, paper.encoding)}\n" for each, _ in found))
    else:
        new = sum(is_new for _, is_new in found)
        put(f"{format_count(new, 'run')} submitted, {len(found) - new} already in the database\n")
    return Exit.CLEAN


class SubmissionMaker:
    """Makes what is submitted, of options, of a plan, and of jobs; raises `Failure` for what cannot be run."""

    def __init__(self, request: SubmitRequest, data: bytes, program: Program) -> None:
        if has_stages(program.plan):
            from stagec.cli.databases.worker_request import STAGES

            raise Failure(f"{quote(program.plan.id)} cannot be submitted: {STAGES}")
        if request.jobs is not None and (request.name or request.inputs):
            raise Failure("--jobs excludes --run and --input: each line names its run and its inputs")
        self._request, self._data, self._program = request, data, program
        self._redactor = Redactor(os.environ)
        vouched = demand_signature(request.plan, data, load_configuration((Path(),)))
        self._signature = vouched.get(SIGNATURE)
        document = None if request.scenario is None else read_scenario_document(request.scenario, program.plan)
        self._scenario = Scenario() if document is None else parse_scenario(document, str(request.scenario))
        self._document = None if document is None else dump_scenario(document)

    def make_all(self) -> Iterator[Submission]:
        """Yield one submission, or one for each job."""
        if self._request.jobs is None:
            name = name_of(Runs(Path()).new(self._request.name, self._program.plan.id))
            given = collect_inputs(self._program, self._scenario.inputs, self._request.inputs)
            yield self.make(name, given)
            return
        names: set[str] = set()
        for place, job in read_jobs(self._request.jobs):
            try:
                made = self._make_job(job)
            except Failure as failure:
                raise Failure(f"{place}: {failure}") from failure
            if made.run in names:
                raise Failure(f"{place}: there are two runs {quote(made.run)}")
            names.add(made.run)
            yield made

    def make_for(self, schedule: str) -> Submission:
        """Return the submission that a schedule makes again and again, under the name of the schedule."""
        request = self._request
        unfit = [f"--{each}" for each in ("jobs", "at") if getattr(request, each) is not None]
        unfit += [] if request.name is None else ["--run"]
        if unfit:
            raise Failure(f"--every excludes {unfit[0]}: the schedule has the times, and names its runs by them")
        given = collect_inputs(self._program, self._scenario.inputs, request.inputs)
        return self.make(check_name(schedule, "schedule"), given)

    def _make_job(self, job: Object) -> Submission:
        unknown = sorted(set(job) - set(_KEYS))
        if unknown:
            raise Failure(f"a job has no {quote(unknown[0])}: it has {listing(_KEYS)}")
        run, inputs, priority = job.get("run"), job.get("inputs", {}), job.get("priority")
        wrong = [name for name in ("entry", "tenant", "at") if not isinstance(job.get(name), str | None)]
        wrong += [] if isinstance(inputs, dict) else ["inputs"]
        wrong += [] if priority is None or type(priority) is int else ["priority"]
        if not isinstance(run, str):
            raise Failure(
                "a job has no 'run', the name of the run: without it, a second submission would start the run twice"
            )
        if wrong:
            raise Failure(f"{quote(wrong[0])} has the wrong type")
        given, rank = {**self._scenario.inputs, **object_of(inputs)}, priority if type(priority) is int else None
        made = self.make(check_name(run, "run"), given, text_in(job, "entry"))
        return self._place(made, text_in(job, "tenant"), rank, text_in(job, "at"))

    def make(self, name: str, given: Mapping[str, Json], entry: str | None = None) -> Submission:
        """Return the submission of a run with a name and its inputs."""
        from stagec.runtime.drivers.dbos import Submission

        request = self._request
        inputs = object_of(redact_value(self._redactor, dict(given)))
        chosen = next((each for each in (entry, request.entry, self._scenario.entry) if each is not None), None)
        refuse_unfit(self._program, Started(name, chosen, inputs))
        made = Submission(name, self._data, self._program.digest, chosen, inputs, self._document, self._signature)
        return self._place(made, request.tenant, request.priority, request.at)

    def _place(self, made: Submission, tenant: str | None, priority: int | None, at: str | None) -> Submission:
        """Return a submission at its place among others, where one is given."""
        if tenant is not None:
            made = replace(made, tenant=check_name(tenant, "tenant"))
        if priority is not None:
            if not 1 <= priority <= _LARGEST:
                raise Failure(f"{priority} is not a priority: 1 comes first, {_LARGEST} last")
            made = replace(made, priority=priority)
        return made if at is None else replace(made, delay=find_delay(at))


def dump_scenario(document: Json) -> str:
    """Return the document of a scenario as a database keeps it: without secrets."""
    return json.dumps(redact_value(Redactor(os.environ), document))


def find_delay(at: str) -> int:
    """Return the milliseconds until a time in the form of ISO 8601, zero when it is over."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise Failure(f"{quote(at)} is not a time: write one such as '2027-01-31T08:00:00+01:00'") from error
    if moment.tzinfo is None:
        raise Failure(f"{quote(at)} has no time zone: write one such as '2027-01-31T08:00:00+01:00'")
    return max(0, int((moment - datetime.now(UTC)).total_seconds() * 1000))


def read_jobs(path: Path) -> Iterator[tuple[str, Object]]:
    """Yield the objects in the lines of a file, each with its place."""
    name = "standard input" if path == STDIN else str(path)
    for number, line in enumerate(read_file(path, "file-size", _ROOM).split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            found = json.loads(line, object_pairs_hook=_refuse_repeated)
        except (ValueError, RecursionError) as error:
            raise Failure(f"{place}: it is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise Failure(f"{place}: it is not a job: expected an object")
        yield place, found


def _refuse_repeated(pairs: list[tuple[str, Json]]) -> Object:
    """Return an object; raise `ValueError` if a member is there twice, of which only one would count."""
    found: dict[str, Json] = {}
    for name, each in pairs:
        if name in found:
            raise ValueError(f"there are two members {quote(name)}")
        found[name] = each
    return found


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
