"""`stagec bounds` prints the longest run of each flow, and why there is no bound."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import playable
import pytest
from handmade import process, processes, scheduled, steps

from stagec.cli.app import run
from stagec.core.value import replace
from stagec.core.words import format_duration
from stagec.ir.plan import dump

Shown = pytest.CaptureFixture[str]
TOP = Path(__file__).parents[2]
REPAIR, ISSUES = (str(TOP / "registries" / name) for name in ("docs-repair", "issue-flow"))
STAGE = """\
---
id: {name}
name: {name}
retryPolicy: {{maxAttempts: 1, backoff: none}}
allowedTools: []
completionTool: submit
completionSchema: {{type: object}}
turnCap: 5
resolutionPolicy: {{onGateDefer: fail, onGateBlock: fail}}
---
Do it.
"""

PAGE = """\
docs-repair: Repair the documentation
from     {file}
plan     sha256:24c15ba39c4a
limit    8 steps; a run that needs more ends as failed; at most 4 at the same time
begins   write
steps    at most 8, where the limit ends the run; at least 2
turns    at most 240; without retries 120; at least 2
calls    no bound: nothing limits how many tools a model calls in a response; --calls SPAN assumes a limit
input    no bound: nothing limits how much a model reads; --input-tokens SPAN assumes a limit
         at least 44
output   no bound: nothing limits how much a model writes; --output-tokens SPAN assumes a limit
         at least 2
cost     no bound: no model is named for check, repair and write; --model PROVIDER:NAME names one
time     no bound: nothing limits how long a turn of a model takes (in check, repair and write); \
--turn SECONDS assumes a limit
repeats  check and repair
longest  write → (check → repair) 3 times → check
shortest write → check

retries of docs-repair
  check   at most 2 attempts
  repair  at most 2 attempts
  write   at most 2 attempts
"""


def shown_json(capfd: Shown, *arguments: str, status: int = 0) -> Any:
    assert run(["bounds", *arguments, "--format", "json"]) == status
    made = json.loads(capfd.readouterr().out)
    jsonschema.validate(made, json.loads((TOP / "schemas" / "bounds.schema.json").read_bytes()))
    return made["flows"]


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Write a pipeline that repeats without a bound."""
    (tmp_path / "stages").mkdir()
    for name in ("write", "check"):
        (tmp_path / "stages" / f"{name}.md").write_text(STAGE.format(name=name))
    (tmp_path / "pipeline.yaml").write_text(
        "id: endless\nname: Endless\nversion: 1.0.0\nentry: write\nstages: ['stages/*.md']\n"
        "next:\n  write: check\n  check:\n    - {when: {parsed.ok: true}, stages: []}\n    - {stages: [write]}\n"
    )
    return tmp_path


def test_a_flow_has_a_page(capfd: Shown) -> None:
    assert run(["bounds", REPAIR, "--root", REPAIR]) == 0
    page = PAGE.replace("{file}", os.path.relpath(Path(REPAIR, "pipeline.yaml")))
    assert capfd.readouterr() == (page, "")


def test_time_is_known_once_somebody_says_how_long_a_turn_takes(capfd: Shown) -> None:
    assert run(["bounds", REPAIR, "--turn", "60"]) == 0
    assert "\ntime     at most 4 h; without retries 2 h\n" in capfd.readouterr().out


def test_validations_count_with_the_limit_of_a_validator(capfd: Shown) -> None:
    (flow,) = shown_json(capfd, ISSUES, "--command-timeout", "1.5")
    assert flow["assumed"]["turnMilliseconds"] is None
    assert flow["assumed"]["validatorMilliseconds"] == 1500
    assert flow["entries"][0]["limitedMilliseconds"]["most"] == 38 * 2 * 1500


def test_plans_and_projects_can_be_named_together(tmp_path: Path, capfd: Shown) -> None:
    plan = tmp_path / "solver.plan.json"
    plan.write_bytes(dump(steps()))
    first, second = shown_json(capfd, str(plan), REPAIR)
    assert (first["flow"], first["file"]) == ("issue-solver", str(plan))
    assert [each["entry"] for each in first["entries"]] == ["", "poll:state"]
    assert second["flow"] == "docs-repair"


def test_each_entry_of_several_has_a_part_of_the_page(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "solver.plan.json").write_bytes(dump(steps()))
    assert run(["bounds", str(tmp_path / "solver.plan.json")]) == 0
    out = capfd.readouterr().out
    assert "\nissue-solver from entry poll:state\nbegins   verification.issue\n" in out
    assert "\n  closure.issue  validated by 2 validators; then retry, at most 3 failures\n" in out


