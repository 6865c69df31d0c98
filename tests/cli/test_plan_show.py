"""`stagec plan` prints what is in a plan for people and for programs, and refuses what is no sound plan."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from handmade import completed, stages, steps

from stagec.cli.app import run
from stagec.cli.commands.plan import draw_node_page, draw_overview, format_node, format_plan
from stagec.cli.sheet import Sheet
from stagec.core.canonical import canonical, digest
from stagec.core.terminal import Canvas
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump, load, verify
from stagec.ir.plan.act import Text
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Contents, Input
from stagec.ir.plan.loader import schema, write_frame
from stagec.ir.plan.node import Edge, Node, Outcome, Stop

Shown = pytest.CaptureFixture[str]
_ENDING = (Edge("ok", Stop(Outcome.DONE)), Edge("fail", Stop(Outcome.FAILED)))
Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]

OVERVIEW = """\
review: Review
version  1.0.0
format   stagec.plan/1
digest   {digest}
entry    plan
limits   at most 100 stage executions, a run that needs more ends as failed; at most 4 at the same time
proved   a run has at most 100 executions, with 3,600 turns of models
         can end as done after lint, review or test
         can end as failed after lint, plan, review or test
         can repeat: plan and review
session  security mode ask
         hooks.review:guard: guard, pre RECEIVE_INPUT
texts    7, with 106 characters in all

stages
  plan    converse  ok → lint and test together, then review
                    fail → end (failed)
  lint    converse  ok → end (done)
                    fail → end (failed)
  test    converse  ok → end (done)
                    fail → end (failed)
  review  converse  ok: parsed.done = true → end (done)
                    ok: parsed.severity in high, critical and reason present → plan
                    ok → lint, then test
                    fail → end (failed)

inputs
  task  required  sha256:00404e686415

tools
  Bash    bundled      mutating
  Read    bundled      read
  lint    mcp: linter  read      sha256:cccccccccccc
  submit  unknown      unknown

servers
  linter  npx -y linter in tools
          environment: TOKEN
          locked as sha256:dddddddddddd
  remote  https://example.org/mcp
          headers: Authorization

sources
  sha256:eeeeeeeeeeee  pipeline.yaml
  sha256:ffffffffffff  stages/plan.md
"""

NARROW = """\
issue-solver: Issue Solver
version  1.2.0
format   stagec.plan/1
digest   {digest}
entries  '' → initial.issue
         poll:state → verification.issue
           (if none is asked for)
limits   at most 20 step executions, a
           run that needs more ends as
           failed
proved   a run has at most 20
           executions, with {turns} turns of
           models
         can end as done after
           closure.issue or
           continuation.issue
         can repeat: closure.issue;
           initial.issue
judge    poll:state: maxIterations 10
texts    13, with 197 characters in all

steps
  initial.issue       work          prompt
      next: handoff.state reads "true" →
        verification.issue, or
        closure.issue if it cannot start
      next → closure.issue
      jump → the one that the answer
        names: verification.issue
      repeat → initial.issue
  verification.issue  verification  prompt
      next → closure.issue
  closure.issue       closure       command
      closing → end (done)
      repeat → closure.issue
  continuation.issue  work          prompt
      verdict → end (done)
      next → closure.issue, then
        initial.issue

inputs
  branch  default main
      any value
  issue   required
      sha256:f0765dbf409c
  stdin   optional
      any value

tools
  Read       unknown  read
  run_tests  unknown  unknown

validators
  clean
      git status --porcelain ${{branch}}
      succeeds when its output is empty
      else failure dirty, with files
  typed
      mypy .
      succeeds when it ends with 0
      else failure type-error

sources
  sha256:aaaaaaaaaaaa
      agent.json
  sha256:bbbbbbbbbbbb
      prompts/f_default.md
"""

STEP = """\
initial.issue: Look at the issue
flow     issue-solver
kind     work
from     the start of a run
         continuation.issue on next
         initial.issue on repeat
act      prompt: a model is asked for one structured answer
         model opus
         permission mode plan
         cannot start without issue
gate     the intent stands at action: next, jump or repeat
         without an allowed intent the run fails
         the node to jump to stands at to
         kept for other nodes: found, a.b
moves    next: handoff.state reads "true" → verification.issue, or closure.issue if it cannot start
         next → closure.issue
         jump → the one that the answer names: verification.issue
         repeat → initial.issue

