"""The inputs of a plan by where they come from."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from stagec.core.nearest import Guess, NameIndex, guess, hint, is_slip
from stagec.core.place import Place
from stagec.core.precedence import Precedence, components
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.protocol.stage_ids import PathCheck, find_path_fault
from stagec.languages.envelopes.document import DependencyKind, Envelope, InputKind, StageInput, StagePlan
from stagec.languages.envelopes.ids import find_meant_stage, find_repeated_ids, list_suspects
from stagec.sources.read import Sources, join

_LENGTH = 4
"""Characters of the pieces by which texts are found."""
_LONGEST = 4_000
"""Characters of a text whose pieces are kept; a longer one is always looked at."""


class SubstringIndex:
    """Texts, each known by its number, for the question which of them contain another."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._long = [index for index, text in enumerate(self._texts) if len(text) > _LONGEST]
        self._having: dict[str, list[int]] = {}
        for index, text in enumerate(self._texts):
            for each in _list_pieces(text) if len(text) <= _LONGEST else ():
                self._having.setdefault(each, []).append(index)

    def find(self, part: str) -> list[int]:
        """Return the numbers of the texts that contain a text, in their order."""
        rarest = min((self._having.get(each, []) for each in _list_pieces(part)), key=len, default=None)
        possible = range(len(self._texts)) if rarest is None else sorted([*rarest, *self._long])
        return [index for index in possible if part in self._texts[index]]


def _list_pieces(text: str) -> set[str]:
    return {text[at : at + _LENGTH] for at in range(len(text) - _LENGTH + 1)}


@value
class DependencyCycle:
    """Stages that depend on each other, in the order of the plan, and one way round that begins with the first.

    `ways` has for each stage of `way` the place where it says that it depends on the next.
    """

    stages: tuple[Envelope, ...]
    way: tuple[Envelope, ...]
    ways: tuple[Place, ...]


def find_cycles(plan: StagePlan) -> tuple[DependencyCycle, ...]:
    """Return one cycle for each group of stages that depend on each other, in the order of the plan."""
    return plan.memo.once("cycles", lambda: tuple(_list_cycles(plan)))


def share_cycle(plan: StagePlan, one: Envelope, other: Envelope) -> bool:
    """Tell whether two stages depend on each other, directly or not."""
    groups = plan.memo.once(
        "groups", lambda: {each.at: number for number, cycle in enumerate(find_cycles(plan)) for each in cycle.stages}
    )
    return one.at in groups and groups[one.at] == groups.get(other.at)


def measure_losses(plan: StagePlan) -> Iterator[tuple[Envelope, float]]:
    """Yield the stages without a checkpoint that others need, each with the seconds of work that a crash can lose.

    That is its own limit, and the longest chain of stages that need it up to the next one with a checkpoint.
    """
    if all(each.checkpoint_after for each in plan.envelopes):
        return
    leads = _find_needs(plan)
    followers: list[list[int]] = [[] for _ in leads]
    for index, needs in enumerate(leads):
        for need in needs:
            followers[need].append(index)
    lost = [0.0] * len(leads)
    for group in components(followers):  # each after all that need it
        for index in group if len(group) == 1 else ():
            # the longest chain behind it ends with a checkpoint, or goes on as far as that of a follower does
            behind = ((plan.envelopes[each], lost[each]) for each in followers[index])
            longest = (stage.max_duration if stage.checkpoint_after else more for stage, more in behind)
            lost[index] = plan.envelopes[index].max_duration + max(longest, default=0.0)
    for index, each in enumerate(plan.envelopes):
        if not each.checkpoint_after and followers[index]:
            yield each, lost[index]


def find_concurrent(plan: StagePlan) -> tuple[Envelope, Envelope] | None:
    """Return two stages of which neither waits for the other, or None if there are none, or there is a cycle."""
    leads = _find_needs(plan)
    order: Sequence[int] = range(len(leads))
    if not plan.is_in_order:
        order = [group[0] for group in components([list(each) for each in leads]) if len(group) == 1]
    if len(order) < len(leads):
        return None
    for one, other in pairwise(order):  # what could lie between them is in front of both or behind
        if one not in leads[other]:
            return plan.envelopes[one], plan.envelopes[other]
    return None


def find_precedence(plan: StagePlan) -> Precedence | None:
    """Return the precedence of the envelopes, by their place in the plan; None if some wait for each other."""
    found = plan.memo.once("precedence", lambda: Precedence([list(each) for each in _find_needs(plan)]))
    return found if found.order else None


def _find_needs(plan: StagePlan) -> Sequence[Sequence[int]]:
    """Return for each envelope the indexes of those it needs; what a misspelt dependency seems to mean is none."""
    return plan.memo.once("needs", lambda: [list(each) for each in _list_needs(plan)])


