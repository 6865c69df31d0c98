"""A suppression names a rule that no file can silence.

## Why this matters
Mandatory rules are about files that cannot be read or trusted, and about suppressions themselves. Where one of them
is silent, nobody knows what else is wrong. `stagec rules --select mandatory` lists them.

## How to fix
Fix what the rule reports, or leave the file out with `exclude` in the configuration, and delete the suppression.
"""

from stagec.core.words import quote
from stagec.rules.suppressions import JudgedSuppression, suppression_rule


def _say(judged: JudgedSuppression) -> str:
    return f"{quote(judged.suppression.selector)} is mandatory: no file can suppress it"


RULE = suppression_rule(__name__, _say, "0.1")
