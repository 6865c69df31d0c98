"""The project has no folder for the settings files of agents of climpt 1.14.

## Why this matters
The tools and the permission mode of an agent are in a settings file in `.agent/climpt/config`. Without that folder,
stagec sees only a part of the project, or `climpt init` was never run. The agent cannot run without the file.

## How to fix
Check the whole project, or write the settings file.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import lacks_settings
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:settings.missing",), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is not None and not agent.conduct.has_folder and lacks_settings(registry):
        yield Finding(agent.at, f"the settings of agent {quote(agent.name)} are unknown: there is no {quote(_FOLDER)}")


_FOLDER = ".agent/climpt/config"
