"""Make a project of a folder with agent files: a stage of each that can be one, and a pipeline that names them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import members
from stagec.core.words import listing, quote
from stagec.creation import readers
from stagec.creation.new_project import SCENARIO, LeftOut, NewProject
from stagec.creation.readers import Adopted, AgentReader
from stagec.creation.sample_scenario import make_scenario
from stagec.frontends.stages.adopt import make_id
from stagec.pipeline import Compilation, Project, compile_project, judge, list_project_families
from stagec.plan import dump
from stagec.project.selection import Selection
from stagec.project.settings import Settings
from stagec.runtime import load
from stagec.sources.read import Sources
from stagec.sources.tree import Tree
from stagec.sources.yaml_text.edit import write_value
from stagec.templates import render

_PIPELINE = "pipeline.yaml"


class Conversion:
    """The agent files of a folder: the stages that were made of them, by file of the new project, and what was not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = folder.resolve()
        self._sources = Sources(self._root, Budgets())
        self._readers = members(readers, AgentReader)
        self._stages: dict[str, Adopted] = {}
        self._origins: dict[str, str] = {}
        self._left: list[LeftOut] = []

    def convert(self) -> NewProject:
        """Return the new project; raise `Failure` when no file of the folder can be taken."""
        files = self._sources.below("", "")
        known = tuple({suffix for each in self._readers for suffix in each.suffixes})
        for file in files:
            if file.endswith(known):
                self._take(file)
        compilation = self._compile() if self._stages else None
        if compilation is None or not self._stages:
            told = [f"{quote(each.file)} was left out: {each.why}" for each in self._left]
            told.append(f"{quote(self._folder)} has no agent file that can be taken")
            raise Failure("\n".join(told), Exit.NOTHING)
        others = [file for file in files if not file.endswith(known)]
        notes = [f"no reader knows {listing(others)}"] if others else []
        return self._finish(compilation, (*self._notes(), *notes))

    def _take(self, file: str) -> None:
        """Make a stage of a file, or remember why not."""
        tree = self._sources.tree(file, "file")
        if tree is None:
            return
        reader = next((each for each in self._readers if not tree.faults and each.recognises(tree)), None)
        if reader is None:
            self._left.append(LeftOut(file, _explain_fault(tree) or "its frontmatter has no name and no description"))
            return
        stage = reader.read(tree)
        path = f"stages/{make_id(stage.id) or 'stage'}.md"
        if path in self._stages:
            why = f"{quote(self._origins[path])} has become the stage {quote(stage.id)} already"
            self._left.append(LeftOut(file, why))
        else:
            self._stages[path], self._origins[path] = stage, file

    def _compile(self) -> Compilation:
        """Return what the project compiles to without the stages that have errors; those are left out."""
        while True:
            overlay = {file: text.encode() for file, text in self._write().items()}
            project = Project(self._root, (self._root / _PIPELINE,), Settings(), overlay)
            compilation = compile_project(project)
            wrong = {each.at.file: each for each in reversed(compilation.diagnostics) if _is_error(each)}
            broken = [file for file in self._stages if file in wrong]
            for file in broken:
                del self._stages[file]
                self._left.append(LeftOut(self._origins[file], _explain(wrong[file])))
            if not broken or not self._stages:
                return compilation

    def _write(self) -> Mapping[str, str]:
        """Return the files of the new project besides its scenario."""
        stages = dict(sorted(self._stages.items()))
        ids = [write_value(each.id) for each in stages.values()]
        tools = sorted({tool for each in stages.values() for tool in each.tools})
        name = make_id(self._root.name) or "agents"
        return {
            _PIPELINE: render(__package__, "pipeline.yaml.jinja", id=name, files=list(stages), stages=ids),
            "tools.yaml": render(__package__, "tools.yaml.jinja", tools=[write_value(each) for each in tools]),
            **{file: each.text for file, each in stages.items()},
        }

    def _finish(self, compilation: Compilation, notes: tuple[str, ...]) -> NewProject:
        """Return the new project with a scenario, if it has a plan."""
        files = dict(self._write())
        (meaning,) = compilation.meanings
        left = tuple(sorted(self._left, key=lambda each: each.file))
        if any(map(_is_error, compilation.diagnostics)):
            made = {file: text.encode() for file, text in files.items()}
            return NewProject(made, meaning.flow.id, notes, left, has_scenario=False)
        scenario = make_scenario(load(dump(meaning.plan())))
        files[SCENARIO] = scenario.text
        if scenario.unanswered:
            notes = (*notes, f"{SCENARIO} needs answers of yours for {listing(scenario.unanswered)}")
        made = {file: text.encode() for file, text in files.items()}
        return NewProject(made, meaning.flow.id, notes, left, has_scenario=not scenario.unanswered)

    def _notes(self) -> Iterator[str]:
        """Yield what the authors of the agent files should know."""
        yield "what only you can decide is marked with 'yours to decide'"
        made = {self._origins[file]: each for file, each in self._stages.items()}
        for about, found in (
            ("a stage runs with the model of its session", [file for file, each in made.items() if each.dropped]),
            ("a stage allows a tool whatever its arguments", [file for file, each in made.items() if each.limited]),
            ("without 'tools' a stage may call none", [file for file, each in made.items() if not each.has_tools]),
        ):
            if found:
                yield f"{about}: look at {listing(found)}"


def _is_error(each: Diagnostic) -> bool:
    return each.severity is Severity.ERROR


def _explain(each: Diagnostic) -> str:
    return f"{each.code}: {each.message}"


def _explain_fault(tree: Tree) -> str:
    """Return what is wrong with a file that cannot be read as it is."""
    selection = Selection.of(Settings(), list_project_families())
    found = judge((), {tree.file: tree}, selection).diagnostics
    return next((f"line {each.span.start.line}: {_explain(each)}" for each in found if _is_error(each)), "")
