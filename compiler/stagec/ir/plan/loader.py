"""From the file of a plan to the plan, and back: its frame, its digest, its format; nothing altered gets through."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite

from stagec.core.canonical import MOST, canonical, digest
from stagec.core.collector import PausedCollector
from stagec.core.json import Json, object_of
from stagec.core.place import Pointer, pointer_text
from stagec.core.value import NOTHING, TAG, replace, value
from stagec.core.words import quote
from stagec.ir.plan.agents import find_unfit_agent
from stagec.ir.plan.codec import DIGEST, CodecError, Definitions, Known, codec_of, write
from stagec.ir.plan.document import FORMAT, Plan
from stagec.ir.plan.facts import facts, unaffordable
from stagec.ir.plan.soundness import unsound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class PlanError(Exception):
    """A plan that cannot be trusted or understood: altered, of another format, or not what its format says.

    `str()` is the reason, a sentence without a full stop.
    """


_PLAN = codec_of(Plan)
"""Derived while the module is imported: one thread does that, and no other thread sees a codec that is not whole."""
_OPEN, _BETWEEN, _CLOSE = b'{"digest":"', b'","plan":', b"}\n"
_DIGEST = len("sha256:") + 64
_HEAD = len(_OPEN) + _DIGEST + len(_BETWEEN)


def write_frame(payload: bytes) -> bytes:
    """Return the file of a plan: `{"digest":"sha256:…","plan":` the plan's bytes `}` and a line feed."""
    return b"".join((_OPEN, digest(payload).encode(), _BETWEEN, payload, _CLOSE))


def read_frame(data: bytes) -> tuple[str, bytes]:
    """Return the digest in a frame, and the bytes inside it of which it is the digest; else raise `PlanError`."""
    payload = data[_HEAD : -len(_CLOSE)]
    named = data[len(_OPEN) : len(_OPEN) + _DIGEST]
    if len(data) < _HEAD + len(_CLOSE) or data[: len(_OPEN)] != _OPEN:
        raise PlanError("it does not have the frame of a plan")
    if data[_HEAD - len(_BETWEEN) : _HEAD] != _BETWEEN or data[-len(_CLOSE) :] != _CLOSE:
        raise PlanError("it is cut off, or something was put around it")
    found = digest(payload)
    if named != found.encode():
        raise PlanError(f"it was changed: its bytes have the digest {found}, and it names another one")
    return found, payload


def schema() -> Json:
    """Return the JSON Schema of the file of a plan: of the frame and of what is inside it."""
    found: Definitions = {}
    plan = object_of(_PLAN.describe(found))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:stagec:schema:plan",
        "title": FORMAT,
        "description": "One flow, frozen; docs/plan-format.md says what each part means and what no schema can say.",
        "type": "object",
        "properties": {
            "digest": {"description": "The digest of the bytes of the plan.", **object_of(DIGEST.describe(found))},
            "plan": {"description": "The plan, as RFC 8785 writes it.", **plan},
        },
        "required": ["digest", "plan"],
        "additionalProperties": False,
        "$defs": dict(sorted(found.items())),
    }


_TABLES: Mapping[str, Json] = {
    "nodes": None,
    "contents": None,
    "entries": None,
    "validators": {},
    "tools": {},
    "servers": {},
    "choices": {},
    "plans": {},
}
"""The members of a plan in which other members are looked up, and what is there when they are not."""
_HALF = re.compile(r"\\u[dD]")
"""The escape of a possible half of a character."""
_LONG = 20
"""Digits with which no number is exact."""


@value
class Loaded:
    """A plan and the digest of its bytes, which names it; `agents` are the plans inside it, by name."""

    plan: Plan
    digest: str
    agents: Mapping[str, Loaded] = NOTHING


def dump(plan: Plan) -> bytes:
    """Return the file of a plan; raise `ValueError` when it holds what JSON cannot hold exactly, or holds too deep."""
    try:
        with PausedCollector():
            return write_frame(canonical(write(plan)))
    except CodecError as error:
        raise ValueError(f"something in it {error.reason}") from error


