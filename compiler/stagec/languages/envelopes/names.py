"""The names in a stage plan."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.ir.flow import NameKind, Occurrence
from stagec.languages.envelopes.document import DependencyKind, StagePlan


def list_names(document: StagePlan) -> Iterator[Occurrence]:
    """Yield every place at which a stage is defined or mentioned; an input mentions the stage that makes it."""
    for each in document.envelopes:
        if each.id is not None:
            yield Occurrence(NameKind.ENVELOPE, each.id, document.file, each.id_at, each.at)
        meant = {odd.at: odd.meant[0] for odd in each.oddities if odd.kind is DependencyKind.SHORT and odd.meant}
        for mention in each.list_mentions():
            yield Occurrence(NameKind.ENVELOPE, meant.get(mention.at, mention.name), document.file, mention.at)
        for name, given in each.inputs.items():
            if given.producer is not None and not given.bare:
                yield Occurrence(NameKind.ENVELOPE, given.producer, document.file, each.place_input(name))