def test_a_cycle_without_a_bound_says_where_it_is_and_what_would_bound_it(endless: Path, capfd: Shown) -> None:
    assert run(["bounds", str(endless), "--root", str(endless)]) == 1
    file = os.path.relpath(endless / "pipeline.yaml")
    assert capfd.readouterr().out == (
        f"endless\nfrom     {file}\nno bound it has no plan: 1 error\n"
        f"         {file}:10:7: STG608 stages 'write' and 'check' can run again and again without a bound; "
        "say how many executions a run may take, as 'maxStageExecutions' in 'pipeline.yaml'\n"
    )
    (flow,) = shown_json(capfd, str(endless), status=1)
    assert not flow["bounded"]
    assert [each["code"] for each in flow["errors"]] == ["STG608"]


SCHEDULE = """\
limit    none; at most 2 at the same time
steps    at most 5; at least 5
turns    none
time     at most 41 min 42 s; without retries 13 min 54 s
planned  12 min if each stage takes the time that it states
critical S01_load_data → S02_train_model → S04_evaluate_model
width    2 stages could run at the same time: S04_evaluate_model and S05_send_report
at risk  up to 9 min 16 s of work without a checkpoint in between: S02_train_model → S04_evaluate_model

nodes that run after a failure, once wine-quality is resumed
  S01_load_data       5 stages, up to 13 min 54 s in a row
  S02_train_model     2 stages, up to 9 min 16 s in a row
  S03_explore_data    3 stages, up to 9 min 16 s in a row
  S04_evaluate_model  1 stage, up to 4 min 38 s in a row
  S05_send_report     1 stage, up to 4 min 38 s in a row

retries of wine-quality
  S01_load_data       at most 3 attempts
  S02_train_model     at most 3 attempts
  S03_explore_data    at most 3 attempts
  S04_evaluate_model  at most 3 attempts
"""


def test_a_stage_plan_has_its_critical_path_width_gaps_and_failures(tmp_path: Path, capfd: Shown) -> None:
    plan = tmp_path / "wine.plan.json"
    plan.write_bytes(dump(processes()))
    assert run(["bounds", str(plan)]) == 0
    assert capfd.readouterr().out.endswith(SCHEDULE)
    (flow,) = shown_json(capfd, str(plan))
    (entry,) = flow["entries"]
    assert entry["node"] is None
    assert entry["schedule"]["criticalPath"] == ["S01_load_data", "S02_train_model", "S04_evaluate_model"]
    assert entry["schedule"]["width"] == {"nodes": ["S04_evaluate_model", "S05_send_report"], "exact": True}
    assert entry["schedule"]["failures"][0] == {"node": "S01_load_data", "nodes": 5, "milliseconds": 834_000}


def test_long_chains_and_many_failures_are_cut(tmp_path: Path, capfd: Shown) -> None:
    names = [f"S01_load_part_{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(100)]
    needs = {name: tuple(names[at - 1 : at] if at else ()) for at, name in enumerate(names)}
    plan = tmp_path / "long.plan.json"
    plan.write_bytes(dump(scheduled(dict.fromkeys(names, process()), needs)))
    assert run(["bounds", str(plan)]) == 0
    out = capfd.readouterr().out
    assert " → S01_load_part_at → … (60 more) → S01_load_part_dc → " in out
    assert "\n  and 80 more\n" in out


def test_a_flow_can_be_chosen(capfd: Shown) -> None:
    (flow,) = shown_json(capfd, str(TOP / "registries"), "--flow", "docs-repair")
    assert flow["flow"] == "docs-repair"


def test_a_flow_that_is_not_there_is_refused(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "solver.plan.json").write_bytes(dump(steps()))
    for arguments, why in (
        ([REPAIR], "no flow is called 'x'"),
        ([str(tmp_path / "solver.plan.json")], "no flow of the"),
    ):
        assert run(["bounds", *arguments, "--flow", "x"]) == 2
        assert f"stagec: error: {why}" in capfd.readouterr().err


def test_a_plan_that_was_changed_is_refused(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "solver.plan.json").write_bytes(dump(steps()).replace(b"Issue Solver", b"Issue solver"))
    assert run(["bounds", str(tmp_path / "solver.plan.json")]) == 1
    assert "is refused: it was changed" in capfd.readouterr().err


def test_nothing_to_measure_is_told(tmp_path: Path, capfd: Shown) -> None:
    assert run(["bounds", str(tmp_path)]) == 3
    assert "holds no flow that can be read" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 s"),
        (250, "250 ms"),
        (2_500, "2.5 s"),
        (60_000, "1 min"),
        (5_400_000, "1 h 30 min"),
        (90_061_001, "1 d 1 h 1 min 1.001 s"),
    ],
)
def test_durations_are_written_as_people_read_them(milliseconds: int, text: str) -> None:
    assert format_duration(milliseconds) == text


