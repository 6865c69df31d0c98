"""What models have used, as `runs show`, `runs list` and `runs export` add it up."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playable import steps

from stagec.cli.app import run
from stagec.ir.plan import dump

Shown = pytest.CaptureFixture[str]
WORLD = """
USES = [{uses}]

class World:
    def __init__(self, program):
        self.left = [{{"action": each}} for each in ("repeat", "next", "closing")]

    def answer(self, effect):
        if type(effect).__name__ == "Shell":
            return {{"exit": 0, "stdout": "", "stderr": "", "usage": {{"input": 999, "requests": 9}}}}
        return {{"answer": self.left.pop(0), "usage": USES.pop(0)}}
"""


def _use(cost: str | None, **more: object) -> object:
    return {"model": "a:b", "input": 1200, "output": 34, "requests": 2, "cost": cost, **more}


def _run(name: str, *uses: object) -> None:
    Path("p").write_bytes(dump(steps()))
    Path(f"{name}.py").write_text(WORLD.format(uses=", ".join(map(repr, uses))), encoding="utf-8")
    assert run(["run", "p", "--run", "one", "--input", "topic=winter", "--world", f"{name}:World"]) == 0


def _shown(capfd: Shown) -> list[list[str]]:
    capfd.readouterr()
    assert run(["runs", "show", "one"]) == 0
    return [re.split(" {2,}", line) for line in capfd.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_each_node_has_its_sum_and_the_run_has_one(capfd: Shown) -> None:
    _run("used_by_all", _use("0.01"), _use("0.02"), _use("0.003"))
    *_, draft, close, last = _shown(capfd)
    assert draft == ["used by", "draft", "4 requests", "2,400 tokens in", "68 out", "$0.03"]
    assert close == ["used by", "close", "2 requests", "1,200 tokens in", "34 out", "$0.003"]
    assert last == ["done: completed, 3 executions, 5 events, 3702 tokens, $0.033"]


def test_programs_read_the_same_sums(capfd: Shown) -> None:
    _run("used_for_programs", _use("0.01"), _use("0.02"), _use("0.003"))
    capfd.readouterr()
    run(["runs", "export", "one"])
    exported = json.loads(capfd.readouterr().out)["usage"]
    run(["runs", "list", "--format", "json"])
    (listed,) = json.loads(capfd.readouterr().out)["runs"]
    total = {"input": 3600, "output": 102, "requests": 6, "cost": "0.033"}
    assert listed["usage"] == total
    assert {name: exported[name] for name in total} == total
    assert [each["node"] for each in exported["nodes"]] == ["draft", "close"]
    run(["runs", "list"])
    assert "3702 tokens, $0.033" in capfd.readouterr().out


def test_a_price_is_known_where_every_price_is(capfd: Shown) -> None:
    _run("used_for_nothing", _use("0.01"), _use(None), _use("0.003"))
    *_, draft, close, last = _shown(capfd)
    assert (draft[-1], close[-1]) == ("price unknown", "$0.003")
    assert last[-1].endswith("3702 tokens")


@pytest.mark.parametrize(
    "senseless",
    [
        None,
        "much",
        {},
        {"input": "1"},
        {"input": -4, "output": True},
        {"input": 1e300, "requests": -1e300},
        {"cost": "1e999999999"},
        {"cost": "1e-999999999"},
    ],
    ids=str,
)
def test_what_is_no_usage_counts_for_nothing(senseless: object, capfd: Shown) -> None:
    name = f"used_{abs(hash(str(senseless)))}"
    _run(name, senseless, senseless, senseless)
    *_, last = _shown(capfd)
    assert last == ["done: completed, 3 executions, 5 events"]
    run(["runs", "export", "one"])
    assert "tokens" not in capfd.readouterr().out
