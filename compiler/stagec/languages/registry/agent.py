"""Where the files of an agent are, and what it is called."""

from __future__ import annotations

from stagec.core.json import Object, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.languages.registry.conduct import AgentConduct
from stagec.languages.registry.files import Attachment
from stagec.languages.registry.generation import LEGACY_COORDINATES, Generation


@value
class Address:
    """The coordinates of a prompt; what is no text is None, and what is absent too unless there is a usual value.

    `at` is the object that they are members of, `body` that object as it is written. `c1` is one of 1.14, and unread.
    """

    at: Place
    body: Object
    c1: str | None
    c2: str | None
    c3: str | None
    edition: str | None = "default"
    adaptation: str | None = ""

    @property
    def coordinates(self) -> tuple[str | None, str | None, str | None, str | None]:
        """Everything that tells one prompt of a registry from the others."""
        return self.c2, self.c3, self.edition, self.adaptation


def read_address(body: Object, at: Place, written: Generation) -> Address:
    """Return the address of a step or of a validation step; in 1.14 coordinates of 1.13 count where no others are."""
    is_flat = written is Generation.V1_13 or (
        "address" not in body and any(each in body for each in LEGACY_COORDINATES)
    )
    place, owner = (at, body) if is_flat else (at / "address", object_of(body.get("address")))
    return Address(
        at=place,
        body=owner,
        c1=None if is_flat else text_in(owner, "c1"),
        c2=text_in(owner, "c2"),
        c3=text_in(owner, "c3"),
        edition=text_in(owner, "edition") if "edition" in owner else "default",
        adaptation=text_in(owner, "adaptation") if "adaptation" in owner else "",
    )


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
