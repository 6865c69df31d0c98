"""Plans: what they are made of, how they are written, and when they are refused.

Runners need this package and `stagec.core`, and nothing else of stagec to read a plan.

`load(data) -> Loaded(plan, digest)` reads a plan and refuses what is altered, foreign or unfounded with `PlanError`;
`verify(data)` works everything out again; `dump(plan) -> bytes` writes one.
"""

from stagec.plan.document import FORMAT, Plan
from stagec.plan.load import Loaded, PlanError, dump, load, prove, verify

__all__ = ["FORMAT", "Loaded", "Plan", "PlanError", "dump", "load", "prove", "verify"]
