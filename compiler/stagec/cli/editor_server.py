"""Serve an editor: the projects are those that `stagec validate` finds."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from stagec.check.pipeline import Project
from stagec.cli.baselines import load_configured_baseline
from stagec.cli.limits import read_budgets
from stagec.cli.result_cache import find_own_folder
from stagec.core.collector import settle_collector
from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Exit
from stagec.sources.project.configuration import configure


def make_loader() -> Callable[[Path], Project]:
    """Return what loads the project of a folder as `stagec validate` finds it, with the budgets that the user sets."""
    budgets = read_budgets()  # which only this thread knows

    def load(start: Path) -> Project:
        configuration = configure((start,), None, {"budgets": budgets}, os.environ)
        baseline = load_configured_baseline(configuration)
        return Project(configuration.root, (), configuration.settings, baseline=baseline)

    return load


def serve_editor() -> Exit:
    """Serve the editor at standard input and output until it ends."""
    if find_spec("pygls") is None:
        raise explain_missing_extra("'stagec lsp' needs", "lsp")
    from stagec.lsp.requests import make_server

    # a server has one drawing at a time, which the next one replaces
    server = make_server(make_loader(), Path(find_own_folder() or os.curdir) / "drawings" / "flow.html")
    settle_collector()
    # the library closes its streams; whatever else is printed must not come between the messages
    messages, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        server.start_io(messages, answers)
    finally:
        server.end()
    return Exit.CLEAN
