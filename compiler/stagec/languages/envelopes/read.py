"""Read trees as stage plans: keep valid members, give absent ones their default, judge nothing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from stagec.core.json import Json, Object, list_of, object_of, text_in, whole_of
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.precedence import components
from stagec.core.value import replace, value
from stagec.ir.protocol.stage_ids import is_short_form, looks_like_stage_id
from stagec.languages.envelopes.document import (
    DURATION,
    PARALLEL,
    Dependency,
    DependencyKind,
    Envelope,
    EnvelopeInputs,
    InputKind,
    StageInput,
    StagePlan,
    group_by_number,
)
from stagec.languages.envelopes.inputs import mark_missing
from stagec.languages.envelopes.recognise import find_stages, is_envelope, recognises
from stagec.sources.read import Sources, legible
from stagec.sources.shape import judge, judge_numbers
from stagec.sources.tree import Tree

MOST = 9
"""So many stages are told of all that are meant: one more than messages show."""
_WIDTH = 8_192
"""So many stages are asked about in one pass: what is known of a stage is one bit for each of them."""


class Ancestry:
    """The stages that come before each stage; stages are numbers.

    A question is about one stage and some that may come before it. All questions are answered together, a pass over
    the plan for each 8,192 stages asked about, so that the cost is linear however they are spread.
    """

    def __init__(self, leads: Sequence[Sequence[int]]) -> None:
        self._leads = leads
        self._order: list[list[int]] | None = None

    def answer(self, questions: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[int]]:
        """Return for each pair of stages to start from and stages wanted those wanted that are or precede a start.

        More than nine are not counted. Many questions may want the same stages; where these are one object, they cost
        as much as one.
        """
        found: list[list[int]] = [[] for _ in questions]
        groups = {id(some): some for _, some in questions}
        wanted = sorted({each for some in groups.values() for each in some})
        for start in range(0, len(wanted), _WIDTH):
            part = wanted[start : start + _WIDTH]
            bits = {stage: 1 << place for place, stage in enumerate(part)}
            masks = {key: _join(bits.get(each, 0) for each in some) for key, some in groups.items()}
            before = self._spread(bits)
            for answer, (starts, some) in zip(found, questions, strict=True):
                known = masks[id(some)] and _join(before[each] for each in starts) & masks[id(some)]
                answer.extend(part[place] for place in _list_bits(known, MOST - len(answer)))
        return found

    def _spread(self, bits: Mapping[int, int]) -> list[int]:
        """Return for each stage the bits of itself and of all that come before it."""
        before = [0] * len(self._leads)
        for component in self._components():
            known = _join(before[target] for stage in component for target in self._leads[stage])
            known |= _join(bits.get(stage, 0) for stage in component)
            for stage in component:
                before[stage] = known
        return before

    def _components(self) -> list[list[int]]:
        if self._order is None:
            self._order = list(components([list(each) for each in self._leads]))
        return self._order


def _list_bits(known: int, most: int) -> Iterator[int]:
    """Yield the places of the lowest bits that are set."""
    for _ in range(most if known else 0):
        lowest = known & -known
        yield lowest.bit_length() - 1
        known ^= lowest
        if not known:
            return


def _join(parts: Iterator[int]) -> int:
    known = 0
    for each in parts:
        known |= each
    return known


_TEXT = {str}
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@value
class WrittenEnvelope:
    """The members of one envelope, where it stands, and its id."""

    at: Place
    members: Object
    id: str | None


@value
class Links:
    """The resolved dependencies and inputs of one envelope; its members are those of `Envelope`."""

    dependencies: tuple[str, ...]
    needs: tuple[str, ...]
    implied: tuple[str, ...]
    oddities: tuple[Dependency, ...]
    inputs: EnvelopeInputs


class Resolver:
    """Resolves the mentions of all envelopes of one plan."""

    def __init__(self, written: Sequence[WrittenEnvelope], *, alone: bool) -> None:
        self._written = written
        self._alone = alone
        self._index: dict[str, int] = {}
        for index, each in enumerate(written):
            if each.id is not None:
                self._index.setdefault(each.id, index)
        self._names = NameIndex(sorted(self._index))  # so that what is near does not depend on the order of stages
        self._namesakes: dict[str, NameIndex] = {}
        self._numbers: Mapping[str, tuple[str, ...]] | None = None
        self._firsts: dict[str, bool] = {}
        self._bare: set[str] = set()
        self._outputs: list[frozenset[str]] = [
            frozenset(find_texts(each.members, "outputs").values()) for each in written
        ]
        for index, each in enumerate(written) if len(self._index) < len(written) else ():
            if each.id is not None and self._index[each.id] != index:  # nobody can tell which of the two is meant
                self._outputs[self._index[each.id]] |= self._outputs[index]

    @property
    def names(self) -> NameIndex:
        """The ids of the plan."""
        return self._names

    def resolve(self) -> list[Links]:
        """Return the resolved mentions of each envelope, in the order of the plan."""
        found = [self._resolve(each) for each in self._written]
        return self._settle(found)

    def _resolve(self, each: WrittenEnvelope) -> Links:
        """Return the facts about an envelope that do not depend on other stages."""
        names, needs, oddities = self._read_dependencies(each)
        own, index, outputs = each.id, self._index, self._outputs
        odd: dict[str, StageInput] = {}
        implied: dict[str, None] = {}
        texts = find_texts(each.members, "inputs")
        for name, text in texts.items():
            first, slash, rest = text.partition("/")
            if slash and first in index and first != own:
                is_made = rest in outputs[index[first]]
                if is_made and first in needs:
                    continue
                kind = InputKind.OUTPUT if is_made else InputKind.UNKNOWN_OUTPUT
                odd[name] = StageInput(name, text, kind, rest, first)
                if first not in needs:
                    implied[first] = None
            else:
                odd[name] = self._classify(own, name, text)
        return Links(names, tuple(needs), tuple(implied), oddities, EnvelopeInputs(texts, odd))

    def _read_dependencies(
        self, each: WrittenEnvelope
    ) -> tuple[tuple[str, ...], Mapping[str, object], tuple[Dependency, ...]]:
        """Return the names as written, those that are needed, and what is remarkable about others."""
        given = list_of(each.members.get("dependencies"))
        names = tuple([name for name in given if isinstance(name, str)])
        once = dict.fromkeys(names)
        if len(once) == len(names) and once.keys() <= self._index.keys() and each.id not in once:
            return names, once, ()
        oddities = tuple(self._judge_dependencies(each, given))
        odd = {odd.name: odd for odd in oddities if odd.kind is not DependencyKind.REPEATED}
        needs: dict[str, None] = {}
        for name in once:
            needs |= dict.fromkeys((name,) if name not in odd else self._repair(odd[name], each.id))
        return names, {name: None for name in needs if name in self._index}, oddities

    def _judge_dependencies(self, each: WrittenEnvelope, given: Sequence[object]) -> Iterator[Dependency]:
        seen: set[str] = set()
        at = each.at / "dependencies"
        for index, name in enumerate(given):
            if not isinstance(name, str):
                continue
            kind, meant = self._judge_dependency(each.id, name)
            if name in seen:
                kind = DependencyKind.REPEATED
            seen.add(name)
            if kind is not None:
                yield Dependency(name, at / index, kind, meant)

    def _judge_dependency(self, own: str | None, name: str) -> tuple[DependencyKind | None, tuple[str, ...]]:
        if name == own:
            return DependencyKind.OWN, (name,)
        if name in self._index:
            return None, (name,)
        if is_short_form(name):
            meant = self._list_namesakes(name)
            if meant == (own,):
                return DependencyKind.OWN, meant
            if meant or self._alone:
                return (DependencyKind.AMBIGUOUS if len(meant) > 1 else DependencyKind.SHORT), meant[:MOST]
        if self._alone:
            return None, ()
        near = self._guess(name)
        return DependencyKind.UNKNOWN, () if near in {None, own} else (str(near),)

    def _guess(self, name: str) -> str | None:
        """Return the stage that a wrong name was most likely meant to be, by a slip or among those of its number."""
        number = name.partition("_")[0]
        if number not in self._namesakes:
            self._namesakes[number] = NameIndex(sorted(self._list_namesakes(number)))
        return self._names.slip(name) or self._namesakes[number].nearest(name)

    def _repair(self, odd: Dependency, own: str | None) -> tuple[str, ...]:
        """Return the likely intention of an odd dependency."""
        certain = odd.kind in {DependencyKind.SHORT, DependencyKind.UNKNOWN}
        return tuple(name for name in odd.meant if name != own) if certain else ()

    def _list_namesakes(self, number: str) -> tuple[str, ...]:
        if self._numbers is None:
            self._numbers = group_by_number(self._index)
        return self._numbers.get(number, ())

    def _classify(self, own: str | None, name: str, text: str) -> StageInput:
        """Return the kind of an input that names no other stage, by its form; a bare one is a file for now."""
        first, slash, rest = text.partition("/")
        if not slash:
            self._bare.add(text)
            return StageInput(name, text, InputKind.FILE, text, bare=True)
        if first in self._index and first == own:
            return StageInput(name, text, InputKind.OWN, rest, first)
        if _URL.match(text) is not None:
            return StageInput(name, text, InputKind.URL, text)
        if self._is_meant_as_stage(first):
            kind = InputKind.OUTPUT if self._alone else InputKind.UNKNOWN_STAGE
            return StageInput(name, text, kind, rest, first, candidates=self._list_namesakes(first)[:MOST])
        return StageInput(name, text, InputKind.FILE, text)

    def _is_meant_as_stage(self, first: str) -> bool:
        """Tell whether the first part of a path is or was meant to be the id of a stage, and no folder."""
        if first not in self._firsts:
            like = first[:1] in {"S", "s"} and any(map(str.isdigit, first[:4]))
            self._firsts[first] = like and (looks_like_stage_id(first) or self._names.slip(first) is not None)
        return self._firsts[first]

    def _settle(self, found: list[Links]) -> list[Links]:
        """Resolve what depends on the order of stages: implied dependencies and bare names."""
        makers = self._find_makers()
        doubtful = (index for index, each in enumerate(found) if each.implied or self._bare)
        asked = [(index, name) for index in doubtful for name in self._list_open(found[index], makers)]
        if not asked:
            return found
        ancestry = Ancestry([[self._index[name] for name in (*each.needs, *each.implied)] for each in found])
        answers = ancestry.answer([self._ask(found[index], name, makers) for index, name in asked])
        changed: dict[int, dict[str, StageInput]] = {}
        for (index, name), known in zip(asked, answers, strict=True):
            given = found[index].inputs[name]
            answer = [each for each in known if each != index]  # in a cycle a stage precedes itself
            others = [each for each in makers.get(given.text, ())[: MOST + 1] if each != index] if given.bare else []
            changed.setdefault(index, {})[name] = self._decide(given, found[index], answer, others)
        for index, inputs in changed.items():
            # what a declared dependency implies already is no longer implied
            settled = found[index].inputs.with_odd(inputs)
            inferred = {each.producer for each in settled.odd.values() if each.inferred}
            implied = tuple(each for each in found[index].implied if each in inferred)
            found[index] = replace(found[index], inputs=settled, implied=implied)
        return found

    def _find_makers(self) -> Mapping[str, list[int]]:
        """Return by each bare name the stages that have an output of this name."""
        makers: dict[str, list[int]] = {}
        for index in self._index.values() if self._bare else ():
            for path in self._outputs[index] & self._bare:
                makers.setdefault(path, []).append(index)
        return makers

    def _list_open(self, links: Links, makers: Mapping[str, list[int]]) -> Iterator[str]:
        for name, each in links.inputs.odd.items():
            if each.bare:
                if self._alone or each.text in makers:
                    yield name
            elif each.producer in self._index and each.producer in links.implied:
                yield name

    def _ask(self, links: Links, name: str, makers: Mapping[str, list[int]]) -> tuple[Sequence[int], Sequence[int]]:
        given = links.inputs[name]
        ambiguous = (each for odd in links.oddities if odd.kind is DependencyKind.AMBIGUOUS for each in odd.meant)
        starts = [*links.needs, *ambiguous, *(links.implied if given.bare else ())]
        wanted = makers.get(given.text, ()) if given.bare else (self._index[given.producer or ""],)
        return [self._index[each] for each in starts], wanted

    def _decide(self, given: StageInput, links: Links, answer: Sequence[int], others: Sequence[int]) -> StageInput:
        """Return an input with what the way from stage to stage says of it: `answer` are its makers on the way."""
        if not given.bare:
            return given if answer else replace(given, inferred=True)
        if self._alone:
            producer = links.dependencies[0] if len(links.dependencies) == 1 else None
            return replace(given, kind=InputKind.OUTPUT, producer=producer) if links.dependencies else given
        named = tuple([self._written[index].id or "" for index in answer or others[:MOST]])
        if not answer:
            return replace(given, candidates=named)
        if len(named) > 1:
            return replace(given, kind=InputKind.AMBIGUOUS, candidates=named)
        return replace(given, kind=InputKind.OUTPUT, producer=named[0])


def _are_texts(given: Mapping[str, Json]) -> TypeGuard[Mapping[str, str]]:
    return set(map(type, given.values())) <= _TEXT


def find_texts(members: Object, member: str) -> Mapping[str, str]:
    """Return the members of an object in an envelope that are texts."""
    given = object_of(members.get(member))
    if _are_texts(given):
        return given
    return {name: each for name, each in given.items() if isinstance(each, str)}


_PLAN, _ENVELOPE = "stage_plan", "envelope"
"""The kinds of trees: a document that lists envelopes, and one that is an envelope itself."""
_SCHEMA = "stage_plan"
_SIGN = b"stageId"
"""A word in every unreadable text that was a single envelope."""


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
