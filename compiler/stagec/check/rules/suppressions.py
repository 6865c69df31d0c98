"""STG0xx: what is wrong with how the files of a project suppress findings."""

from collections.abc import Callable, Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Family, Finding, Rule, read_name
from stagec.core.words import quote
from stagec.sources.suppression import JudgedSuppression

__all__ = ["FAMILY", "JudgedSuppression"]

FAMILY = Family(__name__, (range(1, 50),), JudgedSuppression)
rule = FAMILY.rule
_ORIGIN = ("stagec:suppressions",)


def suppression_rule(
    *, since: str, severity: Severity = Severity.ERROR, mandatory: bool = True
) -> Callable[[Callable[[JudgedSuppression], str]], Rule[JudgedSuppression]]:
    """Declare the rule about the fault that is its name; the decorated function says what is wrong."""

    def declare(say: Callable[[JudgedSuppression], str]) -> Rule[JudgedSuppression]:
        fault = read_name(say.__name__)[1]

        def check(judged: JudgedSuppression) -> Iterator[Finding]:
            if judged.fault == fault:
                yield Finding(judged.suppression.at, say(judged))

        groups = ("mandatory",) if mandatory else ()
        return FAMILY.declare(say, check, since, _ORIGIN, severity, groups)

    return declare


@suppression_rule(since="0.1")
def stg001_malformed_suppression(judged: JudgedSuppression) -> str:
    """A comment or member that should suppress findings has the wrong form.

    ## Why this matters
    A suppression that stagec cannot read suppresses nothing, although its author believes that it does.

    ## How to fix
    In YAML and in the frontmatter of Markdown write a comment `# stagec: ignore[STG601] reason`, with several codes
    between commas. In JSON give the object a member `"x-stagec-ignore": {"STG601": "reason"}`.
    """
    if judged.suppression.flaw == "member":
        return """'x-stagec-ignore' must be an object of codes and reasons, such as {"STG601": "reason"}"""
    return "the comment suppresses nothing: it must read '# stagec: ignore[STG601] reason'"


@suppression_rule(since="0.1")
def stg002_unexplained_suppression(judged: JudgedSuppression) -> str:
    """A suppression gives no reason.

    ## Why this matters
    Whoever reads it later cannot tell whether the finding was wrong, was accepted for now, or was in the way. A
    suppression without a reason suppresses nothing.

    ## How to fix
    Write behind the brackets of the comment, or as the value of the member, why the finding is acceptable here.
    """
    return f"the suppression of {quote(judged.suppression.selector)} gives no reason"


@suppression_rule(since="0.1")
def stg003_unknown_suppressed_rule(judged: JudgedSuppression) -> str:
    """A suppression names a rule that does not exist.

    ## Why this matters
    It suppresses nothing. Most often a digit is wrong, and the finding that it was meant for is still reported.

    ## How to fix
    Write the code or the name of one rule, as the finding shows it. `stagec explain` lists them. Prefixes, families and
    groups are not accepted: a suppression is about one rule.
    """
    name = judged.suppression.selector
    return f"no rule is called {quote(name)}{hint(name, NameIndex(judged.known))}"


@suppression_rule(since="0.1")
def stg004_suppressed_mandatory_rule(judged: JudgedSuppression) -> str:
    """A suppression names a rule that no file can silence.

    ## Why this matters
    Mandatory rules are about files that cannot be read or trusted, and about suppressions themselves. If one of them is
    silent, other errors stay unknown. `stagec explain mandatory` lists them.

    ## How to fix
    Fix the error, or leave the file out with `exclude` in the configuration, and delete the suppression.
    """
    return f"{quote(judged.suppression.selector)} is mandatory: no file can suppress it"


@suppression_rule(since="0.1", severity=Severity.WARNING, mandatory=False)
def stg005_unused_suppression(judged: JudgedSuppression) -> str:
    """A suppression covers no finding.

    ## Why this matters
    The mistake has been fixed, or it lies elsewhere. A suppression that stays behind hides the next mistake of its kind
    at this place. It is reported only when the whole project is checked and the rule is selected, because else nobody
    knows what it would cover.

    ## How to fix
    Delete it. A comment covers what begins on its line or, on a line of its own, on the next line that is not a
    comment; a member of an object covers this object. Both cover what is inside. The place of a finding counts, not the
    places that explain it.
    """
    return f"the suppression of {quote(judged.suppression.selector)} covers no finding"
