"""STG0xx: what is wrong with how the files of a project suppress findings."""

from collections.abc import Callable, Iterator
from functools import partial

from stagec.core.diagnostic import Severity
from stagec.core.rule import Family, Finding, Rule
from stagec.core.value import replace
from stagec.sources.suppression import JudgedSuppression

__all__ = ["FAMILY", "JudgedSuppression", "rule", "suppression_rule", "weaken"]

FAMILY = Family(__name__, (range(1, 100),), JudgedSuppression)
rule = FAMILY.rule
_ORIGIN = ("stagec:suppressions",)


def suppression_rule(module: str, say: Callable[[JudgedSuppression], str], since: str) -> Rule[JudgedSuppression]:
    """Declare the mandatory rule about suppressions with the fault that is its name, which is that of a module."""
    declared = FAMILY.make_error(module, lambda _: (), since, _ORIGIN)
    check = partial(_speak, fault=declared.name, say=say)
    return replace(declared, check=check, groups=("mandatory",))


def weaken(declared: Rule[JudgedSuppression]) -> Rule[JudgedSuppression]:
    """Return a rule as a warning that a project can turn off."""
    return replace(declared, severity=Severity.WARNING, groups=())


def _speak(judged: JudgedSuppression, fault: str, say: Callable[[JudgedSuppression], str]) -> Iterator[Finding]:
    if judged.fault == fault:
        yield Finding(judged.suppression.at, say(judged))
