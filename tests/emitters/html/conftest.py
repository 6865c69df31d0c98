"""One browser for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import PROGRAM, Browser


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("no Chromium on this machine")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    try:
        browser.attach()
        yield browser
    finally:
        browser.close()
