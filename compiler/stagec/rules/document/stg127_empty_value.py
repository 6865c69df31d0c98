"""A text that must say something is empty.

## Why this matters
An empty path or command names nothing. It is taken for absent by some programs and for the current folder by others.

## How to fix
Write the text, or remove the member where it is optional.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:agent.complete", "steps-registry:step.key-eq-id"))
