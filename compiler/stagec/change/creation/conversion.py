"""Draft a project of a folder with agent files: a stage of each agent, and a pipeline with certain routes."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from stagec.change.creation import readers
from stagec.change.creation.collected import (
    STAGE,
    TAKEN,
    WORKFLOW,
    AgentText,
    Around,
    collect,
    find_top,
    look_around,
    make_id,
    name_project,
    read_named,
)
from stagec.change.creation.new_project import SCENARIO, Hint, LeftOut, Loss, NewProject, Placement, tell_words
from stagec.change.creation.readers import AgentReader
from stagec.change.creation.taking import Adopted, Handoff, Mentioned, write_stage
from stagec.check.formatting import format_file, is_laid_out
from stagec.check.pipeline import Compilation, Project, compile_project, judge, list_project_families
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json
from stagec.core.nearest import NameIndex, hint
from stagec.core.shelf import members
from stagec.core.templates import render
from stagec.core.value import replace, value
from stagec.core.words import listing, quote, visible
from stagec.ir.plan import dump
from stagec.ir.plan.act import Converse
from stagec.languages.agent_files.kinds import list_kinds
from stagec.runtime.machine import Program, load
from stagec.runtime.world.samples import make_sample
from stagec.sources.project.settings import Selection, Settings
from stagec.sources.read import Sources
from stagec.sources.tree import Tree
from stagec.sources.yaml_text.members import write_value


def list_mentions(given: AgentText, adopted: Adopted, names: AgentNames) -> Iterator[Mentioned]:
    """Yield all calls of other agents that a file seems to make, those that it lists first."""
    listed = [(each, meant) for each in adopted.mentions if (meant := names.find(each.target)) is not None]
    yield from (Mentioned(meant, each.excerpt, each.line) for each, meant in listed)
    told = {meant for _, meant in listed}
    yield from (each for each in names.find_calls(given) if each.target not in told)


@value
class RouteDraft:
    """The stages of a draft in the order of execution, with the successors of each.

    `choices` are the stages whose result says what comes next, with the values it may say; `end` is the one that ends
    the run, None where none is needed. `is_cyclic` tells that a stage may run again.
    """

    reached: tuple[str, ...]
    routes: Mapping[str, tuple[tuple[str, Handoff], ...]]
    choices: Mapping[str, tuple[str, ...]]
    end: str
    is_cyclic: bool


def draft_routes(entry: str, handoffs: Mapping[str, tuple[tuple[str, Handoff], ...]]) -> RouteDraft:
    """Return the routes of a draft; `handoffs` has the certain ones of every stage, each with the id that it means."""
    order, backward = _walk(entry, handoffs)
    ids = {target for found in handoffs.values() for target, _ in found} | set(handoffs)
    end = next(each for each in ("done", *(f"done-{at}" for at in range(2, len(ids) + 3))) if each not in ids)
    routes: dict[str, tuple[tuple[str, Handoff], ...]] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for name in order:
        found = handoffs.get(name, ())
        forward = tuple(each for each in found if (name, each[0]) not in backward)
        back = tuple(each for each in found if (name, each[0]) in backward)
        routes[name] = (*forward, *back)
        if back or len(found) > 1:
            choices[name] = (*(each for each, _ in forward), end, *(each for each, _ in back))
    return RouteDraft(tuple(order), routes, choices, end, bool(backward))


def _walk(
    entry: str, handoffs: Mapping[str, tuple[tuple[str, Handoff], ...]]
) -> tuple[list[str], set[tuple[str, str]]]:
    """Return the reached stages, in order, and the hand-offs that lead back to a stage on the way to them."""
    order, on_way = [entry], {entry}
    backward: set[tuple[str, str]] = set()
    todo = [(entry, iter(handoffs.get(entry, ())))]
    seen = {entry}
    while todo:
        name, following = todo[-1]
        target = next((each for each, _ in following), None)
        if target is None:
            on_way.discard(todo.pop()[0])
        elif target in on_way:
            backward.add((name, target))
        elif target not in seen:
            seen.add(target)
            on_way.add(target)
            order.append(target)
            todo.append((target, iter(handoffs.get(target, ()))))
    return order, backward


PIPELINE = "pipeline.yaml"


class Drafting:
    """The stages of a draft by id; ids are given once, and what is dropped later takes its id with it."""

    def __init__(self, found: Sequence[tuple[AgentText, Adopted]], folder: Path, entry: str | None) -> None:
        self.id = name_project(folder)
        self._command = f"stagec init --from {visible(folder.as_posix())}"
        self._wanted = entry
        self._stages: dict[str, tuple[AgentText, Adopted]] = {}
        self._renamed: list[Loss] = []
        for given, adopted in found:
            identity = self._choose_id(given, adopted)
            self._stages[identity] = (given, adopted)
            if adopted.name != identity and given.kind != STAGE:
                key = "name" if "name" in given.members else "file"
                line = given.find_line("name")
                why = f"{quote(adopted.name)} became the id {quote(identity)}"
                self._renamed.append(Loss(given.file, line, key, why))

    def _choose_id(self, given: AgentText, adopted: Adopted) -> str:
        """Return an id that is free: of the name, else of the file, else with a number."""
        if given.kind == STAGE:
            free = make_id(adopted.name) or "stage"
            return free if free not in self._stages else f"{free}-2"
        first = make_id(adopted.name) or make_id(given.called) or "stage"
        of_file = make_id(posixpath.basename(given.called)) or first
        numbered = (f"{first}-{each}" for each in range(2, len(self._stages) + 3))
        return next(each for each in (first, of_file, *numbered) if each not in self._stages)

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the stages."""
        return tuple(f"stages/{each}.md" for each in self._stages)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All that the agent files say and the stages do not."""
        known = {given.file for given, _ in self._stages.values()}
        own = (each for _, adopted in self._stages.values() for each in adopted.losses)
        return (*own, *(each for each in self._renamed if each.file in known), *self._list_lost_handoffs())

    @cached_property
    def hints(self) -> tuple[Hint, ...]:
        """Apparent calls between agents."""
        names = self._names()
        return tuple(
            Hint(given.file, each.line, caller, each.target, each.excerpt)
            for caller, (given, adopted) in self._stages.items()
            for each in list_mentions(given, adopted, names)
            if each.target != caller
        )

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The place of each agent file in the project, by file."""
        draft = self._draft()
        entry, why = self._find_entry()
        told = {entry: f"it is the entry: {why}"}
        for name, routes in draft.routes.items():
            for target, handoff in routes:
                told.setdefault(target, f"it comes after {quote(name)}: {self._tell_handoff(name, handoff)}")
        for each in self.hints:
            told.setdefault(each.callee, f"{quote(each.caller)} seems to call it: {each.told}")
        return tuple(
            Placement(given.file, f"stages/{name}.md", name in draft.routes, told.get(name, "no file names it"))
            for name, (given, _) in sorted(self._stages.items(), key=lambda each: each[1][0].file)
        )

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The stages that the pipeline does not list, because nothing leads to them."""
        reached = set(self._draft().reached)
        return tuple(each for each in self._stages if each not in reached)

    def drop(self, file: str) -> str:
        """Take a stage out, and return the file that it was made of."""
        self.__dict__.pop("hints", None)
        self.__dict__.pop("_handoffs", None)
        given, _ = self._stages.pop(file.removeprefix("stages/").removesuffix(".md"))
        return given.file

    def write(self, around: Around) -> Mapping[str, str]:
        """Return the texts of the new files besides the scenario."""
        if not self._stages:
            return {}
        draft = self._draft()
        stages = {
            f"stages/{identity}.md": write_stage(adopted, identity, draft.choices.get(identity, ()))
            for identity, (_, adopted) in sorted(self._stages.items())
        }
        return {PIPELINE: self._write_pipeline(draft), "tools.yaml": self._write_tools(around), **stages}

    def _names(self) -> AgentNames:
        return AgentNames(
            {
                name: identity
                for identity, (given, adopted) in reversed(self._stages.items())
                for name in (posixpath.basename(given.called), given.called, adopted.name, identity)
            }
        )

    @cached_property
    def _handoffs(self) -> Mapping[str, tuple[tuple[str, Handoff], ...]]:
        """Return the certain routes of every stage; of several to one stage the first."""
        names = self._names()
        found: dict[str, tuple[tuple[str, Handoff], ...]] = {}
        for identity, (_, adopted) in self._stages.items():
            targets: dict[str, Handoff] = {}
            for each in adopted.handoffs:
                meant = names.find(each.target)
                if meant is not None:
                    targets.setdefault(meant, each)
            found[identity] = tuple(targets.items())
        return found

    def _list_lost_handoffs(self) -> Iterator[Loss]:
        names = self._names()
        for given, adopted in self._stages.values():
            for each in adopted.handoffs:
                if names.find(each.target) is None:
                    yield Loss(given.file, each.line, "handoffs", f"no agent here is called {quote(each.target)}")

    def _draft(self) -> RouteDraft:
        return draft_routes(self._find_entry()[0], self._handoffs)

    def _find_entry(self) -> tuple[str, str]:
        """Return the stage that runs begin with, and why."""
        if self._wanted is not None:
            found = self._names().find(self._wanted.removeprefix("/"))
            if found is None:
                near = hint(self._wanted, NameIndex(self._stages))
                raise Failure(f"--entry: nothing here is called {quote(self._wanted)}{near}")
            return found, "you named it"
        handoffs, calls = self._handoffs, [(each.caller, each.callee) for each in self.hints]
        pairs = [*((name, target) for name, found in handoffs.items() for target, _ in found), *calls]
        callees = {target for _, target in pairs}
        named = Counter(caller for caller, _ in pairs)
        best = max(self._stages, key=lambda each: (named[each], each not in callees))
        is_first = not pairs
        return best, "the first by its file" if is_first else "it names the others most often"

    def _write_pipeline(self, draft: RouteDraft) -> str:
        entry, why = self._find_entry()
        reached = set(draft.reached)
        others = [each for each in self._stages if each not in reached]
        reads = [name for each in draft.reached for name in self._stages[each][1].reads]
        return render(
            __package__,
            "pipeline.yaml.jinja",
            command=self._command,
            count=len(self._stages),
            id=write_value(self.id),
            entry=write_value(entry),
            why=why,
            context=list(dict.fromkeys(reads)),
            is_cyclic=draft.is_cyclic,
            listed=draft.reached,
            others=[(each, next((hint.told for hint in self.hints if hint.callee == each), "")) for each in others],
            example=f"{entry}: {others[0]}" if others else "plan: review",
            routes=list(self._write_routes(draft)),
            unreached=[row for each in others for row in self._list_unreached(each)],
            hints=self.hints,
        )

    def _list_unreached(self, name: str) -> Iterator[tuple[str, str, str]]:
        for target, handoff in self._handoffs[name]:
            yield name, target, self._tell_handoff(name, handoff)

    def _write_routes(self, draft: RouteDraft) -> Iterator[tuple[str, str, list[tuple[str, str, str]], str]]:
        for name, routes in draft.routes.items():
            if name in draft.choices:
                told = {target: self._tell_handoff(name, handoff) for target, handoff in routes}
                cases = [(each, each, told[each]) for each in draft.choices[name] if each in told]
                yield name, "", [*cases, (draft.end, "", "the run ends")], ""
            elif routes:
                target, handoff = routes[0]
                yield name, target, [], self._tell_handoff(name, handoff)

    def _tell_handoff(self, name: str, handoff: Handoff) -> str:
        return tell_words(self._stages[name][0].file, handoff.line, handoff.label)

    def _write_tools(self, around: Around) -> str:
        adopted = [each for _, each in self._stages.values()]
        servers: dict[str, Json] = {}
        for each in adopted:
            servers.update({name: one for name, one in each.servers.items() if name not in around.offered})
        of_servers = dict(pair for each in adopted for pair in each.found_tools)
        offered = {tool for tools in around.offered.values() for tool in tools or ()}
        tools = sorted({tool for each in adopted for tool in each.tools} - offered)
        lost = {tool: server for tool, server in of_servers.items() if server not in {*servers, *around.offered}}
        return render(
            __package__,
            "tools.yaml.jinja",
            tools=[write_value(each) for each in tools if each not in of_servers],
            discovered=[(write_value(each), visible(lost[each])) for each in tools if each in lost],
            servers=[(write_value(name), write_value(each)) for name, each in sorted(servers.items())],
        )


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
        """Return the compilation of the project without the stages that have errors; those are left out."""
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
        """Yield the notes for the authors of the agent files."""
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
    """Return the fault of an unreadable file."""
    selection = Selection.of(Settings(), list_project_families())
    found = judge((), {tree.file: tree}, selection).diagnostics
    return next((f"line {each.span.start.line}: {_explain(each)}" for each in found if _is_error(each)), "")


_MOST = 20
"""So many calls are told of one file."""
_LONGEST = 80
_NEAR = 100
"""Characters before and behind a name that are read."""
_ENOUGH = 3
"""A name of fewer letters behind a slash may be anything."""

_QUOTES = r"[`*\"'\u201c\u2018@\[]*"
_ARTICLE = r"(?:(?:the|your|our|an?)\s+)?"
_GIVING = (
    r"\b(?:delegat\w+|rout(?:es?|ing)|escalat\w+|giv(?:es?|ing)|hand(?:s|ed|ing|off|offs)?|pass(?:es|ing)?|forward(?:s|ing)?"
    r"|transfer(?:s|ring)?|return(?:s|ing)?|send(?:s|ing)?|submit(?:s|ting)?|assign(?:s|ing)?|dispatch(?:es|ing)?"
    r"|defer(?:s|ring)?|switch(?:es|ing)?|turn(?:s|ing)?|redirect(?:s|ing)?)(?:\s+[\w`'\u2019-]+){0,5}?\s+to\s+"
)
_CALLING = (
    r"\b(?:invok(?:es?|ing)|(?:call|ask|consult|spawn|launch|start|instruct|trigger)(?:s|ing)?|dispatch(?:es|ing)?"
    r"|engag(?:es?|ing)|notif(?:y|ies|ying)|involv(?:es?|ing)|run_?subagent|kick(?:s|ing)?\s+off|bring(?:s|ing)?\s+in"
    r"|(?:coordinat|collaborat)(?:es?|ing)|work(?:s|ing)?\s+with|get(?:s|ting)?(?:\s+\w+){1,3}?\s+from)"
    r"(?:\s+(?:on|with))?\s+"
)
_POINTING = (
    r"(?:->|→|⇒|➜)\s*|\b(?:next(?:\s+(?:agent|step|stage))?|(?:sub-?)?agent|subagent_type)[`*\"']*\s*[:=]\s*"
    r"|\b\w*(?:agent|task)\(\s*(?:\w+\s*[:=]\s*)?"
)
_CALLS = re.compile(
    rf"(?:(?:{_GIVING}|{_CALLING}){_ARTICLE}{_QUOTES}|\b(?:let|have|tell)\s+the\s+{_QUOTES}|(?:{_POINTING}){_QUOTES}"
    r"|(?<![\w@/.`])@(?:agent-)?)$",
    re.IGNORECASE,
)
"""The words before the name of an agent that gets work."""
_USES = re.compile(
    rf"\b(?:us(?:e|es|ing)|run(?:s|ning)?|via|through)\s+{_ARTICLE}(?P<quotes>{_QUOTES})$", re.IGNORECASE
)
"""Words that also precede names of other things: the name must be quoted or unique."""
_TITLED = re.compile(
    rf"\b(?:(?:via|to|us(?:e|ing)|invoke|call|run|ask|then|let|have)\s+{_ARTICLE}|(?:the|your|our|an?)\s+){_QUOTES}$",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"[`*\"'\u201d\u2019\]]*\s+(?:(?:sub-?)?agent\b|takes?\s+over\b|(?:is|goes|comes)\s+next\b)", re.IGNORECASE
)
"""The words around the name of an agent: it is called an agent, or it continues the work."""
_LINKS = re.compile(r"(?:\bagents/(?:[\w-]+/)*|\]\()$")
_FILE = re.compile(r"(?:\.agent|\.chatmode)?\.md\b")
_COMMAND = re.compile(r"(?<![\w/.:-])/$")
_QUOTED = re.compile(r"[`*]$")
_LONGER = re.compile(r"[-/.:]\w|@")
"""Characters that make a name a part of a longer one."""
_REFUSAL = re.compile(
    r"(?:\b(?:never|not|nor|without|instead\s+of|rather\s+than)|n['\u2019]t)\b"
    r"(?:(?!\b(?:before|until|unless|but)\b)[^.,!?;:\n]){0,40}$",
    re.IGNORECASE,
)
_ACTOR = re.compile(r".+(?: .+|er|or|ist|ect|yst|agent|expert)")
"""Names that mean somebody who works; others, such as `docs`, are also words for things."""


class AgentNames:
    """The names by which the files of a set may mention its agents, and the ids that they mean."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self._ids = {_plain(name): identity for name, identity in ids.items() if _plain(name)}

    def find(self, name: str) -> str | None:
        """Return the id that a name means, however it is written."""
        return self._ids.get(_plain(name)) or self._ids.get(_plain(make_id(name)))

    def find_calls(self, given: AgentText) -> Iterator[Mentioned]:
        """Yield the sentences of a body that tell a model to call an agent of the set, each agent once."""
        seen: set[str] = set()
        body = given.body
        for found in self._pattern.finditer(body) if self._ids else ():
            meant = self.find(found[0])
            if meant is None or meant in seen or len(seen) == _MOST:
                continue
            span = _find_call(body, *found.span())
            if span is not None:
                seen.add(meant)
                words = " ".join(body[slice(*span)].split())[:_LONGEST]
                yield Mentioned(meant, words, given.count_lines(given.start + span[0]))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        written = (re.escape(each).replace(r"\ ", r"[\s_-]") for each in sorted(self._ids, key=len, reverse=True))
        return re.compile(rf"(?<!\w)(?:{'|'.join(written)})(?!\w)", re.IGNORECASE)


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.strip().lower()))


def _find_call(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the words that give work to the agent whose name stands there, None if nothing does."""
    first = max(start - _NEAR, 0)
    before, name, behind = text[first:start], text[start:end], text[end : end + _NEAR]
    lead, tail = _match_words(before, name, behind)
    if lead is None or _REFUSAL.search(before[: lead.start()]):
        return None
    return first + lead.start(), end + (tail.end() if tail is not None else 0)


def _match_words(before: str, name: str, behind: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return the words before and behind a name that make it a call."""
    file = _FILE.match(behind)
    if file is not None:
        return _LINKS.search(before), file
    if _LONGER.match(behind):
        return None, None
    title = _TITLE.match(behind)
    titled = _TITLED.search(before) if title is not None else None
    call = titled or _CALLS.search(before)
    if call is None and len(name) >= _ENOUGH:
        call = _COMMAND.search(before)
    if call is None:
        is_actor = _ACTOR.fullmatch(_plain(name)) is not None
        use = _USES.search(before)
        call = use if use is not None and (is_actor or use["quotes"]) else None
        if call is None and " " in _plain(name) and behind[:1] in {"`", "*"}:
            call = _QUOTED.search(before)
    return call, title
