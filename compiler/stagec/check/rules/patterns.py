"""STG05x: patterns of the configuration that are about nothing in the project."""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import hint
from stagec.core.rule import Family, Finding
from stagec.core.words import quote
from stagec.ir.policies import UnmatchedPattern

FAMILY = Family(__name__, (range(50, 100),), UnmatchedPattern)
rule = FAMILY.rule


@rule(since="0.1", origin=("stagec:policies",), severity=Severity.WARNING)
def stg050_unmatched_node_pattern(unmatched: UnmatchedPattern) -> Iterator[Finding]:
    """A pattern of `[node-policies]` matches no node that asks a model.

    ## Why this matters
    The settings of the pattern are in no plan. The node that was meant asks another model, or asks it otherwise. It is
    reported only when the whole project is checked and has no errors, because else nobody knows which nodes there are.

    ## How to fix
    Write the id of a stage or step, such as `review` or `initial.plan`. `*` stands for any text, `?` for one character.
    Stages of an inner pipeline are called `outer/inner`. Or delete the entry.
    """
    if unmatched.provider is not None:
        return
    pattern = quote(unmatched.pattern)
    why = f"{pattern} matches only nodes that ask no model" if unmatched.others else f"{pattern} matches no node"
    near = "" if unmatched.others else hint(unmatched.pattern, unmatched.nodes)
    yield Finding(unmatched.at, f"{why}{near}")


@rule(since="0.1", origin=("stagec:policies",), severity=Severity.WARNING)
def stg051_misspelt_provider(unmatched: UnmatchedPattern) -> Iterator[Finding]:
    """The configuration names a provider that differs by one slip from a known one.

    ## Why this matters
    An entry of `[model-policies]` for a misspelt provider never applies, and no run says so: the model that was meant
    is asked by other settings. A run refuses to start with a model of such a provider, in `[models]` or
    `[node-policies]`. Providers come from a library, which may know more of them in another version. Hence only a name
    is reported that has one letter too many, too few or wrong, another letter case, or two letters swapped.

    ## How to fix
    Write the name of the provider as `PROVIDER:NAME` has it, such as `anthropic`.
    """
    if unmatched.provider is not None:
        name, meant = quote(unmatched.pattern), quote(unmatched.provider)
        yield Finding(unmatched.at, f"no provider is called {name}; did you mean {meant}?")
