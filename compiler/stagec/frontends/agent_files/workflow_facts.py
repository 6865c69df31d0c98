"""Workflows of gh-aw: what strict mode refuses, and which files a workflow imports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from stagec.core.json import Json, Object, object_of
from stagec.core.place import Mention, Place

STRICT = ("contents", "issues", "pull-requests")
"""Permissions that strict mode allows to be read only."""
_REMOTE = re.compile(r"[\w.-]+/[\w.-]+/[^@]+@[^@]+")


def find_forbidden_permissions(members: Object, at: Place) -> Iterator[Mention]:
    """Yield the permissions to write that fail the compilation, with what is written."""
    given = members.get("permissions")
    if members.get("strict") is False:
        return
    if given == "write-all":
        yield Mention("write-all", at / "permissions")
    for name, each in object_of(given).items():
        if name in STRICT and each == "write":
            yield Mention(name, at / "permissions" / name)


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
