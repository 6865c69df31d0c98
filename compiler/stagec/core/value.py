"""Frozen value classes: msgspec structs, made by a decorator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, dataclass_transform, overload

from msgspec import Struct, structs

T = TypeVar("T")

NOTHING: Mapping[str, Any] = {}
"""The default of mapping fields. Never written to: no code changes a mapping it was given."""
_STRUCT: Any = type(Struct)
_LEFT_BEHIND = ("__dict__", "__weakref__", "__hash__")  # a class body with `__eq__` carries `__hash__ = None`


TAG = "is"
"""The member of an object in JSON that says of which of several classes it is."""


@overload
@dataclass_transform(frozen_default=True, eq_default=True)
def value(cls: type[T], /) -> type[T]: ...


@overload
@dataclass_transform(frozen_default=True, eq_default=True)
def value(*, tag: str) -> Callable[[type[T]], type[T]]: ...


def value(cls: type[T] | None = None, /, **options: str) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a frozen struct of its annotated names, compared and hashed by value.

    Defaults must be immutable. Values do not inherit from values. `_defaults` has the defaults by name. JSON tells the
    values of a class with a `tag` from those of other classes.
    """
    if cls is None:
        return lambda each: _make(each, tag_field=TAG, **options)
    return _make(cls)


def _make(cls: type[T], **options: str) -> type[T]:
    body = {name: item for name, item in vars(cls).items() if name not in _LEFT_BEHIND}
    body["_defaults"] = {name: body[name] for name in body.get("__annotations__", ()) if name in body}
    bases = (Struct, *(each for each in cls.__bases__ if each is not object))
    made: type[T] = _STRUCT(cls.__name__, bases, body, frozen=True, **options)
    return made


def tag_of(cls: type) -> str | None:
    """Return the tag of a class, or None."""
    struct: Any = cls  # type checkers do not know that it is one
    tag: str | None = struct.__struct_config__.tag
    return tag


def replace(given: T, /, **changes: object) -> T:
    """Return a copy of a value with some of its fields changed."""
    struct: Any = given  # type checkers do not know that it is one
    made: T = structs.replace(struct, **changes)
    return made
