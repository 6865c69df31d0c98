"""Bundled tools: what they do inside their folder, and that nothing leads out of it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from threading import Thread

import pytest
from playable import steps

from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.ir.plan.document import Tool
from stagec.runtime.machine.exchange import Call, Confirm
from stagec.runtime.world.tools.files import FileTools, NamePattern
from stagec.runtime.world.tools.programs import ShellTool, ToolSetting
from stagec.runtime.world.tools.toolbox import LONGEST, Toolbox


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (folder / "src" / "b.py").write_text("x = 1\ny = x\n")
    (folder / "src" / "deep" / "c.py").write_text("two = 2\n")
    (tmp_path / "secret.txt").write_text("outside")
    return folder


@pytest.fixture
def toolbox(root: Path) -> Toolbox:
    redactor = Redactor({"API_TOKEN": "0123456789abcdef"})
    return Toolbox(steps(), (FileTools(root), ShellTool(ToolSetting(str(root), "r"), redactor)), redactor)


def _call(toolbox: Toolbox, tool: str, **arguments: Json) -> Json:
    told = toolbox.call("r/a#1/1.0", tool, arguments)
    if "error" in told:
        error: Json = told["error"]
        assert isinstance(error, dict)
        return f"error: {error['message']}"
    return told["value"]


def test_a_file_is_read_whole_or_in_part(toolbox: Toolbox) -> None:
    assert _call(toolbox, "Read", path="a.txt") == "one\ntwo\nthree"
    assert _call(toolbox, "read", path="a.txt", offset=2, limit=1) == "two\n[1 more lines]"


def test_a_plan_may_call_arguments_as_other_hosts_do(root: Path) -> None:
    schema = {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}
    plan = replace(steps(), tools={"Read": Tool("bundled", "read", schema="s")}, contents={"s": json.dumps(schema)})
    toolbox = Toolbox(plan, (FileTools(root),), Redactor())
    assert _call(toolbox, "Read", file_path="a.txt") == "one\ntwo\nthree"
    assert "required property" in str(_call(toolbox, "Read", path="a.txt"))


def test_a_file_is_written_with_its_folders(toolbox: Toolbox, root: Path) -> None:
    assert _call(toolbox, "Write", path="new/er/d.txt", content="é") == "wrote 2 bytes to new/er/d.txt"
    assert (root / "new" / "er" / "d.txt").read_text() == "é"


def test_a_text_is_replaced_where_it_is_clear_which(toolbox: Toolbox, root: Path) -> None:
    assert _call(toolbox, "Edit", path="a.txt", old_string="two", new_string="2") == "replaced 1 in a.txt"
    assert (root / "a.txt").read_text() == "one\n2\nthree\n"
    assert "2 times" in str(_call(toolbox, "Edit", path="src/b.py", old_string="x", new_string="z"))
    assert "not in the file" in str(_call(toolbox, "Edit", path="a.txt", old_string="nine", new_string="9"))
    assert "not in the file" in str(_call(toolbox, "Edit", path="a.txt", old_string="", new_string="9"))
    _call(toolbox, "Edit", path="src/b.py", old_string="x", new_string="z", replace_all=True)
    assert (root / "src" / "b.py").read_text() == "z = 1\ny = z\n"


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("**/*.py", "src/b.py\nsrc/deep/c.py"),
        ("*.txt", "a.txt"),
        ("src/*.py", "src/b.py"),
        ("**", "a.txt\nsrc/b.py\nsrc/deep/c.py"),
        ("?.txt", "a.txt"),
        ("*.md", "nothing is found"),
    ],
)
def test_files_are_found_by_name(pattern: str, wanted: str, toolbox: Toolbox) -> None:
    assert _call(toolbox, "Glob", pattern=pattern) == wanted


def test_lines_are_found_by_what_they_have(toolbox: Toolbox) -> None:
    assert _call(toolbox, "Grep", pattern="two") == "a.txt:2: two\nsrc/deep/c.py:1: two = 2"
    assert _call(toolbox, "Grep", pattern="two", glob="*.py") == "src/deep/c.py:1: two = 2"
    assert _call(toolbox, "Grep", pattern="two", path="src") == "src/deep/c.py:1: two = 2"
    assert _call(toolbox, "Grep", pattern="two", path="a.txt") == "a.txt:2: two"
    assert _call(toolbox, "Grep", pattern="t.o") == "nothing is found"


OUT = ("../secret.txt", "src/../../secret.txt", "link.txt", "folder/secret.txt", "{outside}")


@pytest.mark.parametrize("path", OUT)
@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "Glob", "Grep"])
def test_nothing_leads_out_of_the_folder(path: str, tool: str, toolbox: Toolbox, root: Path) -> None:
    outside = root.parent / "secret.txt"
    (root / "link.txt").symlink_to(outside)
    (root / "folder").symlink_to(root.parent)
    given = {
        "path": path.format(outside=outside),
        "content": "x",
        "old_string": "outside",
        "new_string": "x",
        "pattern": "out",
    }
    assert "outside the working folder" in str(_call(toolbox, tool, **given))
    assert outside.read_text() == "outside"


def test_a_search_follows_no_links(toolbox: Toolbox, root: Path) -> None:
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "folder").symlink_to(root.parent)
    assert _call(toolbox, "Grep", pattern="outside") == "nothing is found"


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("Read", {}, '"path" is a required property'),
        ("Read", {"path": 3}, "/path: 3 is not a string"),
        ("Read", {"path": "none.txt"}, "No such file"),
        ("Read", {"path": "src"}, "is not a regular file"),
        ("Read", {"path": "a\0b"}, "null"),
        ("Read", {"path": "a.txt", "offset": -1}, "must be a whole number"),
        ("Read", {"path": "a.txt", "offset": True}, "/offset: true is not an integer"),
        ("Write", {"path": "src", "content": "x"}, "directory"),
        ("Write", {"path": "a.txt/b", "content": "x"}, "directory"),
        ("Bash", {"command": "true", "timeout": "long"}, '/timeout: "long" is not an integer'),
        ("Bash", {}, '"command" is a required property'),
        ("Nothing", {}, "nothing executes the tool"),
    ],
)
def test_what_cannot_be_done_is_told(tool: str, arguments: dict[str, Json], why: str, toolbox: Toolbox) -> None:
    assert why in str(_call(toolbox, tool, **arguments))


def test_arguments_that_are_no_object_are_told(toolbox: Toolbox) -> None:
    assert "not an object" in str(toolbox.call("k", "Read", "[1"))


def test_a_command_runs_in_the_folder(toolbox: Toolbox, root: Path) -> None:
    told = _call(toolbox, "Bash", command="pwd; echo $STAGEC_IDEMPOTENCY_KEY; exit 3")
    assert told == {"exit": 3, "stdout": f"{os.path.realpath(root)}\nr/a#1/1.0\n", "stderr": ""}


def test_a_command_has_its_time(toolbox: Toolbox) -> None:
    told = _call(toolbox, "bash", command="sleep 60", timeout=1)
    assert "stopped after 1 s" in str(told)


def test_a_command_sees_no_keys(toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-commands")
    assert "not-for-commands" not in str(_call(toolbox, "Bash", command="env"))


def test_a_command_is_cancelled(toolbox: Toolbox) -> None:
    told: list[Json] = []
    thread = Thread(target=lambda: told.append(_call(toolbox, "Bash", command="sleep 60")))
    thread.start()
    time.sleep(0.5)
    toolbox.cancel("r/a#1/1.0")
    thread.join(10)
    assert told


def test_secrets_and_long_results_are_cut(toolbox: Toolbox, root: Path) -> None:
    (root / "long.txt").write_text("0123456789abcdef " + "x" * 200_000)
    told = str(_call(toolbox, "Read", path="long.txt"))
    assert "0123456789abcdef" not in told
    assert LONGEST < len(told) < LONGEST + 100
    assert told.endswith("characters are left out]")
    assert "0123456789abcdef" not in str(_call(toolbox, "Bash", command="cat long.txt | head -c 100"))


def test_definitions_are_what_a_model_is_told(toolbox: Toolbox) -> None:
    read, other = toolbox.define(("Read", "run_tests"))
    assert read.description == "Read a text file."
    assert read.schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "A path, relative to the working folder"},
            "offset": {"type": "integer", "description": "The first line, from 1"},
            "limit": {"type": "integer", "description": "How many lines"},
        },
        "required": ["path"],
    }
    assert (other.name, other.schema) == ("run_tests", None)


def test_calls_of_stages_are_taken_where_a_tool_is_there(toolbox: Toolbox) -> None:
    call = Call("r/a#1/1.0", "Read", {"path": "a.txt"})
    assert toolbox.takes(call)
    assert toolbox.answer(call) == {"value": "one\ntwo\nthree"}
    assert not toolbox.takes(Call("r/a#1/1.0", "run_tests", {}))
    assert not toolbox.takes(Confirm("r/a#1/1.0", "?"))


@pytest.mark.parametrize(("pattern", "name"), [("a[b", "a[b"), ("*.{py}", "x.{py}"), ("a+b", "a+b")])
def test_everything_but_stars_and_question_marks_is_itself(pattern: str, name: str) -> None:
    assert NamePattern(pattern).matches(name)
