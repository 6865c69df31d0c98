"""Answers what models are asked: turns of conversations, and structured answers of steps with their tools."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Protocol

from stagec.core.failure import Failure
from stagec.core.json import Json, object_of, text_in
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.plan.document import Plan
from stagec.runtime.machine.answer_schemas import FINISH, UNREADABLE
from stagec.runtime.machine.exchange import Ask, Effect, Message, Turn, read_key
from stagec.runtime.world.composed import ComposedWorld, Meter, Recorder
from stagec.runtime.world.models.local_provider import is_file_name
from stagec.runtime.world.models.port import (
    MEMBER,
    Listener,
    ModelCall,
    ModelError,
    ModelFault,
    ModelLimits,
    ModelMessage,
    ModelReply,
    ModelRequest,
    Provider,
    usage_to_json,
)
from stagec.runtime.world.models.retries import ModelOutageError
from stagec.runtime.world.models.session import ModelSession, Tools, dump_call
from stagec.runtime.world.provider_outage import ProviderOutage
from stagec.runtime.world.request_json import OPENING, define_completion, read_schema
from stagec.runtime.world.scenario import CALLED
from stagec.sources.project.prices import PriceTable


class Onlooker(Protocol):
    """Who watches models write; its methods are called in several threads at once."""

    def hear(self, key: str, text: str) -> None:
        """Take a piece of the text that answers a request; a line ends where the model begins anew."""

    def end(self, key: str) -> None:
        """Learn that nothing more comes for a request."""


_FOR_PEOPLE = {ModelFault.CANCELLED, ModelFault.UNAUTHORISED, ModelFault.QUOTA, ModelFault.UNKNOWN_MODEL}
"""Faults that no run can do anything about: it stops, and is resumed when somebody has done it."""

_LONGEST = 1_000
"""Characters of an error that are kept: the reason of an interruption is shown in lists."""


@value
class ModelChoice:
    """Which model answers: that of a node, that of a name which the plan uses, or the default; `PROVIDER:NAME` each."""

    default: str | None = None
    names: Mapping[str, str] = NOTHING
    nodes: Mapping[str, str] = NOTHING

    def choose(self, node: str, wish: str | None = None) -> str | None:
        """Return the model of a node whose plan may wish for one; None when nobody says.

        A plan that names a model itself cannot make this machine read one of its files.
        """
        named = None if wish is None else self.names.get(wish, wish if ":" in wish and not is_file_name(wish) else None)
        return self.nodes.get(node) or named or self.default

    def choose_for(self, effect: Ask | Turn) -> str | None:
        """Return the model that answers a request; None when nobody says."""
        return self.choose(read_key(effect.key).node, effect.model if isinstance(effect, Ask) else None)


@value
class ModelSetup:
    """What answering takes: who is asked, which model, its tools, its limits, who watches it write, and its prices."""

    provider: Provider
    choice: ModelChoice
    tools: Tools
    limits: ModelLimits = ModelLimits()
    onlooker: Onlooker | None = None
    prices: PriceTable | None = None


class ModelWorld:
    """Answers `Ask` and `Turn`, several at once; what was said in steps is remembered for the steps that follow."""

    def __init__(self, plan: Plan, setup: ModelSetup) -> None:
        self._plan, self._setup = plan, setup
        self._redactor = Redactor(os.environ)
        self._meter: Meter | None = None
        self._recorder: Recorder | None = None
        self._said: tuple[ModelMessage, ...] = ()
        self._lock = Lock()

    def takes(self, effect: Effect) -> bool:
        """Tell whether a model is asked, and which one is known."""
        return isinstance(effect, Ask | Turn) and self._setup.choice.choose_for(effect) is not None

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that other requests may be under way beside one."""
        return True

    def name_provider(self, effect: Effect) -> str:
        """Return the first word of the name of the model that answers a request."""
        model = self._setup.choice.choose_for(effect) if isinstance(effect, Ask | Turn) else None
        return (model or "").partition(":")[0]

    def cancel(self, key: str) -> None:
        """End a request that is under way."""
        if self._recorder is not None:
            self._recorder.cancel(key)
        self._setup.tools.cancel(key)
        self._setup.provider.cancel(key)

    def close(self) -> None:
        """End everything that is under way."""
        self._setup.provider.close()

    def join(self, world: ComposedWorld) -> None:
        """Let the calls of steps be answered by the whole world."""
        self._setup.tools.join(world)

    def be_metered(self, meter: Meter) -> None:
        """Ask before each request, also those in the course of one step."""
        self._meter = meter

    def be_recorded(self, recorder: Recorder) -> None:
        """Have a journal keep the responses and calls in the course of one step."""
        self._recorder = recorder

    def answer(self, effect: Effect) -> Json:
        """Return the answer of a model or its `error`, with its `usage`.

        Raises `ProviderOutage` where the same request may succeed later, `Failure` where only people can help.
        """
        if not isinstance(effect, Ask | Turn):
            raise TypeError(effect)
        model = self._setup.choice.choose_for(effect) or ""
        listen, prices = self._listen(effect.key), self._setup.prices
        asking = ModelSession(self._setup.provider, effect, listen, prices, self._meter, self._recorder)
        try:
            told = (
                self._answer_ask(asking, effect, model)
                if isinstance(effect, Ask)
                else self._take(asking, effect, model)
            )
        except ModelError as error:
            told = self._describe(error, effect.key, model)
        finally:
            if self._setup.onlooker is not None:
                self._setup.onlooker.end(effect.key)
        called = {CALLED: list(asking.called)} if isinstance(effect, Ask) else {}
        return {**told, **called, MEMBER: usage_to_json(asking.usage, model)}

    def recall(self, effect: Effect, answer: Json) -> None:
        """Remember what was said before this process began, as a journal tells it."""
        told = object_of(answer)
        given = told.get("answer")
        if not isinstance(effect, Ask) or not (isinstance(given, dict) or {UNREADABLE, FINISH} & told.keys()):
            return
        unreadable, finish = text_in(told, UNREADABLE), text_in(told, FINISH)
        last = ModelReply(text_in(told, "text") or "", output=given, unreadable=unreadable, finish=finish)
        added = ModelSession(self._setup.provider, effect, recorder=self._recorder).recall(last)
        self._said = (*self._said, *_list_new(self._said, effect), *map(self._redact, added))

    def _listen(self, key: str) -> Listener | None:
        onlooker = self._setup.onlooker
        return None if onlooker is None else lambda text: onlooker.hear(key, text)

    def _take(self, asking: ModelSession, turn: Turn, model: str) -> dict[str, Json]:
        """Return a turn: what the model says and calls; the calls are carried out by the machine's leave."""
        completion = define_completion(self._plan, turn)
        tools = (*self._setup.tools.define(turn), completion)
        messages = (*_list_messages(turn.transcript, OPENING.format(turn.completion)),)
        reply = asking.ask(ModelRequest(model, messages, tools, limits=self._setup.limits))
        return {"text": reply.text, "calls": list(map(dump_call, reply.calls)), **_explain_reply(reply)}

    def _answer_ask(self, asking: ModelSession, ask: Ask, model: str) -> dict[str, Json]:
        """Return the answer of a step. It knows what was said before in the run, and is remembered itself."""
        schema = read_schema(self._plan, ask.schema)
        output = schema if isinstance(schema, dict) else {"type": "object"}
        with self._lock:
            said = self._said
        system = () if ask.system is None else (ModelMessage("system", ask.system),)
        added = _list_new(said, ask)
        tools = self._setup.tools.define(ask)
        request = ModelRequest(model, (*system, *said, *added), tools, output=output, limits=self._setup.limits)
        found = asking.answer(request, self._setup.tools.begin(ask))
        told: dict[str, Json] = {"text": found.reply.text, **_explain_reply(found.reply)}
        with self._lock:
            self._said = (*self._said, *added, *map(self._redact, found.added))
        return {"answer": found.reply.output, **told} if isinstance(found.reply.output, dict) else told

    def _redact(self, message: ModelMessage) -> ModelMessage:
        """Return a message as the journal has it, so that later steps are told the same after the run is resumed."""
        return replace(message, text=self._redactor.redact(message.text))

    def _describe(self, error: ModelError, key: str, model: str) -> dict[str, Json]:
        """Return an error as an answer, which the run takes as the documents say."""
        text = self._redactor.redact_output(str(error))
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        told = f"{quote(model)} does not answer the request {quote(key)}: {text}"
        if isinstance(error, ModelOutageError):
            raise ProviderOutage(told, error.pause, error.retry_after) from error
        if error.fault in _FOR_PEOPLE:
            raise Failure(told) from error
        return {"error": {"class": "Provider", "code": error.fault.value, "message": text}}


