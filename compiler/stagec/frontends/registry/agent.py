"""The agent definition beside a registry: its verdict, its parameters, and what it may do."""

from __future__ import annotations

from stagec.core.json import Object
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.frontends.registry.conduct import AgentConduct
from stagec.frontends.registry.files import Attachment
from stagec.frontends.registry.generation import Generation


@value
class Agent:
    """The agent definition beside a registry; what is missing or misshapen in it is None."""

    at: Place
    name: str | None
    verdict: str | None
    settings: Object
    """`runner.verdict.config`"""
    parameters: NameIndex
    """What a run of the agent is given by its caller; `declared` has them as they are written."""
    declared: Object = NOTHING
    is_whole: bool = True
    """Whether it is of the current format, and its parameters and its verdict are not misshapen."""
    system_prompt: Attachment | None = None
    fallback_folder: Attachment | None = None
    version: str | None = None
    generation: Generation = Generation.V1_13
    conduct: AgentConduct = AgentConduct()
    """Its tools and its permission mode: of its `boundaries` in 1.13, of the settings file in 1.14."""

    @property
    def verdict_at(self) -> Place:
        """Where the verdict type is chosen."""
        return self.at / "runner" / "verdict" / "type"
