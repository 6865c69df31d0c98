"""Functions of modules as tools: how they are described, and that a call cannot harm the run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playable import steps

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.runtime.world.tools.callable_host import UnfitError, _make_schema
from stagec.runtime.world.tools.programs import ToolSetting, open_modules
from stagec.runtime.world.tools.toolbox import Toolbox

SOURCE = '''
import asyncio, os, sys, threading, time
from typing import Annotated, Literal

print("imported")
PLACES = {"here": 1}

def lookup(page: Annotated[str, "Which page"], many: int = 1, how: Literal["fast", "slow"] | None = None) -> dict:
    """Look a page up.

    It is found in a book."""
    print("looking")
    os.write(1, b"past sys.stdout")
    return {"page": page, "many": many, "key": os.environ["STAGEC_IDEMPOTENCY_KEY"], "sees": os.environ["MY_KEY"]}

async def wait(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "over"

def leave() -> None: sys.exit("gone")
def crash() -> None: os._exit(5)
def hang() -> None: time.sleep(60)
def stay() -> str:
    threading.Thread(target=time.sleep, args=(60,)).start()
    return "done"
def fail() -> None: raise ValueError("no such page: 0123456789abcdef")
def give(what: str): return {"set": {1}, "nan": float("nan"), "long": "x" * 5_000_000}[what]
def _private() -> None: ...

lookup.effects = "read"
fail.schema = {"type": "object", "properties": {"a": {"const": 1}}}
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "books.py").write_text(SOURCE)
    (tmp_path / "files.py").write_text("import books\nfrom books import lookup as find\n__all__ = ['find']\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("raise OSError('no disk')")
    (tmp_path / "unfit.py").write_text("def f(a: 'set[int]'): ...")
    (tmp_path / "senseless.py").write_text("def f(a): ...\nf.schema = {'type': 'nothing'}")
    monkeypatch.setenv("MY_KEY", "value")
    return tmp_path


def _open(folder: Path, *modules: str, seconds: float = 60) -> Toolbox:
    redactor = Redactor({"API_TOKEN": "0123456789abcdef"})
    return Toolbox(steps(), (open_modules(modules, ToolSetting(str(folder), "r", (), seconds), redactor),), redactor)


def _call(toolbox: Toolbox, tool: str, **arguments: Json) -> Json:
    told = toolbox.call("r/a#1/1.0", tool, arguments)
    error = told.get("error")
    return told["value"] if not isinstance(error, dict) else f"{error['code']}: {error['message']}"


def test_functions_are_described_by_their_annotations(folder: Path) -> None:
    toolbox = _open(folder, "books")
    assert toolbox.names == ("lookup", "wait", "leave", "crash", "hang", "stay", "fail", "give")
    lookup, fail = toolbox.define(("lookup", "fail"))
    assert lookup.description == "Look a page up.\n\nIt is found in a book."
    assert (lookup.effects, fail.effects) == ("read", "unknown")
    assert lookup.schema == {
        "type": "object",
        "properties": {
            "page": {"type": "string", "description": "Which page"},
            "many": {"type": "integer"},
            "how": {"anyOf": [{"enum": ["fast", "slow"]}, {"type": "null"}]},
        },
        "required": ["page"],
        "additionalProperties": False,
    }
    assert fail.schema == {"type": "object", "properties": {"a": {"const": 1}}}


def test_a_call_returns_what_the_function_returns_whatever_it_prints(folder: Path) -> None:
    toolbox = _open(folder, "books")
    assert _call(toolbox, "lookup", page="a") == {"page": "a", "many": 1, "key": "r/a#1/1.0", "sees": "value"}
    assert _call(toolbox, "wait", seconds=0.01) == "over"
    assert _call(toolbox, "stay") == "done"
    assert str(_call(toolbox, "lookup", page=1)).startswith("InvalidArguments: ")
    assert str(_call(toolbox, "lookup", page="a", other=1)).startswith("InvalidArguments: ")


def test_whatever_becomes_of_a_call_the_run_goes_on(folder: Path) -> None:
    toolbox = _open(folder, "books", seconds=10)
    assert _call(toolbox, "leave") == "Failed: SystemExit: gone"
    assert str(_call(toolbox, "crash")).startswith("Failed: it ended with status 5")
    assert _call(toolbox, "fail") == "Failed: ValueError: no such page: [redacted]"
    assert "not JSON serializable" in str(_call(toolbox, "give", what="set"))
    assert _call(toolbox, "give", what="nan") == "Failed: its result cannot be read: NaN is not a JSON number"
    assert "its result is too long" in str(_call(toolbox, "give", what="long"))


def test_a_call_has_its_time(folder: Path) -> None:
    assert "stopped after 3 s" in str(_call(_open(folder, "books", seconds=3), "hang"))


def test_a_module_says_by_all_which_functions_are_tools(folder: Path) -> None:
    toolbox = _open(folder, "files")
    assert toolbox.names == ("find",)
    assert _call(toolbox, "find", page="a") == {"page": "a", "many": 1, "key": "r/a#1/1.0", "sees": "value"}


@pytest.mark.parametrize(
    ("modules", "why"),
    [
        (("nowhere",), "--tools 'nowhere' cannot be used: ModuleNotFoundError: No module named 'nowhere'"),
        (("broken",), "cannot be used: OSError: no disk"),
        (("empty",), "cannot be used: it has no functions"),
        (("unfit",), "the type of 'a' of 'f' is not a type of JSON: give the function an attribute 'schema'"),
        (("senseless",), "--tools 'senseless': the schema of 'f' cannot be used"),
        (("a\0b",), "cannot be used"),
        (("",), "cannot be used"),
    ],
    ids=str,
)
def test_a_module_that_cannot_be_used_refuses_the_run(modules: tuple[str, ...], why: str, folder: Path) -> None:
    with pytest.raises(Failure) as caught:
        _open(folder, *modules)
    assert why in str(caught.value)


def test_two_modules_may_not_have_one_tool(folder: Path) -> None:
    (folder / "more.py").write_text("def lookup(): ...")
    with pytest.raises(Failure, match="another module has a tool 'lookup', too"):
        _open(folder, "books", "more")


def test_parameters_that_cannot_be_named_are_refused() -> None:
    def by_position(a: int, /) -> None: ...
    def more(*a: int) -> None: ...
    def named(a: list[int], b: dict[str, bool | None], **more: int) -> None: ...

    for each in (by_position, more):
        with pytest.raises(UnfitError, match="takes 'a' by position"):
            _make_schema("f", each)
    assert _make_schema("f", named) == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "integer"}},
            "b": {"type": "object", "additionalProperties": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}},
        },
        "required": ["a", "b"],
        "additionalProperties": True,
    }


def test_the_host_imports_nothing_of_stagec(folder: Path) -> None:
    host = Path(sys.modules[UnfitError.__module__].__file__ or "")
    (folder / "look.py").write_text("import sys\ndef f(): return [each for each in sys.modules if 'stagec' in each]")
    asked = json.dumps({"tool": "f", "arguments": {}})
    told = subprocess.run(
        [sys.executable, "-P", str(host), "look"], input=asked, cwd=folder, capture_output=True, text=True, check=True
    )
    assert json.loads(told.stdout) == {"value": []}
