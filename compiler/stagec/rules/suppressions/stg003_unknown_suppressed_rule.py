"""A suppression names a rule that does not exist.

## Why this matters
It suppresses nothing. Most often a digit is wrong, and the finding that it was meant for is still reported.

## How to fix
Write the code or the name of one rule, as the finding shows it. `stagec rules` lists them. Prefixes, families and
groups are not accepted: a suppression is about one rule.
"""

from stagec.core.nearest import NameIndex, hint
from stagec.core.words import quote
from stagec.rules.suppressions import JudgedSuppression, suppression_rule


def _say(judged: JudgedSuppression) -> str:
    name = judged.suppression.selector
    return f"no rule is called {quote(name)}{hint(name, NameIndex(judged.known))}"


RULE = suppression_rule(__name__, _say, "0.1")
