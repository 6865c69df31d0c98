"""The phases in order; the only module that knows the order."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from stagec import languages as frontends
from stagec.check import rules
from stagec.check.findings import Verdict, diagnose, leave_out_repetitions, silence_echoes
from stagec.check.suppressions import NO_IGNORES, KnownRules, place_text, silence
from stagec.check.swaps import fold_swapped
from stagec.core.collector import PausedCollector
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.memo import KeptAnswers
from stagec.core.nearest import NameIndex
from stagec.core.observations import resolve
from stagec.core.place import Pointer
from stagec.core.rule import AnyFamily, AnyRule, Family
from stagec.core.shelf import member, members, names
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.agent import CalledAgent
from stagec.ir.flow import Concerns, Occurrence, SearchedFlow, find_nearest_folder
from stagec.ir.graph import Graph, build
from stagec.ir.policies import UnmatchedPattern, apply_policies, find_misspelt, index_patterns
from stagec.languages import AnyFrontEnd, Flow, FlowRights, FrontEnd
from stagec.sources.contract.expansion import judge_reached
from stagec.sources.discover import Discovery, discover
from stagec.sources.discover import resolve as resolve_name
from stagec.sources.formats.plain import FORMAT as PLAIN
from stagec.sources.project.settings import NamedModels, NodePolicies, Selection, Settings
from stagec.sources.read import Sources
from stagec.sources.suppression import UNUSED
from stagec.sources.tree import Fault, Tree

if TYPE_CHECKING:
    from stagec.check.acceptance import Acceptance
    from stagec.ir.plan import Plan
    from stagec.ir.plan.document import Draft
    from stagec.sources.project.baseline import Baseline


D = TypeVar("D")


class Agents:
    """The agents of one project, by the files of their definitions; each is described when something calls it."""

    def __init__(self, sources: Sources, ends: Iterable[AnyFrontEnd]) -> None:
        self._sources = sources
        self._ends = tuple(end for end in ends if end.defines("describe"))
        self._read: list[tuple[AnyFrontEnd, object, Flow]] = []
        self._known: dict[str, CalledAgent | None] = {}

    def note(self, end: AnyFrontEnd, document: object, flow: Flow) -> None:
        """Keep a document that may describe an agent."""
        self._read.append((end, document, flow))

    def connect(self, end: AnyFrontEnd, document: D) -> D:
        """Return a document that knows the agents that it calls."""
        connected: D = end.connect(document, self.find)
        return connected

    def find(self, file: str) -> CalledAgent | None:
        """Return the agent with this definition, having read it if nobody has; None if there is none."""
        self._describe_read()
        if file not in self._known:
            self._known[file] = None
            for end in self._ends:
                if end.claims(file) and self._sources.exists(file):
                    self._read.extend(self._read_for(end, file))
            self._describe_read()
        return self._known[file]

    def _read_for(self, end: AnyFrontEnd, file: str) -> Iterator[tuple[AnyFrontEnd, object, Flow]]:
        for document in end.read(self._sources, (file,)):
            flow = end.lower(document)
            if flow is not None:
                yield end, document, flow

    def _describe_read(self) -> None:
        while self._read:
            end, document, flow = self._read.pop()
            found = end.describe(document, flow)
            if found is not None:
                access = next(iter(end.grant(document, flow, self._sources)), None)
                self._known[found.at.file] = replace(found, access=access)


class PlanMaker:
    """Knows how the draft of each flow is made, and the file that declares the flow."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._drafts: list[tuple[str, Callable[[], Draft]]] = []

    def add(self, file: str, make_draft: Callable[[], Draft]) -> Callable[[], Plan]:
        """Return the maker of the plan of a flow; it raises `MissingAgentError` for agents without a flow."""
        self._drafts.append((file, make_draft))
        return partial(self._make, file, make_draft)

    def _make(self, file: str, make_draft: Callable[[], Draft]) -> Plan:
        from stagec.ir.freeze import freeze  # most runs only check

        with PausedCollector():
            draft, agents = make_draft(), {}
            for name, folder in draft.agents.items():
                declared, make_inner = self._find(name, folder)
                inner = make_inner()
                draft = replace(draft, files=draft.files | inner.files)
                agents[name] = freeze(inner, self._sources, declared)
            return freeze(draft, self._sources, file, agents)

    def _find(self, name: str, folder: str) -> tuple[str, Callable[[], Draft]]:
        """Return the flow of an agent: the only one that is declared in its folder."""
        from stagec.ir.freeze import MissingAgentError

        found = [each for each in self._drafts if posixpath.dirname(each[0]) == folder]
        if len(found) != 1:
            many = "no flow" if not found else "several flows"
            raise MissingAgentError(f"its agent {quote(name)} has {many} in {quote(folder)} among the files named")
        return found[0]


