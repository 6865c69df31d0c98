"""Ids of stages, names of runs, durations and paths of outputs: how they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.protocol.stage_ids import (
    PathCheck,
    PathFault,
    StageId,
    StageIdFault,
    find_path_fault,
    find_segment_fault,
    read_stage_id,
)
from stagec.languages.envelopes.document import Envelope, InputKind, StagePlan

_FATAL = frozenset(
    {
        StageIdFault.FORMAT,
        StageIdFault.TOO_LONG,
        StageIdFault.SEQUENCE_ZERO,
        StageIdFault.MISSING_VERB,
        StageIdFault.MEANINGLESS,
    }
)
"""The faults that are errors: what depends on the stage may name it by the id that it should have."""
NO_ID = StageId("")
"""The id of an envelope without one."""


def read_ids(plan: StagePlan) -> tuple[StageId, ...]:
    """Return the id of each envelope, in the order of the plan; one that has none has an empty id without faults."""
    return plan.memo.once(
        "ids", lambda: tuple([NO_ID if each.id is None else read_stage_id(each.id) for each in plan.envelopes])
    )


def find_id_faults(plan: StagePlan, *faults: StageIdFault) -> Iterator[tuple[Envelope, StageId]]:
    """Yield the envelopes whose id has one of some faults."""
    pairs = zip(plan.envelopes, read_ids(plan), strict=True)
    faulty = plan.memo.once("faulty ids", lambda: [(each, found) for each, found in pairs if found.faults])
    return ((each, found) for each, found in faulty if not set(faults).isdisjoint(found.faults))


def number_stages(plan: StagePlan) -> Mapping[str, int]:
    """Return the number of each stage by its id: 0 of one whose id has another form."""
    pairs = zip(plan.envelopes, read_ids(plan), strict=True)
    return plan.memo.once("numbers", lambda: {each.id: found.number for each, found in pairs if each.id is not None})


def find_repeated_ids(plan: StagePlan) -> tuple[Envelope, ...]:
    """Return the envelopes whose id an earlier one has."""
    repeated = (each for each in plan.envelopes if each.id is not None and plan.by_id.get(each.id) is not each)
    return plan.memo.once("repeated", lambda: tuple(repeated))


def find_meant_stage(plan: StagePlan, name: str) -> str | None:
    """Return the id that a name was most likely meant to be: one slip away, or the only one with its number or words.

    Ids resemble each other too much for anything else: they begin alike, and often share a verb or a noun.
    """
    slip = plan.names.slip(name)
    if slip is not None:
        return slip
    number, mark, words = name.partition("_")
    by_words = plan.memo.once("words", lambda: _group_by_words(plan))
    groups = (plan.by_number.get(number, ()), by_words.get(words, ())) if mark else ()
    return next((group[0] for group in groups if len(group) == 1), None)


def list_suspects(plan: StagePlan, name: str) -> tuple[Place, ...]:
    """Return the places of the ids that a wrong name probably means.

    These are every id that occurs twice, the most likely meant one, and the wrong ones with the same number.
    """
    near = plan.by_id.get(find_meant_stage(plan, name) or "")
    wrong = plan.memo.once("wrong", lambda: _group_wrong(plan))
    repeated = (each.id_at for each in find_repeated_ids(plan))
    return *repeated, *(() if near is None else (near.id_at,)), *wrong.get(name.partition("_")[0], ())


def _group_by_words(plan: StagePlan) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in plan.by_id:
        found.setdefault(name.partition("_")[2], []).append(name)
    return {words: tuple(names) for words, names in found.items()}


def _group_wrong(plan: StagePlan) -> Mapping[str, tuple[Place, ...]]:
    """Return the places of wrong ids, by the part before their first underscore."""
    found: dict[str, tuple[Place, ...]] = {}
    for each, _ in find_id_faults(plan, *_FATAL):
        number = (each.id or "").partition("_")[0]
        found[number] = (*found.get(number, ()), each.id_at)
    return found


_RUN = re.compile(r"run-(?:[0-9]{8}-[0-9]{6}|[0-9]{3})")
_TITLE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RESERVED = frozenset({"checkpoints", "staging", "queue"})


@value
class RunName:
    """One of the two, where it stands, and what is to be said of it."""

    at: Place
    sentence: str


def find_odd_names(plan: StagePlan) -> Iterator[RunName]:
    """Yield the names that are not written as the protocol shows them."""
    if plan.run_id is not None and _RUN.fullmatch(plan.run_id) is None:
        message = f"run id {quote(plan.run_id)} is not written like 'run-20260102-143022' or 'run-001'"
        yield RunName(plan.root / "runId", message)
    if plan.title is not None and _TITLE.fullmatch(plan.title) is None:
        message = f"report title {quote(plan.title)} is not in small letters and hyphens, such as 'wine-quality'"
        yield RunName(plan.root / "reportTitle", message)


def find_unusable_names(plan: StagePlan) -> Iterator[RunName]:
    """Yield the names that cannot be those of folders, or that the protocol uses itself."""
    for member, what, name in (("runId", "run id", plan.run_id), ("reportTitle", "report title", plan.title)):
        fault = None if name is None else find_segment_fault(name)
        if fault is not None:
            yield RunName(plan.root / member, f"{what} {quote(name)} {fault.words}")
    if plan.run_id in _RESERVED:
        message = f"run id {quote(plan.run_id)} is reserved: the protocol has a folder of this name"
        yield RunName(plan.root / "runId", message)


def find_durations(plan: StagePlan, fits: Callable[[float], bool]) -> Iterator[tuple[Place, float]]:
    """Yield every duration, in seconds, that is written, is a number and is what is asked for, with its place."""
    durations = plan.memo.once("durations", lambda: list(_list_durations(plan)))
    judged = {duration: fits(duration) for duration in {each for _, each in durations}}
    return ((stage.at / "maxDurationSec", duration) for stage, duration in durations if judged[duration])


def _list_durations(plan: StagePlan) -> Iterator[tuple[Envelope, float]]:
    for stage in plan.envelopes:
        given = stage.members.get("maxDurationSec")
        if isinstance(given, int | float) and not isinstance(given, bool):
            yield stage, given


@value
class FaultyPath:
    """A path of an input or output that has a fault."""

    at: Place
    text: str
    fault: PathFault


@value
class PathPair:
    """Two outputs of one stage whose paths get in each other's way; the second stands later."""

    stage: Envelope
    first: str
    second: str


