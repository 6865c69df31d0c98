"""A suppression gives no reason.

## Why this matters
Whoever reads it later cannot tell whether the finding was wrong, was accepted for now, or was in the way. A
suppression without a reason suppresses nothing.

## How to fix
Write behind the brackets of the comment, or as the value of the member, why the finding is acceptable here.
"""

from stagec.core.words import quote
from stagec.rules.suppressions import JudgedSuppression, suppression_rule


def _say(judged: JudgedSuppression) -> str:
    return f"the suppression of {quote(judged.suppression.selector)} gives no reason"


RULE = suppression_rule(__name__, _say, "0.1")
