"""`stagec run --model`: a plan, a model behind a wire, and one command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nursery
import pytest
from world.models.smollm import needs_model
from world.models.wire import Said, Wire, serve

PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
RUN = ("run", str(PLAN), "--run", "one", "--input", "topic=installation")
WRITTEN = Said("I write.", [("c", "submit_page", '{"page": "docs/a.md"}')])
CHECKED = Said("", [("c", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


def _stagec(folder: Path, wire: Wire, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    servers = {"OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": KEY}
    ended = nursery.run(words, folder, nursery.environment(**servers, **more))
    return subprocess.CompletedProcess(words, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def _models(wire: Wire) -> list[str]:
    return [each["model"] for each in wire.asked]


def test_a_plan_and_a_model_are_a_run(tmp_path: Path) -> None:
    with serve(WRITTEN, CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt-5.4")
    assert (ended.returncode, _models(wire)) == (0, ["gpt-5.4"] * 2), ended.stderr
    exported = _stagec(tmp_path, wire, "runs", "export", "one").stdout
    assert exported.count('"model": "openai:gpt-5.4"') == 2
    assert '"input": 10' in exported


def test_the_key_is_nowhere(tmp_path: Path) -> None:
    with serve(WRITTEN, Said(status=401, body=json.dumps({"error": {"message": f"bad key {KEY}"}}))) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt-5.4")
    assert ended.returncode == 130
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert KEY not in ended.stdout + ended.stderr
    assert not any(KEY.encode() in each for each in written)


def test_resume_asks_the_same_model(tmp_path: Path) -> None:
    with serve(WRITTEN, Said(status=401), CHECKED) as wire:
        assert (
            _stagec(tmp_path, wire, *RUN, "--model", "node:check=openai:judge", "--model", "openai:gpt").returncode
            == 130
        )
        assert _stagec(tmp_path, wire, "resume", "one").returncode == 0
    assert _models(wire) == ["gpt", "judge", "judge"]


@pytest.mark.parametrize(
    ("options", "environment", "wanted"),
    [
        ((), {}, "configured"),
        ((), {"STAGEC_MODEL": "openai:named"}, "named"),
        (("--model", "openai:asked"), {"STAGEC_MODEL": "openai:named"}, "asked"),
    ],
)
def test_the_nearest_wish_counts(
    options: tuple[str, ...], environment: dict[str, str], wanted: str, tmp_path: Path
) -> None:
    (tmp_path / "stagec.toml").write_text('[models]\ndefault = "openai:configured"\n')
    with serve(WRITTEN, CHECKED) as wire:
        assert _stagec(tmp_path, wire, *RUN, *options, **environment).returncode == 0
    assert {*_models(wire)} == {wanted}


def test_a_scenario_answers_for_its_nodes(tmp_path: Path) -> None:
    scenario = {"conversations": {"write": [{"complete": {"page": "docs/a.md"}}]}}
    (tmp_path / "scenario.json").write_text(json.dumps(scenario))
    with serve(CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt", "--scenario", "scenario.json")
    assert (ended.returncode, len(wire.asked)) == (0, 1), ended.stderr


@pytest.mark.parametrize("model", ["gpt", "x=gpt", "nowhere:gpt"])
def test_a_name_that_is_none_is_refused(model: str, tmp_path: Path) -> None:
    with serve(WRITTEN) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", model)
    assert ended.returncode == 2
    assert "model" in ended.stderr


def test_a_wrong_entry_of_the_configuration_is_told_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text('[models]\ndefault = "gpt"\n')
    with serve(WRITTEN) as wire:
        ended = _stagec(tmp_path, wire, *RUN)
    assert "stagec.toml:2: 'models.default' must be PROVIDER:NAME" in ended.stderr


def test_a_budget_stops_the_run_and_more_of_it_lets_it_go_on(tmp_path: Path) -> None:
    with serve(WRITTEN, CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt", "--max-tokens", "15")
        assert ended.returncode == 2
        assert "has used 15 tokens: --max-tokens allows 15" in ended.stderr
        assert "--max-tokens allows 15" in _stagec(tmp_path, wire, "runs", "list").stdout
        again = _stagec(tmp_path, wire, "resume", "one", "--max-tokens", "15")
        assert "has used 15 tokens" in again.stderr
        assert _stagec(tmp_path, wire, "resume", "one", "--max-tokens", "16").returncode == 0
    assert len(wire.asked) == 2


def test_a_price_holds_a_budget_to_the_last_digit(tmp_path: Path) -> None:
    with serve(WRITTEN, CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt-4o", "--max-cost", "0.000075")
        assert ended.returncode == 2
        assert "US dollars: --max-cost allows 0.000075" in ended.stderr
        assert _stagec(tmp_path, wire, "resume", "one", "--max-cost", "1").returncode == 0


def test_a_price_that_nobody_knows_holds_no_budget(tmp_path: Path) -> None:
    with serve(WRITTEN, CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt", "--max-cost", "0.5")
    assert ended.returncode == 2
    assert "the price of a model is unknown" in ended.stderr
    assert "has no row for openai:gpt; add one with --prices" in ended.stderr
    assert wire.asked == []


def test_a_budget_below_the_cost_of_every_completed_run_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with serve(WRITTEN, CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt-4o", "--max-cost", "0.00007")
    assert ended.returncode == 2
    assert "a completed run costs at least $0.0000750 by the prices of 2" in ended.stderr
    assert wire.asked == []


def test_a_table_of_prices_counts_for_the_ceiling_and_for_the_run(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('as-of = "2026-11-01"\n[models."openai:gpt*"]\ninput = 0\noutput = 2000\n')
    with serve(WRITTEN, CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt", "--prices", "mine.toml", "--max-cost", "0.008")
        assert "note: the cost of a run has no bound by the prices of 2026-11-01, mine.toml" in ended.stderr
        assert "the run has cost 0.01 US dollars: --max-cost allows 0.008" in ended.stderr


@pytest.mark.parametrize(("option", "amount"), [("--max-cost", "much"), ("--max-cost", "-1"), ("--max-tokens", "0")])
def test_a_budget_that_is_none_is_refused(option: str, amount: str, tmp_path: Path) -> None:
    with serve(WRITTEN) as wire:
        assert _stagec(tmp_path, wire, *RUN, option, amount).returncode == 2
    assert wire.asked == []


def test_the_servers_of_a_plan_start_with_a_model_and_their_tools_are_called(tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "world" / "server.py"
    catalogue = {"mcp": {"s": {"command": sys.executable, "args": [str(script), "calling"]}}}
    (tmp_path / "tools.yaml").write_text(json.dumps(catalogue))
    stage = {
        "id": "work",
        "name": "Work",
        "allowedTools": ["echo"],
        "completionTool": "hand_in",
        "completionSchema": {"type": "object"},
        "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
        "turnCap": 5,
        "resolutionPolicy": "fail",
    }
    (tmp_path / "work.md").write_text(f"---\n{json.dumps(stage)}\n---\nWork. Call hand_in.\n")
    (tmp_path / "pipeline.yaml").write_text("entry: work\n")
    said = (Said("", [("c", "echo", '{"a": 1}')]), Said("", [("d", "hand_in", "{}")]))
    with serve(*said) as wire:
        assert _stagec(tmp_path, wire, "tools", "lock").returncode == 0
        assert _stagec(tmp_path, wire, "compile", ".", "-o", "plan.json").returncode == 0
        ended = _stagec(tmp_path, wire, "run", "plan.json", "--model", "openai:gpt")
        assert ended.returncode == 0, ended.stderr
        assert "Do echo" in json.dumps(wire.asked[0])
        assert wire.asked[1]["messages"][-1]["content"] == '{"a": 1}'
        _stagec(tmp_path, wire, "run", "plan.json", "--model", "openai:gpt", "--no-servers")
    assert (tmp_path / "calls").read_text().split() == ["echo"]


@needs_model
@pytest.mark.parametrize("name", ["none.gguf", "a=b.gguf"])
def test_a_model_file_that_is_not_there_is_told_before_the_run_begins(name: str, tmp_path: Path) -> None:
    with serve() as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", f"local:{name}")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "there is no model file '" in ended.stderr
    assert f"{name}'" in ended.stderr
    assert list(tmp_path.rglob("*.run")) == []


def test_models_that_no_node_asks_need_nothing(tmp_path: Path) -> None:
    """A configuration may name models for other plans."""
    (tmp_path / "stagec.toml").write_text('[models]\nbig = "local:none.gguf"\n')
    with serve(WRITTEN, CHECKED) as wire:
        ended = _stagec(tmp_path, wire, *RUN, "--model", "openai:gpt-5.4")
    assert ended.returncode == 0, ended.stderr
