"""The door to `pydantic_ai`: asks OpenAI-compatible endpoints, Anthropic and every other provider that it knows."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from importlib import import_module
from math import ceil, isfinite
from threading import Lock
from typing import Any

from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.json_reader import UnreadableError, mend_text, read_json
from stagec.core.value import value
from stagec.core.words import quote
from stagec.runtime.world.event_loop import EventLoop
from stagec.runtime.world.http_bodies import find_excess, guard_client
from stagec.runtime.world.models.port import (
    ANSWER,
    Listener,
    ModelCall,
    ModelError,
    ModelFault,
    ModelMessage,
    ModelReply,
    ModelRequest,
    TokenUse,
)
from stagec.runtime.world.request_json import ToolDefinition


class PydanticProvider:
    """Asks models named `PROVIDER:NAME`; requests run in an event loop of their own, so that each can be cancelled.

    Keys and addresses come from the environment, as the provider's own library reads them: `OPENAI_API_KEY` and so on.
    """

    def __init__(self) -> None:
        try:
            import_module("pydantic_ai.direct")
        except ImportError as error:
            raise explain_missing_extra("asking models needs", "models") from error
        # what it warns of is in responses, which are judged here, and would be printed among the output of commands
        warnings.filterwarnings("ignore", module=r"pydantic(_ai)?\.")
        self._loop = EventLoop()
        self._lock = Lock()
        self._under_way: dict[str, Future[ModelReply]] = {}
        self._models: dict[str, Any] = {}

    def _model(self, name: str) -> Any:
        """Return the model of a name, the same one each time."""
        with self._lock:
            if name not in self._models:
                self._models[name] = _open_model(name)
            return self._models[name]

    def prepare(self, model: str) -> None:
        """Open a model, unless a key or a library is missing."""
        self._model(model)

    def supports_tools(self, model: str) -> bool:
        """Tell whether a model takes strict tool calls, as far as the library knows."""
        return bool(self._model(model).profile.get("supports_tools", True))

    def takes_temperature(self, model: str) -> bool:
        """Tell whether a model takes a temperature, as far as the library knows: it would leave it out without a word.

        Those that reason take none while they do, which they do unless they are asked not to.
        """
        opened = self._model(model)
        known = opened.profile.get
        can_rest = known("openai_supports_reasoning_effort_none") and not known("thinking_enabled_by_default")
        reasons = known("openai_supports_reasoning") and not can_rest
        dropped = {*opened.unsupported_settings, *(known("openai_unsupported_model_settings") or ())}
        return not (reasons or known("anthropic_disallows_sampling_settings") or _TEMPERATURE in dropped)

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model, or raise `ModelError`."""
        model = self._model(request.model)
        future = self._loop.submit(_Inquiry(model, request).ask(listen))
        with self._lock:
            self._under_way[key] = future
        try:
            return future.result()
        except (CancelledError, asyncio.CancelledError) as error:
            raise ModelError(ModelFault.CANCELLED, "the request was cancelled") from error
        finally:
            future.cancel()
            with self._lock:
                self._under_way.pop(key, None)

    def cancel(self, key: str) -> None:
        """End a request that is under way."""
        with self._lock:
            future = self._under_way.get(key)
        if future is not None:
            future.cancel()

    def close(self) -> None:
        """End everything that is under way, its connections, and the event loop."""
        with self._lock:
            left = tuple(self._under_way.values())
        for each in left:
            each.cancel()
        self._loop.close(_disconnect(self._models.values()), _PATIENCE)


_TEMPERATURE = "temperature"


async def _disconnect(models: Iterable[Any]) -> None:
    """Wait for what was cancelled, and close the connections of models."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
    for each in models:
        await each.client.close()


_PATIENCE = 2.0
"""Seconds until the event loop has ended."""


def _open_model(name: str) -> Any:
    """Return the model of a name, or raise `Failure`: the name, the key or a library is missing."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    provider, colon, rest = name.partition(":")
    if not colon or not rest:
        raise Failure(f"{quote(name)} names no model: write PROVIDER:NAME, such as 'openai:gpt-5.4'")
    # `openai` means the newer API with them, which most compatible servers do not have
    known = f"openai-chat:{rest}" if provider == "openai" else name
    try:
        model = infer_model(known)
    except (UserError, ImportError, ValueError) as error:
        raise Failure(f"the model {quote(name)} cannot be used: {error}") from error
    guard_client(getattr(model, "client", None), _LONGEST)
    return model


_LONGEST = 64_000_000
"""Bytes of a response; one of a hundred thousand tokens has some thirty million."""


