"""Worlds made of others: each request goes to the first part that accepts it, or to the world of its agent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from typing import Any, Protocol

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.secrets import Redactor
from stagec.core.words import quote, visible
from stagec.runtime.machine.exchange import Effect, read_agent_run, run_of
from stagec.runtime.world.scenario import Scenario, script_agent
from stagec.runtime.world.scripted_world import Beyond, ScriptedWorld


def call(name: str, given: Mapping[str, Json], redactor: Redactor) -> dict[str, Json]:
    """Call `package.module:function` with a copy of an object and return what came of it.

    That is `{"value": …}`, with the `ctx` if the callable changed it, or a redacted `{"error": …}` if it failed or
    returned no JSON. What it prints goes to standard error. One that is not there is a `Failure`.
    """
    function, held = find_callable(name, "the hook"), json.loads(json.dumps(given))
    try:
        with divert_output():
            answer = function(held)
        plain = read_json(json.dumps(answer))
        left = read_json(json.dumps(held.get("ctx")))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever it is, it ends the hook and not the run
        is_unreadable = isinstance(error, UnreadableError)
        told = redactor.redact_output(f"it left no JSON: {error}" if is_unreadable else describe_error(error))
        sys.stderr.write(f"stagec: note: the hook {quote(name)} failed: {visible(told[:_LONGEST])}\n")
        return {"error": told}
    return {"value": plain} if left == given.get("ctx") else {"value": plain, "ctx": left}


_LONGEST = 300
"""The most characters that are shown of a failed hook's message."""


def describe_error(error: BaseException) -> str:
    """Return the class of an error and what it says; somebody's own class may not be able to say it."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def find_callable(name: str, what: str) -> Callable[[Any], Any]:
    """Return the callable `package.module:function`, or raise `Failure`; `what` is what people call it."""
    module, _, way = name.partition(":")
    with _import_from_here(), divert_output(), _refuse_exit(f"{what} {quote(name)} cannot be imported"):
        found: Any = import_module(module)
        for part in way.split("."):
            found = getattr(found, part)
    if not callable(found):
        raise Failure(f"{what} {quote(name)} cannot be called")
    answering: Callable[[Any], Any] = found
    return answering


@contextmanager
def _import_from_here() -> Iterator[None]:
    """Look for modules in the current folder first, as `python -m` does it."""
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


@contextmanager
def divert_output() -> Iterator[None]:
    """Let whatever is printed go to standard error, also by programs that are started and by code past `sys.stdout`."""
    out = sys.__stdout__
    if out is None:
        yield
        return
    out.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        out.flush()
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def _refuse_exit(what: str) -> Iterator[None]:
    """Turn whatever somebody's code raises into a failure of the world; Ctrl-C stays what it is."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Failure(f"{what}: {describe_error(error)}") from error


class WorldPart(Protocol):
    """A part of a world: it answers some of the requests of a run, and tells which."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether it answers a request."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request that it takes."""

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request that it takes may be under way beside others."""

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more, if it is under way here."""

    def close(self) -> None:
        """Let go of whatever it has opened."""


class Meter(Protocol):
    """A meter: asked before each request to a model, and told the use of each; in several threads at once."""

    def reserve(self, effect: Effect) -> None:
        """Return when a request may begin; raise `Failure` when it may not. It is under way until `spend` ends it."""

    def spend(self, effect: Effect, used: Any) -> None:
        """Take the use of one of the requests that an answer needs."""


class Recorder(Protocol):
    """Keeps the parts of answers that take several requests to models; in several threads at once."""

    def list_parts(self, key: str) -> tuple[Json, ...]:
        """Return the parts of an answer that were kept until now."""

    def keep(self, key: str, part: Json) -> Json:
        """Return a part as the journal gives it back; it is on the disk then. Raise `Failure` if nobody needs it."""

    def cancel(self, key: str) -> None:
        """Keep no more parts of an answer."""


class ComposedWorld:
    """Parts in their order; the last one gets what no other takes, and must be closed with the rest.

    A part that needs answers of others may have a method `join`, which is given this world. One that asks providers of
    models has a method `name_provider`, and one that asks several times for one answer the methods `be_metered` and
    `be_recorded`.
    """

    def __init__(self, parts: Iterable[WorldPart]) -> None:
        self._parts = tuple(parts)
        for each in self._parts:
            join = getattr(each, "join", None)
            if join is not None:
                join(self)

    def takes(self, effect: Effect) -> bool:
        """Tell whether a part takes a request."""
        return any(each.takes(effect) for each in self._parts)

    def answer(self, effect: Effect) -> Json:
        """Return the answer of the first part that takes a request."""
        return self._part(effect).answer(effect)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""
        return self._part(effect).overlaps(effect)

    def name_provider(self, effect: Effect) -> str:
        """Return the name of the provider of models that a request goes to, the empty text for any other."""
        name = getattr(self._part(effect), "name_provider", None)
        return "" if name is None else str(name(effect))

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""
        for each in self._parts:
            each.cancel(key)

    def be_metered(self, meter: Meter) -> None:
        """Let parts that ask models several times for one answer ask a meter before each time."""
        for each in self._parts:
            found = getattr(each, "be_metered", None)
            if found is not None:
                found(meter)

    def be_recorded(self, recorder: Recorder) -> None:
        """Let parts that ask models several times for one answer have a journal keep what they have got."""
        for each in self._parts:
            found = getattr(each, "be_recorded", None)
            if found is not None:
                found(recorder)

    def recall(self, effect: Effect, answer: Json) -> None:
        """Tell each part with a memory the answer that it gave before this process began."""
        recall = getattr(self._part(effect), "recall", None)
        if recall is not None:
            recall(effect, answer)

    def close(self) -> None:
        """Let go of whatever the parts have opened."""
        for each in self._parts:
            each.close()

    def _part(self, effect: Effect) -> WorldPart:
        *others, last = self._parts
        return next((each for each in others if each.takes(effect)), last)