variables
  agent  the runner's agent_name
  found  found of verification.issue, if there is any
  issue  input issue
  tries  tries of verification.issue, else 1

tools
  Read       unknown  read
  run_tests  unknown  unknown

system prompt
  | You are {{variable.agent}}.

prompt
  | Look at issue #{{variable.issue}}.
  | Say what to do.

schema sha256:ec626441dfed
  | {
  |   "type": "object",
  |   "required": [
  |     "action"
  |   ],
  |   "properties": {
  |     "action": {
  |       "enum": [
  |         "next",
  |         "jump"
  |       ]
  |     }
  |   }
  | }
"""

COMMAND = """\
closure.issue
flow     issue-solver
kind     closure
from     closure.issue on repeat
         continuation.issue on next
         initial.issue on next
         verification.issue on next
act      command: bash verify.sh {{input.issue}}
         stopped after 30,000 ms
gate     closing when the program ends with 0, repeat if not
checked  clean must succeed, with branch main
         typed must succeed
         on failure: retry; failure 3 ends the run as failed
moves    closing → end (done)
         repeat → closure.issue

prompt after failure dirty
  | Not clean:
  | {{#each failure.files}}- {{this.name}}
  | {{/each}}{{#if failure.more}}and more
  | {{else}}and no more
  | {{/if}}
"""

STAGE = """\
plan
flow     review
from     the start of a run
         review on ok
act      converse: a model works with tools, at most 12 turns, until it calls submit
admitted deferred when ctx.busy = true: retry-later
gate     retry when parsed.steps absent: no steps
         fail
         else retry when a cap was hit, ok if not
retry    at most 3 attempts, 1,000 ms apart, doubled each time
hooks    setup: hooks.review:prepare
moves    ok → lint and test together, then review
         fail → end (failed)

tools
  Read    bundled  read
  submit  unknown  unknown

prompt
  | The task: {{ctx.task}}

schema sha256:30adee1794b6
  | {
  |   "type": "object",
  |   "properties": {
  |     "done": {
  |       "type": "boolean"
  |     }
  |   }
  | }
"""


@pytest.fixture
def show(tmp_path: Path, capfd: Shown) -> Callable[..., str]:
    """Write a plan and return what is printed of it."""

    def printed(plan: Plan, *arguments: str) -> str:
        (tmp_path / "x").write_bytes(dump(plan))
        assert run(["plan", str(tmp_path / "x"), *arguments]) == 0
        return capfd.readouterr().out

    return printed


Show = Callable[..., str]


def test_a_plan_is_shown_at_a_glance(show: Show) -> None:
    plan = stages()
    assert show(plan) == OVERVIEW.format(digest=load(dump(plan)).digest)


@pytest.mark.parametrize(
    ("plan", "node", "page"),
    [(steps(), "initial.issue", STEP), (steps(), "closure.issue", COMMAND), (stages(), "plan", STAGE)],
)
def test_a_node_is_shown_with_all_that_belongs_to_it(show: Show, plan: Plan, node: str, page: str) -> None:
    assert show(plan, "--node", node) == page


def test_a_hook_may_keep_a_stage_from_acting_too(show: Show) -> None:
    plan = stages()
    asked = replace(plan.nodes["plan"], hooks={"gate": "hooks.review:gate"})
    page = show(replace(plan, nodes={**plan.nodes, "plan": asked}), "--node", "plan")
    assert "admitted deferred when ctx.busy = true, or its hook says so: retry-later\n" in page
    assert "         blocked when its hook says so: fail\n" in page


def test_what_the_runner_must_bring_is_said(show: Show) -> None:
    told = show(steps(), "--node", "verification.issue").splitlines()
    assert "         the runner must have the prompt verification_default" in told
    assert "         the runner chooses its tools" in told
    assert "         without an allowed intent it is next" in told
    assert "prompt" not in told


def terminal(command: list[str], environment: Mapping[str, str]) -> str:
    """Return what a command prints on a terminal."""
    master, slave = os.openpty()
    subprocess.run(command, stdout=slave, env=environment, check=True)
    os.close(slave)
    shown = b""
    while part := _read(master):
        shown += part
    os.close(master)
    return shown.decode().replace("\r\n", "\n")


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65_536)
    except OSError:  # nobody writes any more
        return b""


def test_a_page_fits_a_narrow_terminal(tmp_path: Path, environment: Callable[..., dict[str, str]]) -> None:
    plan = steps()
    (tmp_path / "x").write_bytes(dump(plan))
    command = [sys.executable, "-m", "stagec", "plan", str(tmp_path / "x")]
    told = terminal(command, environment(COLUMNS="40", NO_COLOR="1"))
    turns = plan.facts.turns if plan.facts is not None else 0
    assert told == NARROW.format(digest=load(dump(plan)).digest, turns=turns)


def test_a_long_line_of_a_prompt_goes_on_below_without_a_bar(
    tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> None:
    contents = Contents()
    text = f"  - {'word ' * 9}{'x' * 40} end\n\n{'審査 ' * 9}\n"
    first = Text(contents.add(text))
    act = replace(stages().nodes["plan"].act, prompt=(first,), tools=())
    plan = stages()
    plan = completed(
        replace(
            plan,
            nodes={**plan.nodes, "plan": replace(plan.nodes["plan"], act=act)},
            contents={**plan.contents, **contents.texts},
        )
    )
    (tmp_path / "x").write_bytes(dump(plan))
    command = [sys.executable, "-m", "stagec", "plan", str(tmp_path / "x"), "--node", "plan"]
    told = terminal(command, environment(COLUMNS="40", NO_COLOR="1"))
    assert told.partition("prompt\n")[2].partition("\n\nschema")[0].splitlines() == [
        "  |   - word word word word word word",
        "      word word word",
        f"      {'x' * 40}",
        "      end",
        "  |",
        "  | 審査 審査 審査 審査 審査 審査 審査",
        "    審査 審査",
    ]


def test_colours_are_for_terminals(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(dump(stages()))
    plain = run("plan", "x", "--node", "plan").stdout
    coloured = run("plan", "x", "--node", "plan", FORCE_COLOR="1").stdout
    assert b"\x1b" not in plain
    assert b"\x1b[36m{{ctx.task}}\x1b[0m" in coloured
    assert re.sub(rb"\x1b\[[\d;]*m", b"", coloured).replace(b"| \n", b"|\n") == plain
    assert run("plan", "x", "--node", "plan", FORCE_COLOR="1", NO_COLOR="1").stdout == plain


def test_no_encoding_stops_a_page(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(dump(replace(stages(), title="審査")))
    told = run("plan", "x", PYTHONIOENCODING="ascii").stdout
    assert told.isascii()
    assert told.startswith(b"review: \\u5be9\\u67fb\n")
    assert b"  lint    converse  ok -> end (done)\n" in told


def test_nodes_that_no_run_comes_to_are_shown_last(show: Show) -> None:
    plan = stages()
    lost = Node(plan.nodes["lint"].act, plan.nodes["lint"].gate, _ENDING)
    told = show(completed(replace(plan, nodes={"a": lost, **plan.nodes})))
    names = re.findall(r"^  (\w+) +converse ", told, re.MULTILINE)
    assert names == ["plan", "lint", "test", "review", "a"]


def test_long_lists_are_cut_short_and_counted(show: Show) -> None:
    plan = stages()
    lint = plan.nodes["lint"]
    many = {f"n{number:02}": replace(lint, edges=_ENDING) for number in range(20)}
    told = show(completed(replace(plan, nodes={**plan.nodes, **many})))
    assert "can end as done after lint, n00, n01, n02, n03, n04, n05, n06 or 15 more\n" in told


def test_a_plan_is_printed_for_programs(show: Show) -> None:
    plan = steps()
    told = json.loads(show(plan, "--format", "json"))
    assert told == {"digest": load(dump(plan)).digest, "plan": write(plan)}


def test_a_node_is_printed_for_programs_with_the_texts_it_refers_to(show: Show) -> None:
    plan = steps()
    told = json.loads(show(plan, "--node", "initial.issue", "--format", "json"))
    written: Any = write(plan)
    assert (told["id"], told["node"]) == ("initial.issue", written["nodes"]["initial.issue"])
    texts = ["Look at issue #", ".\nSay what to do.\n"]
    found = {digest(text.encode()): text for text in texts}
    schema_name = written["nodes"]["initial.issue"]["act"]["schema"]
    assert told["contents"] == {**found, schema_name: plan.contents[schema_name]}


def test_a_content_is_printed_as_it_is(run: Run, tmp_path: Path) -> None:
    text = "a\tb\r\n\x1b[2J\u202e"
    name = digest(text.encode())
    (tmp_path / "x").write_bytes(dump(replace(stages(), contents={**stages().contents, name: text})))
    for asked in (name, name[:19], name.removeprefix("sha256:")[:12], name[7:19].upper()):
        ended = run("plan", "x", "--content", asked)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, text.encode(), b"")


def test_a_content_plays_no_tricks_to_a_terminal(tmp_path: Path, environment: Callable[..., dict[str, str]]) -> None:
    text = "a\tb\r\n\x1b[2J\u202e"
    (tmp_path / "x").write_bytes(dump(replace(stages(), contents={**stages().contents, digest(text.encode()): text})))
    command = [sys.executable, "-m", "stagec", "plan", str(tmp_path / "x"), "--content", digest(text.encode())]
    assert terminal(command, environment()) == "a       b\\r\n\\x1b[2J\\u202e\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--node", "plam"], "no node is called 'plam'; did you mean 'plan'?"),
        (["--content", "sha256:x"], "no text has the digest 'sha256:x'"),
        (["--content", ""], "the digests of 7 texts begin with ''"),
        (
            ["--content", "0", "--node", "plan"],
            "--content excludes --node and --format",
        ),
    ],
)
def test_what_is_not_there_is_refused(tmp_path: Path, capfd: Shown, arguments: list[str], said: str) -> None:
    (tmp_path / "x").write_bytes(dump(stages()))
    assert run(["plan", str(tmp_path / "x"), *arguments]) == 2
    shown = capfd.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert shown.err.startswith(f"stagec: error: {said}")


def test_a_plan_that_is_refused_is_not_shown(tmp_path: Path, capfd: Shown) -> None:
    path = tmp_path / "x"
    path.write_bytes(dump(stages()).replace(b"Lint.", b"Lint!"))
    assert run(["plan", str(path)]) == 1
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"stagec: error: '{path}' is refused: it was changed: its bytes have the digest ")


def test_a_plan_is_read_from_standard_input(run: Run) -> None:
    assert run("plan", "-", text=dump(stages())).stdout.startswith(b"review: Review\n")


@pytest.mark.parametrize("arguments", [[], ["--format", "json"]])
def test_a_value_that_is_nested_deeply_stops_nothing(tmp_path: Path, arguments: list[str]) -> None:
    deep: Any = []
    for _ in range(90):  # plans are no deeper than 100
        deep = [deep]
    inputs = {**stages().inputs, "deep": Input(default=deep)}
    (tmp_path / "x").write_bytes(dump(replace(stages(), inputs=inputs)))
    assert run(["plan", str(tmp_path / "x"), *arguments]) == 0


# Names and texts that mean harm.

EVIL = {
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "line feed": "ok\n::error::owned\n##[error]owned",
    "github": "::error file=x,,owned",
    "azure": "##vso[task.complete result=Succeeded;]",
    "right to left": "\u202eabc\u2066\u200f",
    "separators": "a\u2028b\u2029c\x85d",
    "C1": "\x9b31m\x90",
    "markup": "<script>alert(1)</script> {{x}} {0} %s",
    "long": "x" * 10_000,
    "empty": "",
}
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
COMMANDS = re.compile(r"^\s*::(?!:)|##\[|##vso\[", re.MULTILINE)


def words(given: Any) -> Iterator[str]:
    """Yield the names of members and the texts that the format itself knows."""
    if isinstance(given, dict):
        yield from given.get("properties", {})
        yield from (each for each in (given.get("const"), *given.get("enum", ())) if isinstance(each, str))
        for each in given.values():
            yield from words(each)
    elif isinstance(given, list | tuple):
        for each in given:
            yield from words(each)


OUTCOMES = {"ok", "fail", "next", "repeat", "jump", "handoff", "closing", "escalate", "abort", "verdict"}
SCOPES = {"ctx", "variable", "stdin", "input", "failure", "this", "upstream"}
KNOWN = frozenset({*words(schema()), *OUTCOMES, *SCOPES})
"""What has a meaning of its own in a plan: with anything else in its place a plan is no plan."""


def poisoned(given: Any, names: Mapping[str, str]) -> Any:
    """Put other names in place of those of a plan, wherever they stand."""
    if isinstance(given, dict):
        return {names.get(name, name): poisoned(each, names) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [poisoned(each, names) for each in given]
    return names.get(given, given) if isinstance(given, str) else given


def texts(given: Any) -> Iterator[str]:
    if isinstance(given, dict):
        for name, each in given.items():
            yield name
            yield from texts(each)
    elif isinstance(given, list | tuple):
        for each in given:
            yield from texts(each)
    elif isinstance(given, str):
        yield given


def with_evil(plan: Plan, evil: str) -> Plan:
    """Put evil in front of every text of a plan that anybody but the format chose."""
    written = write(plan)
    changed = {name: _with_evil(text, evil) for name, text in plan.contents.items()}
    contents = {name: digest(text.encode()) for name, text in changed.items()}
    own = {
        text: f"{evil}{text}{evil}"
        for text in texts(written)
        if text not in KNOWN and ":" not in text and text not in plan.contents.values()
    }
    held = {contents[name]: text for name, text in changed.items()}
    given = {**json.loads(json.dumps(poisoned(written, {**own, **contents}))), "contents": held}
    return completed(load(write_frame(canonical(given))).plan)


def _with_evil(text: str, evil: str) -> str:
    """Put evil into a text; a schema is one still."""
    if not text.startswith("{"):
        return f"{evil}{text}{evil}"
    return json.dumps({"title": f"{evil}title{evil}", **json.loads(text)})


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
@pytest.mark.parametrize("plan", [steps(), stages()], ids=["steps", "stages"])
@pytest.mark.parametrize(
    "canvas", [Canvas(), Canvas(60, encoding="ascii"), Canvas(200)], ids=["file", "narrow", "wide"]
)
def test_evil_names_and_texts_do_no_harm(plan: Plan, evil: str, canvas: Canvas) -> None:
    loaded = verify(dump(with_evil(plan, evil)))
    pages = [Sheet(canvas) for _ in range(len(plan.nodes) + 1)]
    draw_overview(pages[0], loaded)
    for page, name in zip(pages[1:], loaded.plan.nodes, strict=True):
        draw_node_page(page, loaded.plan, name)
    told = "".join(page.text() for page in pages)
    told += format_plan(loaded) + "".join(format_node(loaded.plan, name) for name in loaded.plan.nodes)
    assert not RAW.search(told)
    assert not COMMANDS.search(told)
    assert plan.id in told
    assert canvas.encoding != "ascii" or told.isascii()


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_an_evil_plan_is_verified_on_one_harmless_line(tmp_path: Path, capfd: Shown, evil: str) -> None:
    (tmp_path / "x").write_bytes(dump(with_evil(steps(), evil)))
    assert run(["verify", str(tmp_path / "x")]) == 0
    told = capfd.readouterr().out
    assert (told.count("\n"), len(told) < 500, RAW.search(told), COMMANDS.search(told)) == (1, True, None, None)


def test_the_overview_of_a_stage_plan_has_what_each_stage_takes_with_all_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {"stageId": "S01_load_data", "goal": "Load the wine data", "inputs": {"raw": "data/wine.csv"}}
    second = {"stageId": "S02_plot_data", "goal": "Plot the wine data", "retryable": False, "checkpointAfter": False}
    reads = {"df": "S01_load_data/wine_df.csv", "map": "https://example.org/map.json"}
    stages = [
        {**first, "outputs": {"df": "wine_df.csv"}, "run": ["python3", "load.py"]},
        {**second, "inputs": reads, "outputs": {}, "maxDurationSec": 60.5},
    ]
    (tmp_path / "stages.json").write_text(json.dumps(stages), encoding="utf-8")
    assert run(["compile", str(tmp_path), "-o", str(tmp_path / "a.plan.json")]) == 0
    capsys.readouterr()
    assert run(["plan", str(tmp_path / "a.plan.json")]) == 0
    shown = [line.strip() for line in capsys.readouterr().out.partition("\nstages\n")[2].splitlines()]
    assert shown[:12] == [
        "S01_load_data  process  Load the wine data",
        "at once",
        "240 s, stopped after 270 s; at most 3 attempts; a checkpoint",
        "reads raw: data/wine.csv",
        "leaves df: wine_df.csv",
        "runs python3 load.py",
        "S02_plot_data  process  Plot the wine data",
        "after S01_load_data",
        "60.5 s, stopped after 90.5 s; one attempt; no checkpoint",
        "reads df: S01_load_data/wine_df.csv, map: https://example.org/map.json",
        "runs the program of --executor",
        "",
    ]
