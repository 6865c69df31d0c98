"""A comment or member that should suppress findings has the wrong form.

## Why this matters
A suppression that stagec cannot read suppresses nothing, although its author believes that it does.

## How to fix
In YAML and in the frontmatter of Markdown write a comment `# stagec: ignore[STG601] reason`, with several codes
between commas. In JSON give the object a member `"x-stagec-ignore": {"STG601": "reason"}`.
"""

from stagec.rules.suppressions import JudgedSuppression, suppression_rule


def _say(judged: JudgedSuppression) -> str:
    if judged.suppression.flaw == "member":
        return "'x-stagec-ignore' must be an object of codes and reasons, such as {'STG601': 'reason'}"
    return "the comment suppresses nothing: it must read '# stagec: ignore[STG601] reason'"


RULE = suppression_rule(__name__, _say, "0.1")
