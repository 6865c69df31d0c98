"""Two modules change what is on a disk; every other one asks them to."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from laws.modules import PACKAGE, offenders, tree_of, walk

ALONE = {"core/disk.py", "core/folders.py"}
"""The modules that write: the one files, the other folders."""
JOURNALS = {"runtime/drivers/local/journal_file.py", "runtime/world/commands.py"}
"""What keeps files open for as long as a run lasts, which no replacing can do."""
WRITING_METHODS = {"write_text", "write_bytes", "touch", "mkdir", "symlink_to", "hardlink_to", "unlink", "rmdir"}
"""Methods of paths that no other class has."""
OS_FUNCTIONS = WRITING_METHODS | {
    *("replace", "rename", "renames", "makedirs", "mknod", "mkfifo", "link", "symlink", "remove", "removedirs"),
    *("truncate", "ftruncate", "chmod", "fchmod", "lchmod", "chown", "fchown", "lchown", "utime"),
}
MODULES_THAT_WRITE = {"tempfile", "shutil", "fileinput", "shelve", "dbm"}
READING = {"O_RDONLY", "O_DIRECTORY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_NOCTTY", "O_PATH"}


def writes(tree: ast.AST) -> list[str]:
    """Return what in a module changes files."""
    found = [ast.unparse(node) for node in walk(tree) if isinstance(node, ast.Call) and _writes(node)]
    names = {name for node in walk(tree) for name in _imported(node)}
    return found + sorted(f"import {name}" for name in names & MODULES_THAT_WRITE)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name.partition(".")[0] for each in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "os":
        return ["tempfile"] if {each.name for each in node.names} & OS_FUNCTIONS else []
    return [(node.module or "").partition(".")[0]] if isinstance(node, ast.ImportFrom) and not node.level else []


def _writes(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id == "open" and _opens_to_write(call, 1)
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
    if owner == "os":
        return call.func.attr in OS_FUNCTIONS or (call.func.attr == "open" and _has_other_flags(call))
    if call.func.attr == "open" and owner != "self":
        return _opens_to_write(call, 1 if owner in {"io", "codecs"} else 0)
    return call.func.attr in WRITING_METHODS or (call.func.attr in {"replace", "rename"} and _is_path(call))


def _opens_to_write(call: ast.Call, position: int) -> bool:
    modes = [*call.args[position : position + 1], *(each.value for each in call.keywords if each.arg == "mode")]
    return any(not isinstance(mode, ast.Constant) or set(str(mode.value)) & set("wax+") for mode in modes)


def _has_other_flags(call: ast.Call) -> bool:
    """Tell whether a file is opened with flags other than those of reading; the null device holds nothing."""
    if ast.unparse(call.args[0]) == "os.devnull":
        return False
    nodes = [node for each in call.args[1:2] for node in ast.walk(each)]
    flags = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    flags |= {str(node.value) for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return not flags or not flags <= READING or not names <= {"os", "getattr"}


def _is_path(call: ast.Call) -> bool:
    """`text.replace(old, new)` takes two; a path's takes the other path alone."""
    return call.func.attr == "rename" or (  # type: ignore[attr-defined]
        len(call.args) == 1 and not call.keywords and ast.unparse(call.func.value) != "sources"  # type: ignore[attr-defined]
    )


def writes_of_others(path: Path) -> list[str]:
    if not path.is_relative_to(PACKAGE) or path.relative_to(PACKAGE).as_posix() in ALONE | JOURNALS:
        return []
    return writes(tree_of(path))


def test_only_these_modules_write() -> None:
    assert offenders(writes_of_others) == []


@pytest.mark.parametrize(
    "code",
    [
        "open('x', 'w')",
        "open('x', mode='ab')",
        "open('x', how)",
        "io.open('x', 'r+')",
        "path.open('xb')",
        "Path('x').open(mode='w')",
        "path.write_text('')",
        "(folder / 'x').write_bytes(b'')",
        "path.replace(other)",
        "path.rename(other)",
        "path.mkdir()",
        "os.open('x', os.O_WRONLY | os.O_CREAT)",
        "os.open('x', flags)",
        "os.open('x', os.O_RDONLY | flags)",
        "os.open('x', os.O_RDONLY | getattr(os, 'O_TRUNC', 0))",
        "os.replace('a', 'b')",
        "os.makedirs('x')",
        "import tempfile",
        "from tempfile import mkstemp",
        "from shutil import move",
        "from os import replace",
    ],
)
def test_the_law_sees_what_writes(code: str) -> None:
    assert writes(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "open('x', 'rb')",
        "path.open()",
        "text.replace('a', 'b')",
        "replace(tree, kind='x')",
        "os.open('x', os.O_RDONLY)",
        "os.open('x', os.O_RDONLY | getattr(os, 'O_NOFOLLOW', 0))",
    ],
)
def test_the_law_lets_others_read(code: str) -> None:
    assert writes(ast.parse(code)) == []