COMMENT = """\
### Bounds

#### Flow `docs-repair`

| | at least | without retries | at most |
|---|---:|---:|---:|
| steps | 2 |  | 8 |
| turns | 2 | 120 | 240 |
| tool calls | 0 | 360 | 720 |
| input tokens | 44 | 120,000 | 240,000 |
| output tokens | 0 | 12,000 | 24,000 |
| cost | $0.0000440 | $0.240 | $0.480 |
| time | 0 s |  | no bound |

- The limit of executions ends the longest runs.
- Repeats: `check`, `repair`
- No bound of time: `nothing limits how long a turn of a model takes (in check, repair and write); \
--turn SECONDS assumes a limit`
- Longest: `write → (check → repair) 3 times → check`
- Shortest: `write → check`

- Assumes `prices of 2026-11-01, mine.toml: 'own:x'`
- Assumes `1 to 50 responses of a model until a step has its answer; a token is at most 8 characters of a prompt`
- Assumes `0 to 1,000 tokens read in a request, 0 to 100 written in a response`
"""
SPANS = ("--calls", "3", "--input-tokens", "1000", "--output-tokens", "100")


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Write a table of prices, and return the options that name it and a model in it."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('as-of = "2026-11-01"\n[models."own:*"]\ninput = 1\noutput = 10\n', encoding="utf-8")
    return ("--prices", "mine.toml", "--model", "own:x")


def test_bounds_are_a_comment_with_money(priced: tuple[str, ...], capfd: Shown) -> None:
    assert run(["bounds", REPAIR, "--format", "markdown", *priced, *SPANS]) == 0
    assert capfd.readouterr().out == COMMENT


def test_what_no_price_is_known_of_has_no_cost_in_a_comment(priced: tuple[str, ...], capfd: Shown) -> None:
    assert run(["bounds", REPAIR, "--format", "markdown", *priced[:2], "--model", "other:y", *SPANS]) == 0
    shown = capfd.readouterr().out
    assert "| cost | unknown |  | unknown |" in shown
    assert "- No bound of cost: `the price table has no row for the model of check, repair and write`" in shown
    assert "- Assumes `the price table has no row for other:y: add one, or name another table with --prices`" in shown


def test_a_comment_has_each_entry_and_what_people_wrote_as_code(tmp_path: Path, capfd: Shown) -> None:
    odd = {"a`b": "initial.issue", "<img src=x>": "initial.issue", "```\n# heading": "initial.issue"}
    named = {name: next(iter(steps().entries.values())) for name in odd}
    (tmp_path / "x").write_bytes(dump(replace(steps(), entries=named, entry=None)))
    assert run(["bounds", str(tmp_path / "x"), "--format", "markdown"]) == 0
    shown = capfd.readouterr().out
    entries = [line for line in shown.splitlines() if line.startswith("##### Entry ")]
    assert len(entries) == 3
    assert {"##### Entry `<img src=x>`", "##### Entry ``a`b``"} <= {*entries}
    assert not any(line.startswith("# heading") for line in shown.splitlines())


def test_a_comment_says_which_flow_has_no_bound_and_why(endless: Path, capfd: Shown) -> None:
    assert run(["bounds", str(endless), "--root", str(endless), "--format", "markdown"]) == 1
    shown = capfd.readouterr().out
    assert "#### Flow `endless`\n\nNo bound: it has no plan, 1 error.\n" in shown
    assert "pipeline.yaml:10:7: STG608 stages 'write' and 'check' can run again" in shown


def test_a_step_asks_its_model_as_often_as_it_may_respond(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A turn of a step takes up to 50 requests: as many as a run makes whose model calls tools without end."""
    plan = tmp_path / "p.json"
    plan.write_bytes(dump(playable.steps(limit=10)))
    assert run(["bounds", str(plan)]) == 0
    shown = capfd.readouterr().out
    assert re.search(r"^turns +at most 20; ", shown, re.MULTILINE)
    assert re.search(r"^requests +at most 1,000; at least 2$", shown, re.MULTILINE)
    run(["bounds", str(plan), "--responses", "1..3", "--format", "json"])
    (entry, _) = json.loads(capfd.readouterr().out)["flows"][0]["entries"]
    assert (entry["turns"]["most"], entry["requests"]["most"]) == (20, 60)
