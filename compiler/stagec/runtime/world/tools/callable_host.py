"""The process in which functions of a user's module are tools: it describes them, or calls one.

It is run as a script that imports nothing of ours: `python -P callable_host.py MODULE`. It reads one line of JSON,
`{"tool": NAME, "arguments": {...}}` or `{}`, and writes one: `{"value": …}`, `{"error": "…"}`, or for `{}`
`{"tools": […]}`. Whatever the module prints goes to standard error.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from asyncio import run
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

Json = Any
_PLAIN: Mapping[Any, Json] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    dict: {"type": "object"},
    list: {"type": "array"},
    NoneType: {"type": "null"},
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
}


class UnfitError(Exception):
    """Why a function cannot be a tool."""


def main() -> None:
    """Answer the one request on standard input."""
    out = os.dup(1)
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())
    request = json.loads(sys.stdin.readline() or "{}")
    try:
        answer = _answer(sys.argv[1], request)
        text = json.dumps(answer)  # NaN as well: whoever reads it says where it is
    except UnfitError as error:
        text = json.dumps({"error": str(error)})
    except BaseException as error:  # also `SystemExit`: it is the end of a call, and of nothing else
        text = json.dumps({"error": f"{type(error).__name__}: {_say(error)}"})
    rest = memoryview(f"{text}\n".encode())
    while rest:
        rest = rest[os.write(out, rest) :]
    sys.stdout.flush()
    os._exit(0)  # threads that the module has started would keep the process


def _answer(module: str, request: Mapping[str, Json]) -> Json:
    functions = dict(_list_functions(module))
    if "tool" not in request:
        return {"tools": [_describe(name, each) for name, each in functions.items()]}
    found = functions[request["tool"]](**request["arguments"])
    return {"value": run(_wait(found)) if inspect.isawaitable(found) else found}


async def _wait(found: Any) -> Json:
    return await found


def _say(error: BaseException) -> str:
    """Return the message of an error; somebody's own class may fail at that."""
    try:
        return str(error)
    except Exception:
        return "the error has no readable text"


def _list_functions(name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the tools of a module: the functions that `__all__` names, else its own without a leading underscore."""
    module = import_module(name)
    named = getattr(module, "__all__", None)
    for each in vars(module) if named is None else named:
        found = getattr(module, each)
        is_own = getattr(found, "__module__", None) == module.__name__ and not each.startswith("_")
        if inspect.isroutine(found) and (named is not None or is_own):
            yield each, found


def _describe(name: str, function: Callable[..., Any]) -> Json:
    schema = getattr(function, "schema", None)
    return {
        "name": name,
        "description": inspect.getdoc(function) or "",
        "schema": _make_schema(name, function) if schema is None else schema,
        "effects": getattr(function, "effects", "unknown"),
    }


def _make_schema(name: str, function: Callable[..., Any]) -> Json:
    """Return the JSON Schema of the arguments of a function, as its parameters and their annotations say it."""
    try:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except Exception as error:
        raise UnfitError(f"the parameters of {name!r} cannot be read: {_say(error)}") from error
    properties: dict[str, Json] = {}
    required, is_open = [], False
    for each in parameters:
        if each.kind is each.VAR_KEYWORD:
            is_open = True
            continue
        if each.kind in {each.VAR_POSITIONAL, each.POSITIONAL_ONLY}:
            raise UnfitError(f"{name!r} takes {each.name!r} by position, but tools get arguments by name")
        properties[each.name] = _translate(hints.get(each.name, each.empty), f"{each.name!r} of {name!r}")
        if each.default is each.empty:
            required.append(each.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": is_open}


def _translate(hint: Any, what: str) -> Json:
    """Return the JSON Schema of an annotation."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None:
        if hint not in _PLAIN:
            raise UnfitError(f"the type of {what} is not a type of JSON: give the function an attribute 'schema'")
        return _PLAIN[hint]
    if origin is Annotated:
        told = next((each for each in inner[1:] if isinstance(each, str)), None)
        schema = _translate(inner[0], what)
        return schema if told is None else {**schema, "description": told}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in {Union, UnionType}:
        return {"anyOf": [_translate(each, what) for each in inner]}
    if origin is list:
        return {"type": "array", "items": _translate(inner[0], what)}
    if origin is dict and inner[0] is str:
        return {"type": "object", "additionalProperties": _translate(inner[1], what)}
    raise UnfitError(f"the type of {what} is not a type of JSON: give the function an attribute 'schema'")


if __name__ == "__main__":
    main()
