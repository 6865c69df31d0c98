"""Parse what somebody types as an answer to a request."""

from __future__ import annotations

import json
from collections.abc import Mapping

from stagec.cli.commands.simulate.questions import FAIL, OpenRequest, WayOn
from stagec.core.json import Json, object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.plan.agents import SUCCESS, TRANSFORMER
from stagec.plan.gate import AgentGate
from stagec.runtime.exchange import Ask, Call, Confirm, Grant, Hook, Judge, Run, Shell, StageRequest, Turn, Wait
from stagec.runtime.json_values import MISSING
from stagec.runtime.orchestrator_requests import Dispatch, OrchestratorRequest
from stagec.world.required_values import collect_required_values, make_output, write_output
from stagec.world.samples import make_sample
from stagec.world.simulated_stages import simulate_stage

_YES = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


class UnansweredError(Exception):
    """What was typed is not an answer; `str()` says what would be one."""


@value
class _TypedAnswer:
    """What somebody has typed about an open request."""

    question: OpenRequest
    typed: str

    def parse(self) -> Json:
        """Return the answer that somebody means; raise `UnansweredError` when there is none."""
        effect = self.question.effect
        match effect:
            case Ask():
                return {"answer": self._parse_result(effect.schema)}
            case Turn():
                return self._parse_turn(effect)
            case Grant() | Judge() | Confirm():
                if self.typed.lower() not in _YES:
                    raise UnansweredError(f"{quote(self.typed)} is not an answer: type yes or no")
                return {_SAYS[type(effect)]: _YES[self.typed.lower()]}
            case Run() | Shell():
                return self._parse_exit()
            case Call() | Hook() | Wait():
                return self._parse_value(effect)
            case _:
                return self._parse_work(effect)

    def _parse_work(self, effect: StageRequest | OrchestratorRequest) -> Json:
        if isinstance(effect, StageRequest):
            return self._parse_stage_answer(effect)
        return self._parse_phase_answer(effect)

    def _parse_phase_answer(self, effect: OrchestratorRequest) -> Json:
        """Return how an agent has ended, or what has come of writing something down."""
        if not isinstance(effect, Dispatch):
            word, _, rest = self.typed.partition(" ")
            if word not in {"", "error"}:
                raise UnansweredError(f"{quote(self.typed)} is not an answer: type an empty line, or error TEXT")
            return {"error": rest} if word else {}
        given, gate, way = _parse_json(self.typed), self.question.node.gate, self.find_way()
        if isinstance(given, dict):
            return {"answer": given}
        if way is None or not isinstance(gate, AgentGate):
            outcomes = listing(tuple(dict.fromkeys(each.outcome for each in self.question.ways)), "or")
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type the number of an edge, {outcomes}, or a JSON object"
            )
        answer: Mapping[str, Json] = {} if way.outcome == gate.otherwise else {"verdict": way.outcome}
        has_failed = gate.role == TRANSFORMER and way.outcome != SUCCESS
        return {"failed": True, "answer": answer} if has_failed else {"answer": answer}

    def _parse_value(self, effect: Call | Hook | Wait) -> Json:
        word, _, rest = self.typed.partition(" ")
        if word == "error" and isinstance(effect, Call):
            return {"error": rest}
        given = _parse_json(self.typed)
        return {} if isinstance(effect, Wait) else {"value": self.typed if given is MISSING else given}

    def _parse_stage_answer(self, effect: StageRequest) -> Json:
        """Return the answer about a stage: what is not said of it is as in one that succeeds."""
        if self.typed in _ENDS:
            return simulate_stage(effect, _ENDS[self.typed])
        given = _parse_json(self.typed)
        if isinstance(given, int) and not isinstance(given, bool):
            return simulate_stage(effect, {"exit": given})
        if not isinstance(given, dict):
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type pass, fail, timeout, an exit status, or a JSON object"
            )
        return {**object_of(simulate_stage(effect, {})), **given}

    def _parse_result(self, schema: str | None) -> Json:
        """Return the JSON that was typed, or a made-up answer that takes a way."""
        given = _parse_json(self.typed)
        if isinstance(given, dict):
            return given
        way = self.find_way()
        if way is None:
            outcomes = listing(tuple(dict.fromkeys(each.outcome for each in self.question.ways)), "or")
            near = hint(self.typed, NameIndex(each.outcome for each in self.question.ways))
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type the number of an edge, {outcomes}, or a JSON object{near}"
            )
        required = collect_required_values(self.question.node.gate, way.outcome, way.named, way.terms)
        found = make_sample(self.question.program, schema, required)
        if found is None:
            raise UnansweredError("no simple answer for this edge satisfies the schema: type one as JSON")
        return found

    def _parse_turn(self, effect: Turn) -> Json:
        word, _, rest = self.typed.partition(" ")
        if word == "say":
            return {"text": rest, "calls": []}
        if word == "call" and rest:
            tool, _, text = rest.partition(" ")
            given = _parse_json(text) if text else {}
            return {"calls": [{"id": "1", "tool": tool, "arguments": text if given is MISSING else given}]}
        handed_in = self._parse_result(effect.schema)
        return {"calls": [{"id": "1", "tool": effect.completion, "arguments": handed_in}]}

    def _parse_exit(self) -> Json:
        given = _parse_json(self.typed)
        if isinstance(given, dict):
            return {"exit": 0, "stdout": "", "stderr": "", **given}
        if isinstance(given, int) and not isinstance(given, bool):
            return write_output(given)
        succeeded = {"pass": True, "fail": False}.get(self.typed)
        if succeeded is None:
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type pass, fail, an exit status, or a JSON object"
            )
        effect = self.question.effect
        if not isinstance(effect, Run | Shell):
            return write_output(0 if succeeded else 1)
        return make_output(self.question.program, self.question.node, effect, succeeds=succeeded)

    def find_way(self) -> WayOn | None:
        """Return the way of a number, or the first of an outcome; behind the outcome may stand the node it leads to."""
        number = (
            int(self.typed) if self.typed.isascii() and self.typed.isdigit() and len(self.typed) < len("1000000") else 0
        )
        if 0 < number <= len(self.question.ways):
            return self.question.ways[number - 1]
        outcome, _, node = self.typed.partition(" ")
        possible = (
            each for each in self.question.ways if each.outcome == outcome and node in {"", each.leads, each.named}
        )
        return next(possible, None)


_ENDS: Mapping[str, Mapping[str, Json]] = {
    "": {},
    "pass": {},
    "yes": {},
    "fail": {"exit": 1, "unpublished": "it cannot be published", "valid": False},
    "no": {"exit": 1, "unpublished": "it cannot be published", "valid": False},
    "timeout": {"interrupted": "timeout"},
}
"""What a word says of a stage, whatever is asked about it."""


def parse_answer(question: OpenRequest, typed: str) -> Json:
    """Return the answer that somebody means; raise `UnansweredError` when there is none."""
    return _TypedAnswer(question, typed).parse()


def lets_turns_pass(question: OpenRequest, typed: str) -> bool:
    """Tell whether somebody means that the model uses up its turns: so a stage fails."""
    way = _TypedAnswer(question, typed).find_way()
    return isinstance(question.effect, Turn) and (typed == "cap" or (way is not None and way.outcome == FAIL))


_SAYS: Mapping[type, str] = {Grant: "granted", Judge: "done", Confirm: "yes"}


def _parse_json(text: str) -> Json:
    """Return a text as JSON, `MISSING` when it is none."""
    try:
        given: Json = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        given = MISSING
    return given


def _refuse(constant: str) -> None:
    raise ValueError(constant)
