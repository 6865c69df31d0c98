"""From the bytes of a plan to the plan, and back; nothing that is altered or unfounded gets through."""

from __future__ import annotations

import json
from typing import Any

from stagec.core.json import Json
from stagec.core.place import pointer_text
from stagec.core.value import value
from stagec.plan.canonical import canonical
from stagec.plan.document import FORMAT, Plan
from stagec.plan.facts import facts
from stagec.plan.form import TAG, FormError
from stagec.plan.frame import digest, framed, unframed
from stagec.plan.published import PLAN
from stagec.plan.references import dangling
from stagec.plan.trouble import PlanError


@value
class Loaded:
    """A plan and the digest of its bytes, which names it."""

    plan: Plan
    digest: str


def dump(plan: Plan) -> bytes:
    """Return the file of a plan; raise `ValueError` when it holds a number or a text that JSON cannot hold exactly."""
    return framed(canonical(PLAN.write(plan)))


def load(data: bytes) -> Loaded:
    """Return the plan in a file's bytes, or raise `PlanError`.

    The digest, the format, the form of every part and every reference are checked, in time linear in the size. That
    the bytes are canonical, that contents are what their names say, and the facts are left to `verify`.
    """
    name, payload = unframed(data)
    plan = _read(_parsed(payload))
    missing = next(dangling(plan), None)
    if missing is not None:
        raise PlanError(f"it refers to {missing[1]!r} of its {missing[0]}, which is not there")
    return Loaded(plan, name)


def verify(data: bytes) -> Loaded:
    """Return the plan in a file's bytes once everything in it has been worked out again, or raise `PlanError`."""
    loaded = load(data)
    plan = loaded.plan
    if dump(plan) != data:
        raise PlanError("it is not written as RFC 8785 says, or says what goes without saying")
    for name, text in plan.contents.items():
        if digest(text.encode()) != name:
            raise PlanError(f"its content {name} is another text")
    if plan.facts != facts(plan):
        raise PlanError("its facts do not follow from its nodes and edges")
    return loaded


def _parsed(payload: bytes) -> Json:
    try:
        given: Json = json.loads(payload, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise PlanError("what is in its frame is no JSON that can be read") from error
    return given


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _read(given: Any) -> Plan:
    form = given.get(TAG) if isinstance(given, dict) else None
    if form != FORMAT:
        raise PlanError(f"its format is {form!r}, and this is a reader of {FORMAT!r}")
    try:
        plan: Plan = PLAN.read(given)
    except FormError as error:
        raise PlanError(f"{pointer_text(tuple(reversed(error.way))) or '/'}: {error.reason}") from error
    except RecursionError as error:
        raise PlanError("its prompts are nested too deeply") from error
    return plan
