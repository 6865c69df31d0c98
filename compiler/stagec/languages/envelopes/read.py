"""From trees to stage plans: take what is well formed, give what is absent its default, judge nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from stagec.core.json import Json, Object, list_of, object_of, text_in, whole_of
from stagec.core.memo import Memo
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.languages.envelopes.document import DURATION, PARALLEL, Envelope, StagePlan
from stagec.languages.envelopes.inputs import mark_missing
from stagec.languages.envelopes.recognise import find_stages, is_envelope, recognises
from stagec.languages.envelopes.resolve import Links, Resolver, WrittenEnvelope, find_texts
from stagec.sources.read import Sources, legible
from stagec.sources.shape import judge, judge_numbers
from stagec.sources.tree import Tree

_PLAN, _ENVELOPE = "stage_plan", "envelope"
"""The kinds of trees: a document that lists envelopes, and one that is an envelope itself."""
_SCHEMA = "stage_plan"
_SIGN = b"stageId"
"""What a text that cannot be read holds once if it was one envelope."""


def read(sources: Sources, files: tuple[str, ...]) -> tuple[StagePlan, ...]:
    """Return the plans that the files are; envelopes that are files of one folder are a plan together."""
    found: list[StagePlan] = []
    folders: dict[str, list[Tree]] = {}
    for tree in _take(sources, files):
        if tree.kind == _PLAN:
            found.extend(_read_plan(tree))
        else:
            folders.setdefault(posixpath.dirname(tree.file), []).append(tree)
    for trees in folders.values():
        # the plan that the envelopes in the files of one folder are, or the one envelope that stands alone
        readable = [tree for tree in trees if tree.readable]
        written = [_take_envelope(tree.at, tree.value) for tree in readable]
        if written:
            found.append(_make_plan(readable, readable[0].at, {}, written, is_whole=len(readable) == len(trees)))
    return tuple(mark_missing(each, sources) for each in found)


def _take(sources: Sources, files: Iterable[str]) -> Iterator[Tree]:
    """Yield the trees of plans and envelopes, judged; what is neither after all is forgotten."""
    for file in files:
        tree = sources.tree(file, "file")
        if tree is None:
            continue
        if not tree.readable:
            yield replace(tree, kind=_ENVELOPE if legible(tree.data).count(_SIGN) == 1 else _PLAN)
        elif not recognises(tree):
            sources.forget(file)
        else:
            kind = _ENVELOPE if is_envelope(tree.value) else _PLAN
            tree = judge_numbers(judge(replace(tree, kind=kind), _SCHEMA), _SCHEMA)
            sources.replace(tree)
            yield tree


def _read_plan(tree: Tree) -> Iterator[StagePlan]:
    """Yield the plan that a document is, unless it cannot be read."""
    if not tree.readable:
        return
    members = object_of(tree.value)
    name = find_stages(members)
    at = tree.at if isinstance(tree.value, list) else tree.at / name
    stages = list_of(tree.value) or list_of(members.get(name))
    written = [_take_envelope(at / index, each) for index, each in enumerate(stages) if isinstance(each, dict)]
    yield _make_plan((tree,), at, members, written, is_whole=len(written) == len(stages))


def _take_envelope(at: Place, given: Json) -> WrittenEnvelope:
    members = object_of(given)
    return WrittenEnvelope(at, members, text_in(members, "stageId"))


def _make_plan(
    trees: Sequence[Tree], at: Place, members: Object, written: Sequence[WrittenEnvelope], *, is_whole: bool
) -> StagePlan:
    alone = is_whole and len(written) == 1 and trees[0].kind == _ENVELOPE
    resolver = Resolver(written, alone=alone)
    envelopes = tuple(map(_read_envelope, written, resolver.resolve()))
    most = whole_of(members.get("maxParallel")) or 0
    by_id: dict[str, Envelope] = {}
    for each in envelopes:
        if each.id is not None:
            by_id.setdefault(each.id, each)
    return StagePlan(
        file=at.file,
        at=at,
        members=members,
        title=text_in(members, "reportTitle"),
        run_id=text_in(members, "runId"),
        max_parallel=most if most > 0 else PARALLEL,
        alone=alone,
        envelopes=envelopes,
        by_id=by_id,
        names=resolver.names,
        is_whole=is_whole and len(by_id) == len(envelopes),
        faults=tuple(fault for tree in trees for fault in tree.faults),
        memo=Memo(),
    )


def _read_envelope(written: WrittenEnvelope, links: Links) -> Envelope:
    members = written.members
    seconds = members.get("maxDurationSec")
    words = [each for each in list_of(members.get("run")) if isinstance(each, str)]
    return Envelope(
        at=written.at,
        members=members,
        id=written.id,
        goal=text_in(members, "goal"),
        inputs=links.inputs,
        outputs=find_texts(members, "outputs"),
        max_duration=seconds if type(seconds) is int or type(seconds) is float else DURATION,
        dependencies=links.dependencies,
        retryable=members.get("retryable") is not False,
        checkpoint_after=members.get("checkpointAfter") is not False,
        run=tuple(words) if len(words) == len(list_of(members.get("run"))) else (),
        needs=links.needs,
        implied=links.implied,
        oddities=links.oddities,
    )
