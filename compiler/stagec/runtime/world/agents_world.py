"""The world of a run whose nodes run agents: each agent has one of its own, made for its own plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.json import Json
from stagec.runtime.machine.agent_runs import read_agent_run, run_of
from stagec.runtime.machine.exchange import Effect
from stagec.runtime.world.composed import ComposedWorld, Meter, Recorder
from stagec.runtime.world.scenario import Scenario, script_agent
from stagec.runtime.world.scripted_world import Beyond, ScriptedWorld


class AgentsWorld:
    """Passes the requests of an agent's runs to the world of the agent, and all others to that of the run itself."""

    def __init__(self, own: ComposedWorld, agents: Mapping[str, ComposedWorld]) -> None:
        self._own, self._agents = own, agents
        self._all = (own, *agents.values())

    def takes(self, effect: Effect) -> bool:
        """Tell whether anybody takes a request."""
        return self._find(effect).takes(effect)

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return self._find(effect).answer(effect)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""
        return self._find(effect).overlaps(effect)

    def name_provider(self, effect: Effect) -> str:
        """Return the name of the provider of models that a request goes to, the empty text for any other."""
        return self._find(effect).name_provider(effect)

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""
        for each in self._all:
            each.cancel(key)

    def be_metered(self, meter: Meter) -> None:
        """Let all who ask models ask a meter before each request."""
        for each in self._all:
            each.be_metered(meter)

    def be_recorded(self, recorder: Recorder) -> None:
        """Let all who ask models have a journal keep the parts of answers."""
        for each in self._all:
            each.be_recorded(recorder)

    def recall(self, effect: Effect, answer: Json) -> None:
        """Tell each world with a memory the answer that it gave before this process began."""
        self._find(effect).recall(effect, answer)

    def close(self) -> None:
        """Let go of whatever anybody has opened."""
        for each in self._all:
            each.close()

    def _find(self, effect: Effect) -> ComposedWorld:
        named = read_agent_run(run_of(effect.key))
        return self._own if named is None else self._agents.get(named.agent, self._own)


class ScriptedAgent:
    """Answers the requests of the runs of an agent, each by what a scenario has for this run."""

    def __init__(self, scenario: Scenario, agent: str, beyond: Beyond) -> None:
        self._scenario, self._agent, self._beyond = scenario, agent, beyond
        self._runs: dict[str, ScriptedWorld] = {}

    def takes(self, effect: Effect) -> bool:
        """Tell whether the scenario itself says something about a request."""
        return self._find(effect).takes(effect)

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return self._find(effect).answer(effect)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request takes time, and may be under way beside others."""
        return self._find(effect).overlaps(effect)

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""
        self._beyond.cancel(key)

    def close(self) -> None:
        """Hold nothing open, and so let go of nothing."""

    def _find(self, effect: Effect) -> ScriptedWorld:
        run = run_of(effect.key)
        if run not in self._runs:
            self._runs[run] = ScriptedWorld(script_agent(self._scenario, self._agent, run), self._beyond)
        return self._runs[run]


def script_world(scenario: Scenario, agents: Iterable[str], beyond: Beyond) -> ComposedWorld:
    """Return a world that answers by a scenario alone, also the runs of agents."""
    own = ComposedWorld((ScriptedWorld(scenario, beyond),))
    others = {name: ComposedWorld((ScriptedAgent(scenario, name, beyond),)) for name in agents}
    return ComposedWorld((AgentsWorld(own, others),))
