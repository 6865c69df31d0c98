"""Which tools the nodes of a run call, as far as its requests and the answers to them tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from stagec.core.json import Json, list_of, object_of
from stagec.core.value import NOTHING, value
from stagec.runtime.agent_runs import run_of
from stagec.runtime.exchange import Ask, Call, Effect, Execute, Run, Turn, read_key
from stagec.runtime.orchestrator_requests import Dispatch
from stagec.world.scenario import CALLED


@value
class ToolUse:
    """What a run tells of the tools of its nodes; a step of an agent in a phase is `PHASE/STEP`.

    `called` has each node with each tool that it called, `ran` the nodes that ran a program. `asked` counts the answers
    of models by node, `silent` those of them that do not say which tools were called for them.
    """

    called: frozenset[tuple[str, str]] = frozenset()
    ran: frozenset[str] = frozenset()
    asked: Mapping[str, int] = NOTHING
    silent: Mapping[str, int] = NOTHING

    def has_come_to(self, node: str) -> bool:
        """Tell whether a model has answered in a node, or a program has run there."""
        return node in self.asked or node in self.ran


class UseWatch:
    """Looks at the requests of a run and at their answers, in the order in which they come.

    The calls of stages are requests of their own. Those of steps are made while a model answers, so only the answer can
    tell of them.
    """

    def __init__(self) -> None:
        self._phases: dict[str, str] = {}
        self._open: dict[str, Effect] = {}
        self._called: set[tuple[str, str]] = set()
        self._ran: set[str] = set()
        self._asked: Counter[str] = Counter()
        self._silent: Counter[str] = Counter()

    def ask(self, effect: Effect) -> None:
        """Take note of a request."""
        node = self._name(effect.key)
        match effect:
            case Dispatch():
                self._phases[effect.run] = node
            case Call():
                self._called.add((node, effect.tool))
            case Run() | Execute():
                self._ran.add(node)
            case Ask() | Turn():
                self._open[effect.key] = effect
            case _:
                pass

    def answer(self, key: str, answer: Json) -> None:
        """Take note of the answer to a request."""
        effect = self._open.pop(key, None)
        if effect is None:
            return
        node, told = self._name(key), object_of(answer).get(CALLED)
        self._asked[node] += 1
        if isinstance(effect, Ask):
            self._silent[node] += not isinstance(told, list)
            self._called.update((node, each) for each in list_of(told) if isinstance(each, str))

    def report(self) -> ToolUse:
        """Return what was told until now."""
        silent = {node: count for node, count in self._silent.items() if count}
        return ToolUse(frozenset(self._called), frozenset(self._ran), dict(self._asked), silent)

    def _name(self, key: str) -> str:
        phase = self._phases.get(run_of(key))
        return read_key(key).node if phase is None else f"{phase}/{read_key(key).node}"
