"""Write the answers that a run got as a scenario, so that another run gets the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from shlex import join
from typing import Any

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.value import NOTHING, value
from stagec.ir.plan import Plan
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Close,
    Comment,
    Confirm,
    Dispatch,
    Effect,
    Execute,
    Grant,
    Hook,
    Judge,
    Preserve,
    Publish,
    Relabel,
    RequestKey,
    Run,
    Shell,
    Started,
    Turn,
    Wait,
    is_deadline,
    read_agent_run,
    read_key,
    run_of,
)
from stagec.runtime.world.scenario import CALLED, MARKED_ANSWERS


@value
class ToolUse:
    """The use of tools in a run; a step of an agent in a phase is `PHASE/STEP`.

    `called` has each node with each tool that it called, `ran` the nodes that ran a program. `asked` counts the answers
    of models by node, `silent` those of them that do not say which tools were called for them.
    """

    called: frozenset[tuple[str, str]] = frozenset()
    ran: frozenset[str] = frozenset()
    asked: Mapping[str, int] = NOTHING
    silent: Mapping[str, int] = NOTHING

    def has_come_to(self, node: str) -> bool:
        """Tell whether a model has answered in a node, or a program has run there."""
        return node in self.asked or node in self.ran


class UseWatch:
    """Looks at the requests of a run and at their answers, in the order in which they come.

    The calls of stages are requests of their own. Those of steps are made while a model answers, so only the answer can
    tell of them.
    """

    def __init__(self) -> None:
        self._phases: dict[str, str] = {}
        self._open: dict[str, Effect] = {}
        self._called: set[tuple[str, str]] = set()
        self._ran: set[str] = set()
        self._asked: Counter[str] = Counter()
        self._silent: Counter[str] = Counter()

    def ask(self, effect: Effect) -> None:
        """Take note of a request."""
        node = self._name(effect.key)
        match effect:
            case Dispatch():
                self._phases[effect.run] = node
            case Call():
                self._called.add((node, effect.tool))
            case Run() | Execute():
                self._ran.add(node)
            case Ask() | Turn():
                self._open[effect.key] = effect
            case _:
                pass

    def answer(self, key: str, answer: Json) -> None:
        """Take note of the answer to a request."""
        effect = self._open.pop(key, None)
        if effect is None:
            return
        node, told = self._name(key), object_of(answer).get(CALLED)
        self._asked[node] += 1
        if isinstance(effect, Ask):
            self._silent[node] += not isinstance(told, list)
            self._called.update((node, each) for each in list_of(told) if isinstance(each, str))

    def report(self) -> ToolUse:
        """Return the use so far."""
        silent = {node: count for node, count in self._silent.items() if count}
        return ToolUse(frozenset(self._called), frozenset(self._ran), dict(self._asked), silent)

    def _name(self, key: str) -> str:
        phase = self._phases.get(run_of(key))
        return read_key(key).node if phase is None else f"{phase}/{read_key(key).node}"


Exchange = tuple[Effect, Json]
"""A request and the answer to it."""
_Visits = dict[int, Any]
"""Something by the number of the visit in which it was said."""
_ENDED = ("answer", "failed")


def write_scenario(plan: Plan, started: Started, answered: Iterable[Exchange]) -> Object:
    """Return the scenario of a run; what of it no scenario can say is left out."""
    known = tuple(answered)
    scenario: dict[str, Json] = {} if started.entry is None else {"entry": started.entry}
    if started.inputs:
        scenario["inputs"] = dict(started.inputs)
    scenario |= _Notes(each for each in known if run_of(each[0].key) == started.run).write()
    agents = {name: _write_agent(name, known) for name in plan.plans}
    agents = {name: each for name, each in agents.items() if each}
    return {**scenario, "agents": agents} if agents else scenario


def _write_agent(agent: str, answered: Iterable[Exchange]) -> list[Json]:
    """Return the end of each run of an agent that did not run here, and the scenario of the others."""
    runs: dict[int, list[Exchange]] = {}
    ended: _Visits = {}
    for effect, answer in answered:
        named = read_agent_run(effect.run if isinstance(effect, Dispatch) else run_of(effect.key))
        if named is None or named.agent != agent:
            continue
        told = {name: each for name, each in object_of(answer).items() if name in _ENDED}
        if not isinstance(effect, Dispatch):
            runs.setdefault(named.number, []).append((effect, answer))
        elif told:
            ended[named.number] = told
    return _list_visits({number: {"run": _Notes(some).write()} for number, some in runs.items()} | ended, {})


class _Notes:
    """Collects the answers of one run, by the member of a scenario in which they stand."""

    def __init__(self, answered: Iterable[Exchange]) -> None:
        self._by_node: dict[str, dict[str, _Visits]] = {}
        self._by_name: dict[str, dict[str, dict[str, _Visits]]] = {}
        for effect, answer in answered:
            take = _TAKERS.get(type(effect))
            if take is not None:
                take(self, effect, read_key(effect.key), object_of(answer))

    def write(self) -> dict[str, Json]:
        """Return the members of the scenario."""
        found: dict[str, Json] = {}
        for member, nodes in self._by_node.items():
            fold = _FOLDS.get(member, lambda told: told)
            listed = {node: [fold(each) for each in _list_visits(visits)] for node, visits in nodes.items()}
            found[member] = {node: each for node, each in listed.items() if member != "processes" or each != [{}]}
        for member, names in self._by_name.items():
            written = {name: self._merge_nodes(nodes) for name, nodes in names.items()}
            found[member] = {name: each for name, each in written.items() if member != "issue" or each is not None}
        return {member: each for member, each in found.items() if each or member == "processes"}

    def _merge_nodes(self, nodes: Mapping[str, _Visits]) -> Json:
        """Return the entries by node, without the nodes where all are the same."""
        listed = {node: _list_visits(visits) for node, visits in nodes.items()}
        folded = {node: each[0] if len(each) == 1 else each for node, each in listed.items()}
        first, *others = folded.values()
        return first if all(each == first for each in others) else {"at": folded}

    def _of_visit(self, member: str, key: RequestKey) -> Any:
        """Return the list of what is noted of a visit of a node."""
        return self._by_node.setdefault(member, {}).setdefault(key.node, {}).setdefault(key.visit, [])

    def _note(self, member: str, name: str, key: RequestKey, told: Json) -> None:
        self._by_name.setdefault(member, {}).setdefault(name, {}).setdefault(key.node, {})[key.visit] = told

    def take_answer(self, _effect: Ask, key: RequestKey, answer: Object) -> None:
        """Note the answer of a model in a step, one for each attempt."""
        told: Json = answer.get("answer")
        called = {CALLED: answer[CALLED]} if CALLED in answer else {}
        if "answer" not in answer:
            told = {"failed": answer.get("error", ""), **called}
        elif called or answer.get("text") or {*object_of(told)} in (*_MARKED, *MARKED_ANSWERS):
            said = {} if called and not answer.get("text") else {"say": answer.get("text") or ""}
            told = {"answer": told, **said, **called}
        self._of_visit("answers", key).append(told)

    def take_turn(self, effect: Turn, key: RequestKey, answer: Object) -> None:
        """Note a turn of a model in a stage, where the model had said as much before as now."""
        said = sum(each.role == "assistant" for each in effect.transcript)
        turns = self._of_visit("conversations", key)
        turns += [{}] * (said + 1 - len(turns))
        turns[said] = self._write_turn(effect, answer, said)

    def _write_turn(self, effect: Turn, answer: Object, said: int) -> Any:
        """Return a turn as scenarios have it; each call has the id by which others name it."""
        turn: dict[str, Json] = {"say": answer["text"]} if answer.get("text") else {}
        if "error" in answer:
            return {**turn, "failed": answer["error"]}
        calls = [object_of(each) for each in list_of(answer.get("calls"))]
        handed_in = [each for each in calls if each.get("tool") == effect.completion]
        if len(handed_in) == 1 and handed_in[0] is calls[-1]:
            turn["complete"] = calls.pop().get("arguments")
        made = [
            {"id": each.get("id") or f"{said}.{at}", "tool": each.get("tool"), "arguments": each.get("arguments", {})}
            for at, each in enumerate(calls)
        ]
        return {**turn, "calls": made} if made else turn

    def _find_call(self, key: RequestKey, name: str) -> dict[str, Json]:
        """Return the latest call with an id in a visit, to note something of it."""
        for turn in reversed(self._of_visit("conversations", key)):
            for call in turn.get("calls", ()):
                if call["id"] == name:
                    found: dict[str, Json] = call
                    return found
        return {}

    def take_wait(self, effect: Wait, key: RequestKey, _answer: Object) -> None:
        """Note the deadline that has passed, in the turn that the model has not taken any more."""
        if key.node and is_deadline(effect.key):
            self._of_visit("conversations", key).append({"deadline": "stage"})

    def take_call(self, effect: Call, key: RequestKey, answer: Object) -> None:
        """Note what came of a call, beside it."""
        call = self._find_call(key, effect.id)
        if "value" in answer:
            call["result"] = answer["value"]
        else:
            call["error"] = answer.get("error", "")

    def take_grant(self, effect: Grant, key: RequestKey, answer: Object) -> None:
        """Note what people say of a call, beside it."""
        if isinstance(answer.get("granted"), bool):
            self._find_call(key, effect.proposal)["granted"] = answer["granted"]

    def take_decision(self, effect: Judge | Confirm, key: RequestKey, answer: Object) -> None:
        """Note what people or the world decide, once for each visit."""
        member, name = ("judge", "done") if isinstance(effect, Judge) else ("confirm", "yes")
        nodes = self._by_node.setdefault(member, {})
        nodes.setdefault(key.node, {}).setdefault(key.visit, answer.get(name) is True)

    def take_hook(self, effect: Hook, key: RequestKey, answer: Object) -> None:
        """Note what a callable has returned."""
        told: Json = answer.get("value")
        if "value" not in answer:
            told = {"failed": answer.get("error", "")}
        elif "ctx" in answer:
            told = {"value": told, "ctx": answer["ctx"]}
        elif isinstance(told, list) or set(object_of(told)) in _MARKED:
            told = {"value": told}
        self._note("hooks", effect.call, key, told)

    def take_output(self, effect: Run | Shell, key: RequestKey, answer: Object) -> None:
        """Note what a command has written."""
        line = join(effect.words) if isinstance(effect, Run) else effect.command
        told = {name: each for name, usual in _OUTPUT.items() if (each := answer.get(name, _SILENT[name])) != usual}
        self._note("commands", line, key, told)

    def take_change(self, effect: Relabel | Comment | Close, key: RequestKey, answer: Object) -> None:
        """Note why something could not be written about an issue."""
        self._note("issue", type(effect).__name__.lower(), key, answer.get("error"))

    def take_stage(self, effect: Execute | Publish | Preserve, key: RequestKey, answer: Object) -> None:
        """Note how an attempt of a stage has ended; what is not noted is as in one that succeeds."""
        attempts = self._of_visit("processes", key)
        attempts += [{} for _ in range(key.attempt - len(attempts))]
        told = attempts[key.attempt - 1]
        if isinstance(effect, Execute):
            given = {name: answer[name] for name in _STAGE if answer.get(name)}
            usual = None if "interrupted" in given else 0
            told |= given if answer.get("exit", usual) == usual else {"exit": answer.get("exit"), **given}
        elif isinstance(effect, Publish) and answer.get("error") is not None:
            told["unpublished"] = answer["error"]
        elif isinstance(effect, Preserve) and answer.get("valid") is not True:
            told["valid"] = False


_MARKED = ({"attempts"}, {"failed"}, {"value"}, {"value", "ctx"}, {"at"})
"""Members that mean something in a scenario where they are all there are."""
_OUTPUT: Mapping[str, Json] = {"exit": 0, "stdout": "", "stderr": ""}
_SILENT: Mapping[str, Json] = {"exit": None, "stdout": "", "stderr": ""}
"""The result of a program without an entry."""
_STAGE = ("interrupted", "status", "missing", "changed", "error", "seconds")
_TAKERS: Mapping[type, Callable[[_Notes, Any, RequestKey, Object], None]] = {
    Ask: _Notes.take_answer,
    Turn: _Notes.take_turn,
    Wait: _Notes.take_wait,
    Call: _Notes.take_call,
    Grant: _Notes.take_grant,
    Judge: _Notes.take_decision,
    Confirm: _Notes.take_decision,
    Hook: _Notes.take_hook,
    Run: _Notes.take_output,
    Shell: _Notes.take_output,
    **dict.fromkeys((Relabel, Comment, Close), _Notes.take_change),
    **dict.fromkeys((Execute, Publish, Preserve), _Notes.take_stage),
}


def _list_visits(visits: _Visits, absent: Any = None) -> list[Any]:
    """Return the entries of visits, in order, without repetitions at the end."""
    listed = [visits.get(number, absent) for number in range(1, max(visits, default=0) + 1)]
    known = next((each for each in listed if each is not None), absent)
    for at, each in enumerate(listed):
        listed[at] = known = known if each is None else each
    return _trim(listed)


def _trim(listed: list[Any]) -> list[Any]:
    """Return a list without what only repeats the one before at its end."""
    while len(listed) > 1 and listed[-1] == listed[-2]:
        listed = listed[:-1]
    return listed


def _fold_attempts(attempts: list[Any]) -> Any:
    """Return the entries of the attempts of a visit: a single one as it is, unless it looks like several."""
    attempts = _trim(attempts)
    is_plain = len(attempts) == 1 and set(object_of(attempts[0])) != {"attempts"}
    return attempts[0] if is_plain else {"attempts": attempts}


_FOLDS: Mapping[str, Callable[[Any], Any]] = {
    "answers": _fold_attempts,
    "processes": _fold_attempts,
    "conversations": _trim,
}


_TOLD: Mapping[type, tuple[str, ...]] = {
    Ask: ("answer", "text", "error", CALLED),
    Call: ("value", "error"),
    Grant: ("granted",),
    Judge: ("done",),
    Confirm: ("yes",),
    Hook: ("value", "ctx", "error"),
    **dict.fromkeys((Run, Shell), ("exit", "stdout", "stderr")),
    Execute: ("exit", *_STAGE),
    Preserve: ("valid",),
    Dispatch: _ENDED,
    **dict.fromkeys((Publish, Relabel, Comment, Close), ("error",)),
}
"""The members of an answer that a scenario contains, by the request."""


def list_told(effect: Effect, answer: Object) -> Iterator[Json]:
    """Yield the parts of an answer that count in a run with a scenario; none of an empty one."""
    if isinstance(effect, Turn):
        yield from (answer.get(name) for name in ("text", "error") if answer.get(name))
        for each in map(object_of, list_of(answer.get("calls"))):
            yield [each.get("tool"), each.get("arguments", {})]
    usual = _OUTPUT if isinstance(effect, Run | Shell) else {}
    for name in _TOLD.get(type(effect), ()):
        if answer.get(name) not in (None, "", [], usual.get(name)):
            yield [name, answer[name]]
