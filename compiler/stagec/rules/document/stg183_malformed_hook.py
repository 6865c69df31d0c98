"""A hook does not name a Python callable in its place.

## Why this matters
Hooks take a phase of a stage over, or stand at a stage of the message loop. What is not written
`package.module:function` cannot be looked up, and the phase would run without it.

## How to fix
Write the module, a colon and the function. A hook of the message loop also says its `stage`, `when` and `kind`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("rulings:pipelines",))
