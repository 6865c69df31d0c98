"""What is answered when people would have to be asked and nobody is there."""

from __future__ import annotations

from collections.abc import Sequence

from stagec.core.json import Json
from stagec.core.value import value


@value
class Unattended:
    """Whether the run halts; if not, the answer that is taken instead of one of people."""

    halts: bool
    answer: Json = None


_HALT = Unattended(halts=True)


def unattended(kind: str, *, yolo: bool, options: Sequence[Json] = ()) -> Unattended:
    """Return what becomes of an interaction of some kind; `options` are those of a `Select`.

    The grant of a tool to a stage is denied in every mode, and the stage goes on. Everything else halts, unless
    somebody has said `yolo`.
    """
    if kind == "grantStageTool":
        return Unattended(halts=False, answer=False)
    if not yolo or kind not in _ANSWERS:
        return _HALT
    answer = _ANSWERS[kind]
    return Unattended(halts=False, answer=next(iter(options), None) if kind == "Select" else answer)


_ANSWERS: dict[str, Json] = {
    "Ask": "",
    "Approve": True,
    "Confirm": True,
    "Select": None,
    "Auth.DeviceCode": None,
    "Auth.Password": None,
}
