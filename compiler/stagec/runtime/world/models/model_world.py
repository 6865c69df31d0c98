"""Answers what models are asked: turns of conversations, and structured answers of steps with their tools."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Protocol

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.json_reader import find_unreadable, mend_text
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.plan.document import Plan
from stagec.runtime.machine.answer_schemas import FINISH, UNREADABLE
from stagec.runtime.machine.exchange import Ask, Effect, Message, Turn, read_key
from stagec.runtime.world.composed import ComposedWorld, Meter, Recorder
from stagec.runtime.world.models.local_provider import is_file_name
from stagec.runtime.world.models.port import (
    ANSWER,
    MEMBER,
    Listener,
    ModelCall,
    ModelError,
    ModelFault,
    ModelMessage,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderOutage,
    TokenUse,
    add_usage,
    price_usage,
    read_usage,
    usage_to_json,
)
from stagec.runtime.world.models.retries import ModelOutageError
from stagec.runtime.world.request_json import (
    OPENING,
    ToolDefinition,
    define_completion,
    find_asking,
    read_schema,
)
from stagec.runtime.world.scenario import CALLED
from stagec.runtime.world.tools.toolbox import is_refused
from stagec.sources.project.prices import PriceTable

_TEXT, _CALLS, _CALL, _RESULT = "text", "calls", "call", "result"


def dump_call(call: ModelCall) -> Json:
    """Return a call as an answer has it."""
    told: dict[str, Json] = {"id": call.id, "tool": call.tool, "arguments": call.arguments}
    return told if call.unreadable is None else {**told, UNREADABLE: call.unreadable}


def dump_reply(reply: ModelReply, used: TokenUse, model: str) -> Json:
    """Return a response after which a model is asked again, with what it has used."""
    calls = [_dump_readable(each) for each in reply.calls]
    return {_TEXT: mend_text(reply.text), _CALLS: calls, MEMBER: usage_to_json(used, model)}


def _dump_readable(call: ModelCall) -> Json:
    """Return a call; arguments that no journal takes give way to the reason, which the model is told."""
    found = find_unreadable(dump_call(call))
    if found is None:
        return dump_call(call)
    return {"id": mend_text(call.id), "tool": mend_text(call.tool), "arguments": None, UNREADABLE: str(found)}


def read_reply(part: Json) -> ModelReply:
    """Return the response that a part holds; raise `Failure` for any other part."""
    told = object_of(part)
    text, calls = told.get(_TEXT), told.get(_CALLS)
    if not isinstance(text, str) or not isinstance(calls, list):
        raise _foreign_part()
    return ModelReply(text, tuple(map(_read_call, calls)), read_usage(part))


def _read_call(given: Json) -> ModelCall:
    told = object_of(given)
    name, tool = text_in(told, "id"), text_in(told, "tool")
    if name is None or tool is None:
        raise _foreign_part()
    return ModelCall(name, tool, told.get("arguments"), text_in(told, UNREADABLE))


def dump_result(call: str, result: Object) -> Json:
    """Return the result of a call, given the id of the call."""
    return {_CALL: call, _RESULT: dict(result)}


def read_result(part: Json, call: str) -> Object:
    """Return the result of a call that a part holds; raise `Failure` for any other part."""
    told = object_of(part)
    result = told.get(_RESULT)
    if told.get(_CALL) != call or not isinstance(result, dict):
        raise _foreign_part()
    return result


def _foreign_part() -> Failure:
    return Failure("the run cannot be resumed: its journal holds another response or call than the model made")


_ROUNDS = 50
"""Responses of a model in one step; one that calls tools without end has lost its way."""
_ALONE = f"Nothing was carried out: {ANSWER} must be the only call of a response."
_ASK_FOR_ANSWER = "Hand in the answer now, in the form that was asked for, and nothing else."


CarryOut = Callable[[str, str, Json, Object | None], Object]
"""Carries a call out, given its id, its tool and its arguments; returns `{"value": …}` or `{"error": …}`.

The last argument is the result of a call that was carried out before this process began: then it only counts.
"""


class Tools(Protocol):
    """The tools: they define those of requests, and execute the calls of steps."""

    def define(self, request: Ask | Turn) -> tuple[ToolDefinition, ...]:
        """Return the tools that a request offers to the model."""

    def begin(self, step: Ask) -> CarryOut:
        """Return the executor of a step's calls, as far as they are allowed."""

    def cancel(self, key: str) -> None:
        """End what is under way for a step."""

    def join(self, world: ComposedWorld) -> None:
        """Let calls be answered by a whole world."""


@value
class HandedIn:
    """The result of a request: the last response, the messages that it added, and its use."""

    reply: ModelReply
    added: tuple[ModelMessage, ...]
    usage: TokenUse


