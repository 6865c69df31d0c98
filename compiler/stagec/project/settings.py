"""The settings of a project, as values; where each came from is told by `project/configuration`."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Severity
from stagec.core.scope import Scope
from stagec.core.value import NOTHING, value


@value
class Settings:
    """The effective settings of one run.

    `select` replaces the default set of rules when it is not None; `extend_select` adds to it and `ignore` takes away.
    Each names rules by code, code prefix, rule name, family, group or declared severity. `severity` changes how heavy
    rules are, by the same names, the most precise deciding; None turns them off. `fail_on` None means that findings
    never fail.
    """

    scope: Scope = Scope()
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity | None] = NOTHING
    fail_on: Severity | None = Severity.ERROR
    budgets: Budgets = Budgets()
    output_format: str = "text"
    required_version: str | None = None