@value
class Project:
    """The subject of one run: the root, the files and folders a user named (absolute), and the effective settings.

    `overlay` holds texts that stand for files of the project, by path relative to the root; `hidden` ones are taken for
    absent. With `tells_all`, no file of the project silences a finding. `baseline` has the findings that are known,
    None where nobody asks for one.
    """

    root: Path
    paths: tuple[Path, ...]
    settings: Settings
    overlay: Mapping[str, bytes] = NOTHING
    tells_all: bool = False
    hidden: frozenset[str] = frozenset()
    baseline: Baseline | None = None

    @property
    def is_whole(self) -> bool:
        """Whether everything is looked at that the project has: nobody named less than its roots."""
        roots = [resolve(self.root / folder) for folder in self.settings.scope.roots]
        named = [resolve(path) for path in self.paths]
        return not named or all(any(Path(folder).is_relative_to(path) for path in named) for folder in roots)


@value
class Meaning:
    """A flow, its graph, and how its plan is made if it has no errors; `has_plan` is false where there is no way.

    `draft` makes what runs need of the plan, without the facts, the sources and the plans of agents. `list_asking`
    returns the nodes that ask a model.
    """

    graph: Graph
    plan: Callable[[], Plan]
    draft: Callable[[], Draft]
    has_plan: bool = True
    list_asking: Callable[[], Iterable[str]] = tuple

    @property
    def flow(self) -> Flow:
        """The flow."""
        return self.graph.flow


@value
class CheckedCases:
    """The subjects that rules have judged, each with its rule, and what they have found, without repetitions."""

    cases: tuple[tuple[AnyRule, object], ...]
    verdicts: tuple[Verdict, ...]

    def has(self, cases: Sequence[tuple[AnyRule, object]]) -> bool:
        """Tell whether these are the very rules and subjects, so that they need not be judged again."""
        pairs = zip(self.cases, cases, strict=False)
        return len(self.cases) == len(cases) and all(one[0] is two[0] and one[1] is two[1] for one, two in pairs)