def _list_needs(plan: StagePlan) -> Iterator[Iterator[int]]:
    index: dict[str, int] = {}
    for place, each in enumerate(plan.envelopes):
        index.setdefault(each.name, place)
    for place, each in enumerate(plan.envelopes):
        needs = (*each.needs, *each.implied) if each.implied else each.needs
        guessed: set[str] = set()
        if each.oddities:
            guessed = {name for odd in each.oddities if odd.kind is DependencyKind.UNKNOWN for name in odd.meant}
            guessed.difference_update(each.dependencies, (str(given.producer) for given in each.inputs.values()))
            guessed.difference_update(*(odd.meant for odd in each.oddities if odd.kind is DependencyKind.SHORT))
        yield (index[name] for name in needs if name not in guessed and index[name] != place)


def _list_cycles(plan: StagePlan) -> Iterator[DependencyCycle]:
    if plan.is_in_order:
        return
    leads = [list(each) for each in _find_needs(plan)]
    for group in sorted(group for group in components(leads) if len(group) > 1):
        way = _find_way_round(leads, group)
        stages = [plan.envelopes[index] for index in way]
        ways = zip(stages, [*stages[1:], stages[0]], strict=True)
        yield DependencyCycle(
            tuple(plan.envelopes[index] for index in group),
            tuple(stages),
            tuple(_place_need(one, other.id or "") for one, other in ways),
        )


def _find_way_round(leads: Sequence[Sequence[int]], group: Sequence[int]) -> list[int]:
    """Return the shortest way from the first of a group back to it."""
    first, inside = group[0], set(group)
    came_from: dict[int, int] = {}
    waiting = [first]
    for each in waiting:  # grows while it is read
        for need in leads[each]:
            if need == first:
                return _trace(came_from, each)
            if need in inside and need not in came_from:
                came_from[need] = each
                waiting.append(need)
    raise ValueError("the group is no cycle")


def _trace(came_from: Mapping[int, int], last: int) -> list[int]:
    way = [last]
    while way[-1] in came_from:
        way.append(came_from[way[-1]])
    return way[::-1]


def _place_need(stage: Envelope, need: str) -> Place:
    """Return the place where a stage declares its need of another: as a dependency, or by an input."""
    mention = stage.place_mentions().get(need)
    if mention is not None:
        return mention
    found = (stage.place_input(name) for name, each in stage.inputs.items() if each.producer == need)
    return next(found, stage.at / "dependencies")


def list_inputs(plan: StagePlan, kind: InputKind) -> list[tuple[Envelope, StageInput]]:
    """Return the inputs of one kind, each with its stage; outputs of other stages only where they are bare."""
    return plan.memo.once("inputs", lambda: _group_inputs(plan)).get(kind, [])


def _group_inputs(plan: StagePlan) -> Mapping[InputKind, list[tuple[Envelope, StageInput]]]:
    found: dict[InputKind, list[tuple[Envelope, StageInput]]] = {}
    for stage in plan.envelopes:
        for given in stage.inputs.odd.values():
            if given.bare or given.kind is not InputKind.OUTPUT:
                found.setdefault(given.kind, []).append((stage, given))
    return found


def has_clear_dependencies(stage: Envelope) -> bool:
    """Tell whether a stage says well enough what it depends on: nothing wrong stands there that may mean anything."""
    if any(odd.kind is DependencyKind.UNKNOWN and not odd.meant for odd in stage.oddities):
        return False
    if "dependencies" not in stage.members:
        return not any(is_slip(name, "dependencies") for name in stage.members)
    written = stage.members["dependencies"]
    return isinstance(written, list) and len(written) == len(stage.dependencies)


_REPORTS = "reports"
_DEPTH = 4
"""Folders above what a stage writes: of all reports, of the report, of the run, of the stage."""


class WriteTime(StrEnum):
    """When what a stage reads is written."""

    BEFORE = "before the stage begins"
    CONCURRENT = "while the stage may run"
    OWN = "by the stage itself"
    LATER = "after the stage has ended"


@value
class OwnRead:
    """An input that leads into the folder of a stage of the same run, by its path from the root of the project.

    `output` is the output of that stage with this path, if there is one.
    """

    stage: Envelope
    given: StageInput
    writer: Envelope
    output: str | None
    time: WriteTime


def find_own_reads(plan: StagePlan, time: WriteTime) -> Iterator[OwnRead]:
    """Yield the inputs that are written at some time; nothing is known of stages that wait for each other."""
    found = plan.memo.once("own reads", lambda: tuple(_list_own_reads(plan)))
    return (each for each in found if each.time is time)


