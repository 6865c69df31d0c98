"""The shape of a rule: a subject goes in, findings come out."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from inspect import cleandoc
from types import ModuleType
from typing import Any, Generic, TypeVar

from stagec.core.diagnostic import Fix, Severity
from stagec.core.nearest import Guess
from stagec.core.place import Place
from stagec.core.shelf import docstring, members, names
from stagec.core.value import value

S = TypeVar("S")
_NAME = re.compile(r"stg(?P<number>\d{3,4})_(?P<name>[a-z0-9_]+)")


@value
class Related:
    """A second place that explains the first."""

    at: Place
    message: str


@value
class Finding:
    """The finding of a rule; it names no code and no line, the pipeline adds both.

    `causes` are the places that this rests on, in any file: if a rule of this family or an earlier one reports an error
    there, this finding repeats it. `spoils` are places that are in error as a whole because of what stands at `at`. A
    guess becomes the fix that writes what was meant, if the name stands at `at`. A `severity` is for a finding that
    weighs less than others of its rule; a configuration that weighs the rule decides about all of them.
    """

    at: Place
    message: str
    related: tuple[Related, ...] = ()
    fix: Fix | Guess | None = None
    causes: tuple[Place, ...] = ()
    spoils: tuple[Place, ...] = ()
    severity: Severity | None = None


@value
class Rule(Generic[S]):
    """One check, and everything that documentation and selection need to know about it.

    `origin` names where the rule comes from: slugs of the specification (`steps-registry:gate.enum-drift`) and codes
    of other tools (`SR-VALID-003`), six at most. `groups` are names under which `--select` finds it besides its code;
    a rule of the group `pedantic` is silent until somebody selects it, one of the group `mandatory` cannot be silenced
    by any file.
    """

    code: str
    name: str
    since: str
    severity: Severity
    origin: tuple[str, ...]
    groups: tuple[str, ...]
    explanation: str
    check: Callable[[S], Iterable[Finding]]

    @property
    def pedantic(self) -> bool:
        """Whether the rule speaks only where somebody selects it."""
        return "pedantic" in self.groups

    @property
    def mandatory(self) -> bool:
        """Whether no file of a project can silence the rule."""
        return "mandatory" in self.groups


def read_name(function: str) -> tuple[str, str]:
    """Return `STG601` and `unreachable-node` for a function `stg601_unreachable_node`; of another name nothing."""
    match = _NAME.fullmatch(function)
    return (f"STG{match['number']}", match["name"].replace("_", "-")) if match else ("", "")


def list_declared(family: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield the code and the name of each rule of a family, as its sources say; no module of rules is imported."""
    for path in _list_sources(family):
        with open(path, encoding="utf-8") as source:
            yield from (read_name(function) for function in _DECLARED.findall(source.read()))


def _list_sources(family: ModuleType) -> Iterator[str]:
    if hasattr(family, "__path__"):
        yield from (os.path.join(path, f"{name}.py") for path in family.__path__ for name in names(family))
    elif family.__file__ is not None:
        yield family.__file__


_DECLARED = re.compile(r"^def (stg\d{3,4}_[a-z0-9_]+)\(", re.MULTILINE)


@value
class Family(Generic[S]):
    """The rules that judge one kind of subject. `optional` families are silent until somebody selects them.

    `numbers` are the ranges that its codes come from; the first digit of all is the same, so that it selects them.
    """

    package: str
    numbers: tuple[range, ...]
    subject: type[S]
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of the family: the last part of its package's name."""
        return self.package.rpartition(".")[2]

    def asks_first(self, rule: Rule[S]) -> bool:
        """Tell whether one of the family's rules is silent until somebody selects it."""
        return self.optional or rule.pedantic

    def rules(self) -> tuple[Rule[S], ...]:
        """Return the rules of this family, by code."""
        found: tuple[Rule[S], ...] = members(sys.modules[self.package], Rule)
        return tuple(sorted(found, key=lambda rule: int(rule.code.removeprefix("STG"))))

    def owns(self, number: int) -> bool:
        """Tell whether a number is one of this family's codes, taken or free."""
        return any(number in each for each in self.numbers)

    def rule(
        self,
        *,
        since: str,
        origin: tuple[str, ...],
        severity: Severity = Severity.ERROR,
        groups: tuple[str, ...] = (),
    ) -> Callable[[Callable[[S], Iterable[Finding]]], Rule[S]]:
        """Declare the decorated check as the rule that has its name, and its docstring as the page of the rule."""

        def declare(check: Callable[[S], Iterable[Finding]]) -> Rule[S]:
            return self.declare(check, check, since, origin, severity, groups)

        return declare

    def declare(
        self,
        page: Callable[..., object],
        check: Callable[[S], Iterable[Finding]],
        since: str,
        origin: tuple[str, ...],
        severity: Severity = Severity.ERROR,
        groups: tuple[str, ...] = (),
    ) -> Rule[S]:
        """Return the rule that has the name of the function `page`, and its docstring as its page."""
        code, name = read_name(page.__name__)
        if not code or not self.owns(int(code.removeprefix("STG"))):
            wanted = f"stg{self.numbers[0][1]}_what_is_wrong"
            raise ImportError(f"{page.__module__}.{page.__name__} is not named like {wanted}")
        return Rule(code, name, since, severity, origin, groups, cleandoc(docstring(page)), check)


AnyFamily = Family[Any]
AnyRule = Rule[Any]
