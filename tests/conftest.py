"""How the suite is run: in parallel when it is run as a whole, and with nothing skipped where that was asked for."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path

import postgres
import programs
import pytest
from browser import Browser
from campaigns import choose, is_left_out, select
from hypothesis import settings

from stagec.core.collector import PausedCollector

# A shell that runs the suite in the background has it ignore Ctrl-C, and processes that tests start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Python compiles each file once, and not in each of the processes that tests start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A test measures no time: how long an example takes depends on the machine.
settings.register_profile("stagec", deadline=None, max_examples=choose(25, whole=100))
settings.load_profile("stagec")

# What a test checks is checked, and the results of tests are nobody's.
os.environ["STAGEC_NO_CACHE"] = "1"

# The secret with which the tests seal messages is not that of the user.
_STATE = tempfile.TemporaryDirectory(prefix="stagec-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the drivers that `tests/conformance` judges."""
    parser.addoption(
        "--driver",
        action="append",
        metavar="NAME",
        help="a driver on trial, local, dbos-sqlite, dbos-postgres or MODULE:CLASS; may be given several times",
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Start no workers when somebody names what to run: starting them takes longer than a few tests.

    The whole suite gets one more than there are processors: many tests wait for the end of a process.
    `PYTEST_XDIST_AUTO_NUM_WORKERS` names another number.
    """
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return int(os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS", (os.cpu_count() or 1) + 1)) if whole else 0


def pytest_configure(config: pytest.Config) -> None:
    """Declare the one marker of tests that start a program."""
    config.addinivalue_line("markers", "needs(*programs): start these programs; skipped where one of them is missing")


def _find_obstacle(program: str) -> str | None:
    """Return why a test cannot start a program here."""
    if program == "postgres":
        return postgres.find_obstacle()
    return None if programs.find(program) else f"the program {program} is not installed"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have a test find the programs that it says it needs, and no others; what a failure leaves is no other test's."""
    before = item.session.testsfailed
    with programs.guard().give(programs.list_needed(item)):
        done = yield
    if item.session.testsfailed > before:
        _drop_remains()
    return done


def _drop_remains() -> None:
    """Free what the traceback of a failure has kept open: any later test would fail in which the collector finds it."""
    for name in ("last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, and later never at what was made then: all of it stays."""
    if session.config.getoption("dist", "no") == "no":  # not in the process that only starts workers
        programs.guard()
    with PausedCollector():
        done = yield
    gc.freeze()
    return done


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which a quick run of the whole suite keeps no test."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return None
    return is_left_out(collection_path.relative_to(config.rootpath).as_posix()) or None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Have each worker begin with another file of a folder: pytest compiles a file for whoever collects it first."""
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker is not None and isinstance(collector, pytest.Directory):
        first = len(report.result) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        report.result = [*report.result[first:], *report.result[:first]]
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most tests of one kind in a quick run of the whole suite; whoever names tests runs them all.

    Tests that need a program that is missing are skipped.
    """
    for item in items:
        for obstacle in filter(None, map(_find_obstacle, programs.list_needed(item))):
            item.add_marker(pytest.mark.skip(reason=obstacle))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda each: each.path.parts)  # the same order for all workers
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    kept = select([each.nodeid for each in items])
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in kept])
    items[:] = [each for each in items if each.nodeid in kept]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a test was skipped, when `STAGEC_NO_SKIPS` is set: whoever set it has all that tests need."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("STAGEC_NO_SKIPS") and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("tests were skipped although STAGEC_NO_SKIPS is set", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
@programs.starts("chromium")
def own_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return the one browser of a worker."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    try:
        browser.attach()
        yield browser
    finally:
        browser.close()


@pytest.fixture(scope="module")
def chromium(own_chromium: Browser) -> Iterator[Browser]:
    """Return a browser with a window of usual size, which shows nothing once the tests of a file are over."""
    own_chromium.size(1280, 800)
    yield own_chromium
    own_chromium.leave()


@pytest.fixture(scope="session")
@programs.starts("postgres")
def postgres_server() -> Iterator[postgres.Postgres]:
    """Return a server of PostgreSQL that all workers of this run share; whoever stops or starves one opens its own."""
    with postgres.open_shared(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))) as server:
        yield server


@pytest.fixture
def database(postgres_server: postgres.Postgres) -> str:
    """Return the URL of an empty database that no other test knows."""
    return postgres_server.create_database()