def list_faulty_paths(plan: StagePlan, check: PathCheck) -> Iterator[FaultyPath]:
    """Yield the paths with one fault; an input that names the faulty path of an output follows from that."""
    found = plan.memo.once("paths", lambda: tuple(_find_faulty(plan)))
    return (each for each in found if each.fault.check is check)


def _find_faulty(plan: StagePlan) -> Iterator[FaultyPath]:
    known: dict[str, PathFault | None] = {}
    for stage in plan.envelopes:
        for name, text in stage.outputs.items():
            if text not in known:  # many stages have outputs of one name
                known[text] = find_path_fault(text)
            fault = known[text]
            if fault is not None:
                yield FaultyPath(stage.place_output(name), text, fault)
        for name, given in stage.inputs.odd.items():
            fault = None if given.kind in (_ELSEWHERE if plan.alone else _JUDGED) else find_path_fault(given.text)
            if fault is not None:
                yield FaultyPath(stage.place_input(name), given.text, fault)


_ELSEWHERE = frozenset({InputKind.URL})
_JUDGED = frozenset({*_ELSEWHERE, InputKind.OUTPUT})
"""Inputs whose path is no question: it is that of an output."""


def _normalise(path: str) -> str:
    return "/".join([part for part in path.split("/") if part])


def _find_crowded(plan: StagePlan) -> list[Envelope]:
    """Return the stages with several outputs."""
    return plan.memo.once("crowded", lambda: [each for each in plan.envelopes if len(each.outputs) > 1])


def find_equal_paths(plan: StagePlan) -> Iterator[PathPair]:
    """Yield the outputs whose path an earlier output of the stage has."""
    for stage in _find_crowded(plan):
        first: dict[str, str] = {}
        for name, path in stage.outputs.items():
            other = first.setdefault(_normalise(path), name)
            if other != name:
                yield PathPair(stage, other, name)


def find_similar_paths(plan: StagePlan) -> Iterator[PathPair]:
    """Yield the outputs whose path differs from that of an earlier one in case or in how letters are composed."""
    for stage in _find_crowded(plan):
        first: dict[str, tuple[str, str]] = {}
        for name, path in stage.outputs.items():
            plain = _normalise(path)
            other, known = first.setdefault(unicodedata.normalize("NFC", plain.casefold()), (name, plain))
            if known != plain:
                yield PathPair(stage, other, name)


def find_nested_paths(plan: StagePlan) -> Iterator[PathPair]:
    """Yield the outputs of which one is a folder in the path of the other."""
    for stage in _find_crowded(plan):
        names = {_normalise(path): name for name, path in stage.outputs.items()}
        place = {name: index for index, name in enumerate(stage.outputs)}
        outer = None
        for path in sorted(names, key=lambda path: path.replace("/", "\0")):  # what lies in a folder follows it
            if outer is not None and path.startswith(f"{outer}/"):
                first, second = sorted((names[outer], names[path]), key=lambda name: place[name])
                yield PathPair(stage, first, second)
            else:
                outer = path


def stage_of_path(plan: StagePlan, path: str) -> Envelope | None:
    """Return the stage in whose folder a path seems to lie."""
    first, slash, _ = path.partition("/")
    return plan.by_id.get(first) if slash else None


_METRICS = re.compile(r"(?:^|[_-])metrics?(?:$|[_-])")
_SUFFIXES = {
    "parquet": ("_df.parquet",),
    "pkl": ("_model.pkl",),
    "metrics": ("_metrics.json",),
    "md": ("_report.md", "_summary.md"),
}
"""Name endings in the guidelines of the protocol, by the ending of the file or its subject.

Pages later than the protocol say `_summary`.
"""


def expect_name(output: str, path: str) -> str:
    """Return the recommended name for the file of an output; empty if it fits or no guideline is about it."""
    file = path.rpartition("/")[2]
    stem, dot, ending = file.rpartition(".")
    is_about_metrics = ending == "json" and (_METRICS.search(stem) or _METRICS.search(output))
    suffixes = _SUFFIXES.get("metrics" if is_about_metrics else ending, ("",))
    return "" if not dot or not stem or file.endswith(suffixes) else f"{{name}}{suffixes[0]}"