def _explain_reply(reply: ModelReply) -> dict[str, Json]:
    """Return the members of an answer that describe an unreadable or truncated response."""
    about = {UNREADABLE: reply.unreadable, FINISH: reply.finish}
    return {name: each for name, each in about.items() if each is not None}


def _list_new(said: tuple[ModelMessage, ...], ask: Ask) -> tuple[ModelMessage, ...]:
    """Return what is said to a model now: the prompt, or only what was wrong with the answer to it before."""
    prompt = ModelMessage("user", ask.prompt)
    if ask.complaint is None:
        return (prompt,)
    complaint = ModelMessage("user", f"The answer was not accepted: {ask.complaint}. Answer again.")
    return (complaint,) if prompt in said else (prompt, complaint)


def _list_messages(transcript: Iterable[Message], opening: str) -> Iterable[ModelMessage]:
    """Yield a transcript as models get it: with an opening of the user behind the system prompt."""
    named: dict[str, str] = {}
    for index, each in enumerate(transcript):
        named |= {call.id: call.tool for call in each.calls}
        calls = tuple(ModelCall(call.id, call.tool, call.arguments) for call in each.calls)
        yield ModelMessage(each.role, each.text, calls, each.call, named.get(each.call or ""))
        if index == 0:
            yield ModelMessage("user", opening)
