"""`stagec run` and `resume` while a provider of models is down: what is told, what is asked, and what it costs."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import time
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nursery
import pytest
from world.models.wire import Said, Wire, serve

PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
RUN = ("run", str(PLAN), "--run", "one", "--input", "topic=installation", "--model", "openai:gpt-4o")
QUICK = ("--model-policy", "first-pause=0.01", "--model-policy", "longest-pause=0.05", "--model-policy", "attempts=2")
WRITTEN = Said("I write.", [("c", "submit_page", '{"page": "docs/a.md"}')])
CHECKED = Said("", [("c", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
DOWN = {
    "500": (Said(status=500), "server-error, 2 attempts in", 2),
    "429": (Said(status=429, headers={"retry-after": "0.01"}), "rate-limit, 2 attempts in", 2),
    "429 for an hour": (Said(status=429, headers={"retry-after": "3600"}), "rate-limit, 1 attempt in", 1),
    "hangs": (dataclasses.replace(CHECKED, delay=2), "timeout, 2 attempts in", 2),
    "reset": (dataclasses.replace(CHECKED, reset=True), "connection, 2 attempts in", 2),
    "401": (Said(status=401), "unauthorised, 1 attempt in", 1),
    "403": (Said(status=403), "unauthorised, 1 attempt in", 1),
}


def _stagec(folder: Path, wire: Wire, *words: str) -> subprocess.CompletedProcess[str]:
    servers = {"OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": "key"}
    ended = nursery.run(words, folder, nursery.environment(**servers))
    return subprocess.CompletedProcess(words, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def _list(folder: Path, wire: Wire) -> dict[str, Any]:
    listed = json.loads(_stagec(folder, wire, "runs", "list", "--format", "json").stdout)
    found: dict[str, Any] = listed["runs"][0]
    return found


def _read_time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(("said", "told", "attempts"), DOWN.values(), ids=DOWN)
def test_an_outage_interrupts_the_run_and_resume_asks_nothing_twice(
    said: Said, told: str, attempts: int, tmp_path: Path
) -> None:
    with serve(WRITTEN, *([said] * attempts), CHECKED) as wire:
        hangs = ("--model-policy", "node:check.first-token=0.3") if said.delay else ()
        ended = _stagec(tmp_path, wire, *RUN, *QUICK, *hangs)
        assert (ended.returncode, len(wire.asked)) == (130, 1 + attempts), ended.stderr
        assert f"'openai:gpt-4o' does not answer the request 'one/check#1/1.0': {told}" in ended.stderr
        assert "to resume it: stagec resume one; with --wait DURATION it waits" in ended.stderr
        assert _list(tmp_path, wire)["status"] == "interrupted"
        again = _stagec(tmp_path, wire, "resume", "one", "--model-policy", "node:check.first-token=60")
        assert again.returncode == 0, again.stderr
        after = _list(tmp_path, wire)
    assert len(wire.asked) == 2 + attempts
    assert (after["status"], after["reason"], after["retryAt"]) == ("done", "completed", None)
    assert (after["usage"]["requests"], after["usage"]["cost"]) == (2, "0.00015")


def test_lists_show_the_reason_and_the_time(tmp_path: Path) -> None:
    with serve(WRITTEN, Said(status=429, headers={"retry-after": "3600"})) as wire:
        before = time.time()
        _stagec(tmp_path, wire, *RUN)
        row = _list(tmp_path, wire)
        hour = _read_time(row["retryAt"]) - before
        assert 3600 <= hour < 3700
        assert "rate-limit, 1 attempt" in row["reason"]
        sentence = f"{row['reason']}; retry at {row['retryAt']}"
        assert sentence in _stagec(tmp_path, wire, "runs", "list").stdout
        assert f"\ninterrupted: {sentence}\n" in _stagec(tmp_path, wire, "runs", "show", "one").stdout
        exported = json.loads(_stagec(tmp_path, wire, "runs", "export", "one").stdout)
        assert (exported["reason"], exported["retryAt"]) == (row["reason"], row["retryAt"])


def test_a_note_beside_the_journal_that_is_none_is_ignored(tmp_path: Path) -> None:
    with serve(WRITTEN, Said(status=401)) as wire:
        _stagec(tmp_path, wire, *RUN)
        note = tmp_path / ".stagec/runs/one.run.interruption"
        for text in ("[", '{"reason": 5}', '{"reason": "r", "retryAt": 1e99}', "[" * 100_000):
            note.write_text(text)
            assert (_list(tmp_path, wire)["status"], _list(tmp_path, wire)["retryAt"]) == ("interrupted", None)
        note.unlink()
        note.symlink_to(tmp_path / "elsewhere")
        assert _list(tmp_path, wire)["reason"] == ""


def test_wait_goes_on_in_the_same_command_and_says_so(tmp_path: Path) -> None:
    with serve(WRITTEN, *([Said(status=503)] * 4), CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, *QUICK, "--wait", "20s")
    assert (ended.returncode, len(wire.asked)) == (0, 6), ended.stderr
    assert ended.stderr.count("does not answer (server-error, 2 attempts in") == 2


def test_wait_is_a_limit(tmp_path: Path) -> None:
    with serve(WRITTEN, Said(status=429, headers={"retry-after": "3600"})) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--wait", "30m")
    assert (ended.returncode, len(wire.asked)) == (130, 2)


@pytest.mark.parametrize("amount", ["soon", "0", "-1s", "5x", "nan", ""])
def test_a_duration_that_is_none_is_refused(amount: str, tmp_path: Path) -> None:
    with serve(WRITTEN) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--wait", amount)
    assert (ended.returncode, wire.asked) == (2, [])
    assert "is not a duration, such as 90s, 5m, 2h or 1d" in ended.stderr


def test_the_time_limit_of_a_run_ends_a_request_that_hangs(tmp_path: Path) -> None:
    with serve(WRITTEN, dataclasses.replace(CHECKED, delay=60), CHECKED) as wire:
        begin = time.monotonic()
        ended = _stagec(tmp_path, wire, *RUN, "--max-time", "3")
        assert time.monotonic() - begin < 30
        assert ended.returncode == 2
        assert "--max-time allows 3 s" in ended.stderr
        assert "stagec resume one --max-time 3" in ended.stderr
        assert len(wire.asked) == 2
        assert _stagec(tmp_path, wire, "resume", "one").returncode == 0


def test_the_time_limit_of_a_run_ends_a_pause_too(tmp_path: Path) -> None:
    with serve(Said(status=500)) as wire:
        begin = time.monotonic()
        ended = _stagec(tmp_path, wire, *RUN, "--max-time", "3", "--model-policy", "first-pause=60")
        assert time.monotonic() - begin < 30
    assert (ended.returncode, len(wire.asked)) == (2, 1)


POLICIES = """[model-policies]
default = {attempts = 3, first-pause = 0.01, longest-pause = 0.05}
openai = {attempts = 4}
"openai:gpt-4o" = {attempts = 5}
"node:check" = {attempts = 2}
"""


@pytest.mark.parametrize(
    ("script", "options", "asked"),
    [
        ((Said(status=500),), (), 5),
        ((WRITTEN, Said(status=500)), (), 3),
        ((WRITTEN, Said(status=500)), ("--model-policy", "node:check.attempts=6"), 7),
        ((Said(status=500),), ("--model-policy", "openai:gpt-4o.attempts=1"), 1),
        ((Said(status=404),), ("--model-policy", "transient=404,timeout"), 5),
    ],
)
def test_the_most_specific_policy_counts_and_options_precede(
    script: tuple[Said, ...], options: tuple[str, ...], asked: int, tmp_path: Path
) -> None:
    (tmp_path / "stagec.toml").write_text(POLICIES)
    with serve(*script) as wire:
        assert _stagec(tmp_path, wire, *RUN, *options).returncode == 130
    assert len(wire.asked) == asked


def test_resume_knows_the_policies_of_the_run_and_of_the_configuration_of_now(tmp_path: Path) -> None:
    with serve(Said(status=500)) as wire:
        _stagec(tmp_path, wire, *RUN, *QUICK)
        _stagec(tmp_path, wire, "resume", "one")
        assert len(wire.asked) == 4
        (tmp_path / "stagec.toml").write_text("[model-policies]\nopenai = {attempts = 5}\n")
        _stagec(tmp_path, wire, "resume", "one")
        assert len(wire.asked) == 9
        _stagec(tmp_path, wire, "resume", "one", "--model-policy", "openai.attempts=1")
        assert len(wire.asked) == 10


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("attempts=two", "'model-policies.default.attempts' must be an integer from 1 to 1,000, found 'two'"),
        ("openai.atempts=2", "unknown key 'model-policies.openai.atempts'; did you mean 'attempts'?"),
        ("transient=sometimes", "must be a fault such as 'timeout', or an HTTP status such as '503'"),
        ("attempts", "write [WHOM.]SETTING=VALUE"),
    ],
)
def test_a_policy_that_is_none_is_refused(option: str, told: str, tmp_path: Path) -> None:
    with serve(WRITTEN) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model-policy", option)
    assert (ended.returncode, wire.asked) == (2, [])
    assert told in ended.stderr


def test_a_wrong_policy_of_the_configuration_is_told_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text("[model-policies.openai]\nattempts = 0\nfirst-pauze = 1\n")
    with serve(WRITTEN) as wire:
        ended = _stagec(tmp_path, wire, *RUN)
    assert "stagec.toml:2: 'model-policies.openai.attempts' must be an integer" in ended.stderr
    assert "stagec.toml:3: unknown key 'model-policies.openai.first-pauze'; did you mean 'first-pause'?" in ended.stderr


def test_the_configuration_is_shown_as_it_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text(f'{POLICIES}x = {{transient = ["timeout", "503"]}}\n')
    with serve(WRITTEN) as wire:
        shown = _stagec(tmp_path, wire, "config", "show").stdout
    assert tomllib.loads(shown)["model-policies"] == {
        **tomllib.loads(POLICIES)["model-policies"],
        "x": {"transient": ["timeout", "503"]},
    }


def test_the_time_to_retry_is_in_the_future(tmp_path: Path) -> None:
    with serve(Said(status=401)) as wire:
        _stagec(tmp_path, wire, *RUN, "--model-policy", "longest-pause=600")
        found = datetime.fromisoformat(_list(tmp_path, wire)["retryAt"])
    assert timedelta(seconds=500) < found - datetime.now(UTC) <= timedelta(seconds=601)