def load(data: bytes) -> Loaded:
    """Return the plan in a file's bytes, or raise `PlanError`.

    The digest, the format, the form of every part, every reference and what `unsound` and `unaffordable` look for are
    checked, also of the plans inside it, in time linear in the size. `verify` also checks that the bytes are canonical,
    that contents match their names, and the facts.
    """
    loaded = _load_one(data)
    return replace(loaded, agents=load_agents(loaded.plan)) if loaded.plan.plans else loaded


def load_agents(plan: Plan) -> Mapping[str, Loaded]:
    """Return the plans of agents inside a plan, or raise `PlanError`."""
    found: dict[str, Loaded] = {}
    for name in plan.plans:
        try:
            loaded = found[name] = _load_one(_frame_agent(plan, name))
        except (PlanError, UnicodeEncodeError) as error:
            raise _refuse_agent(name, error) from error
        for flaw in find_unfit_agent(loaded.plan):
            raise _refusal(("plans", name), flaw)
    return found


def _frame_agent(plan: Plan, name: str) -> bytes:
    """Return the file that the plan of an agent would have."""
    return write_frame(plan.contents[plan.plans[name]].encode())


def _refuse_agent(name: str, error: Exception) -> PlanError:
    return _refusal(("plans", name), f"is not a usable plan: {error}")


def _load_one(data: bytes) -> Loaded:
    """Return the plan in a file's bytes without those inside it, or raise `PlanError`."""
    name, payload = read_frame(data)
    with PausedCollector():
        try:
            text = payload.decode()
            given: Any = _DECODER.decode(text)
            if _HALF.search(text):
                canonical(given)  # fails for half a character
        except (ValueError, RecursionError) as error:
            raise PlanError(f"the payload of its frame is not readable JSON: {error}") from error
        form = given.get(TAG) if type(given) is dict else None
        if form != FORMAT:
            named = quote(form) if type(form) is str else "not named"
            way_out = "compile its sources again, or use the stagec that made it"
            raise PlanError(f"its format is {named}, and this is a reader of {FORMAT!r}; {way_out}")
        try:
            plan: Plan = _PLAN.read(given, _find_known(given))
        except CodecError as error:
            raise _refusal(tuple(reversed(error.way)), error.reason) from error
        for flaws in (unsound, unaffordable):
            for at, reason in flaws(plan):
                raise _refusal(at, reason)
        return Loaded(plan, name)


def verify(data: bytes) -> Loaded:
    """Return the plan in a file's bytes once everything in it has been worked out again, or raise `PlanError`."""
    loaded = load(data)
    _compare(loaded.plan, data)
    return prove(loaded)


def _compare(plan: Plan, data: bytes) -> None:
    """Raise `PlanError` for a file that is not the one of its plan."""
    if dump(plan) != data:
        raise PlanError("it is not written as RFC 8785 says, or says what goes without saying")


def prove(loaded: Loaded) -> Loaded:
    """Return a plan with contents that match their digests and facts that follow from it, or raise `PlanError`."""
    for each, inner in loaded.agents.items():
        try:
            _compare(inner.plan, _frame_agent(loaded.plan, each))
            _prove_one(inner.plan)
        except PlanError as error:
            raise _refuse_agent(each, error) from error
    _prove_one(loaded.plan)
    return loaded


def _prove_one(plan: Plan) -> None:
    for name, text in plan.contents.items():
        if digest(text.encode()) != name:
            raise PlanError(f"its content {name} is another text")
    if plan.facts != facts(plan):
        raise PlanError("its facts do not follow from its nodes and edges")


def _integer(text: str) -> float:
    """Return the number that digits mean in JSON; if they are too many to be exact, the nearest double."""
    return int(text) if len(text) < _LONG and abs(int(text)) <= MOST else _float(text)


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{quote(text)} is not a JSON number")
    return number


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_float)


def _refusal(at: Pointer, reason: str) -> PlanError:
    return PlanError(f"at {quote(pointer_text(at))}: {reason}" if at else f"it {reason}")


def _find_known(given: Mapping[str, Json]) -> Known:
    tables = {table: given.get(table, default) for table, default in _TABLES.items()}
    return {table: each if isinstance(each, dict) else _ANYTHING for table, each in tables.items()}


class _Anything:
    """The names in a table of a wrong type: the type is the mistake, not a name that is missing in it."""

    def __contains__(self, name: object) -> bool:
        return True


_ANYTHING = _Anything()
