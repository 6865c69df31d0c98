"""A version has more than three numbers.

## Why this matters
`1.0.0-beta.1` and `1.0.0+build.7` are semantic versions. The loader of climpt takes only three numbers, and refuses the
file.

## How to fix
Write the three numbers alone where climpt loads the file.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import text_in
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(
    since="0.1",
    origin=("steps-registry:reg.version-semver", "steps-registry:agent.version", "rulings:T6"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    given = [(registry.at, text_in(registry.body, "version")), (agent.at, agent.version) if agent is not None else None]
    for at, version in filter(None, given):
        if version is not None and not {"-", "+"}.isdisjoint(version):
            yield Finding(at / "version", f"climpt takes versions of three numbers, not {quote(version)}")
