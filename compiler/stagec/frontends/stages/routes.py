"""Read what runs after a stage, and how its work is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.contract.promise import possible_values, promise
from stagec.contract.schemas import Miss, Schema, Schemas
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.memo import Memo
from stagec.core.place import Mention, Place, list_mentions
from stagec.core.value import replace, value
from stagec.frontends.stages.document import Case, Check, Conduct, StageCondition
from stagec.model.flow import Mode

_INDEX = re.compile(r"\[(\d{1,9})\]")
_MEMBERS = ("next", "checks", "gate", "hooks")
_PHASES = ("setup", "gate", "assert", "exit")
_VERDICTS = frozenset({"retry", "fail"})


@value
class Written:
    """A member of a stage's conduct as written, and where."""

    given: Json
    at: Place


def conduct(
    own: Mapping[str, Written], given: Mapping[str, Written], result: Schema | Miss, schemas: Schemas
) -> Conduct:
    """Return the conduct of a stage from what it says itself and what its pipeline says of it; the pipeline wins."""
    written = {**own, **given}
    reading = _Reading(result, schemas)
    following, hooks = written.get("next"), object_of(written["hooks"].given) if "hooks" in written else {}
    cases = None if following is None else tuple(reading.cases(following))
    gate = written.get("gate", Written({}, Place("")))
    return Conduct(
        next_at=None if following is None else following.at,
        cases=cases or (),
        checks=tuple(reading.checks(written.get("checks"))),
        gate={
            name: reading.conditions(each, gate.at / name, judged=False) for name, each in object_of(gate.given).items()
        },
        hooks=frozenset(hooks),
        twice=tuple((name, given[name].at, own[name].at) for name in _MEMBERS if name in own and name in given),
        is_whole=all(case.is_whole for case in cases or ()),
        calls={phase: call for phase in _PHASES if (call := text_in(hooks, phase))},
    )


class _Reading:
    """Reads conditions against the schema of the result they are about."""

    def __init__(self, result: Schema | Miss, schemas: Schemas) -> None:
        self._result = result
        self._schemas = schemas
        self._memo = Memo()

    def cases(self, written: Written) -> Iterator[Case]:
        if isinstance(written.given, list):
            for index, each in enumerate(written.given):
                yield self._case(each, written.at / index)
        elif isinstance(written.given, str):
            yield Case(written.at, (), (Mention(written.given, written.at),))
        else:
            yield self._case(written.given, written.at)

    def checks(self, written: Written | None) -> Iterator[Check]:
        for index, each in enumerate(list_of(written.given)) if written is not None else ():
            body, verdict = object_of(each), object_of(each).get("verdict")
            if written is not None and isinstance(verdict, str) and verdict in _VERDICTS:
                at = written.at / index
                when = self.conditions(body.get("when"), at / "when")
                if len(when) == len(object_of(body.get("when"))) and not _misshapen(body):
                    yield Check(at, when, verdict, text_in(body, "reason"))

    def conditions(self, given: Json, at: Place, *, judged: bool = True) -> tuple[StageCondition, ...]:
        """Return the conditions that all have to hold; `judged` when they are about the stage's result."""
        found = (_condition(path, each, at / path) for path, each in object_of(given).items())
        return tuple(self._add_promise(each) if judged else each for each in found if each is not None)

    def _case(self, given: Json, at: Place) -> Case:
        body = object_of(given)
        when = self.conditions(body.get("when"), at / "when")
        member = "nextStages" if "nextStages" in body and "stages" not in body else "stages"
        named = list_of(body.get(member))
        stages = list_mentions(named, at / member)
        join = body.get("join")
        meant = Mention(join, at / "join") if isinstance(join, str) and join else None
        whole = len(stages) == len(named) and len(when) == len(object_of(body.get("when")))
        mode, ends = (
            _mode(body, stages),
            ([] in (body.get("stages"), body.get("nextStages")) or body.get("terminate") is True or _terminates(body)),
        )
        whole = whole and mode is not None and bool(stages) is not ends and "when" not in _misshapen(body)
        return Case(at, when, stages, mode, meant, whole)

    def _add_promise(self, condition: StageCondition) -> StageCondition:
        if condition.path[0] != "parsed" or isinstance(self._result, Miss):
            return condition
        result, path = self._result, condition.path[1:]
        promised = self._memo.once(path, lambda: promise(self._schemas, result, path, of_object=True))
        possible = self._memo.once((path, "possible"), lambda: possible_values(self._schemas, promised))
        return replace(condition, promised=promised, possible=possible)


def _misshapen(body: Object) -> frozenset[str]:
    return frozenset(("when",)) if not isinstance(body.get("when", {}), dict) else frozenset()


def _terminates(body: Object) -> bool:
    return body.get("execution") == "terminate"


def _mode(body: Object, stages: tuple[Mention, ...]) -> Mode | None:
    """Return how several stages run; a single sequential one is the usual case."""
    execution = body.get("execution", "sequential")
    if execution == "parallel":
        return Mode.FORK
    if execution != "sequential" and not _terminates(body):
        return None
    return Mode.CHAIN if len(stages) > 1 else Mode.ONE


def _condition(path: str, given: Json, at: Place) -> StageCondition | None:
    names = tuple(_INDEX.sub(r".\1", path).split("."))
    if isinstance(given, dict):
        present = given.get("present")
        return StageCondition(names, at, present=present) if isinstance(present, bool) else None
    values = tuple(given) if isinstance(given, list) else (given,)
    whole = bool(values) and not any(isinstance(each, dict | list) for each in values)
    return StageCondition(names, at, values) if whole else None
