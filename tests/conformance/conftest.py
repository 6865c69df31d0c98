"""Which drivers are on trial: those of stagec, or the one that somebody names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from conformance.port import Driver
from conformance.trial import Trial, on_trial

Make = Callable[[Path], Driver]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let each test judge each driver."""
    if "driver" in metafunc.fixturenames:
        named = metafunc.config.getoption("--driver")
        metafunc.parametrize("driver", named or ["local"], indirect=True)


@pytest.fixture
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    """Make a driver in a folder of its own."""
    folder = tmp_path / "driver"
    folder.mkdir()
    if request.param == "local":
        from conformance.ports.local import LocalDriver

        made: Driver = LocalDriver(folder)
    else:
        module, _, name = request.param.partition(":")
        made = getattr(import_module(module), name)(folder)
    yield made
    made.close()


@pytest.fixture
def trial(driver: Driver, tmp_path: Path) -> Iterator[Trial]:
    """Put the driver on trial."""
    with on_trial(driver, tmp_path) as made:
        yield made
