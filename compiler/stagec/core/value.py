"""Frozen, slotted value classes that cost next to nothing to declare and little to make."""

from __future__ import annotations

TYPE_CHECKING = False  # the real one costs whoever runs a plan the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        """Stand in for `typing.dataclass_transform`, which only type checkers read."""
        return lambda decorated: decorated


NOTHING: Mapping[str, Any] = {}
"""The default of mapping fields. Shared, and never written to: no code changes a mapping it was given."""


@dataclass_transform(frozen_default=True, eq_default=True)
def value(cls: type[T]) -> type[T]:
    """Make the annotated names of a class its slots, set once, compared and hashed by value.

    Defaults are shared between instances, so they must be immutable. Values do not inherit from values.
    """
    fields = tuple(vars(cls).get("__annotations__", ()))
    defaults = {name: vars(cls)[name] for name in fields if name in vars(cls)}
    left_behind = {*fields, "__dict__", "__weakref__"}
    body = {name: item for name, item in vars(cls).items() if name not in left_behind}
    body |= {"__slots__": fields, "__match_args__": fields, "_defaults": defaults, "__init__": _first_init}
    for method in (_refuse_set, _refuse_delete, _equal, _hash, _repr, _reduce):
        body.setdefault(_METHODS[method.__name__], method)
    body["__hash__"] = _hash  # a class body with `__eq__` carries `__hash__ = None`
    made: type[T] = _metaclass(cls)(cls.__name__, cls.__bases__, body)
    return made


def _metaclass(cls: type) -> Callable[..., Any]:
    return type(cls)


def replace(given: T, **changes: object) -> T:
    """Return a copy of a value with some of its fields changed."""
    cls = type(given)
    copied = cls.__dict__.get("_copied") or _compiled_copy(cls)
    made: T = copied(given, **changes)
    return made


def _fields(given: object) -> tuple[str, ...]:
    fields: tuple[str, ...] = getattr(type(given), "__match_args__", ())
    return fields


def _first_init(self: object, *args: object, **kwargs: object) -> None:
    """Compile the real `__init__` when the first instance is made, so that unused classes stay free."""
    cls = type(self)
    type.__setattr__(cls, "__init__", _compiled_init(cls))
    cls.__init__(self, *args, **kwargs)


def _compiled_init(cls: type) -> Callable[..., None]:
    fields: tuple[str, ...] = cls.__dict__["__match_args__"]
    defaults: Mapping[str, object] = cls.__dict__["_defaults"]
    scope: dict[str, Any] = {f"set_{name}": vars(cls)[name].__set__ for name in fields}
    scope |= {f"default_{name}": default for name, default in defaults.items()}
    heads = ", ".join(f"{name}=default_{name}" if name in defaults else name for name in fields)
    body = "\n".join(f"    set_{name}(self, {name})" for name in fields) or "    pass"
    exec(f"def __init__(self, {heads}):\n{body}\n", scope)
    init: Callable[..., None] = scope["__init__"]
    return init


def _compiled_copy(cls: type) -> Callable[..., Any]:
    """Compile, when it is first needed, a function that copies a value field by field, but for those it is given."""
    fields: tuple[str, ...] = cls.__dict__["__match_args__"]
    scope: dict[str, Any] = {f"set_{name}": vars(cls)[name].__set__ for name in fields}
    scope |= {"make": object.__new__, "cls": cls, "KEPT": object()}
    heads = "".join(f", {name}=KEPT" for name in fields)
    body = "\n".join(f"    set_{name}(__made, __old.{name} if {name} is KEPT else {name})" for name in fields)
    star = ", *" if fields else ""
    exec(f"def _copied(__old, /{star}{heads}):\n    __made = make(cls)\n{body}\n    return __made\n", scope)
    type.__setattr__(cls, "_copied", scope["_copied"])
    found: Callable[..., Any] = scope["_copied"]
    return found


def _refuse_set(self: object, name: str, _: object) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")


def _refuse_delete(self: object, name: str) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")


def _values(self: object) -> tuple[object, ...]:
    return tuple([getattr(self, name) for name in _fields(self)])


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _repr(self: object) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in _fields(self))
    return f"{type(self).__name__}({shown})"


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), _values(self)


_METHODS = {
    "_refuse_set": "__setattr__",
    "_refuse_delete": "__delattr__",
    "_equal": "__eq__",
    "_hash": "__hash__",
    "_repr": "__repr__",
    "_reduce": "__reduce__",
}
