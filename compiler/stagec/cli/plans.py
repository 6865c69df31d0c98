"""The compiled flows of a project: a plan each, or the reason why not."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from pathlib import Path

from stagec.change.flow_tests.witness import search_thoroughly
from stagec.check.pipeline import Compilation, Meaning, Project, compile_project, judge_again, list_files
from stagec.core.budgets import Budgets
from stagec.core.canonical import digest
from stagec.core.diagnostic import Change, Diagnostic, Edit, Severity
from stagec.core.json import list_of, object_of
from stagec.core.memo import KeptAnswers
from stagec.core.place import Place
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import format_count, quote
from stagec.ir.flow import Concerns
from stagec.ir.freeze import MissingAgentError, find_source
from stagec.ir.graph import Graph
from stagec.ir.graph.crosscheck import CrossCheck
from stagec.ir.plan import Plan, PlanError, dump, load, prove
from stagec.languages import Flow
from stagec.runtime.machine.answer_schemas import find_unusable
from stagec.sources.project.baseline import Baseline
from stagec.sources.project.configuration import Configuration
from stagec.sources.read import revise
from stagec.sources.tree import Tree

_TABLES = ("validationSteps", "next", "checks", "gate", "hooks", "policy", "deadline")
"""Members of a file that declares a flow, in which there is something for each node, by its name."""


@value
class Remainder:
    """A project without what no run reaches, and the names of what was taken from it, by the file of the flow."""

    project: Project
    left_out: dict[str, tuple[str, ...]]


def leave_out_unreached(project: Project, compilation: Compilation) -> Remainder:
    """Return a project in which the files of flows hold only what a run can reach; nothing is written.

    A flow stays as it is where that cannot be told, because answers may name any node. So does whatever has no
    definition of its own. Whether the rest is sound, the rules say when it is compiled.
    """
    left_out: dict[str, tuple[str, ...]] = {}
    overlay, hidden = dict(project.overlay), set(project.hidden)
    for meaning in compilation.meanings:
        tree = compilation.trees.get(meaning.flow.at.file)
        names = _list_unreached(meaning.graph, tree) if tree is not None else {}
        if tree is None or not names or tree.file in left_out:
            continue
        text = _write_rest(tree, [*_list_edits(names, tree)], project.settings.budgets)
        if text is not None:
            overlay[tree.file] = text
            hidden |= {at.file for at in names.values()} - {tree.file}
            left_out[tree.file] = tuple(names)
    rest = replace(project, overlay=overlay, hidden=frozenset(hidden))
    return Remainder(rest if left_out else project, left_out)


def _write_rest(tree: Tree, edits: list[Edit], budgets: Budgets) -> bytes | None:
    """Return the text of a file without some members; None if it cannot be written without changing more."""
    text = tree.data.decode(errors="surrogateescape")
    try:
        rest = tree.format.apply(text, edits).encode(errors="surrogateescape") if edits else tree.data
        is_exact = tree.format.parse(tree.file, rest, budgets).value == revise(tree.value, edits)
    except ValueError:
        return None
    return rest if is_exact else None


def _list_unreached(graph: Graph, tree: Tree) -> dict[str, Place]:
    """Return the nodes of a flow that never start, with their definitions: also those that cannot be read."""
    flow, startable = graph.flow, graph.startable()
    if not startable or any(flow.nodes[name].names_any for name in startable) or not flow.open.isdisjoint(startable):
        return {}
    defined = ((name, _find_definition(flow.nodes[name].at)) for name in graph.unstartable())
    found = {name: at for name, at in defined if bool(at.pointer) is (at.file == tree.file)}
    steps = object_of(object_of(tree.value).get("steps"))
    unread = (name for name, body in steps.items() if name not in flow.nodes and _is_for_runs(body))
    return {**found, **{name: Place(tree.file, ("steps", name)) for name in unread}}


def _find_definition(at: Place) -> Place:
    """Return the definition of the node whose id is at a place: a member of its flow's file, or a file of its own."""
    return Place(at.file, at.pointer[:-1]) if at.pointer[-1:] == ("id",) else at


def _is_for_runs(body: object) -> bool:
    """Tell whether a step that could not be read is meant to be run: it has a gate or leads on."""
    return isinstance(body, dict) and ("structuredGate" in body or "transitions" in body)


