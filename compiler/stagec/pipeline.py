"""The phases in order; the only module that knows the order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stagec import frontends, rules
from stagec.contract.expansion import judge_reached
from stagec.core.collector import PausedCollector
from stagec.core.diagnostic import Diagnostic
from stagec.core.rule import AnyFamily, AnyRule, Family
from stagec.core.shelf import member, members, names
from stagec.core.value import NOTHING, replace, value
from stagec.findings import Verdict, diagnose
from stagec.frontends import AnyFrontEnd, Flow, FrontEnd
from stagec.graph import Graph, build
from stagec.project.selection import Selection
from stagec.project.settings import Settings
from stagec.sources.discover import FileWish, discover
from stagec.sources.read import Sources
from stagec.sources.tree import Fault, Tree

if TYPE_CHECKING:
    from stagec.plan import Plan


@value
class Project:
    """What one run looks at: the root, the files and folders a user named (absolute), and the effective settings.

    `overlay` holds texts that stand for files of the project, by path relative to the root.
    """

    root: Path
    paths: tuple[Path, ...]
    settings: Settings
    overlay: Mapping[str, bytes] = NOTHING


@value
class Meaning:
    """A flow, its graph, and how its plan is made if it has no errors."""

    graph: Graph
    plan: Callable[[], Plan]

    @property
    def flow(self) -> Flow:
        """The flow."""
        return self.graph.flow


@value
class Compilation:
    """What came of a project: what is wrong, what it means, and the files as they were read.

    `judgements` counts how often a rule judged a subject: the rules of each family times what it judges.
    """

    diagnostics: tuple[Diagnostic, ...]
    meanings: tuple[Meaning, ...]
    trees: Mapping[str, Tree]
    judgements: int = 0

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Every flow of the project, in the order in which they were read."""
        return tuple(each.flow for each in self.meanings)


def compile_project(project: Project) -> Compilation:
    """Run every phase on a project; a broken part is reported and never hides the rest."""
    with PausedCollector():
        return _compile(project)


def list_files(project: Project) -> frozenset[str]:
    """Return the files that are read for a project, without judging any."""
    sources = Sources(project.root, project.settings.budgets, project.overlay)
    with PausedCollector():
        _read(project, sources)
    return frozenset(tree.file for tree in sources.trees)


def _compile(project: Project) -> Compilation:
    settings = project.settings
    sources = Sources(project.root, settings.budgets, project.overlay)
    documents, meanings = _read(project, sources)
    trees = {tree.file: tree for tree in sources.trees}
    families = list_project_families() if settings.selects_nothing else list_families()
    judged = judge((*documents, *(meaning.graph for meaning in meanings)), trees, Selection.of(settings, families))
    return Compilation(judged.diagnostics, meanings, trees, judged.count)


@value
class Judgement:
    """What the rules say of subjects, and how often a rule has judged one of them or a file."""

    diagnostics: tuple[Diagnostic, ...]
    count: int


def judge(subjects: Iterable[object], trees: Mapping[str, Tree], selection: Selection) -> Judgement:
    """Let the rules of a selection judge subjects and the files that they were read from."""
    faulty = [tree for tree in trees.values() if tree.faults]  # of a tree without faults no rule has anything to say
    cases = tuple(_pair_rules(selection, (*faulty, *subjects)))
    verdicts = tuple(Verdict(rule, finding) for rule, subject in cases for finding in rule.check(subject))
    return Judgement(diagnose(verdicts, trees, selection), len(cases))


def list_families() -> tuple[AnyFamily, ...]:
    """Return every family of rules in the order in which they judge."""
    return tuple(sorted(members(rules, Family), key=_first_number))


def list_project_families() -> tuple[AnyFamily, ...]:
    """Return the families that can have something to say of a project, in the order in which they judge."""
    chosen = (name for name in names(rules) if name not in rules.LEFT_BY_RUNS)
    return tuple(sorted((member(rules, name, Family) for name in chosen), key=_first_number))


def _first_number(family: AnyFamily) -> int:
    return family.numbers[0].start


def _read(project: Project, sources: Sources) -> tuple[tuple[object, ...], tuple[Meaning, ...]]:
    every: tuple[AnyFrontEnd, ...] = members(frontends, FrontEnd)
    ends = sorted(every, key=lambda end: end.considers is not None)  # what others read is not looked at again
    wishes = tuple(FileWish(end.claims, end.considers) for end in ends)
    found = discover(project.root, project.paths, project.settings.scope, wishes, project.overlay)
    for faulty in found.trees:
        sources.replace(faulty)
    unclaimed = [tree for file in found.unclaimed if (tree := sources.tree(file, "file"))]
    documents: list[object] = []
    meanings: list[Meaning] = []
    for end, claimed in zip(ends, found.claimed, strict=True):
        named = [tree.file for tree in unclaimed if end.recognises(tree)]
        wanted = (*claimed, *_consider(end, found.others, sources))
        seen = [file for file in wanted if file in found.named or end.sees(sources, file)]
        read = end.read(sources, tuple(sorted({*seen, *named})))
        documents.extend(read)
        meanings.extend(_lower(end, read, sources))
    judge_reached(sources)
    for tree in unclaimed:
        if tree.readable and not any(end.recognises(tree) for end in ends):
            sources.replace(replace(tree, faults=(*tree.faults, Fault("unknown-document", tree.at))))
    return tuple(documents), tuple(meanings)


def _consider(end: AnyFrontEnd, others: Iterable[str], sources: Sources) -> Iterator[str]:
    """Yield the files that nobody claims or has read and a front end may want."""
    considers = end.considers
    for file in others if considers is not None else ():
        if considers is not None and considers(file) and sources.find_tree(file) is None:
            yield file


def _lower(end: AnyFrontEnd, documents: Iterable[object], sources: Sources) -> Iterator[Meaning]:
    for document in documents:
        flow = end.lower(document)
        if flow is not None:
            yield Meaning(build(flow), partial(_make_plan, end, document, flow, sources))


def _make_plan(end: AnyFrontEnd, document: object, flow: Flow, sources: Sources) -> Plan:
    from stagec.freeze import freeze  # most runs only check

    with PausedCollector():
        return freeze(end.freeze(document, flow, sources), sources)


def _pair_rules(selection: Selection, subjects: Iterable[object]) -> Iterable[tuple[AnyRule, object]]:
    """Yield every rule with every subject that it judges, one family after the other.

    A rule that is not selected judges too, because its findings may explain others; a pedantic one explains nothing.
    """
    for family in selection.families:
        judged = [subject for subject in subjects if isinstance(subject, family.subject)]
        for rule in family.rules() if judged else ():
            if not rule.pedantic or selection.severity(rule) is not None:
                yield from ((rule, subject) for subject in judged)
