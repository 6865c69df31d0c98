"""How the suite is run: in parallel when it is run as a whole, and with nothing skipped where that was asked for."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from campaigns import sample_alike
from hypothesis import settings

# A shell that runs the suite in the background has it ignore Ctrl-C, and processes that tests start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# A test measures no time: how long an example takes depends on the machine.
settings.register_profile("stagec", deadline=None)
settings.load_profile("stagec")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Start no workers when somebody names what to run: starting them takes longer than a few tests."""
    return None if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


PROCESSES = {"cli": 3, "hostile": 2}
"""Folders in which most tests start a process, and how many tests of one kind a quick run of the whole suite keeps."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most tests of one kind in a quick run of the whole suite; whoever names tests runs them all."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    left_out: set[str] = set()
    for folder, quick in PROCESSES.items():
        names = [each.nodeid for each in items if each.path.is_relative_to(Path(__file__).parent / folder)]
        left_out.update({*names}.difference(sample_alike(names, quick)))
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in left_out])
    items[:] = [each for each in items if each.nodeid not in left_out]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a test was skipped, when `STAGEC_NO_SKIPS` is set: whoever set it has all that tests need."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("STAGEC_NO_SKIPS") and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("tests were skipped although STAGEC_NO_SKIPS is set", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
