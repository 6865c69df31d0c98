"""Draft a project of a folder with agent files: a stage of each agent, and a pipeline with certain routes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from stagec.change.creation import readers
from stagec.change.creation.collected import (
    TAKEN,
    WORKFLOW,
    AgentText,
    Around,
    collect,
    find_top,
    look_around,
    make_id,
    read_named,
)
from stagec.change.creation.drafting import PIPELINE, Drafting
from stagec.change.creation.new_project import SCENARIO, LeftOut, Loss, NewProject
from stagec.change.creation.readers import AgentReader
from stagec.change.creation.taking import Adopted, write_stage
from stagec.check.formatting import format_file, is_laid_out
from stagec.check.pipeline import Compilation, Project, compile_project, judge, list_project_families
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import members
from stagec.core.templates import render
from stagec.core.value import replace, value
from stagec.core.words import listing, quote
from stagec.ir.plan import dump
from stagec.ir.plan.act import Converse
from stagec.languages.agent_files.kinds import list_kinds
from stagec.runtime.machine import Program, load
from stagec.runtime.world.samples import make_sample
from stagec.sources.project.settings import Selection, Settings
from stagec.sources.read import Sources
from stagec.sources.tree import Tree
from stagec.sources.yaml_text.edit import write_value


@value
class SampleScenario:
    """The text of a scenario, and the nodes whose results nobody can make up simply."""

    text: str
    unanswered: tuple[str, ...] = ()


def make_scenario(program: Program, waiting: Iterable[str] = ()) -> SampleScenario:
    """Return a scenario for a plan of stages that models carry out; what is `waiting` for a route is a comment."""
    answers: dict[str, str] = {}
    unanswered: list[str] = []
    for name, node in program.plan.nodes.items():
        sample = make_sample(program, node.act.schema, ()) if isinstance(node.act, Converse) else None
        if sample is None:
            unanswered.append(name)
        else:
            answers[name] = write_value(sample)
    needed = (name for name, each in program.plan.inputs.items() if each.required and each.default is None)
    inputs = [(write_value(name), write_value(f"some {name}")) for name in needed]
    text = render(__package__, "scenario.yaml.jinja", inputs=inputs, answers=sorted(answers.items()), waiting=waiting)
    return SampleScenario(text, tuple(unanswered))


_NO_AGENT = "its frontmatter has no name and no description"


class Conversion:
    """The agent files of a folder: the stages that are made of them, and what is not.

    `target` is where the new project will be; `entry` names the agent, the command or the skill that runs begin with.
    """

    def __init__(self, folder: Path, target: Path | None = None, entry: str | None = None) -> None:
        self._folder = folder
        self._top = find_top(folder)
        self._target = (target or folder).resolve()
        self._is_inside = self._target.is_relative_to(self._top)
        inside = self._target.relative_to(self._top).as_posix() if self._is_inside else "."
        self._before = "" if inside == "." else f"{inside}/"
        self._entry = entry
        self._sources = Sources(self._top, Budgets())
        self._around: Around = look_around(self._sources, with_servers=self._is_inside)
        self._readers = _list_readers()
        self._left: list[LeftOut] = []
        self._others = self._unread = 0

    def convert(self) -> NewProject:
        """Return the new project; raise `Failure` when no file of the folder can be taken."""
        inside = self._folder.resolve().relative_to(self._top).as_posix()
        given = collect(self._sources, "" if inside == "." else inside, self._readers)
        found = [each for each in map(self._judge, given) if each]
        texts = self._select(found)
        drafting = Drafting(texts, self._folder, self._entry) if texts else None
        compilation = self._compile(drafting) if drafting is not None else None
        if drafting is None or compilation is None:
            told = [f"{quote(each.file)} was left out: {each.why}" for each in self._left]
            told.append(f"{quote(self._folder)} has no agent file that can be taken")
            raise Failure("\n".join(told), Exit.NOTHING)
        return self._finish(drafting, compilation)

    def _judge(self, given: AgentText | str) -> AgentText | None:
        """Return a file of which a stage may be made, or remember why not."""
        file = given if isinstance(given, str) else given.file
        if not isinstance(given, str) and given.kind not in self._readers:
            if file not in TAKEN:
                self._left.append(LeftOut(file, _explain_kind(given.kind)))
                self._unread += 1
            return None
        if not isinstance(given, str) and given.is_agent:
            return given
        tree = self._sources.tree(file, "file")
        lack = _NO_AGENT if isinstance(given, str) or given.kind != WORKFLOW else "it has no 'on', so it never runs"
        self._left.append(LeftOut(file, (_explain_fault(tree) if tree is not None else "") or lack))
        return None

    def _select(self, found: list[AgentText]) -> list[tuple[AgentText, Adopted]]:
        """Return the stages of the agents; of the other files, if somebody names one or there is no agent."""
        agents = [each for each in found if each.kind in self._readers[each.kind].agents]
        others = [each for each in found if each.kind in self._readers[each.kind].others]
        named = [each for each in others if self._entry is not None and each.is_called(self._entry)]
        chosen = [*named[:1], *agents] if agents or named else others
        self._others = len(found) - len(chosen)
        return [(each, self._readers[each.kind].read(each, self._around)) for each in chosen]

    def _compile(self, drafting: Drafting) -> Compilation | None:
        """Return what the project compiles to without the stages that have errors; those are left out."""
        root = self._top if self._is_inside else self._target
        before = self._before
        while True:
            overlay = {f"{before}{file}": text.encode() for file, text in drafting.write(self._around).items()}
            paths = tuple(root / file for file in overlay if file.endswith((PIPELINE, ".md")))
            compilation = compile_project(Project(root, paths, Settings(), overlay))
            wrong = {each.at.file: each for each in reversed(compilation.diagnostics) if _is_error(each)}
            broken = [file for file in drafting.files if before + file in wrong]
            for file in broken:
                why = _explain(wrong[before + file])
                self._left.append(LeftOut(drafting.drop(file), why))
            if not broken or not drafting.files:
                return compilation if drafting.files else None

    def _finish(self, drafting: Drafting, compilation: Compilation) -> NewProject:
        """Return the new project with a scenario, if it has a plan."""
        files = self._lay_out(drafting, compilation)
        meaning = next(each for each in compilation.meanings if each.flow.id == drafting.id)
        project = NewProject(
            {},
            meaning.flow.id,
            tuple(self._notes(drafting)),
            tuple(sorted(self._left, key=lambda each: each.file)),
            (*sorted((*drafting.losses, *self._around.losses), key=_order),),
            drafting.hints,
            drafting.placements,
            has_scenario=False,
        )
        wrong = next(filter(_is_error, compilation.diagnostics), None)
        if wrong is not None:
            why = f"the draft has errors that only you can mend: {wrong.at.file}: {_explain(wrong)}"
            project = replace(project, notes=(*project.notes, why))
        else:
            scenario = make_scenario(load(dump(meaning.plan())), drafting.unlisted)
            files[SCENARIO] = scenario.text.encode()
            notes = project.notes
            if scenario.unanswered:
                notes = (*notes, f"{SCENARIO} needs answers of yours for {listing(scenario.unanswered)}")
            project = replace(project, notes=notes, has_scenario=not scenario.unanswered)
        return replace(project, files=files)

    def _lay_out(self, drafting: Drafting, compilation: Compilation) -> dict[str, bytes]:
        """Return the files of the draft in the layout that `stagec format` gives them, also stages that are copies."""
        files: dict[str, bytes] = {}
        for file, text in drafting.write(self._around).items():
            tree = compilation.trees.get(self._before + file)
            is_known = tree is not None and tree.readable and is_laid_out(tree)
            files[file] = format_file(file, tree, Budgets()).after if tree is not None and is_known else text.encode()
        return files

    def _notes(self, drafting: Drafting) -> Iterator[str]:
        """Yield what the authors of the agent files should know."""
        yield "what only you can decide is marked with 'yours to decide'"
        if drafting.unlisted:
            waiting = listing(drafting.unlisted)
            yield f"{PIPELINE} lists only what a run reaches; routes of yours can lead to {waiting}"
        if drafting.hints:
            yield f"comments in {PIPELINE} say where agents seem to call each other"
        if self._others:
            yield (
                f"{self._others} other files are not stages, such as skills, commands, prompts and rules;"
                " --entry makes the first stage of one of them"
            )
        if self._unread:
            yield f"files of a kind that is not converted, such as memory and instructions: {self._unread}"


def convert_file(source: Path) -> tuple[str, tuple[Loss, ...]]:
    """Return the text of the stage of one agent file, and what it does not say.

    Raise `Failure` if it cannot be read.
    """
    top = find_top(source.parent)
    top = top if top != source.parent.resolve() else top.parent  # the folder names a skill
    sources = Sources(top, Budgets())
    file = (source.parent.resolve() / source.name).relative_to(top).as_posix()
    given = read_named(sources, file)
    if given is None or given.is_lost:
        raise Failure(f"{quote(source)} cannot be read as it is; 'stagec validate {source}' says why")
    reader = _list_readers().get(given.kind)
    if reader is None:
        raise Failure(f"{quote(source)} cannot become a stage: {_explain_kind(given.kind)}")
    adopted = reader.read(given, look_around(sources, with_servers=True))
    identity = make_id(adopted.name) or make_id(given.called) or "stage"
    losses = (replace(each, file=str(source)) if each.file == file else each for each in adopted.losses)
    return write_stage(adopted, identity), tuple(sorted(losses, key=_order))


def _list_readers() -> dict[str, AgentReader]:
    """Return the reader of each kind that has one."""
    return {kind: each for each in members(readers, AgentReader) for kind in (*each.agents, *each.others)}


def _explain_kind(name: str) -> str:
    """Say why no stage is made of a file of a kind without a reader."""
    kind = next(each for each in list_kinds() if each.name == name)
    if not kind.is_read:
        return f"{kind.owner} finds no {kind.title} at this place"
    return f"{kind.title} of {kind.owner} cannot be converted to a stage"


def _order(each: Loss) -> tuple[str, int, str]:
    return each.file, each.line, each.key


def _is_error(each: Diagnostic) -> bool:
    return each.severity is Severity.ERROR


def _explain(each: Diagnostic) -> str:
    return f"{each.code}: {each.message}"


def _explain_fault(tree: Tree) -> str:
    """Return what is wrong with a file that cannot be read as it is."""
    selection = Selection.of(Settings(), list_project_families())
    found = judge((), {tree.file: tree}, selection).diagnostics
    return next((f"line {each.span.start.line}: {_explain(each)}" for each in found if _is_error(each)), "")
