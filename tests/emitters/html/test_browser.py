"""The browser that tests drive is given up, whatever it does instead of answering."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser

SILENT = "sleep 600 <&3"
CHATTY = r"""while printf '{"method":"Some.event"}\0' >&4; do :; done"""
BROKEN_OFF = r"""printf '{"id": 1' >&4; sleep 600"""
GONE = "exit 1"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (SILENT, "does not answer"),
        (CHATTY, "does not answer"),
        (BROKEN_OFF, "does not answer"),
        (GONE, "has gone|Broken pipe"),
    ],
    ids=["silent", "chatty", "broken off", "gone"],
)
def test_a_browser_that_does_not_answer_is_given_up(tmp_path: Path, script: str, said: str) -> None:
    browser = started(tmp_path, script)
    with pytest.raises((AssertionError, BrokenPipeError), match=said):
        browser.ask("Target.getTargets")
    browser.close()
    assert browser.process.returncode is not None


def test_a_browser_that_does_not_listen_is_given_up(tmp_path: Path) -> None:
    browser = started(tmp_path, SILENT)
    with pytest.raises(AssertionError, match="does not listen"):
        browser.ask("Runtime.evaluate", expression="x" * 1_000_000)
    browser.close()
    assert browser.process.returncode is not None


def started(folder: Path, script: str) -> Browser:
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return Browser(folder, str(program), patience=0.5)
