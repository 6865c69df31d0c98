"""A suppression covers no finding.

## Why this matters
The mistake has been fixed, or it lies elsewhere. A suppression that stays behind hides the next mistake of its kind
at this place. It is reported only when the whole project is checked and the rule is selected, because else nobody
knows what it would cover.

## How to fix
Delete it. A comment covers what begins on its line or, on a line of its own, on the next line that is no comment; a
member of an object covers this object. Both cover what is inside. The place of a finding counts, not the places that
explain it.
"""

from stagec.core.words import quote
from stagec.rules.suppressions import JudgedSuppression, suppression_rule, weaken


def _say(judged: JudgedSuppression) -> str:
    return f"the suppression of {quote(judged.suppression.selector)} covers no finding"


RULE = weaken(suppression_rule(__name__, _say, "0.1"))
