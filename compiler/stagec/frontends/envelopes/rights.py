"""What the stages of a plan may do: the programs that they run, and the files of others that they fetch."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.catalogue.labels import LabelBook, is_agent
from stagec.catalogue.nearby import find_nearby
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.model.rights import Label, Labelled, Right, Rights, Teller
from stagec.sources.read import Sources

_STRANGE = Labelled(frozenset({Label.UNTRUSTED}), Teller.LIST)


def read_rights(plan: StagePlan, sources: Sources) -> Mapping[str, Rights]:
    """Return what each stage may do."""
    book = LabelBook(find_nearby(sources, plan.file))
    found: dict[str, Rights] = {}
    for name, each in plan.by_id.items():
        program = (
            [Right(each.run[0], each.at / "run", book.find_program(each.run), is_program=True)] if each.run else []
        )
        fetched = [given for given in each.inputs.values() if given.kind is InputKind.URL]
        inputs = [Right(given.text, each.at / "inputs" / given.name, _STRANGE, is_program=True) for given in fetched]
        is_fixed = bool(each.run) and not is_agent(each.run)
        found[name] = Rights((*program, *inputs), is_fixed=is_fixed)
    return found