@value
class _Inquiry:
    """A request to a model of the library."""

    model: Any
    request: ModelRequest

    async def ask(self, listen: Listener | None) -> ModelReply:
        """Return the reply of the model; raise `ModelError`. The first event of a response has a limit of its own."""
        limits = self.request.limits
        end = asyncio.get_running_loop().time() + limits.seconds
        limit = asyncio.timeout(min(limits.first, limits.seconds))
        try:
            async with limit:
                return await self._follow_stream(listen, lambda: limit.reschedule(end))
        except ModelError:
            raise
        except TimeoutError as error:
            late = limit.when() != end and limits.first < limits.seconds
            told = f"no first token within {limits.first:g} s" if late else f"no response within {limits.seconds:g} s"
            raise ModelError(ModelFault.TIMEOUT, told) from error
        except Exception as error:
            raise self._translate(error) from error

    async def _follow_stream(self, listen: Listener | None, begin: Callable[[], None]) -> ModelReply:
        """Return the reply that a stream leads to; `begin` is called at its first event."""
        has_begun = False
        async with self._open_stream() as stream:
            async for event in stream:
                if not has_begun:
                    has_begun = True
                    begin()
                _tell(event, listen)
            return self._read_reply(stream.get())

    def _open_stream(self) -> Any:
        from pydantic_ai.direct import model_request_stream

        return model_request_stream(
            self.model,
            [*_make_messages(self.request.messages)],
            model_settings=self._make_settings(),
            model_request_parameters=self._make_parameters(),
        )

    def _make_settings(self) -> Any:
        """Return settings without retries: those are made above the port, for all providers alike."""
        settings: dict[str, Any] = {"timeout": self.request.limits.seconds, "max_retries": 0}
        if self.request.limits.tokens is not None:
            settings["max_tokens"] = self.request.limits.tokens
        if self.request.policy.temperature is not None:
            settings[_TEMPERATURE] = self.request.policy.temperature
        if self.request.forced and self.request.tools:
            settings["tool_choice"] = "required"
        return settings

    def _make_parameters(self) -> Any:
        """Return the possible calls, and the form of the answer: the provider's own, else a required call."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition as Definition

        tools = [*_make_tools(self.request.tools, Definition)]
        if self.request.output is None:
            return ModelRequestParameters(function_tools=tools)
        schema = dict(self.request.output)
        if self.model.profile.get("supports_json_schema_output") and not tools:
            output = OutputObjectDefinition(json_schema=schema, name=ANSWER)
            return ModelRequestParameters(output_mode="native", output_object=output)
        answer = Definition(name=ANSWER, description=_HAND_IN, parameters_json_schema=schema, kind="output")
        return ModelRequestParameters(
            function_tools=tools, output_mode="tool", output_tools=[answer], allow_text_output=bool(tools)
        )

    def _read_reply(self, response: Any) -> ModelReply:
        from pydantic_ai.messages import TextPart, ToolCallPart

        if _is_broken_off(response):
            raise ModelError(ModelFault.CONNECTION, "the response ended before it was complete")
        text = "".join(each.content for each in response.parts if isinstance(each, TextPart))
        calls = [each for each in response.parts if isinstance(each, ToolCallPart)]
        is_handed_in = self.request.output is not None and [each.tool_name for each in calls] == [ANSWER]
        finish, used = response.finish_reason, response.usage
        written = calls.pop().args if is_handed_in else "" if calls or self.request.output is None else text
        output, why = _read_written(written) if written else (None, None)
        is_answer = is_handed_in or text.lstrip().startswith("{")
        tokens = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
        given, taken, cached, stored = map(_read_count, tokens)
        return ModelReply(
            text,
            _read_calls(calls, is_lost=finish == "tool_call" and not (calls or is_handed_in)),
            TokenUse(given, taken, 1, None, cached, stored),
            output,
            why if is_answer else None,
            finish if finish in _FINISHES else None,
        )

    def _translate(self, error: Exception) -> ModelError:
        """Return an error of the library or of its transport as one of the port."""
        from pydantic_ai import exceptions

        if (excess := find_excess(error)) is not None:
            return ModelError(ModelFault.REFUSED, f"the host {excess}")
        kinds: tuple[tuple[Any, ModelFault], ...] = (
            (exceptions.ModelTimeoutError, ModelFault.TIMEOUT),
            (exceptions.ModelAuthenticationError, ModelFault.UNAUTHORISED),
            (exceptions.ModelNotFoundError, ModelFault.UNKNOWN_MODEL),
            (exceptions.ModelRateLimitError, ModelFault.RATE_LIMIT),
            (exceptions.ModelQuotaExceededError, ModelFault.QUOTA),
            (exceptions.ModelUnavailableError, ModelFault.SERVER_ERROR),
            (exceptions.ModelServerError, ModelFault.SERVER_ERROR),
            (exceptions.ModelConnectionError, ModelFault.CONNECTION),
            (exceptions.ModelAPIError, ModelFault.REFUSED),
            (exceptions.UserError, ModelFault.REFUSED),
        )
        status = getattr(error, "status_code", None)
        fault = next((fault for kind, fault in kinds if isinstance(error, kind)), None)
        told = str(error)[:_MOST_TOLD] or type(error).__name__
        if fault is ModelFault.REFUSED and status is None and isinstance(error.__cause__, _UNREADABLE):
            fault = None  # the library takes a response that it cannot read for a refusal
        is_lost = isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _TRANSPORTS
        if fault is None and not is_lost:
            told = f"the response is not in the format of the provider: {told.splitlines()[0]}"
        fault = _BY_STATUS.get(status or 0) or fault or ModelFault.CONNECTION
        return ModelError(fault, told, getattr(error, "retry_after", None), status)


_TRANSPORTS = ("httpx", "httpx2", "httpcore", "httpcore2", "ssl")
"""The modules whose errors are those of connections."""
_UNREADABLE = (ValueError, RecursionError)
_BY_STATUS = {407: ModelFault.UNAUTHORISED, 408: ModelFault.TIMEOUT}
"""Statuses that the library takes for refusals: a proxy wants a login, a server did not wait for the whole request."""
_MOST_TOLD = 20_000
"""Characters of what a host says of an error that are looked at; some send megabytes."""


def _tell(event: Any, listen: Listener | None) -> None:
    """Hand text on as it arrives."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if (
            listen is not None and text
        ):
            listen(text)


