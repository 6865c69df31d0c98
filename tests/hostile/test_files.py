"""What is no ordinary file: links, pipes, devices, folders, names nobody can have, and far too many of them."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaigns import choose

Registry = Callable[..., dict[str, Any]]
FILES = ("steps_registry.json", "agent.json", "schemas/s.schema.json", "prompts/p.md")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Make a folder beside the project whose content must never be seen."""
    folder = tmp_path / "outside"
    (folder / "schemas").mkdir(parents=True)
    for name in ("steps_registry.json", "s.schema.json", "p.md", "schemas/s.schema.json"):
        (folder / name).write_text('{"secret": "sesame", "secret": "sesame"', encoding="utf-8")
    return folder


def replace(root: Path, file: str) -> Path:
    """Take a file of the project away and return where it was."""
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return path


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("target", ["absolute", "relative", "by two links", "the password file", "a device"])
def test_link_to_a_file_outside(
    project: Path, outside: Path, write: Any, attack: Any, registry: Registry, file: str, target: str
) -> None:
    write("steps_registry.json", registry())
    link, secret = replace(project, file), outside / "s.schema.json"
    (project / "hop").symlink_to(secret)
    targets = {
        "absolute": str(secret),
        "relative": os.path.relpath(secret, link.parent),
        "by two links": str(project / "hop"),
        "the password file": "/etc/passwd",
        "a device": "/dev/zero",
    }
    link.symlink_to(targets[target])
    ended = attack()
    assert ended.codes & {"STG102", "STG117", "STG101"}
    assert "sesame" not in ended.out
    assert "root:" not in ended.out


@pytest.mark.parametrize("folder", ["agents/a", "agents", "schemas", "prompts"])
def test_link_to_a_folder_outside(
    project: Path, outside: Path, write: Any, attack: Any, registry: Registry, folder: str
) -> None:
    write("steps_registry.json", registry())
    (project / folder).parent.mkdir(exist_ok=True)
    (project / folder).symlink_to(outside)
    ended = attack()
    assert ended.codes & {"STG117", "STG102"}
    assert "sesame" not in ended.out


def test_project_that_is_a_link(project: Path, write: Any, attack: Any, registry: Registry) -> None:
    write("real/steps_registry.json", registry({}))
    (project / "link").symlink_to(project / "real")
    attack("--root", "link")
    attack("link")


@pytest.mark.parametrize("file", FILES)
def test_link_to_itself(project: Path, write: Any, attack: Any, registry: Registry, file: str) -> None:
    write("steps_registry.json", registry())
    replace(project, file).symlink_to(project / file)
    assert attack(file).codes or file == "prompts/p.md"
    attack()


def test_folders_that_link_to_each_other(project: Path, write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry({}))
    for name in ("a", "b", "schemas", "prompts"):
        (project / name).mkdir()
    for place in ("a/up", "b/up", "schemas/up", "prompts/up", "up"):
        (project / place).symlink_to(project)
    (project / "a/b").symlink_to(project / "b")
    (project / "b/a").symlink_to(project / "a")
    attack()


def test_a_hundred_thousand_ways_through_links(project: Path, write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry({}))
    for number in range(40):
        (project / f"d{number}").mkdir()
        for name in ("left", "right"):
            (project / f"d{number}" / name).symlink_to(project / f"d{number + 1}")
    attack()


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "unreadable"])
def test_no_file(project: Path, write: Any, attack: Any, registry: Registry, file: str, kind: str) -> None:
    write("steps_registry.json", registry())
    path = replace(project, file)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(path.parent)  # the name of a socket may have a hundred characters only
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
        os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    else:
        write(file, "{}").chmod(0)
    attack()
    attack(file)


