"""Workflows of gh-aw: their imports, and compiled files that are out of date."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator
from enum import Enum
from hashlib import sha256

from stagec.core.json import Json, Object, object_of
from stagec.core.place import Mention, Place

_REMOTE = re.compile(r"[\w.-]+/[\w.-]+/[^@]+@[^@]+")


def list_imports(given: Json, at: Place) -> Iterator[Mention]:
    """Yield the imports of a workflow as written: texts, the `uses` or `path` of maps, and those below `aw`."""
    if isinstance(given, dict):
        given, at = given.get("aw"), at / "aw"
    for index, each in enumerate(given if isinstance(given, list) else ()):
        if isinstance(each, str):
            yield Mention(each, at / index)
        for key in ("uses", "path"):
            written = object_of(each).get(key)
            if isinstance(written, str):
                yield Mention(written, at / index / key)


def resolve_import(written: str, file: str) -> str | None:
    """Return the file of the project that an import of a workflow means; nothing for what lies elsewhere."""
    path = written.strip().partition("#")[0]
    is_optional = path.endswith("?")
    if not path or is_optional or _REMOTE.fullmatch(path) or "${{" in path or "@" in path or ":" in path:
        return None
    if path.startswith("/"):
        return posixpath.normpath(path.lstrip("/"))
    if path.startswith(".github/"):
        home = file.rpartition(".github/")[0]
        return posixpath.normpath(home + path)
    found = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    return None if found.startswith("../") else found


def find_lock(file: str) -> str:
    """Return the path of the compiled file of a workflow."""
    return f"{posixpath.splitext(file)[0]}.lock.yml"


class LockState(Enum):
    """The state of a workflow's compiled file; `UNKNOWN` if no digest that stagec knows tells it."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    CURRENT = "current"
    STALE = "stale"


Reader = Callable[[str], bytes]
"""Returns the bytes of a file of the project, none of one that is not there."""
_DIGEST = re.compile(rb'^#[ \t]*gh-aw-metadata:[^\n]*"frontmatter_hash":[ \t]*"([0-9a-f]{64})"', re.MULTILINE)
_EXPRESSION = "${{"
_INLINED = re.compile(r"^inlined-imports:[ \t]*true[ \t\r]*$", re.MULTILINE)
_VARYING = re.compile(r"^[ \t]*imports:|^inlined-imports:", re.MULTILINE)
_RUNTIME_IMPORT = "{{#"
_FENCE = "---"
_ESCAPED = {each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
"""Characters that the library of Go escapes in JSON, and that of JavaScript does not."""


def judge_lock(text: str, members: Object, file: str, lock: bytes, read: Reader) -> LockState:
    """Compare a workflow with the digest in its compiled file, as the first job of a run does.

    Versions of gh-aw count imported files in different ways. An equal digest proves that nothing has changed; a
    different one proves a change only if nothing is imported.
    """
    digest, parts = _DIGEST.search(lock), _split(text)
    if digest is None or parts is None or object_of(members.get("on")).get("stale-check") is False:
        return LockState.UNKNOWN
    for reads_maps in (True, False):
        told = _describe(parts, file, read, reads_maps=reads_maps)
        escaped = "".join(_ESCAPED.get(each, each) for each in told)
        if digest[1].decode() in {sha256(each.encode(errors="replace")).hexdigest() for each in (told, escaped)}:
            return LockState.CURRENT
    is_alone = _VARYING.search(parts[0]) is None and _RUNTIME_IMPORT not in parts[1]
    return LockState.STALE if is_alone else LockState.UNKNOWN


def _split(text: str) -> tuple[str, str] | None:
    """Return the frontmatter and the body of a file as gh-aw separates them; None if there is no end."""
    first, *lines = text.split("\n")
    if first.strip() != _FENCE:
        return "", text
    end = next((index for index, line in enumerate(lines) if line.strip() == _FENCE), None)
    return None if end is None else ("\n".join(lines[:end]), "\n".join(lines[end + 1 :]))


def _describe(parts: tuple[str, str], file: str, read: Reader, *, reads_maps: bool) -> str:
    """Return the JSON of which gh-aw takes the digest; older versions read no import that is a map."""
    head, body = parts
    imported = _follow(head, file, read, reads_maps=reads_maps)
    counted = {each for each in _list_expressions(body) if "env." in each or "vars." in each}
    for _, _, text in imported if reads_maps else ():
        counted |= {each for each in _list_expressions(text) if each[len(_EXPRESSION) : -2].strip()}
    told: dict[str, Json] = {"frontmatter-text": _normalize(head)}
    if imported:
        told["imports"] = sorted(path for path, _, _ in imported)
        told["imported-frontmatters"] = "\n---\n".join(sorted(_normalize(each) for _, each, _ in imported))
    if _INLINED.search(head) is not None:
        told["body-text"] = _normalize(body)
    elif counted:
        told["template-expressions"] = sorted(counted)
    return json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _list_expressions(text: str) -> Iterator[str]:
    """Yield the texts between `${{` and the first closing brace, if there are two of them."""
    pieces = text.split("}")
    for piece, between, _ in zip(pieces, pieces[1:], pieces[2:], strict=False):
        _, mark, inside = piece.partition(_EXPRESSION)
        if not between and inside:
            yield f"{mark}{inside}}}}}"


def _follow(head: str, file: str, read: Reader, *, reads_maps: bool) -> list[tuple[str, str, str]]:
    """Return the files that a frontmatter imports, and those that they do: as written, frontmatter and body."""
    found: list[tuple[str, str, str]] = []
    seen: set[str] = set()
    paths = _list_paths(head, posixpath.dirname(file), reads_maps=reads_maps)
    while paths:
        folder, path = paths.pop()
        meant = posixpath.normpath(f"{folder}/{path}")
        data = b"" if meant in seen or meant.startswith("../") else read(meant)
        seen.add(meant)
        parts = _split(data.decode(errors="replace")) if data else None
        if parts is not None:
            found.append((path, *parts))
            paths += _list_paths(parts[0], posixpath.dirname(meant), reads_maps=reads_maps)
    return found


_ITEM = re.compile(r"-\s*(?P<key>(?:uses|path):\s*)?(?P<path>.*)", re.DOTALL)


def _list_paths(head: str, folder: str, *, reads_maps: bool) -> list[tuple[str, str]]:
    """Return the imports of a frontmatter with the folder that they count from, the first one last."""
    return [(folder, each) for each in sorted(_list_written(head, reads_maps=reads_maps), reverse=True)]


def _list_written(head: str, *, reads_maps: bool) -> Iterator[str]:
    """Yield the imports in the lines below `imports:`, which gh-aw reads without YAML for its digest."""
    indent: int | None = None
    for line in head.split("\n"):
        told = line.strip()
        if not told or told.startswith("#"):
            continue
        depth = len(line) - len(line.lstrip())
        if told.startswith("imports:"):
            indent = depth
        elif indent is not None and depth <= indent:
            return
        elif indent is not None and (found := _ITEM.fullmatch(told)) is not None:
            path = (found["path"] if reads_maps else told[1:].strip()).strip("\"'")
            if path:
                yield path


def _normalize(text: str) -> str:
    return text.strip().replace("\r\n", "\n")
