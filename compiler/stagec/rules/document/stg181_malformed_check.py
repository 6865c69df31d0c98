"""A check of a stage's work is not written as one.

## Why this matters
The first check whose `when` matches decides what becomes of the result: `retry` or `fail`. Without a verdict it
decides nothing, and a result that no check catches is accepted without one saying so.

## How to fix
Write a list of checks, each with a `verdict` of `retry` or `fail`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("rulings:pipelines",))