class PythonWorld:
    """Asks an object that a callable of the user makes: it has `answer`, and may have the other methods of a part."""

    def __init__(self, name: str, given: Any) -> None:
        with divert_output():
            # what the callable `package.module:factory` makes, or raise `Failure`
            factory: Any = find_callable(name, "the world")
            try:
                made = factory(given)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise Failure(f"the world {quote(name)} cannot be made: {describe_error(error)}") from error
            if not callable(getattr(made, "answer", None)):
                raise Failure(f"the world {quote(name)} has no method 'answer'")
            self._object = made
        self._name = name

    def takes(self, effect: Effect) -> bool:
        """Tell whether the object answers a request: every one, unless it has a method `takes`."""
        return bool(self._ask("takes", True, effect))

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others: every one, unless it has a method `overlaps`."""
        return bool(self._ask("overlaps", True, effect))

    def name_provider(self, effect: Effect) -> str:
        """Return the provider of models of a request: none, unless the object has a method `name_provider`."""
        return str(self._ask("name_provider", "", effect))

    def answer(self, effect: Effect) -> Json:
        """Return the answer of the object; an error of it stops the run, which can be resumed."""
        try:
            answer: Json = self._object.answer(effect)
        except (Failure, KeyboardInterrupt):
            raise
        except Exception as error:
            what = f"the world {quote(self._name)} has no answer to the request {quote(effect.key)}"
            raise Failure(f"{what}: {describe_error(error)}") from error
        return answer

    def cancel(self, key: str) -> None:
        """Tell the object that nobody needs an answer any more."""
        self._ask("cancel", None, key)

    def close(self) -> None:
        """Tell the object that the run is over."""
        self._ask("close", None)

    def _ask(self, method: str, default: object, *given: object) -> object:
        """Return the result of an optional method."""
        found = getattr(self._object, method, None)
        return default if found is None else found(*given)


class AgentsWorld:
    """Passes the requests of an agent's runs to the world of the agent, and all others to that of the run itself."""

    def __init__(self, own: ComposedWorld, agents: Mapping[str, ComposedWorld]) -> None:
        self._own, self._agents = own, agents
        self._all = (own, *agents.values())

    def takes(self, effect: Effect) -> bool:
        """Tell whether anybody takes a request."""
        return self._find(effect).takes(effect)

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return self._find(effect).answer(effect)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""
        return self._find(effect).overlaps(effect)

    def name_provider(self, effect: Effect) -> str:
        """Return the name of the provider of models that a request goes to, the empty text for any other."""
        return self._find(effect).name_provider(effect)

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""
        for each in self._all:
            each.cancel(key)

    def be_metered(self, meter: Meter) -> None:
        """Let all who ask models ask a meter before each request."""
        for each in self._all:
            each.be_metered(meter)

    def be_recorded(self, recorder: Recorder) -> None:
        """Let all who ask models have a journal keep the parts of answers."""
        for each in self._all:
            each.be_recorded(recorder)

    def recall(self, effect: Effect, answer: Json) -> None:
        """Tell each world with a memory the answer that it gave before this process began."""
        self._find(effect).recall(effect, answer)

    def close(self) -> None:
        """Let go of whatever anybody has opened."""
        for each in self._all:
            each.close()

    def _find(self, effect: Effect) -> ComposedWorld:
        named = read_agent_run(run_of(effect.key))
        return self._own if named is None else self._agents.get(named.agent, self._own)


class ScriptedAgent:
    """Answers the requests of the runs of an agent, each by what a scenario has for this run."""

    def __init__(self, scenario: Scenario, agent: str, beyond: Beyond) -> None:
        self._scenario, self._agent, self._beyond = scenario, agent, beyond
        self._runs: dict[str, ScriptedWorld] = {}

    def takes(self, effect: Effect) -> bool:
        """Tell whether the scenario itself says something about a request."""
        return self._find(effect).takes(effect)

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return self._find(effect).answer(effect)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request takes time, and may be under way beside others."""
        return self._find(effect).overlaps(effect)

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""
        self._beyond.cancel(key)

    def close(self) -> None:
        """Hold nothing open, and so let go of nothing."""

    def _find(self, effect: Effect) -> ScriptedWorld:
        run = run_of(effect.key)
        if run not in self._runs:
            self._runs[run] = ScriptedWorld(script_agent(self._scenario, self._agent, run), self._beyond)
        return self._runs[run]


def script_world(scenario: Scenario, agents: Iterable[str], beyond: Beyond) -> ComposedWorld:
    """Return a world that answers by a scenario alone, also the runs of agents."""
    own = ComposedWorld((ScriptedWorld(scenario, beyond),))
    others = {name: ComposedWorld((ScriptedAgent(scenario, name, beyond),)) for name in agents}
    return ComposedWorld((AgentsWorld(own, others),))
