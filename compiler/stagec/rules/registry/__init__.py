"""STG2xx: names, references and agreements inside one step registry."""

from collections.abc import Callable, Iterable, Iterator

from stagec.contract.promise import Presence, Promise
from stagec.contract.schemas import Miss, Schema
from stagec.core.diagnostic import Severity
from stagec.core.edit import Change, Edit, Fix
from stagec.core.nearest import Names, hint
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.agreement import Disagreement, Side, disagreements
from stagec.frontends.registry.document import (
    ALLOWED,
    INTENTS,
    VERDICTS,
    Agent,
    Gate,
    Intent,
    Kind,
    Mention,
    Move,
    Output,
    Registry,
    Step,
)

__all__ = [
    "ALLOWED",
    "INTENTS",
    "VERDICTS",
    "Agent",
    "Change",
    "Disagreement",
    "Edit",
    "Finding",
    "Fix",
    "Gate",
    "Intent",
    "Kind",
    "Mention",
    "Miss",
    "Move",
    "Names",
    "Output",
    "Presence",
    "Promise",
    "Registry",
    "Related",
    "Schema",
    "Severity",
    "Side",
    "Step",
    "disagreements",
    "hint",
    "listing",
    "quote",
    "rule",
    "unknown",
]

FAMILY = Family(__name__, 200, Registry)
rule = FAMILY.rule

_SHOWN = 8
"""So many further mentions of a name are shown; the message counts the rest."""


def unknown(mentions: Iterable[Mention], names: Names, sentence: Callable[[Mention], str]) -> Iterator[Finding]:
    """Yield one finding for every name that does not exist, however often it is mentioned."""
    lost: dict[str, list[Mention]] = {}
    for mention in mentions:
        lost.setdefault(mention.name, []).append(mention)
    for name, (first, *others) in lost.items():
        related = tuple(Related(other.at, "mentioned here too") for other in others[:_SHOWN])
        more = f" (and {len(others) - _SHOWN} more mentions)" if len(others) > _SHOWN else ""
        yield Finding(first.at, f"{sentence(first)}{hint(name, names)}{more}", related)
