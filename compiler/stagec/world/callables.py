"""Python callables that a plan names: found in the current folder first, called, and their answers held to be JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from typing import Any

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.words import quote, shortened


def call(name: str, given: Mapping[str, Json]) -> dict[str, Json]:
    """Call `package.module:function` with a copy of an object and return what came of it.

    That is `{"value": …}`, with the `ctx` as the callable left it if it changed that, or `{"error": …}` when it failed
    or returned what is no JSON. What it prints goes to standard error. One that is not there is a `Failure`.
    """
    function, held = _found(name), json.loads(json.dumps(given))
    try:
        with redirect_stdout(sys.stderr):
            answer = function(held)
        plain: Json = json.loads(json.dumps(answer, allow_nan=False))
        left: Json = json.loads(json.dumps(held.get("ctx"), allow_nan=False))
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {error}"
        sys.stderr.write(f"stagec: note: the hook {quote(name)} failed: {shortened(told)}\n")
        return {"error": told}
    return {"value": plain} if left == given.get("ctx") else {"value": plain, "ctx": left}


def _found(name: str) -> Callable[[Any], Any]:
    module, _, way = name.partition(":")
    with _here(), redirect_stdout(sys.stderr), _stopped(f"the hook {quote(name)} cannot be imported"):
        found: Any = import_module(module)
        for part in way.split("."):
            found = getattr(found, part)
    if not callable(found):
        raise Failure(f"the hook {quote(name)} is nothing that can be called")
    answering: Callable[[Any], Any] = found
    return answering


@contextmanager
def _here() -> Iterator[None]:
    """Look for modules in the current folder first, as `python -m` does it."""
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


@contextmanager
def _stopped(what: str) -> Iterator[None]:
    """Turn whatever somebody's code raises into a failure of the world; Ctrl-C stays what it is."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise Failure(f"{what}: {type(error).__name__}: {error}") from error