def _list_own_reads(plan: StagePlan) -> Iterator[OwnRead]:
    reads = [] if plan.alone or plan.title is None or plan.run_id is None else [*_list_reads(plan)]
    order = find_precedence(plan) if reads else None
    if order is None:
        return
    index = {each.at: place for place, each in enumerate(plan.envelopes)}
    pairs = [(index[stage.at], index[writer.at]) for stage, _, writer in reads]
    concurrent = set(order.find_concurrent(pairs))
    # those pairs of which the first has to end before the second begins
    places = {node: place for place, node in enumerate(order.order)}
    later = {(one, other) for one, other in pairs if places[one] < places[other]}
    for pair, (stage, given, writer) in zip(pairs, reads, strict=True):
        time = WriteTime.CONCURRENT if pair in concurrent else WriteTime.LATER if pair in later else WriteTime.BEFORE
        below = _fold(posixpath.normpath(given.path)).split("/", _DEPTH)[-1]
        same = (name for name, path in writer.outputs.items() if _fold(path) == below)
        yield OwnRead(stage, given, writer, next(same, None), WriteTime.OWN if pair[0] == pair[1] else time)


def _list_reads(plan: StagePlan) -> Iterator[tuple[Envelope, StageInput, Envelope]]:
    """Yield the inputs whose paths lead into the folder of a stage, as a file system may read them."""
    inside = f"{_fold(posixpath.join(_REPORTS, plan.title or '', plan.run_id or ''))}/"
    stages = {_fold(name): each for name, each in plan.by_id.items()}
    for stage, given in list_inputs(plan, InputKind.FILE):
        path = _fold(posixpath.normpath(given.path))
        writer = stages.get(path.removeprefix(inside).partition("/")[0]) if path.startswith(inside) else None
        if writer is not None:
            yield stage, given, writer


def _fold(path: str) -> str:
    """Return a path as file systems compare it that ignore case and normalise accents."""
    from unicodedata import normalize  # plans of stages only

    return normalize("NFC", normalize("NFC", path).casefold())


@value
class LostStage:
    """An unknown id: the dependencies and inputs that mention it, and possible explanations."""

    name: str
    dependencies: tuple[Place, ...]
    inputs: tuple[Place, ...]
    meant: str | None
    causes: tuple[Place, ...]

    @property
    def hint(self) -> str:
        """The end of a sentence that says what was most likely meant."""
        return f"; did you mean {quote(self.meant)}?" if self.meant is not None else ""

    @property
    def guess(self) -> Guess | None:
        """The likely intention, wherever it is mentioned."""
        _, *others = (*self.dependencies, *self.inputs)
        return Guess(self.name, self.meant, tuple(others)) if self.meant is not None else None


@value
class LostOutput:
    """An output that inputs name but the stage does not declare; `ats` are these inputs."""

    stage: Envelope
    path: str
    ats: tuple[Place, ...]
    hint: str
    guess: Guess | None
    causes: tuple[Place, ...]


def find_lost_stages(plan: StagePlan) -> tuple[LostStage, ...]:
    """Return every id that no stage has, in the order in which they are mentioned.

    Where a stage cannot be read or has no id, only an id that is near another is told to be wrong.
    """
    return plan.memo.once("lost stages", lambda: tuple(_list_lost_stages(plan)))


def find_lost_outputs(plan: StagePlan) -> tuple[LostOutput, ...]:
    """Return the outputs that inputs name but their stage does not declare; a stage without `outputs` may have any."""
    return plan.memo.once("lost outputs", lambda: tuple(_list_lost_outputs(plan)))


def _list_lost_stages(plan: StagePlan) -> Iterator[LostStage]:
    named: dict[str, tuple[list[Place], list[Place]]] = {}
    for stage in plan.envelopes:
        for odd in stage.oddities:
            if odd.kind is DependencyKind.UNKNOWN:
                named.setdefault(odd.name, ([], []))[0].append(odd.at)
    for stage, given in list_inputs(plan, InputKind.UNKNOWN_STAGE):
        named.setdefault(str(given.producer), ([], []))[1].append(stage.place_input(given.name))
    is_certain = plan.is_whole or bool(find_repeated_ids(plan))
    for name, (dependencies, inputs) in named.items():
        if is_certain or plan.names.slip(name) is not None:
            meant, causes = find_meant_stage(plan, name), list_suspects(plan, name)
            yield LostStage(name, tuple(dependencies), tuple(inputs), meant, causes)