def _list_edits(names: dict[str, Place], tree: Tree) -> Iterable[Edit]:
    """Return the removal of definitions from the file of a flow, and of what it says of each."""
    places = [at for at in names.values() if at.file == tree.file]
    places += [Place(tree.file, (table, name)) for table, name in _list_mentions(names, tree)]
    files = {at.file for at in names.values()}
    folder = posixpath.dirname(tree.file)
    for index, each in enumerate(list_of(object_of(tree.value).get("stages"))):
        if isinstance(each, str) and posixpath.normpath(posixpath.join(folder, each)) in files - {tree.file}:
            places.append(Place(tree.file, ("stages", index)))
    return [Edit(Change.REMOVE, at) for at in dict.fromkeys(places)]


def _list_mentions(names: Iterable[str], tree: Tree) -> Iterator[tuple[str, str]]:
    body = object_of(tree.value)
    return ((table, name) for name in names for table in _TABLES if name in object_of(body.get(table)))


@value
class Frozen:
    """A plan and its file."""

    plan: Plan
    data: bytes


@value
class Refused:
    """A flow that no plan can be made of, and in a few words why."""

    flow: Flow
    reason: str

    @property
    def command(self) -> str:
        """The command that shows why, also findings that the configuration, a suppression or the baseline hide."""
        return shlex.join(("stagec", "compile", "--flow", self.flow.id))

    @property
    def advice(self) -> str:
        """The reason, and how to see more of it."""
        return f"{self.reason}; {quote(self.command)} says what is wrong"


