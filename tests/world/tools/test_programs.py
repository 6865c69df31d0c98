"""Programs as tools: what they are given, how they end, and that nothing of a call becomes words of a shell."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from playable import steps
from processes import is_alive

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.ir.plan.document import Tool
from stagec.runtime.world.tools.programs import ProgramTools, ToolSetting, list_configured, list_planned, read_plain
from stagec.runtime.world.tools.toolbox import LONGEST, Toolbox

KEY = "r/a#1/1.0"
Call = Callable[..., Object]
ECHO = "import sys; sys.stdout.write(sys.stdin.read())"


@pytest.fixture
def call(tmp_path: Path) -> Call:
    def make(source: str, arguments: Json, seconds: float = 60, *more: str) -> Object:
        words = (sys.executable, "-I", "-S", "-c", source, *more)
        setting = ToolSetting(str(tmp_path), "r", (), seconds)
        redactor = Redactor({"API_TOKEN": "0123456789abcdef"})
        return Toolbox(steps(), (ProgramTools(list_configured({"t": words}), setting, redactor),), redactor).call(
            KEY, "t", arguments
        )

    return make


def _explain(told: Object) -> str:
    error = told["error"]
    assert isinstance(error, dict)
    return f"{error['code']}: {error['message']}"


def test_arguments_are_one_line_of_json_and_words_stay_what_they_are(call: Call) -> None:
    hostile = {"a": "x\n$(touch here); é \u0000", "b": [1, {"c": None}]}
    source = "import json, sys; print(json.dumps([sys.stdin.readline(), sys.stdin.read(), sys.argv[1:]]))"
    told = call(source, hostile, 60, "$(touch there)", "; exit 1")
    value = told["value"]
    assert isinstance(value, list)
    assert json.loads(str(value[0])) == hostile
    assert value[1:] == ["", ["$(touch there)", "; exit 1"]]


def test_a_program_knows_its_call_and_its_folder_and_no_keys(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-tools")
    told = call("import json, os; print(json.dumps({**os.environ, 'in': os.getcwd()}))", {})["value"]
    assert isinstance(told, dict)
    assert (told["STAGEC_IDEMPOTENCY_KEY"], told["STAGEC_RUN_ID"], told["STAGEC_TOOL"]) == (KEY, "r", "t")
    assert told["in"] == str(tmp_path)
    assert "OPENAI_API_KEY" not in told


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("plain\n", "plain"),
        ("", ""),
        ('{"a": 1}\n', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ("42\n", "42"),
        ('"text"', '"text"'),
        ("{no json", "{no json"),
        ("[" * 100_000, "[" * 100_000),
        ("[project]\nname = 1\n", "[project]\nname = 1"),
    ],
)
def test_an_object_or_an_array_is_one_and_everything_else_is_text(output: str, value: Json) -> None:
    assert read_plain(output) == value


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import sys; sys.exit('no such page')", "Failed: it ended with status 1: no such page"),
        ("print('half done'); raise SystemExit(7)", "Failed: it ended with status 7: half done"),
        ("raise SystemExit(3)", "Failed: it ended with status 3"),
        ("import os; os.kill(os.getpid(), 9)", "Failed: it was ended"),
        ("import sys; sys.exit('0123456789abcdef')", "Failed: it ended with status 1: [redacted]"),
    ],
)
def test_how_a_program_fails_is_told(source: str, why: str, call: Call) -> None:
    assert _explain(call(source, {})) == why


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    tools = ProgramTools(list_configured({"t": (str(tmp_path / "none"),)}), ToolSetting(str(tmp_path)), Redactor())
    assert "could not be started" in _explain(Toolbox(steps(), (tools,), Redactor()).call(KEY, "t", {}))


def test_halves_of_characters_are_told_as_something_that_can_be_sent(call: Call) -> None:
    assert call(ECHO, {"a\ud800": ["\udfff", "\U0001f600"]}) == {"value": '{"a\\ud800":["\\udfff","\\ud83d\\ude00"]}'}
    assert call("print(chr(92) + 'ud800')", {}) == {"value": "\\ud800"}


def test_a_program_need_not_read_what_it_is_given(call: Call) -> None:
    large = {"a": "x" * 3_000_000}
    assert call("print('done')", large) == {"value": "done"}
    assert call("import os; os.close(0); print('closed')", large) == {"value": "closed"}
    assert call("import sys; print(len(sys.stdin.read()))", large) == {"value": str(len('{"a":""}\n') + 3_000_000)}


def test_a_program_has_its_time_and_nothing_of_it_is_left(call: Call, tmp_path: Path) -> None:
    source = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    assert "stopped after 3 s" in _explain(call(source, {"a": "x" * 1_000_000}, 3))
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_an_output_without_end_is_cut_and_secrets_are_taken_out(call: Call) -> None:
    told = str(call("print('0123456789abcdef ' * 1_000_000)", {})["value"])
    assert LONGEST < len(told) < LONGEST + 100
    assert "0123456789abcdef" not in told


def test_a_call_is_cancelled(tmp_path: Path) -> None:
    words = (sys.executable, "-c", "import time; open('begun', 'w').close(); time.sleep(60)")
    tools = ProgramTools(list_configured({"t": words}), ToolSetting(str(tmp_path)), Redactor())
    toolbox, told = Toolbox(steps(), (tools,), Redactor()), list[Object]()
    thread = Thread(target=lambda: told.append(toolbox.call(KEY, "t", {})))
    thread.start()
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    toolbox.cancel(KEY)
    thread.join(20)
    assert _explain(told[0]) == "Failed: it was ended"


def test_a_call_that_is_cancelled_before_it_begins_ends_at_once(tmp_path: Path) -> None:
    words = (sys.executable, "-c", "import time; time.sleep(60)")
    tools = ProgramTools(list_configured({"t": words}), ToolSetting(str(tmp_path)), Redactor())
    tools.cancel(KEY)
    assert "could not be started" in str(Toolbox(steps(), (tools,), Redactor()).call(KEY, "t", {}))


def test_a_tool_of_a_plan_has_its_command_its_description_and_its_schema(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 9}}, "required": ["a"]}
    tool = Tool("discovered", "read", schema="s", description="Count.", command=(sys.executable, "-c", ECHO))
    plan = replace(
        steps(), tools={"count": tool, "other": Tool("unknown", "unknown")}, contents={"s": json.dumps(schema)}
    )
    toolbox = Toolbox(plan, (ProgramTools(list_planned(plan), ToolSetting(str(tmp_path)), Redactor()),), Redactor())
    (found,) = toolbox.define(("count",))
    assert (found.description, found.schema, found.effects, found.origin) == ("Count.", schema, "read", "discovered")
    assert toolbox.call(KEY, "count", {"a": 3}) == {"value": {"a": 3}}
    for wrong in ({}, {"a": "3"}, {"a": 10}):
        assert _explain(toolbox.call(KEY, "count", wrong)).startswith("InvalidArguments: the arguments do not satisfy")
    assert "nothing executes the tool" in _explain(toolbox.call(KEY, "other", {}))


def test_what_the_user_names_comes_before_what_a_plan_names(tmp_path: Path) -> None:
    plan = replace(steps(), tools={"t": Tool("discovered", "read", command=("false",))})
    setting = ToolSetting(str(tmp_path))
    mine = ProgramTools(list_configured({"t": (sys.executable, "-c", "print('mine')")}), setting, Redactor())
    theirs = ProgramTools(list_planned(plan), setting, Redactor())
    assert Toolbox(plan, (mine, theirs), Redactor()).call(KEY, "t", {}) == {"value": "mine"}
