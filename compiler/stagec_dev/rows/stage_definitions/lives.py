"""Answer rows about the life of one stage: its phases, its prompt, the bound of its turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.plan.document import Plan
from stagec.plan.node import Outcome
from stagec.runtime.acts import hooks
from stagec.runtime.exchange import Call, Effect, Hook, Turn
from stagec_dev.row import out_of_scope
from stagec_dev.rows.stage_definitions.projects import freeze_pipeline, machine, minimal
from stagec_dev.rows.stage_definitions.scripted import HOOK, Trace, World, run

Given = Mapping[str, Any]
_STAGE = "sm"
_CHAT = "the loop of default chat is out of scope (rulings, § 2)"
_AFTERWARDS = 10
"""How often it is asked beyond a bound whether a loop may go on."""


def access(given: Given) -> Any:
    """Tell whether a phase may do something with the context: its callable tries, where the phase has one."""
    phase, hook = given["phase"], _HOOK_OF.get(given["phase"])
    if hook is None or given["access"] != hooks.WRITE:
        failure = hooks.find_refusal(phase, given["access"])
    else:
        failure = _write_in(hook)
    return {"ok": failure is None, **({} if failure is None else {"error": failure})}


def _write_in(hook: str) -> str | None:
    """Return the failure of a stage whose callable changes the context, nothing when it may."""
    _, plan = freeze_pipeline(machine([minimal("row")], "row", hooks={"row": {hook: HOOK}}))

    def answer(effect: Effect) -> Json:
        if isinstance(effect, Hook):
            return {"value": None, "ctx": {"written": True}}
        return {"calls": [{"tool": effect.completion, "arguments": {}}]} if isinstance(effect, Turn) else {}

    return None if run(plan, World(answer)).outcome is Outcome.DONE else "Validation/ContextMutationForbidden"


_HOOK_OF = {"Setup": "setup", "CheckGate": "gate", "Assert": "assert", "Exit": "exit"}


def continuation(given: Given) -> Any:
    """Tell of every turn up to the bound, and of some beyond it, whether it may be taken: a stage takes all it may."""
    if given["kind"] != _STAGE:
        return out_of_scope(_CHAT)
    trace = _work(int(given["max"]), _Script("always-tool", "hand_in_row"))
    capped: Json = [False, bool(trace.facts("StageAssertOutcome")[0]["capHit"])]
    return {"calls": [*([[True, False]] * len(trace.effects(Turn))), *([capped] * _AFTERWARDS)]}


def loop(given: Given) -> Any:
    """Count what happens in a loop whose model follows a script."""
    if given["kind"] != _STAGE:
        return out_of_scope(_CHAT)
    trace = _work(int(given["max"]), _Script(given["script"], "hand_in_row"))
    return {
        "capHit": trace.facts("StageAssertOutcome")[0]["capHit"],
        "llmTurns": len(trace.effects(Turn)),
        "toolCallRounds": len(trace.facts("StagePreFired", stage="TOOL_CALL")),
        "render": bool(trace.facts("StagePreFired", stage="RENDER")),
    }


def _work(turns: int, script: _Script) -> Trace:
    _, plan = freeze_pipeline(machine([{**minimal("row"), "allowedTools": ["work"], "turnCap": turns}], "row"))
    return run(plan, World(script.answer))


class _Script:
    """What a model does turn by turn: `always-tool`, `tool-then-stop` and the like; at the end it goes on as it did.

    A turn may make several calls, as in `two-tools`.
    """

    def __init__(self, text: str, completion: str) -> None:
        self._moves = text.removeprefix("always-").split("-then-")
        call: Json = {"tool": "work", "arguments": {}}
        self._calls: Mapping[str, Json] = {
            "tool": [call],
            "tools": [call, call],
            "complete": [{"tool": completion, "arguments": {}}],
        }
        self._turn = -1

    def move(self) -> str:
        """Return what the model does next."""
        self._turn += 1
        words = self._moves[min(self._turn, len(self._moves) - 1)].split("-")
        return next((each for each in words if each in self._calls), words[0])

    def answer(self, effect: Effect) -> Json:
        """Answer a request of the stage."""
        if isinstance(effect, Turn):
            return {"text": "", "calls": self._calls.get(self.move(), [])}
        return {"value": ""} if isinstance(effect, Call) else {}


def body(given: Given) -> Any:
    """Make a prompt in a context that a hook for the setup provides."""
    members = {"hooks": {"row": {"setup": HOOK}}}
    _, plan = freeze_pipeline(machine([{**minimal("row"), "body": given["body"]}], "row", **members))
    trace = run(plan, World(lambda effect: {"value": dict(given["ctx"])} if isinstance(effect, Hook) else {}))
    failed = trace.facts("StageInitFailed")
    if failed:
        return {"error": "StageInitFailed", "phase": failed[0]["phase"], "reason": failed[0]["reason"]}
    return {"out": trace.effects(Turn)[0].transcript[0].text}


def stage(given: Given) -> Any:
    """Run a stage with a hook for every phase, and another after it."""
    trace = run(_compile_followed("Do it."), World(_Author(given).answer))
    judged = trace.facts("StageAssertOutcome", stageId="row")
    gated = trace.facts("StageInitFailed", phase="CheckGate")
    if gated or (judged and judged[0]["reason"] == "LifecycleFailure"):
        return {"applicable": False, "error": hooks.FAILED, "phase": "CheckGate" if gated else "Assert"}
    exited = trace.facts("StageExited", stageId="row")[0]
    return {
        "assertOutcome": judged[0]["verdict"] if judged else exited["verdict"],
        "phases": _phases(trace, run(_compile_followed("${ctx.missing}"), World(_Author(given).answer))),
        "hooks": [each for each in ("exit", "next") if each in _list_calls(trace)],
    }


def _compile_followed(text: str) -> Plan:
    hooks = dict.fromkeys(("setup", "gate", "assert", "exit"), HOOK)
    first = {**minimal("row"), "body": text, "next": {"nextStages": ["after"], "execution": "sequential"}}
    return freeze_pipeline(machine([first, minimal("after")], "row", hooks={"row": hooks}))[1]


class _Author:
    """The code of an author that decides what a row says, and a model that hands in at once or never."""

    def __init__(self, given: Given) -> None:
        self._says: Mapping[str, Json] = {"gate": given.get("gate"), "assert": given.get("assertVerdict")}
        self._never = bool(given.get("capHit"))

    def answer(self, effect: Effect) -> Json:
        """Answer a request of the stage."""
        if isinstance(effect, Hook):
            return {"value": self._says.get(effect.phase)}
        if isinstance(effect, Turn) and not self._never:
            return {"calls": [{"tool": effect.completion, "arguments": {}}]}
        return {}


_HOOKED: Mapping[str, str] = {"setup": "Setup", "gate": "CheckGate", "assert": "Assert", "exit": "Exit"}


def _list_calls(trace: Trace) -> list[str]:
    """Return which callables were called, and `next` when another stage has followed."""
    called = [each.phase for each in trace.effects(Hook)]
    return [*called, "next"] if trace.facts("StageEntered", stageId="after") else called


def _phases(whole: Trace, broken: Trace) -> list[str]:
    """Return the phases in the order in which they show; that of Init in a run whose prompt cannot be made."""
    found = [*_show(broken), *_show(whole)]
    return list(dict.fromkeys(found))


def _show(trace: Trace) -> list[str]:
    found = []
    for each in trace.happened:
        if isinstance(each, Hook):
            found.append(_HOOKED[each.phase])
        elif isinstance(each, Turn):
            found.append("Act")
        elif not isinstance(each, Call) and getattr(each, "name", "") == "StageInitFailed":
            found.append(trace.facts("StageInitFailed")[0]["phase"])
    return [*found, "Next"] if "next" in _list_calls(trace) else found