_HAND_IN = "Hand in the answer."


def _make_tools(tools: Iterable[ToolDefinition], definition: Callable[..., Any]) -> Iterator[Any]:
    for each in tools:
        schema = each.schema if isinstance(each.schema, Mapping) else {"type": "object"}
        yield definition(name=each.name, description=each.description or None, parameters_json_schema=dict(schema))


def _make_messages(messages: Iterable[ModelMessage]) -> Iterator[Any]:
    """Yield messages as the library has them."""
    from pydantic_ai.messages import ModelRequest as Said
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

    parts: list[Any] = []
    for each in messages:
        if each.role != "assistant":
            parts.append(_make_part(each))
            continue
        if parts:
            yield Said(parts=parts)
        calls = [ToolCallPart(call.tool, _as_arguments(call.arguments), call.id) for call in each.calls]
        parts = []
        yield ModelResponse(parts=[*([TextPart(each.text)] if each.text else []), *calls])
    if parts:
        yield Said(parts=parts)


def _make_part(message: ModelMessage) -> Any:
    from pydantic_ai.messages import SystemPromptPart, ToolReturnPart, UserPromptPart

    match message.role:
        case "system":
            return SystemPromptPart(message.text)
        case "tool":
            return ToolReturnPart(message.tool or "", message.text, message.call or "")
        case _:
            return UserPromptPart(message.text)


def _as_arguments(arguments: Json) -> str:
    """Return the arguments of a call that a model has made as a JSON object, which some providers insist on."""
    return json.dumps(arguments if isinstance(arguments, dict) else {"unreadable": arguments})


def _is_broken_off(response: Any) -> bool:
    """Tell whether a stream ended without the reason why; for OpenAI, the library makes one up.

    A reason that the library does not know is one, and so is a refusal.
    """
    details = response.provider_details or {}
    told = details.get("finish_reason") or details.get("refusal")
    return told is None and (response.finish_reason is None or response.canonical_system == "openai")


_FINISHES = ("length", "content_filter")
"""Why a response may end that is not whole."""


def _read_calls(given: Iterable[Any], *, is_lost: bool) -> tuple[ModelCall, ...]:
    """Return calls, each with an id of its own: results are told apart by it.

    If a response ends for calls that the library has dropped, one unreadable call stands for them.
    """
    if is_lost:
        return (ModelCall("unreadable", "", {}, "the response announces calls, and has none with a name"),)
    found: list[ModelCall] = []
    for each in given:
        name, known = str(each.tool_call_id), {call.id for call in found}
        free = next(
            word for word in (name, *(f"{name}-{number}" for number in range(2, len(known) + 3))) if word not in known
        )
        found.append(ModelCall(free, str(each.tool_name), *_read_written(each.args)))
    return tuple(found)


_MOST = 2**53
"""More tokens are no number that every reader of a journal reads alike."""


def _read_count(given: Any) -> int:
    """Return a number of tokens; what is no number of them counts as none."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool) and isfinite(given)
    return min(max(ceil(given), 0), _MOST) if is_number else 0


def _read_written(given: Any) -> tuple[Json, str | None]:
    """Return the JSON that a model has written; else the text, and the reason."""
    if given is None:
        return {}, None
    text = given if isinstance(given, str) else json.dumps(given)  # the library has read some of it already
    try:
        return read_json(text or "{}"), None
    except UnreadableError as error:
        return mend_text(text), str(error)