def _list_lost_outputs(plan: StagePlan) -> Iterator[LostOutput]:
    asked: dict[tuple[str, str], list[Place]] = {}
    for stage, given in list_inputs(plan, InputKind.UNKNOWN_OUTPUT):
        fault = find_path_fault(given.text)
        if fault is not None and fault.check is not PathCheck.PORTABILITY:
            continue  # a rule about paths reports it
        producer = str(given.producer)
        known = plan.by_id[producer].outputs
        asked.setdefault((producer, given.path if known else ""), []).append(stage.place_input(given.name))
    known_outputs = {producer: _DeclaredOutputs(plan.by_id[producer]) for producer, _ in asked}
    for (producer, path), ats in asked.items():
        stage, outputs = plan.by_id[producer], known_outputs[producer]
        names, unread = outputs.names, (ats[0], *outputs.list_suspects(path))
        yield LostOutput(
            stage, path, tuple(ats), hint(path, names) if path else "", guess(path, names, *ats[1:]), unread
        )


class _DeclaredOutputs:
    """The outputs of a stage, as far as they may explain that it has none of a name."""

    def __init__(self, stage: Envelope) -> None:
        self.names = NameIndex(stage.outputs.values())
        self._places = [*map(stage.place_output, stage.outputs)]
        self._empty = {index for index, written in enumerate(stage.outputs.values()) if not written}
        self._paths = SubstringIndex(stage.outputs.values())
        said, at = stage.members.get("outputs"), stage.at / "outputs"
        self._unread = [at / name for name in said if name not in stage.outputs] if isinstance(said, dict) else [at]

    def list_suspects(self, path: str) -> Iterator[Place]:
        """Yield the outputs with this path in theirs, those without a path, and those that are no texts."""
        found = {*self._empty, *self._paths.find(path)}
        yield from (self._places[index] for index in sorted(found))
        yield from self._unread


_FLAGS = {"python": "uBOEsSIbqvdiP", "sh": "euxvnf", "node": "", "ruby": "w", "perl": "wTt", "php": "", "Rscript": ""}
"""Interpreters whose first argument is a file, and their options of one letter that take no value."""
_INTERPRETER = re.compile(r"(?P<python>pythonw?[\d.]*)|(?P<sh>sh|bash|dash|zsh|ksh)|node|ruby|perl|php|Rscript")
_EXPANDED = re.compile(r"[$~*{}%<>\\]|://")
"""Texts that are replaced before a program starts: variables, home folders, patterns."""
_INSTALLED = re.compile(r"\.[^./]|(node_modules|venv|env|__pypackages__)/")
"""Folders that a tool fills, such as `.venv/`: they are not part of a project as it is checked out."""


def mark_missing(plan: StagePlan, sources: Sources) -> StagePlan:
    """Return the plan with the named files that do not exist."""
    named = (*_list_inputs(plan.envelopes), *(script for each in plan.envelopes if (script := find_script(each.run))))
    paths = dict.fromkeys(path for path in named if _is_certain(path))
    folders = tuple(_list_folders(plan.file)) if paths else ()
    missing = frozenset(path for path in paths if not _is_there(sources, folders, path))
    return replace(plan, missing=missing) if missing else plan


def find_script(words: tuple[str, ...]) -> str | None:
    """Return the file of a command line that is to be executed; none for programs that a system finds by their name."""
    place = locate_script(words)
    return None if place is None else words[place]


def locate_script(words: tuple[str, ...]) -> int | None:
    """Return the index of the word on a command line that is the executed file.

    It is the first word if that is a path, or the first argument of a known interpreter: `python x.py`.
    """
    found = _INTERPRETER.fullmatch(posixpath.basename(words[0])) if words else None
    if words and "/" in words[0] and (found is None or _is_certain(words[0])):
        return 0
    if found is None:
        return None
    flags = _FLAGS[found.lastgroup or found[0]]
    place = 1
    while place < len(words) and flags and re.fullmatch(f"-[{flags}]+", words[place]):
        place += 1
    word = words[place] if place < len(words) else "-"
    is_file = "/" in word or posixpath.splitext(word)[1] != ""
    return place if is_file and not word.startswith("-") else None


def _list_inputs(envelopes: Iterable[Envelope]) -> Iterator[str]:
    for stage in envelopes:
        for each in stage.inputs.odd.values():
            if each.kind is InputKind.FILE:
                yield each.path


def _is_certain(path: str) -> bool:
    """Tell whether a path means a file of the project as it stands there."""
    return not path.startswith("/") and _EXPANDED.search(path) is None and _INSTALLED.match(path) is None


def _list_folders(file: str) -> Iterator[str]:
    """Yield the folders in which a run may execute: that of the plan, and those around it up to the root."""
    folder = posixpath.dirname(file)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _is_there(sources: Sources, folders: tuple[str, ...], path: str) -> bool:
    """Tell whether a file is in one of some folders; of one outside the project nothing is said."""
    found = [join(folder, path) for folder in folders]
    return any(each is None or sources.exists(each) for each in found)
