"""How the suite is run: in parallel when it is run as a whole, and with nothing skipped where that was asked for."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

# A shell that runs the suite in the background has it ignore Ctrl-C, and processes that tests start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# A test measures no time: how long an example takes depends on the machine.
settings.register_profile("stagec", deadline=None)
settings.load_profile("stagec")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Start no workers when somebody names what to run: starting them takes longer than a few tests."""
    return None if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a test was skipped, when `STAGEC_NO_SKIPS` is set: whoever set it has all that tests need."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("STAGEC_NO_SKIPS") and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("tests were skipped although STAGEC_NO_SKIPS is set", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
