"""Python callables that a plan names: find them in the current folder first, call them, and require JSON answers."""

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
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.secrets import Redactor
from stagec.core.words import quote, visible


def call(name: str, given: Mapping[str, Json], redactor: Redactor) -> dict[str, Json]:
    """Call `package.module:function` with a copy of an object and return what came of it.

    That is `{"value": …}`, with the `ctx` as the callable left it if it changed that, or `{"error": …}`, redacted, when
    it failed or returned what is no JSON. What it prints goes to standard error. One that is not there is a `Failure`.
    """
    function, held = find_callable(name, "the hook"), json.loads(json.dumps(given))
    try:
        with divert_output():
            answer = function(held)
        plain = read_json(json.dumps(answer))
        left = read_json(json.dumps(held.get("ctx")))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever it is, it ends the hook and not the run
        is_unreadable = isinstance(error, UnreadableError)
        told = redactor.redact_output(f"it left no JSON: {error}" if is_unreadable else describe_error(error))
        sys.stderr.write(f"stagec: note: the hook {quote(name)} failed: {visible(told[:_LONGEST])}\n")
        return {"error": told}
    return {"value": plain} if left == given.get("ctx") else {"value": plain, "ctx": left}


_LONGEST = 300
"""Characters of what a hook that fails says, which are shown."""


def describe_error(error: BaseException) -> str:
    """Return the class of an error and what it says; somebody's own class may not be able to say it."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def find_callable(name: str, what: str) -> Callable[[Any], Any]:
    """Return the callable `package.module:function`, or raise `Failure`; `what` is what people call it."""
    module, _, way = name.partition(":")
    with _import_from_here(), divert_output(), _refuse_exit(f"{what} {quote(name)} cannot be imported"):
        found: Any = import_module(module)
        for part in way.split("."):
            found = getattr(found, part)
    if not callable(found):
        raise Failure(f"{what} {quote(name)} cannot be called")
    answering: Callable[[Any], Any] = found
    return answering


@contextmanager
def _import_from_here() -> Iterator[None]:
    """Look for modules in the current folder first, as `python -m` does it."""
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


@contextmanager
def divert_output() -> Iterator[None]:
    """Let whatever is printed go to standard error, also by programs that are started and by code past `sys.stdout`."""
    out = sys.__stdout__
    if out is None:
        yield
        return
    out.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        out.flush()
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def _refuse_exit(what: str) -> Iterator[None]:
    """Turn whatever somebody's code raises into a failure of the world; Ctrl-C stays what it is."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Failure(f"{what}: {describe_error(error)}") from error
