"""The ids of the runs of agents, and to which run a request belongs."""

from __future__ import annotations

import re

from stagec.core.value import value


@value
class AgentRunName:
    """The parts of the id of an agent's run: the run around it, the agent, and the number of this run of the agent."""

    around: str
    agent: str
    number: int

    def __str__(self) -> str:
        """Return `run~agent~number`; whatever in the agent's name is no letter, digit, `_` or `-` is `%hex.`."""
        agent = _UNSAFE.sub(lambda found: f"%{ord(found[0]):x}.", self.agent)
        return f"{self.around}~{agent}~{self.number}"


_UNSAFE, _ESCAPED = re.compile(r"[^A-Za-z0-9_-]"), re.compile(r"%([0-9a-f]{1,6})\.")


def read_agent_run(run: str) -> AgentRunName | None:
    """Return the parts of the id of an agent's run; nothing of the id of another run."""
    before, _, number = run.rpartition("~")
    around, _, agent = before.rpartition("~")
    if not around or not number.isdecimal():
        return None
    return AgentRunName(around, _ESCAPED.sub(lambda found: chr(int(found[1], 16)), agent), int(number))


def run_of(key: str) -> str:
    """Return the id of the run, or of the agent's run, to which a request belongs."""
    return key.partition("/")[0]
