"""The use of models in a run: per node and in total, each answer in the journal counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.json import Object
from stagec.core.words import format_count
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.machine import Answered, Event, StepResult
from stagec.runtime.machine.exchange import Ask, Turn, read_key
from stagec.runtime.machine.state import find_asking
from stagec.runtime.world.models.port import TokenUse, add_usage, read_usage

_NOTHING = TokenUse()


class UsageLedger:
    """Reads the events of a run, and adds up what the answers of models say that they have used.

    Only answers of models count: what a tool or a program calls `usage` is something else.
    """

    def __init__(self) -> None:
        self._settled: dict[str, TokenUse] = {}
        self._asked: dict[str, str] = {}
        self._parts = AnswerParts()

    @property
    def nodes(self) -> dict[str, TokenUse]:
        """The use of each node, also for incomplete answers."""
        nodes = dict(self._settled)
        for key, parts in self._parts.open_parts.items():
            if key in self._asked:
                _add(nodes, self._asked[key], map(read_usage, parts))
        return nodes

    @property
    def total(self) -> TokenUse | None:
        """The use of all nodes; None if no model reports any."""
        nodes = self.nodes
        return add_usage(nodes.values()) if nodes else None

    def take(self, event: Event, step: StepResult) -> None:
        """Take an event, and what followed from it."""
        if isinstance(event, Answered) and event.key in self._asked:
            node = self._asked.pop(event.key)
            _add(self._settled, node, (read_usage(event.answer),))
        for key, part in self._parts.observe(event):
            if key in self._asked:
                _add(self._settled, self._asked[key], (read_usage(part),))
        for each in step.effects:
            if isinstance(each, Ask | Turn):
                asking = find_asking(step.state.active, each.key)  # of an agent's run, the phase that runs it
                self._asked[each.key] = read_key(each.key).node if asking is None else asking.node


def _add(nodes: dict[str, TokenUse], node: str, uses: Iterable[TokenUse]) -> None:
    """Add what a node has used, if it has used anything."""
    used = add_usage(uses)
    if used != _NOTHING:
        nodes[node] = add_usage((nodes.get(node, _NOTHING), used))


def describe_usage(used: TokenUse) -> tuple[str, str, str, str]:
    """Return the cells of a row: requests, tokens in and out, and the price, if it is known."""
    price = "price unknown" if used.cost is None else f"${used.cost}"
    return format_count(used.requests, "request"), f"{used.input:,} tokens in", f"{used.output:,} out", price


def summarise_usage(used: TokenUse | None) -> str:
    """Return `1,234 tokens, $0.01`, nothing where nothing was used."""
    if used is None:
        return ""
    tokens = format_count(used.input + used.output, "token")
    return tokens if used.cost is None else f"{tokens}, ${used.cost}"


def total_to_json(used: TokenUse) -> Object:
    """Return the total use; `cost` is US dollars as a decimal text, None if the price of a request is unknown."""
    return {"input": used.input, "output": used.output, "requests": used.requests, "cost": used.cost}


def ledger_to_json(ledger: UsageLedger) -> Mapping[str, Object]:
    """Return the member `usage` of a run; nothing where nothing was used."""
    total = ledger.total
    if total is None:
        return {}
    nodes = [{"node": name, **total_to_json(each)} for name, each in ledger.nodes.items()]
    return {"usage": {**total_to_json(total), "nodes": nodes}}
