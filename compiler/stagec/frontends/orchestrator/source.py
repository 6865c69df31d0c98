"""What is wrong with the place where issues come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from stagec.core.json import Json, list_of, object_of, text_in, whole_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import Workflow

_FILTERS = ("labels", "state", "limit")
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "ghProject": ("project", *_FILTERS),
    "ghRepoIssues": ("repo", *_FILTERS, "projectMembership"),
    "explicit": ("issueIds",),
}
"""The members of each kind of source besides `kind`."""
_REPOSITORY = re.compile(r"[^/\s]+/[^/\s]+")


@value
class SourceFault:
    """One thing that is wrong, where, and in words; a `foreign` member belongs to another kind of source."""

    at: Place
    sentence: str
    is_foreign: bool = False


def find_source_faults(workflow: Workflow) -> Iterator[SourceFault]:
    """Yield what is wrong with a source whose kind is written."""
    given, at = object_of(workflow.body.get("issueSource")), workflow.at / "issueSource"
    kind = text_in(given, "kind")
    if kind is None:
        return
    if kind not in _MEMBERS:
        near = hint(kind, NameIndex(_MEMBERS))
        yield SourceFault(at / "kind", f"issue source {quote(kind)} is none of {listing(_MEMBERS, 'or')}{near}")
        return
    needed = {"ghProject": "project", "explicit": "issueIds"}.get(kind)
    if needed is not None and needed not in given:
        yield SourceFault(at / needed, f"an issue source of kind {quote(kind)} needs {quote(needed)}")
    for name in given:
        if name in _MEMBERS[kind]:
            fits, wanted = _CHECKS[name]
            if not fits(given[name]):
                yield SourceFault(at / name, f"{quote(name)} of the issue source must be {wanted}")
        elif name != "kind" and not name.startswith(("$", "_", "x-")):
            why = f"an issue source of kind {quote(kind)} has no {quote(name)}"
            yield SourceFault((at / name).key, f"{why}{hint(name, NameIndex(_MEMBERS[kind]))}", is_foreign=True)


def _is_count(given: Json) -> bool:
    return (whole_of(given) or 0) > 0


def _is_project(given: Json) -> bool:
    members = object_of(given)
    by_number = isinstance(members.get("owner"), str) and _is_count(members.get("number"))
    return by_number or isinstance(members.get("id"), str)


def _are_texts(given: Json) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _are_ids(given: Json) -> bool:
    known = (isinstance(each, str | int | float) and not isinstance(each, bool) for each in list_of(given))
    return bool(list_of(given)) and all(known)


_CHECKS: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "project": (_is_project, "an object with 'owner' and 'number', or with 'id'"),
    "labels": (_are_texts, "a list of texts"),
    "state": (lambda given: given in ("open", "closed", "all"), "'open', 'closed' or 'all'"),
    "limit": (_is_count, "a whole number from 1"),
    "repo": (
        lambda given: isinstance(given, str) and _REPOSITORY.fullmatch(given) is not None,
        "a repository, written 'owner/name'",
    ),
    "projectMembership": (lambda given: given in ("any", "unbound"), "'any' or 'unbound'"),
    "issueIds": (_are_ids, "a list with at least one text or number"),
}
