"""The tool that attacks what is proved prints what happened, and fails when a promise was broken."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from stagec_dev.__main__ import main
from stagec_dev.tools import soundness


def test_a_short_campaign_prints_what_was_made_and_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soundness", "300", "--seed", "3", "--workers", "1"]) == 0
    told = capsys.readouterr().out
    assert "registry: compiled without errors" in told
    assert "edge ok, always" in told


def test_a_broken_promise_is_printed_with_what_makes_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    found = SimpleNamespace(job=("pipeline", 7, "fork"), what="ok of plan leads nowhere")
    assert soundness.report([("runs", 1)], [found]) == 1
    assert capsys.readouterr().out.endswith("pipeline 7 fork: ok of plan leads nowhere\n")


def test_what_was_not_seen_often_enough_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert soundness.report([("runs", 1)], [], ("edge ok, chain",)) == 1
    assert capsys.readouterr().out.endswith("too seldom: edge ok, chain\n")
