"""References of a user's schema that lead out of the project; none is ever followed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

from stagec.core.place import Place
from stagec.sources.read import join
from stagec.sources.shape.subschemas import Subschema
from stagec.sources.tree import Fault

_KEYWORDS = ("$ref", "$dynamicRef", "$recursiveRef")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


def identities(parts: Iterable[Subschema]) -> frozenset[str]:
    """Return the names that the schemas of a file give themselves; a reference to one stays in the file."""
    named = (part.value.get(key) for part in parts for key in ("$id", "id"))
    return frozenset(each.removesuffix("#") for each in named if isinstance(each, str))


def foreign(at: Place, parts: Iterable[Subschema], own: Collection[str]) -> Iterator[Fault]:
    """State every reference that names another machine, an absolute path, or a file outside the project."""
    folder = posixpath.dirname(at.file)
    for part in parts:
        for keyword in _KEYWORDS:
            reference = part.value.get(keyword)
            reason = _reason(reference, folder, own) if isinstance(reference, str) else ""
            if reason:
                place = Place(at.file, (*at.pointer, *part.pointer, keyword))
                yield Fault("foreign-reference", place, reason, {"reference": reference})


def _reason(reference: str, folder: str, own: Collection[str]) -> str:
    document = reference.partition("#")[0]
    if not document or document in own:
        return ""
    path = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), document)
    if _SCHEME.match(path):
        return "scheme"
    if path.startswith(("/", "\\")):
        return "absolute"
    return "outside" if join(folder, path) is None else ""
