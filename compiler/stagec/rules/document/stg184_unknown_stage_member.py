"""A stage object has a member that the format does not know.

## Why this matters
Programs that read stage objects refuse the whole stage over it. In Markdown such a member would be metadata.

## How to fix
Correct the name or remove the member. What stagec alone knows of a stage, such as checks, gates and hooks, is written
in the pipeline.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("stage-definitions:unknown-key",))
