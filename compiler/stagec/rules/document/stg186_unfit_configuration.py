"""The configuration of a state machine does not fit its schema.

## Why this matters
A program that hosts the machine checks the configuration before anything runs, and refuses one that does not fit.
A machine can give a schema under `configSchema`. Without one, a configuration has an `entry`, may have `enabled` and
`autoAttach`, and has nothing else.

## How to fix
Write what the message asks for. The configuration of `machine.json` lies in `machine.config.json`, or in the machine
under `config`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("stage-definitions:sm-config", "Validation/ConfigSchemaViolation"))
