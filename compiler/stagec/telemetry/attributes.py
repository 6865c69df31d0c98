"""What spans say of requests, by the semantic conventions of OpenTelemetry for generative AI where they have a name."""

from __future__ import annotations

import json

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.value import replace, value
from stagec.plan.document import Plan
from stagec.runtime.exchange import Ask, Call, Effect, Grant, Hook, Message, Run, Shell, Turn
from stagec.world.models.usage import MEMBER, read_usage

Attributes = dict[str, object]
UNKNOWN_PROVIDER = "stagec"
"""The provider of an answer that no model gave: a scenario, or a world of the user."""
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "grok": "x_ai",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
"""What the conventions call providers that go under another name here."""


@value
class RequestSpan:
    """What a span says of a request: its name, its attributes, the kind of an error, and whether a model was asked."""

    name: str
    attributes: Attributes
    error: str = ""
    is_client: bool = False


def describe_effect(plan: Plan, effect: Effect) -> RequestSpan:
    """Return what is known of a request without its answer."""
    kind = type(effect).__name__.lower()
    told: Attributes = {"stagec.request.kind": kind, "stagec.request.key": effect.key}
    match effect:
        case Ask() | Turn():
            told |= {"gen_ai.operation.name": "chat", "gen_ai.provider.name": UNKNOWN_PROVIDER}
            return RequestSpan("chat", told, is_client=True)
        case Call():
            tool = plan.tools.get(effect.tool)
            told |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": effect.tool}
            told |= {"gen_ai.tool.call.id": effect.id} if effect.id else {}
            told |= {"gen_ai.tool.type": "function"}
            told |= {} if tool is None else {"stagec.tool.origin": tool.origin, "stagec.tool.effects": tool.effects}
            return RequestSpan(f"execute_tool {effect.tool}", told)
        case Grant():
            return RequestSpan(f"grant {effect.tool}", {**told, "gen_ai.tool.name": effect.tool})
        case Hook():
            return RequestSpan(f"hook {effect.call}", told)
        case _:
            return RequestSpan(kind, told)


def describe_result(plan: Plan, effect: Effect, answer: Json, *, messages: bool) -> RequestSpan:
    """Return what is known of a request and its answer; what was said is left out unless `messages` asks for it."""
    told, given = describe_effect(plan, effect), object_of(answer)
    error = _read_error(given)
    attributes = {**told.attributes, **(_list_messages(effect, given) if messages else {})}
    if isinstance(effect, Ask | Turn):
        named = text_in(object_of(given.get(MEMBER)), "model") or ""
        provider, _, model = named.rpartition(":")
        attributes |= _describe_usage(answer) if model else {}
        if model:
            attributes |= {"gen_ai.request.model": model, "gen_ai.provider.name": _PROVIDERS.get(provider, provider)}
        attributes |= {"gen_ai.output.type": "json"} if isinstance(effect, Ask) else {}
        return RequestSpan(f"chat {model}".rstrip(), attributes, error, is_client=True)
    if isinstance(effect, Run | Shell) and isinstance(status := given.get("exit"), int):
        attributes |= {"process.exit.code": status}
    return replace(told, attributes=attributes, error=error)


def _read_error(given: Object) -> str:
    """Return the kind of the error that an answer tells of; nothing if it does not."""
    told = given.get("error")
    if told is None:
        return ""
    return text_in(object_of(told), "code") or text_in(object_of(told), "class") or "_OTHER"


def _describe_usage(answer: Json) -> Attributes:
    used = read_usage(answer)
    told: Attributes = {
        "gen_ai.usage.input_tokens": used.input,
        "gen_ai.usage.output_tokens": used.output,
        "stagec.usage.requests": used.requests,
    }
    return told if used.cost is None else {**told, "stagec.usage.cost": used.cost}


def _list_messages(effect: Effect, given: Object) -> Attributes:
    """Return what was said, in the form of the conventions: JSON as a text."""
    match effect:
        case Ask():
            system = [_text(effect.system)] if effect.system else []
            asked = [{"role": "user", "parts": [_text(effect.prompt)]}]
            return {
                **({"gen_ai.system_instructions": _dump(system)} if system else {}),
                "gen_ai.input.messages": _dump(asked),
                "gen_ai.output.messages": _dump(_reply(_dump(given.get("answer")), [])),
            }
        case Turn():
            calls = [_call(text_in(each, "id"), each.get("tool"), each.get("arguments")) for each in _calls(given)]
            return {
                "gen_ai.input.messages": _dump([_message(each) for each in effect.transcript]),
                "gen_ai.output.messages": _dump(_reply(text_in(given, "text") or "", calls)),
            }
        case Call():
            result = given.get("value", given.get("error"))
            return {
                "gen_ai.tool.call.arguments": _dump(effect.arguments),
                "gen_ai.tool.call.result": _dump(result),
            }
        case _:
            return {}


def _calls(given: Object) -> list[Object]:
    return [object_of(each) for each in list_of(given.get("calls"))]


def _message(given: Message) -> Json:
    if given.call is not None:
        part: Json = {"type": "tool_call_response", "id": given.call, "response": given.text}
        return {"role": "tool", "parts": [part]}
    parts: list[Json] = [_text(given.text)] if given.text else []
    parts += [_call(each.id, each.tool, each.arguments) for each in given.calls]
    return {"role": given.role, "parts": parts}


def _reply(text: str, calls: list[Json]) -> list[Json]:
    parts: list[Json] = [_text(text)] if text else []
    return [{"role": "assistant", "parts": [*parts, *calls], "finish_reason": "tool_call" if calls else "stop"}]


def _text(text: str) -> Json:
    return {"type": "text", "content": text}


def _call(name: str | None, tool: Json, arguments: Json) -> Json:
    return {"type": "tool_call", "id": name, "name": tool, "arguments": arguments}


def _dump(given: object) -> str:
    return json.dumps(given, ensure_ascii=False)
