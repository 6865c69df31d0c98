"""Serve the page as asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

from stagec.cli.files import read_file
from stagec.cli.running.runs import Runs
from stagec.cli.running.stages import has_stages, name_stage_run
from stagec.cli.streams import find_canvas, put, say
from stagec.core.collector import start_collector
from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Exit, Failure
from stagec.core.terminal import Paint, Style
from stagec.core.value import value
from stagec.core.words import quote, visible
from stagec.ir.plan import Plan
from stagec.runtime.serve.folder_runs import FolderRuns, RunProcesses
from stagec.runtime.serve.run_source import LOOPBACK, RunSource, ServeSetup

OpenDatabase = Callable[[str, Callable[[str], None]], AbstractContextManager[RunSource]]
"""Opens the runs of a database; what happens to them is told."""


@value
class ServeRequest:
    """The options as given."""

    runs: Path
    database: str | None
    plans: tuple[Path, ...]
    host: str
    port: int
    token_file: Path | None
    origins: tuple[str, ...]
    allow_start: bool
    opens: bool
    run_options: tuple[str, ...]

    def check(self) -> None:
        """Refuse options that do not go together, and warn of those that let others read along."""
        if self.run_options and not self.allow_start:
            raise Failure("options of runs need --allow-start: without it, the page starts no runs")
        if self.run_options and self.database is not None:
            raise Failure("--database excludes options of runs: workers execute the runs with their own options")
        for origin in self.origins:
            if not origin.startswith(("http://", "https://")):
                raise Failure(f"{quote(origin)} is not an origin: an origin begins with 'https://' or 'http://'")
        if self.host not in LOOPBACK:
            say(
                f"stagec: warning: at {self.host} others can read all traffic, including the token, unless a proxy "
                "in front of the page uses TLS"
            )


def serve(request: ServeRequest, open_database: OpenDatabase) -> Exit:
    """Serve the page until somebody ends it."""
    if any(find_spec(each) is None for each in ("starlette", "uvicorn")):
        raise explain_missing_extra("serving a page needs", "serve")
    from stagec.runtime.serve.server import serve as serve_page

    start_collector()
    request.check()
    token = _read_token(request.token_file)
    opened = _open_folder(request) if request.database is None else open_database(request.database, _tell)
    with opened as source:
        where = (request.plans, request.host, request.port)
        setup = ServeSetup(source, *where, token, request.origins, request.allow_start)
        serve_page(setup, lambda address: _announce(address, opens=request.opens), _tell)
    say("stagec: the server has ended")
    return Exit.CLEAN


def _open_folder(request: ServeRequest) -> AbstractContextManager[RunSource]:
    processes, name_run = RunProcesses(request.run_options, _tell), partial(_name_run, Runs(request.runs))
    return nullcontext(FolderRuns(request.runs, processes, name_run))


def _tell(told: str) -> None:
    say(f"stagec: {told}")


def _name_run(runs: Runs, name: str | None, plan: Plan) -> Path:
    """Return the file of a run that is to begin."""
    return runs.new(name_stage_run(runs) if name is None and has_stages(plan) else name, plan.id)


def _read_token(path: Path | None) -> str:
    """Return the token in a file, nothing without a file."""
    if path is None:
        return ""
    lines = read_file(path, "file-size").decode(errors="replace").splitlines()
    token = lines[0].strip() if lines else ""
    if not token.isascii() or not token.isprintable() or " " in token or not token:
        raise Failure(f"{quote(path)} has no token on its first line: write letters, digits and signs of ASCII")
    return token


def _announce(address: str, *, opens: bool) -> None:
    """Print the address, the only line on standard output, and open it if that was asked for."""
    paint = Paint(find_canvas(sys.stdout, os.environ).colour)
    put(f"{paint(visible(address), Style.MESSAGE)}\n")
    sys.stdout.flush()
    say("stagec: serving the page; Ctrl-C ends it, and leaves runs alone")
    if opens:
        # browsers of a terminal, and some others, return when they are closed: the server answers them meanwhile
        Thread(target=_open, args=(address,), daemon=True).start()


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open_new_tab(address):
        say("stagec: note: no browser was found: open the address yourself")
