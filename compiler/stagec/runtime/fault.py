"""Failures under the names that the documents give them."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json


def error(name: str, /, **about: Json) -> Mapping[str, Json]:
    """Return a failure, `Class/Code`, with what the documents say of it, as events and models are told of it."""
    kind, _, code = name.partition("/")
    return {"class": kind, "code": code, **about}


def code_of(name: str) -> str:
    """Return the code of a failure, `Class/Code`."""
    return name.rpartition("/")[2]