@value
class Compilation:
    """The result of a compilation: the findings, the flows, and the files as they were read.

    `judgements` counts how often a rule judged a subject: the rules of each family times what it judges. `suppressed`
    counts the findings that files silence; `acceptance` is what became of the project's baseline. `documents` is all
    that was read, also what has no flow. `checked` is what the rules have judged, searches left out. `has_swap` tells
    that one of the diagnostics is about swapped or misplaced values, and stands for several.
    """

    diagnostics: tuple[Diagnostic, ...]
    meanings: tuple[Meaning, ...]
    trees: Mapping[str, Tree]
    judgements: int = 0
    suppressed: int = 0
    acceptance: Acceptance | None = None
    list_accesses: Callable[[], tuple[FlowRights, ...]] = tuple
    documents: tuple[object, ...] = ()
    list_names: Callable[[], tuple[Occurrence, ...]] = tuple
    checked: CheckedCases | None = None
    has_swap: bool = False

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Every flow of the project, in the order in which they were read."""
        return tuple(each.flow for each in self.meanings)


SearchFlow = Callable[[Flow, "Plan"], SearchedFlow]
"""Searches completed runs of the plan of a flow."""


Pause = Callable[[], None]
"""Is called again and again during a compilation; what it raises ends the compilation."""


def _continue() -> None:
    pass


def compile_project(
    project: Project,
    search: SearchFlow | None = None,
    pause: Pause = _continue,
    kept: KeptAnswers | None = None,
    *,
    folds_swaps: bool = True,
) -> Compilation:
    """Run every phase on a project; a broken part is reported and never hides the rest.

    `search` searches a completed run of each flow in which the rules have found no error; None leaves that out. `kept`
    has what earlier checks of the same project have found out. Without `folds_swaps`, two swapped values are several
    errors: to find a swap takes several checks.
    """
    compiled = _compile(project, search, pause, kept)
    return _fold_swapped(project, compiled, pause) if folds_swaps else compiled


def _compile(project: Project, search: SearchFlow | None, pause: Pause, kept: KeptAnswers | None = None) -> Compilation:
    with PausedCollector():
        settings = project.settings
        sources = Sources(project.root, settings.budgets, project.overlay, project.hidden, kept)
        sources.own_names = settings.agent_files
        sources.named = tuple(resolve_name(sources.root, each, project.overlay)[0] for each in project.paths)
        reading = _read(project, sources, pause)
        trees = {tree.file: tree for tree in sources.trees}
        ignores = settings.file_ignores
        for named in (ignores, settings.node_policies, settings.named_models):
            if trees and named.file:
                trees[named.file] = Tree(named.file, "configuration", PLAIN, named.text.encode())
        read = Compilation(
            (),
            tuple(reading.meanings),
            trees,
            list_accesses=reading.list_accesses,
            documents=tuple(reading.documents),
            list_names=reading.list_names,
        )
        return _judge_read(project, read, search, pause)


def judge_again(
    project: Project, read: Compilation, search: SearchFlow | None = None, pause: Pause = _continue
) -> Compilation:
    """Return a project that has been read, judged by what its settings say of findings; its files are not read again.

    Everything else must be as it was read: the files, the scope and the budgets.
    """
    return _fold_swapped(project, _judge_read(project, read, search, pause), pause)


def _fold_swapped(project: Project, judged: Compilation, pause: Pause) -> Compilation:
    def recheck(files: Mapping[str, bytes]) -> Collection[Diagnostic]:
        return _compile(replace(project, overlay={**project.overlay, **files}), None, pause).diagnostics

    # what a search has found is never found by a check that searches nothing
    verdicts = judged.checked.verdicts if judged.checked is not None else ()
    by_rules = frozenset((each.rule.code, each.finding.at) for each in verdicts)
    folded = fold_swapped(judged.diagnostics, by_rules, judged.trees, recheck)
    return replace(judged, diagnostics=folded, has_swap=len(folded) < len(judged.diagnostics))


def _judge_read(project: Project, read: Compilation, search: SearchFlow | None, pause: Pause) -> Compilation:
    with PausedCollector():
        settings = project.settings
        families = list_project_families() if settings.selects_nothing else list_families()
        selection = Selection.of(settings, families)
        asked = read.list_accesses() if any(each.subject is FlowRights for each in selection.families) else ()
        patterns = _list_unmatched(settings.node_policies, read.meanings) if read.trees and project.is_whole else ()
        misspelt = _list_misspelt(settings.named_models) if read.trees else ()
        subjects = (*read.documents, *(meaning.graph for meaning in read.meanings), *asked, *patterns, *misspelt)
        witnesses = None if search is None else _WitnessSearch(read.meanings, search).search
        judged = judge(subjects, read.trees, selection, project, witnesses, pause, read.checked)
    return replace(
        read,
        diagnostics=judged.diagnostics,
        judgements=judged.count,
        suppressed=judged.suppressed,
        acceptance=judged.acceptance,
        checked=judged.checked,
    )


def list_flows(project: Project) -> tuple[Flow, ...]:
    """Return the flows of a project, without judging any."""
    with PausedCollector():
        reading = _read(project, Sources(project.root, project.settings.budgets, project.overlay))
    return tuple(each.flow for each in reading.meanings)


def list_files(project: Project) -> frozenset[str]:
    """Return the files that are read for a project, without judging any."""
    return frozenset(tree.file for tree in read_trees(project))


def read_trees(project: Project) -> tuple[Tree, ...]:
    """Return the files that are read for a project, by name, without letting the rules judge any."""
    return read_documents(project).sources.trees


@value
class ReadProject:
    """The documents of a project, and the files that they were read from."""

    documents: tuple[object, ...]
    sources: Sources


def read_documents(project: Project) -> ReadProject:
    """Return the documents of a project, before rules judge them."""
    sources = Sources(project.root, project.settings.budgets, project.overlay, project.hidden)
    with PausedCollector():
        reading = _read(project, sources)
    return ReadProject(tuple(reading.documents), sources)


@value
class Judgement:
    """The verdicts of rules about subjects, with the number of judgements by rule and file."""

    diagnostics: tuple[Diagnostic, ...]
    count: int
    suppressed: int = 0
    acceptance: Acceptance | None = None
    checked: CheckedCases | None = None


def judge(
    subjects: Collection[object],
    trees: Mapping[str, Tree],
    selection: Selection,
    project: Project | None = None,
    search: Callable[[Collection[Verdict]], Iterable[SearchedFlow]] | None = None,
    pause: Pause = _continue,
    checked: CheckedCases | None = None,
) -> Judgement:
    """Let the rules of a selection judge subjects, of a project or not, and the files that they were read from.

    `search` returns further subjects, when it is given what was found about the others. `checked` is what was judged
    before. Patterns of the configuration about nodes are judged only where nothing is wrong that may hide one.
    """
    # of a tree without faults and hidden characters no rule has anything to say
    faulty = [tree for tree in trees.values() if tree.faults or tree.may_hide]
    patterns = [each for each in subjects if isinstance(each, UnmatchedPattern)]
    others = (each for each in subjects if not isinstance(each, UnmatchedPattern))
    cases = tuple(_pair_rules(selection, (*faulty, *others)))
    known = checked is not None and checked.has(cases)
    verdicts = (
        checked.verdicts if checked and known else leave_out_repetitions(_check(cases, pause), _list_prefixes(subjects))
    )
    own = CheckedCases(cases, verdicts)
    if search is not None and _asks_for(SearchedFlow, selection):
        further = tuple(_pair_rules(selection, tuple(search(verdicts))))
        cases, verdicts = (*cases, *further), (*verdicts, *_check(further, pause))
    if project is not None:
        sources = Sources(project.root, project.settings.budgets, project.overlay)
        verdicts = tuple(silence_echoes(verdicts, sources.find_real_path))
    echoes = sum(each.silent for each in verdicts)
    ignores = project.settings.file_ignores if project is not None else NO_IGNORES
    silenced = silence(verdicts, trees, selection, list_families, ignores)
    # what is not used may cover something in files that nobody looked at
    is_whole = project is not None and project.is_whole
    wrong = [each for each in silenced.wrong if is_whole or each.fault != UNUSED]
    heard = verdicts if project is not None and project.tells_all else silenced.verdicts
    errors = any((each.finding.severity or each.rule.severity) is Severity.ERROR for each in verdicts)
    sure = patterns if not errors else [each for each in patterns if each.provider is not None]
    judged_last = (*wrong, *sure)
    told: tuple[Verdict, ...] = (*_check(_pair_rules(selection, judged_last)), *heard)
    acceptance = None
    if project is not None and project.baseline is not None:
        flows = tuple(each.flow for each in subjects if isinstance(each, Graph))
        acceptance = _accept(told, _JudgedFiles(project, trees, flows), selection, project.baseline)
        told = acceptance.verdicts
    suppressed = sum(each.silent for each in told) - echoes
    return Judgement(diagnose(told, trees, selection), len(cases), suppressed, acceptance, own)


def _list_unmatched(policies: NodePolicies, meanings: Iterable[Meaning]) -> tuple[UnmatchedPattern, ...]:
    """Return the patterns of a configuration that are about no node that asks a model."""
    if not policies.entries:
        return ()
    flows = tuple(meanings)
    patterns = index_patterns(tuple(policies.entries))
    asking = NameIndex(name for each in flows for name in each.list_asking())
    used = patterns.find_used(asking)
    unused = [each for each in policies.entries if each not in used]
    known = patterns.find_used(dict.fromkeys(name for each in flows for name in each.flow.nodes)) if unused else set()
    places = (place_text(policies.file, policies.text, policies.lines.get(each, 1), each) for each in unused)
    return tuple(UnmatchedPattern(each, at, asking, each in known) for each, at in zip(unused, places, strict=True))


def _list_misspelt(named: NamedModels) -> Iterator[UnmatchedPattern]:
    """Yield the providers that a configuration misspells."""
    for name, line in named.lines:
        provider = name.partition(":")[0]
        meant = find_misspelt(provider)
        if meant is not None:
            whole = place_text(named.file, named.text, line, name)
            yield UnmatchedPattern(provider, whole, provider=meant)


def _accept(verdicts: Iterable[Verdict], judged: _JudgedFiles, selection: Selection, baseline: Baseline) -> Acceptance:
    """Apply the baseline of a project; an entry is stale only if its rule has judged its file."""
    from stagec.check.acceptance import accept  # most projects have no baseline

    found = accept(verdicts, baseline, selection)
    every = KnownRules(list_families())
    asked = [each for each in found.stale if every.can_speak(each.rule, selection)]
    unjudged = judged.list_unjudged({each.file for each in asked})
    return replace(
        found,
        stale=tuple(each for each in asked if each.file not in unjudged),
        unjudged=tuple(each for each in asked if each.file in unjudged),
        unasked=tuple(each for each in found.stale if each not in asked),
    )


@value
class _JudgedFiles:
    """The files of a project that were read to be judged, and the flows in them."""

    project: Project
    trees: Mapping[str, Tree]
    flows: tuple[Flow, ...]

    def list_unjudged(self, files: Collection[str]) -> frozenset[str]:
        """Return the files whose findings may be missing: unread ones, and those that may rest on a broken file."""
        project, trees = self.project, self.trees
        sources = Sources(project.root, project.settings.budgets, project.overlay, project.hidden)
        broken = {file for file, tree in trees.items() if not tree.readable}
        alien = {file for file, tree in trees.items() if any(tree.about("unknown-document"))}
        absent = (file for file in files if file not in trees)
        above = {each: map(str, PurePosixPath(each).parents) for each in absent}  # a folder that is not looked into
        unread = {each for each in above if sources.exists(each) or not broken.isdisjoint(above[each])}
        unjudged = (broken | alien | unread).intersection(files)
        if broken and not unjudged.issuperset(files):
            unjudged |= self._list_dependent(broken).intersection(files)
        return frozenset(unjudged)

    def _list_dependent(self, broken: Collection[str]) -> set[str]:
        """Return the files that are read for a flow together with a broken one, or lie nearest to one without flow."""
        root, found, known = self.project.root.absolute(), set[str](), set[str]()
        for file in {flow.at.file for flow in self.flows}:
            parts = list_files(replace(self.project, paths=(root / file,)))
            known |= parts
            found |= frozenset[str]() if parts.isdisjoint(broken) else parts
        ends = [each for each in members(frontends, FrontEnd) if not each.yields]
        alone = (file for file in broken if file not in known and any(end.claims(file) for end in ends))
        lone = {posixpath.dirname(file) for file in alone}
        folders = {*lone, *(posixpath.dirname(flow.at.file) for flow in self.flows)}
        return found.union(file for file in self.trees if find_nearest_folder(file, folders) in lone)


def _list_prefixes(subjects: Iterable[object]) -> set[str]:
    """Return the prefixes that the names of inner nodes have in their outer flows."""
    return {f"{name}/" for each in subjects if isinstance(each, Graph) for name in each.flow.inner}


def _check(cases: Iterable[tuple[AnyRule, object]], pause: Pause = _continue) -> Iterator[Verdict]:
    for rule, subject in cases:
        pause()
        for finding in rule.check(subject):
            yield Verdict(rule, finding)


def list_families() -> tuple[AnyFamily, ...]:
    """Return every family of rules in the order in which they judge."""
    return tuple(sorted(members(rules, Family), key=_first_number))


def list_project_families() -> tuple[AnyFamily, ...]:
    """Return the families that can have something to say of a project, in the order in which they judge."""
    chosen = (name for name in names(rules) if name not in rules.LEFT_BY_RUNS)
    return tuple(sorted((member(rules, name, Family) for name in chosen), key=_first_number))


def _first_number(family: AnyFamily) -> tuple[str, int]:
    """Return the sort key of a family: the digit of its codes, with or without a thousand before it."""
    first = family.numbers[0].start
    return f"{first:03}"[0], first


def _asks_for(subject: type[object], selection: Selection) -> bool:
    """Tell whether a selection has a rule that judges a kind of subjects."""
    families = (each for each in selection.families if each.subject is subject)
    return any(selection.severity(rule) is not None for family in families for rule in family.rules())


class _WitnessSearch:
    """Searches completed runs of the flows of a project in which no error was found."""

    def __init__(self, meanings: Iterable[Meaning], search: SearchFlow) -> None:
        self._meanings = [each for each in meanings if each.has_plan]
        self._search = search

    def search(self, verdicts: Collection[Verdict]) -> Iterator[SearchedFlow]:
        """Yield the results; a flow that runs others is left out if any flow has an error."""
        wrong = [each.finding for each in verdicts if (each.finding.severity or each.rule.severity) is Severity.ERROR]
        files = {each.at.file for each in wrong}
        concerns = Concerns([each.flow for each in self._meanings], wrong)
        is_sound = not wrong
        endless: set[str] = set()  # the files of flows from which no run completes, nor from those that run them
        for meaning in sorted(self._meanings, key=lambda each: len(each.flow.inner)):
            flow = meaning.flow
            if any(each.at.file in endless for each in flow.inner.values()):
                continue
            calls = any(node.agent is not None for node in flow.nodes.values())
            lacks_inner = bool(flow.inner) and flow.suspect  # an inner flow may be broken at any depth
            if concerns.of(flow) or ((calls or lacks_inner) and not is_sound):
                continue
            draft = meaning.draft()
            plan = draft.plan if not draft.agents else _make_plan(meaning)
            if plan is not None and files.isdisjoint(draft.files):
                found = self._search(flow, plan)
                is_sound = is_sound and not found.lost
                endless |= {flow.at.file} if found.lost else set()
                yield _leave_out_told(found, verdicts) if found.untaken else found


def _leave_out_told(searched: SearchedFlow, verdicts: Iterable[Verdict]) -> SearchedFlow:
    """Leave out the ways of nodes in whose definition something is wrong already: that may be why no run takes them."""
    told: dict[str, list[Pointer]] = {}
    for each in verdicts:
        if (each.finding.severity or each.rule.severity) is not Severity.NOTE:
            for at in (each.finding.at, *(related.at for related in each.finding.related)):
                told.setdefault(at.file, []).append(at.pointer)
    nodes = searched.flow.nodes

    def is_told(node: str) -> bool:
        places = (nodes[node].at, *(each.at for each in nodes[node].edges))
        return any(at.pointer == each[: len(at.pointer)] for at in places for each in told.get(at.file, ()))

    return replace(searched, untaken=tuple(each for each in searched.untaken if not is_told(each.node)))


def _make_plan(meaning: Meaning) -> Plan | None:
    from stagec.ir.freeze import MissingAgentError  # few flows run others

    try:
        return meaning.plan()
    except MissingAgentError:
        return None


class _Reading:
    """The documents of a project, what they mean, and what the nodes of their flows may do."""

    def __init__(self, sources: Sources, ends: Iterable[AnyFrontEnd], policies: NodePolicies) -> None:
        self._policies = policies.entries
        self.documents: list[object] = []
        self.meanings: list[Meaning] = []
        self._sources = sources
        self._agents = Agents(sources, ends)
        self._plans = PlanMaker(sources)
        self._granting: list[Callable[[], tuple[FlowRights, ...]]] = []
        self._naming: list[Callable[[], Iterable[Occurrence]]] = []
        self.list_accesses = cache(self._list_accesses)  # the same subjects, however often rules judge them

    def add(self, end: AnyFrontEnd, documents: Iterable[object]) -> None:
        """Keep the documents that a front end has read."""
        for document in [self._agents.connect(end, each) for each in documents]:
            self.documents.append(document)
            self._naming.append(partial(end.list_names, document))
            flow = end.lower(document)
            self._granting.append(partial(end.grant, document, flow, self._sources))
            if flow is not None:
                self._agents.note(end, document, flow)
                draft = cache(partial(self._freeze, end, document, flow))  # searches and plans are made of it
                plan = self._plans.add(flow.at.file, draft)
                asking = partial(end.list_asking, document, flow)
                self.meanings.append(Meaning(build(flow), plan, draft, end.defines("freeze"), asking))

    def _freeze(self, end: AnyFrontEnd, document: object, flow: Flow) -> Draft:
        draft = end.freeze(document, flow, self._sources)
        return draft if not self._policies else apply_policies(draft, self._policies)

    def _list_accesses(self) -> tuple[FlowRights, ...]:
        """Return the rights of the nodes of each flow, and of agents without a flow."""
        return tuple(each for grant in self._granting for each in grant())

    def list_names(self) -> tuple[Occurrence, ...]:
        """Return every place at which a name stands, in the documents and what belongs to them."""
        return tuple(each for list_own in self._naming for each in list_own())


def _read(project: Project, sources: Sources, pause: Pause = _continue) -> _Reading:
    ends: list[AnyFrontEnd] = sorted(members(frontends, FrontEnd), key=_rank)
    wishes = tuple(end.wish for end in ends)
    found = discover(project.root, project.paths, project.settings.scope, wishes, project.overlay)
    for faulty in found.trees:
        sources.replace(faulty)
    unclaimed = [tree for file in found.unclaimed if (tree := sources.tree(file, "file"))]
    reading = _Reading(sources, ends, project.settings.node_policies)
    for end, claimed in zip(ends, found.claimed, strict=True):
        pause()
        named = [tree.file for tree in unclaimed if end.recognises(tree)]
        others = filter(end.considers, found.others)
        wanted = (*claimed, *(file for file in others if sources.find_tree(file) is None))
        seen = [file for file in wanted if end.sees(sources, file) or _is_meant(file, sources, found, ends)]
        wished = tuple(sorted({*seen, *named} - project.hidden))
        reading.add(end, end.read(sources, wished))
    judge_reached(sources)
    for tree in unclaimed:
        if tree.readable and not any(end.recognises(tree) for end in ends):
            sources.replace(replace(tree, faults=(*tree.faults, Fault("unknown-document", tree.at))))
    return reading


def _rank(end: AnyFrontEnd) -> tuple[bool, ...]:
    """Rank front ends in the order in which they read: what others have read is not looked at again.

    Those that call agents come behind those that describe them.
    """
    return end.yields, end.defines("connect"), end.defines("considers")


def _is_meant(file: str, sources: Sources, found: Discovery, ends: Iterable[AnyFrontEnd]) -> bool:
    """Tell whether a file is read because a user named it; one that yields to others may see what it is."""
    others = (end for end in ends if end.yields)
    return file in found.named and not any(
        end.claims(file) and (end.reserves(file) or end.sees(sources, file)) for end in others
    )


def _pair_rules(selection: Selection, subjects: Iterable[object]) -> Iterable[tuple[AnyRule, object]]:
    """Yield every rule with every subject that it judges, one family after the other.

    A rule that is not selected judges too, because its findings may explain others; a pedantic one explains nothing.
    """
    for family in selection.families:
        judged = [subject for subject in subjects if isinstance(subject, family.subject)]
        for rule in family.rules() if judged else ():
            if not rule.pedantic or selection.severity(rule) is not None:
                yield from ((rule, subject) for subject in judged)
