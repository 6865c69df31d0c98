"""Plans: what they are made of, how they are written, and when they are refused.

Runners need this package and `stagec.core`, and nothing else of stagec to read a plan.

`load(data) -> Loaded(plan, digest)` reads a plan and refuses what is altered, foreign or unfounded with `PlanError`;
`verify(data)` works everything out again; `dump(plan) -> bytes` writes one.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # the real one costs the import of `typing`
if TYPE_CHECKING:
    from stagec.ir.plan.document import FORMAT, Plan
    from stagec.ir.plan.loader import Loaded, PlanError, dump, load, prove, verify

__all__ = ["FORMAT", "Loaded", "Plan", "PlanError", "dump", "load", "prove", "verify"]


def __getattr__(name: str) -> object:
    """Import a name when it is first used: who checks a project needs parts of plans, and loads none."""
    if name not in __all__:
        raise AttributeError(f"module 'stagec.ir.plan' has no attribute {name!r}")
    home = "document" if name in {"FORMAT", "Plan"} else "loader"
    return getattr(import_module(f"stagec.ir.plan.{home}"), name)
