"""The files of a draft: stages with their ids, the tools of all of them, and a pipeline with what is certain."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from stagec.change.creation.collected import STAGE, AgentText, Around, make_id, name_project
from stagec.change.creation.delegation import AgentNames
from stagec.change.creation.new_project import Hint, Loss, Placement, tell_words
from stagec.change.creation.taking import Adopted, Handoff, Mentioned, write_stage
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.nearest import NameIndex, hint
from stagec.core.templates import render
from stagec.core.value import value
from stagec.core.words import quote, visible
from stagec.sources.yaml_text.edit import write_value


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
    """Return what is reached, in order, and the hand-offs that lead back to a stage on the way to them."""
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
        """Where agents seem to call each other."""
        names = self._names()
        return tuple(
            Hint(given.file, each.line, caller, each.target, each.excerpt)
            for caller, (given, adopted) in self._stages.items()
            for each in list_mentions(given, adopted, names)
            if each.target != caller
        )

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where each agent file went, by file."""
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
        best = max(
            self._stages,
            key=lambda each: (sum(caller == each for caller, _ in pairs), each not in callees),
        )
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