NAMES = {
    "nothing": "",
    "dot": ".",
    "slash": "/",
    "above": "..",
    "device": "/dev/zero",
    "password file": "../../../../../../../etc/passwd",
    "NUL": "\0",
    "NUL inside": "a\0b.json",
    "surrogate": "\ud800",
    "10 kB": "x" * 10_000,
    "10 kB of folders": "x/" * 5_000 + "y",
    "a megabyte": "x/" * 400_000,
    "dots": "../" * 100_000,
    "backslashes": "..\\..\\..\\etc\\passwd",
    "drive": "C:\\x.json",
    "address": "http://127.0.0.1:9/x.json",
    "tilde": "~/x.json",
    "itself": "agent.json",
    "blank": " ",
    "pipe": "pipe",
    "number": 7,
    "array": ["x"],
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_agent_that_names_anything(project: Path, write: Any, attack: Any, name: object) -> None:
    os.mkfifo(project / "pipe")
    write("agent.json", {"runner": {"flow": {"prompts": {"registry": name}}}})
    attack("agent.json")


@pytest.mark.parametrize("member", ["schemasBase", "userPromptsBase"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_registry_whose_folders_are_anything(
    project: Path, write: Any, attack: Any, registry: Registry, name: object, member: str
) -> None:
    os.mkfifo(project / "pipe")
    write("steps_registry.json", registry(**{member: name}))
    attack()


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_step_whose_schema_is_anything(
    project: Path, write: Any, attack: Any, registry: Registry, make_step: Any, name: object
) -> None:
    (project / "schemas").mkdir()
    os.mkfifo(project / "schemas/pipe")
    write("steps_registry.json", registry({"a": {**make_step("a"), "outputSchemaRef": {"file": name, "schema": "a"}}}))
    attack()


@pytest.mark.parametrize(
    "name", [name for name in NAMES.values() if isinstance(name, str) and not {"\0", "\ud800"} & {*name}]
)
def test_argument_that_is_anything(write: Any, attack: Any, registry: Registry, name: str) -> None:
    write("steps_registry.json", registry({}))
    short = name[:100_000]
    for arguments in ((short,), ("--root", short), ("--stdin-filename", short, "-")):
        attack(*arguments) if short != "/" else None


def test_huge_folder(project: Path, write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry({}))
    for folder in ("", "schemas/", "prompts/", "x/"):
        (project / folder).mkdir(exist_ok=True)
        for number in range(5_000):
            (project / f"{folder}f{number}").touch()
    attack()


def test_deep_folders(project: Path, write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry({}))
    for top in (project, project / "schemas", project / "prompts"):
        top.mkdir(exist_ok=True)
        folder = os.open(top, os.O_RDONLY)
        for _ in range(900):
            os.mkdir("deeper", dir_fd=folder)
            below = os.open("deeper", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = below
        os.close(folder)
    attack(seconds=2.0)


GITIGNORES = {
    "stars": "*a*" * 30_000,
    "stars in lines": "*a*b*c*d*?\n" * 9_000,
    "distinct stars": "".join(f"*a{number}*b?\n" for number in range(7_000)),
    "any depth": "**/a/" * 20_000,
    "any depth in lines": "**/a/**/b/**/c\n" * 6_000,
    "brackets": "[" * 99_000,
    "sets": "[!a-z]" * 16_000,
    "back and forth": "*\n!*\n" * 20_000,
    "everything but": "!*\n" * 33_000,
    "NUL": "\0" * 99_000,
    "backslashes": "\\" * 99_000,
    "not UTF-8": b"\xff" * 99_000,
    "backtracking": "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n",
}


@pytest.mark.parametrize("text", GITIGNORES.values(), ids=GITIGNORES)
def test_gitignore(project: Path, write: Any, attack: Any, registry: Registry, text: str | bytes) -> None:
    write("steps_registry.json", registry({}))
    write(".gitignore", text)
    for folder in range(10):
        for number in range(30):
            write(f"{'a' * 100}{folder}/{'a' * 100}{number}/agent.json", {})
    attack(".", "steps_registry.json", seconds=2.0)


PATTERN = "*a*b?c" * 1_000
CONFIGURATIONS = {
    "deep arrays": "roots = " + "[" * 100_000,
    "deep tables": "a = " + "{a = " * 100_000,
    "dotted": "a." * 100_000 + "b = 1",
    "headers": "[a" + ".a" * 100_000 + "]",
    "unknown keys": "".join(f"k{number} = 1\n" for number in range(50_000)),
    "repeated keys": "roots = []\n" * 50_000,
    "open string": 'roots = ["',
    "text": "x" * 900_000,
    "NUL": "\0",
    "not UTF-8": b"\xff",
    "50 MB": b" " * 50_000_000,
    "escape": 'select = ["\\u001b[2J::error::x"]',
    "escape as key": '"\\u001b[2J\\n::error::x" = 1',
    "many selectors": "select = [" + '"STGX",' * 100_000 + "]",
    "many good selectors": "select = [" + '"STG1",' * 100_000 + "]",
    "severities": "[severity]\n" + "".join(f"STG{number} = 'off'\n" for number in range(30_000)),
    "roots outside": 'roots = ["../outside", "/etc"]',
    "roots": "roots = [" + '".",' * 100_000 + "]",
    "roots of the wrong type": "roots = [" + "0," * 400_000 + "]",
    "roots that are missing": "roots = [" + '"x",' * 100_000 + "]",
    "root with NUL": 'roots = ["\\u0000"]',
    "root of 10 kB": f'roots = ["{"x" * 10_000}"]',
    "root of many folders": f'roots = ["{"x/" * 100_000}"]',
    "exclude": f'exclude = ["{PATTERN}", "[", "**/**/**/a"]',
    "many excludes": "exclude = [" + f'"{"*a" * 20}",' * 20_000 + "]",
    "include": f'include = ["{PATTERN}"]',
    "huge budgets": "budgets.file-size = 99999999999999999999999999\nbudgets.depth = 99999999999",
    "infinite budgets": "budgets.depth = inf",
    "negative budgets": "budgets.depth = -1\nbudgets.nodes = 0",
    "large depth": "budgets.depth = 1000000",
    "required version": f'required-version = "{">=0," * 100_000}"',
    "required digits": f'required-version = ">={"9" * 100_000}"',
    "number": "budgets.depth = " + "9" * 100_000,
    "date": "budgets.depth = 2020-02-30",
}


@pytest.mark.parametrize("file", ["stagec.toml", "pyproject.toml"])
@pytest.mark.parametrize("text", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_configuration(write: Any, attack: Any, registry: Registry, text: str | bytes, file: str) -> None:
    write("steps_registry.json", registry({}))
    write("agent.json", "[" * 200 + "]" * 200)
    if file == "pyproject.toml":
        data = text if isinstance(text, bytes) else text.replace("\n[", "\n[tool.stagec.").encode()
        text = b"[tool.stagec]\n" + data
    write(file, text)
    attack(seconds=2.0)


@pytest.mark.parametrize("file", ["stagec.toml", "pyproject.toml", ".gitignore"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link out", "loop", "device"])
def test_configuration_that_is_no_file(
    project: Path, outside: Path, write: Any, attack: Any, registry: Registry, file: str, kind: str
) -> None:
    write("steps_registry.json", registry({}))
    path = project / file
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"link out": outside / "p.md", "loop": path, "device": "/dev/zero"}[kind])
    ended = attack()
    assert "sesame" not in ended.out + ended.err


def test_very_many_steps_under_a_raised_budget(write: Any, attack: Any) -> None:
    steps = ",".join(f'"s{number}":{{}}' for number in range(choose(80_000, full=100_000, whole=200_000)))
    write("steps_registry.json", '{"agentId":"a","version":"1.0.0","c1":"s","steps":{' + steps + "}}")
    assert attack(seconds=12.0, megabytes=1_000, STAGEC_BUDGET_FILE_SIZE="100000000").codes


def test_deep_value_under_a_raised_budget(write: Any, attack: Any, registry: Registry) -> None:
    deep: Any = json.loads("[" * 190 + "]" * 190)
    write("steps_registry.json", registry({"a": {"x": deep}}, y=deep))
    write("schemas/s.json", '{"not":' * 190 + "{}" + "}" * 190)
    attack(STAGEC_BUDGET_DEPTH="200")
