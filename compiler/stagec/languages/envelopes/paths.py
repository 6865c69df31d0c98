"""Paths of artifacts as envelopes write them: which are faulty, get in each other's way, or have unusual names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.value import value
from stagec.ir.protocol.artifact_paths import PathCheck, PathFault, find_path_fault
from stagec.languages.envelopes.document import Envelope, InputKind, StagePlan


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
"""How the guidelines of the protocol let names end, by the ending of the file or its subject.

Pages later than the protocol say `_summary`.
"""


def expect_name(output: str, path: str) -> str:
    """Return what the file of an output should be named like, or nothing if it is or no guideline is about it."""
    file = path.rpartition("/")[2]
    stem, dot, ending = file.rpartition(".")
    is_about_metrics = ending == "json" and (_METRICS.search(stem) or _METRICS.search(output))
    suffixes = _SUFFIXES.get("metrics" if is_about_metrics else ending, ("",))
    return "" if not dot or not stem or file.endswith(suffixes) else f"{{name}}{suffixes[0]}"
