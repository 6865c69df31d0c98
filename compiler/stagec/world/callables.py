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
from stagec.core.words import quote


def call(name: str, given: Mapping[str, Json]) -> Json:
    """Call `package.module:function` with an object and return its answer, or raise `Failure`.

    What it prints goes to standard error. It gets a copy, so that nothing it does to it is seen by anybody.
    """
    function = _found(name)
    with redirect_stdout(sys.stderr), _stopped(f"the hook {quote(name)} failed"):
        answer = function(json.loads(json.dumps(given)))
    try:
        plain: Json = json.loads(json.dumps(answer, allow_nan=False))
    except (RecursionError, TypeError, ValueError) as error:
        raise Failure(f"the hook {quote(name)} returned what is no JSON: {error}") from error
    return plain


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