class Freezer:
    """A project, checked by every rule as it was declared, whatever is configured, suppressed and known of findings.

    `kept` has what the check of another project found out, of which this one may have many files too.
    """

    def __init__(self, configuration: Configuration, paths: tuple[Path, ...], kept: KeptAnswers | None = None) -> None:
        self._settings, self._kept = configuration.settings, KeptAnswers() if kept is None else kept
        settings = replace(self._settings, select=None, extend_select=(), ignore=(), severity=NOTHING)
        named = tuple(path.absolute() for path in paths)
        self._judge(Project(configuration.root, named, settings, tells_all=True))
        self.whole: Freezer = self
        self.left_out: Mapping[str, tuple[str, ...]] = NOTHING

    @classmethod
    def of_reachable(cls, configuration: Configuration, paths: tuple[Path, ...]) -> Freezer:
        """Return a project without the nodes that no run reaches; `whole` is the one with them, for what is told."""
        freezer = cls(configuration, paths)
        rest = leave_out_unreached(freezer.project, freezer.compilation)
        if rest.left_out:
            freezer.whole, freezer.left_out = copy(freezer), rest.left_out
            freezer._judge(rest.project)
        return freezer

    def _judge(self, project: Project) -> None:
        self.root = project.root
        self.project = project
        self._files: dict[str, frozenset[str]] = {}
        self.compilation = compile_project(self.project, search_thoroughly, kept=self._kept)
        self.errors = [each for each in self.compilation.diagnostics if each.severity is Severity.ERROR]
        self._concerns = Concerns(self.compilation.flows, self.errors)

    def judge_as_configured(self, baseline: Baseline | None) -> Compilation:
        """Return the project with what its user sees of findings: by the configuration, suppressions and a baseline."""
        shown = replace(self.project, settings=self._settings, tells_all=False, baseline=baseline)
        return judge_again(shown, self.compilation)

    def freeze(self, meaning: Meaning, *, proves: bool = True) -> Frozen | Refused:
        """Return the plan of a flow, or the reason why it has none.

        Unless it `proves` that `stagec verify` accepts the plan, nobody may run it or keep it: commands that only look
        at plans need no proof.
        """
        flow = meaning.flow
        found = self.errors_of(flow)
        if found or not meaning.has_plan:
            none = f"stagec makes no plans of files such as {quote(flow.at.file)}"
            return Refused(flow, format_count(len(found), "error") if meaning.has_plan else none)
        try:
            plan = meaning.plan()
        except MissingAgentError as error:
            return Refused(flow, str(error))
        files = {name: find_source(flow.at.file, name) for name in plan.sources}
        if flow.at.file in self.left_out:  # what was left out is a part of the file all the same
            trees = self.whole.compilation.trees
            plan = replace(plan, sources={name: digest(trees[file].data) for name, file in files.items()})
        inside = self._find_errors_inside(flow, plan, {*files.values()})
        if inside:
            return Refused(flow, format_count(len(inside), "error"))
        return self._dump(meaning, plan, proves=proves)

    def _find_errors_inside(self, flow: Flow, plan: Plan, read: Collection[str]) -> list[Diagnostic]:
        """Return the errors in what a plan is made of, and those that concern the flows of its agents."""
        inside = [each for each in self.errors if each.at.file in read]
        others = [each for each in self.compilation.flows if each.at.file in read and each is not flow]
        return inside or [error for each in others if plan.plans for error in self.errors_of(each)]

    def _dump(self, meaning: Meaning, plan: Plan, *, proves: bool) -> Frozen | Refused:
        flow = meaning.flow
        for _, why in find_unusable(plan):  # whatever no rule has foreseen
            return Refused(flow, f"a schema of it cannot be used: {why.partition(chr(10))[0]}")
        try:
            data = dump(plan)
        except ValueError as error:  # a number that JSON cannot hold exactly
            return Refused(flow, str(error))
        most = self.project.settings.budgets.plan_size
        if len(data) > most:
            return Refused(flow, f"its plan has {len(data):,} bytes, more than the {most:,} of the budget 'plan-size'")
        if proves:
            _recheck(meaning, plan, data)
        return Frozen(plan, data)

    def errors_of(self, flow: Flow) -> tuple[Diagnostic, ...]:
        """Return the errors that concern a flow: those near it, and those in whatever else is read for it."""
        return self._select(self._concerns, flow)

    def list_findings(self, flows: Iterable[Flow] | None) -> tuple[Diagnostic, ...]:
        """Return the errors and warnings of the whole project, or those that concern some flows.

        An error that only what was left out is accused of is a warning.
        """
        whole, left = self.whole, {mark for each in self.errors for mark in _list_marks(each)}
        found = [each for each in whole.compilation.diagnostics if each.severity is not Severity.NOTE]
        if flows is not None:
            places = {flow.at for flow in flows}
            found = [*whole.concerning([flow for flow in whole.compilation.flows if flow.at in places], found)]
        return tuple(
            each if whole is self or left.intersection(_list_marks(each)) else replace(each, severity=Severity.WARNING)
            for each in found
        )

    def concerning(self, flows: Iterable[Flow], diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the diagnostics that concern any of some flows."""
        concerns = Concerns(self.compilation.flows, diagnostics)
        known = {id(each) for flow in flows for each in self._select(concerns, flow)}
        return tuple(each for each in concerns.diagnostics if id(each) in known)

    def _select(self, concerns: Concerns[Diagnostic], flow: Flow) -> tuple[Diagnostic, ...]:
        near = concerns.of(flow)
        return near if len(near) == len(concerns.diagnostics) else concerns.of(flow, self._read_for(flow))

    def _read_for(self, flow: Flow) -> frozenset[str]:
        """Return the files that are read when the file of a flow is all that anybody names."""
        file = flow.at.file
        if file not in self._files:
            alone = replace(self.project, paths=(self.project.root.absolute() / file,))
            self._files[file] = list_files(alone)
        return self._files[file]


def _list_marks(each: Diagnostic) -> tuple[tuple[object, ...], ...]:
    """Return by what a diagnostic is known again where other parts of its file are left out."""
    return (each.code, each.at), (each.code, each.at.file, each.message)


def _recheck(meaning: Meaning, plan: Plan, data: bytes) -> None:
    """Raise an internal error for a plan that `stagec verify` refuses, or that differs from the judged flow.

    What is read from the bytes must be the plan they were made of: then they are its one text.
    """
    try:
        read = prove(load(data)).plan
    except PlanError as error:
        raise RuntimeError(f"the plan of flow {quote(plan.id)} would be refused: {error}") from error
    if read != plan:
        raise RuntimeError(f"the plan of flow {quote(plan.id)} is read differently than it was written")
    check = CrossCheck(plan)
    for each in (*check.contradictions(), *check.disagreements(meaning.graph)):
        raise RuntimeError(f"the plan of flow {quote(plan.id)} is not what was proved: {each}")
