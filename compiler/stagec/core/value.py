"""Frozen, slotted value classes that cost next to nothing to declare and little to make."""

from __future__ import annotations

TYPE_CHECKING = False  # the real one costs whoever runs a plan the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
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
    body |= {"__slots__": fields, "__match_args__": fields, "_defaults": defaults}
    body |= {"__new__": _first_new, "__replace__": _first_copy}
    for method in (_refuse_set, _refuse_delete, _equal, _hash, _repr, _reduce):
        body.setdefault(_METHODS[method.__name__], method)
    body["__hash__"] = _hash  # a class body with `__eq__` carries `__hash__ = None`
    made: type[T] = _metaclass(cls)(cls.__name__, cls.__bases__, body)
    return made


def _metaclass(cls: type) -> Callable[..., Any]:
    return type(cls)


def replace(given: T, /, **changes: object) -> T:
    """Return a copy of a value with some of its fields changed."""
    old: Any = given
    made: T = old.__replace__(**changes)
    return made


def _fields(given: object) -> tuple[str, ...]:
    fields: tuple[str, ...] = getattr(type(given), "__match_args__", ())
    return fields


def _first_new(cls: type, /, *args: object, **kwargs: object) -> object:
    """Compile the real `__new__` when the first instance is made, so that unused classes stay free."""
    fields: tuple[str, ...] = cls.__dict__["__match_args__"]
    defaults: Mapping[str, object] = cls.__dict__["_defaults"]
    heads = ("_cls_", "/", *(f"{name}=_defaults_[{name!r}]" if name in defaults else name for name in fields))
    made = _compile(cls, "_cls_", heads, {name: name for name in fields})
    type.__setattr__(cls, "__new__", staticmethod(made))
    return cls(*args, **kwargs)


def _first_copy(self: object, /, **changes: object) -> object:
    """Compile the real copying when the first copy is made."""
    cls: Any = type(self)
    fields: tuple[str, ...] = cls.__dict__["__match_args__"]
    heads = ("_old_", "/", *(("*",) if fields else ()), *(f"{name}=_kept_" for name in fields))
    values = {name: f"_old_.{name} if {name} is _kept_ else {name}" for name in fields}
    made = _compile(cls, "_old_.__class__", heads, values)
    type.__setattr__(cls, "__replace__", made)
    return cls.__replace__(self, **changes)


def _compile(cls: type, kind: str, heads: Iterable[str], values: Mapping[str, str]) -> Callable[..., Any]:
    """Compile a function that makes values of a class.

    It fills an instance of a class that is alike but not frozen, and then gives it its class: setting fields is three
    times as fast so as by the descriptors of a class that refuses to have any set. `kind` is the class in the function.
    """
    body = "".join(f"    _made_.{name} = {given}\n" for name, given in values.items())
    scope: dict[str, Any] = {"_make_": object.__new__, "_twin_": _twin_of(cls), "_kept_": object()}
    scope |= {"_defaults_": cls.__dict__["_defaults"]}
    end = f"    _made_.__class__ = {kind}\n    return _made_\n"
    exec(f"def made({', '.join(heads)}):\n    _made_ = _make_(_twin_)\n{body}{end}", scope)
    found: Callable[..., Any] = scope["made"]
    found.__qualname__ = cls.__qualname__  # which messages about missing arguments name
    return found


def _twin_of(cls: Any) -> Any:
    """Return the class that is alike but not frozen, made when it is first needed."""
    found = cls.__dict__.get("_twin")
    if found is None:
        body = {"__slots__": cls.__dict__["__match_args__"]}
        if "__orig_bases__" in cls.__dict__:  # looked up: other threads may add to the class meanwhile
            body["__orig_bases__"] = cls.__dict__["__orig_bases__"]
        found = _metaclass(cls)(cls.__name__, cls.__bases__, body)
        type.__setattr__(cls, "_twin", found)
    return found


def thaw(given: T) -> T:
    """Return a copy of a value whose fields can be set with `setattr`, until it is given to `freeze`.

    It is nobody's but the caller's: it has no equality, no hash, and none of the methods of its class.
    """
    cls: Any = type(given)
    copy = cls.__dict__.get("_thawing")
    if copy is None:
        copy = _compile(cls, "_twin_", ("_old_", "/"), {name: f"_old_.{name}" for name in _fields(given)})
        type.__setattr__(cls, "_thawing", staticmethod(copy))
    made: T = cls._thawing(given)
    return made


def freeze(given: T, kind: type[T]) -> T:
    """Give what `thaw` returned its class again; from here on it is a value like any other."""
    thawed: Any = given
    thawed.__class__ = kind
    return given


def _refuse_set(self: object, name: str, _: object) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")


def _refuse_delete(self: object, name: str) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")


def _values(self: object) -> tuple[object, ...]:
    return tuple([getattr(self, name) for name in _fields(self)])


def _equal(self: object, other: object) -> bool:
    """Compile the real comparison when the first value of a class is compared."""
    left, right = ("".join(f"{each}.{name}, " for name in _fields(self)) for each in ("_self_", "_other_"))
    made = _compile_method(
        "__eq__", f"({left}) == ({right}) if _other_.__class__ is _self_.__class__ else NotImplemented", type(self)
    )
    found: bool = made(self, other)
    return found


def _hash(self: object) -> int:
    """Compile the real hashing when the first value of a class is hashed: tables of places ask for it very often."""
    given = "".join(f"_self_.{name}, " for name in _fields(self))
    found: int = _compile_method("__hash__", f"hash(({given}))", type(self))(self)
    return found


def _compile_method(name: str, given: str, cls: type) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(f"def made(_self_{', _other_' * (name == '__eq__')}): return {given}", scope)
    type.__setattr__(cls, name, scope["made"])
    found: Callable[..., Any] = scope["made"]
    return found


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