class ModelSession:
    """Asks one model in the course of one request."""

    def __init__(
        self,
        provider: Provider,
        effect: Ask | Turn,
        listen: Listener | None = None,
        prices: PriceTable | None = None,
        meter: Meter | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._provider, self._effect, self._listen, self._prices = provider, effect, listen, prices
        self._meter = meter
        self._is_asking, self._recorder = False, recorder
        self._known = [] if recorder is None else list(recorder.list_parts(effect.key))
        self._uses: list[TokenUse] = []
        self._called: dict[str, None] = {}

    @property
    def usage(self) -> TokenUse:
        """The use so far, also of failed requests."""
        return add_usage(self._uses)

    @property
    def called(self) -> tuple[str, ...]:
        """The tools that were called until now, each once; a call that is refused does not count."""
        return tuple(self._called)

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return one response, or raise `ModelError`; raise `Failure` when a budget allows no more requests."""
        if self._meter is not None and self._is_asking:  # whoever asks for an answer has admitted the first
            self._meter.reserve(self._effect)
        self._is_asking = True
        reply = self._provider.request(self._effect.key, request, self._listen)
        if self._listen is not None:
            self._listen("\n")
        known = self._prices
        self._uses.append(reply.usage if known is None else price_usage(known, request.model, reply.usage))
        if self._meter is not None:
            self._meter.spend(self._effect, self._uses[-1])
        return reply

    def recall(self, last: ModelReply) -> tuple[ModelMessage, ...]:
        """Return the messages that a step has added whose `last` response came before; nothing is asked or called."""
        self._recorder = None
        return self.answer(ModelRequest("", ()), _repeat_known, last).added

    def answer(self, request: ModelRequest, carry_out: CarryOut, last: ModelReply | None = None) -> HandedIn:
        """Return the answer of a model after calls of tools, or raise `ModelError`; no request is made for the `last`.

        That is an object, or no answer: an unreadable one, or an incomplete response.
        """
        messages = request.messages
        for _ in range(_ROUNDS):
            recalled = self._recall_reply()
            reply = recalled or last or self.ask(replace(request, messages=messages))
            said = ModelMessage("assistant", reply.text, reply.calls)
            is_over = reply.unreadable is not None or (reply.finish is not None and not reply.calls)
            if is_over or isinstance(reply.output, dict):
                text = write_result(reply.output or reply.text)
                handed_in = [ModelMessage("assistant", text)] if text else []
                return HandedIn(reply, (*messages[len(request.messages) :], *handed_in), self.usage)
            if recalled is None:
                reply = self._keep_reply(reply, request.model)
                said = ModelMessage("assistant", reply.text, reply.calls)
            if any(each.tool == ANSWER for each in reply.calls):
                told = [ModelMessage("tool", _ALONE, call=each.id, tool=each.tool) for each in reply.calls]
            else:
                told = [self._call(carry_out, each) for each in reply.calls]
            messages = (*messages, said, *(told or [ModelMessage("user", _ASK_FOR_ANSWER)]))
        raise ModelError(ModelFault.REFUSED, f"the model gave no answer in {_ROUNDS} responses")

    def _recall_reply(self) -> ModelReply | None:
        """Return the next response that came before this process began, None when there is none."""
        if not self._known:
            return None
        reply = read_reply(self._known.pop(0))
        self._uses.append(reply.usage)
        return reply

    def _keep_reply(self, reply: ModelReply, model: str) -> ModelReply:
        """Return a response as the journal gives it back, before anything follows from it."""
        if self._recorder is None:
            return reply
        return read_reply(self._recorder.keep(self._effect.key, dump_reply(reply, self._uses[-1], model)))

    def _call(self, carry_out: CarryOut, call: ModelCall) -> ModelMessage:
        """Return the answer of a tool; a forbidden or unreadable call is answered as well."""
        if isinstance(call.arguments, dict):
            known = read_result(self._known.pop(0), call.id) if self._known else None
            told = carry_out(call.id, call.tool, call.arguments, known)
            if known is None and self._recorder is not None:
                told = read_result(self._recorder.keep(self._effect.key, dump_result(call.id, told)), call.id)
            if not is_refused(told):
                self._called[call.tool] = None
            text = write_result(told.get("value", told.get("error")))
        elif call.unreadable is not None:
            text = f"Not carried out: the arguments cannot be read: {call.unreadable}"
        else:
            text = "Not carried out: the arguments are not a JSON object."
        return ModelMessage("tool", text, call=call.id, tool=call.tool)


def _repeat_known(_call: str, _tool: str, _arguments: Json, known: Object | None) -> Object:
    """Return the result of a call that a journal holds; the requests of other workers have only some of them."""
    return known or {"error": "the result is not known any more"}


def write_result(result: Json) -> str:
    """Return the result of a tool as the text that a model reads."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


class Onlooker(Protocol):
    """An observer of models; its methods are called in several threads at once."""

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
    """The choice of a model: that of the node, that of a name in the plan, or the default; `PROVIDER:NAME` each."""

    default: str | None = None
    names: Mapping[str, str] = NOTHING
    nodes: Mapping[str, str] = NOTHING

    def choose(self, node: str, wish: str | None = None) -> str | None:
        """Return the model of a node whose plan may wish for one; None when nobody says.

        A plan that names a model itself cannot make this machine read one of its files.
        """
        named = None if wish is None else self.names.get(wish, wish if ":" in wish and not is_file_name(wish) else None)
        return self.nodes.get(node) or named or self.default


@value
class ModelSetup:
    """The setup of answers: the provider, the choice of models, the tools, an onlooker, and the prices."""

    provider: Provider
    choice: ModelChoice
    tools: Tools
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
        return isinstance(effect, Ask | Turn) and self._choose(effect) is not None

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that other requests may be under way beside one."""
        return True

    def name_provider(self, effect: Effect) -> str:
        """Return the first word of the name of the model that answers a request."""
        model = self._choose(effect) if isinstance(effect, Ask | Turn) else None
        return (model or "").partition(":")[0]

    def _choose(self, effect: Ask | Turn) -> str | None:
        """Return the model that answers a request; None when nobody says."""
        wish = effect.model if isinstance(effect, Ask) else find_asking(self._plan, effect.key).model
        return self._setup.choice.choose(read_key(effect.key).node, wish)

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
        model = self._choose(effect) or ""
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
        policy = find_asking(self._plan, turn.key).asks
        reply = asking.ask(ModelRequest(model, messages, tools, policy=policy))
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
        policy = find_asking(self._plan, ask.key).asks
        request = ModelRequest(model, (*system, *said, *added), tools, output=output, policy=policy)
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
    """Return the new messages to a model: the prompt, or only the mistake in its last answer."""
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
