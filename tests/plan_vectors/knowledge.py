"""What a run knows, and what nodes are told of it: inputs, counts, records, and the variables made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plan_vectors.schemas import satisfies
from plan_vectors.texts import NOTHING, follow, text


class Knowledge:
    """What is known of a run so far, apart from where it stands."""

    def __init__(self, plan: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        self.plan = plan
        self.contents: Mapping[str, str] = plan["contents"]
        self.inputs = {**_defaults(plan), **inputs}
        self.executions = 0
        self.visits: dict[str, int] = {}
        self.records: dict[str, Any] = {}
        self.failures: dict[str, int] = {}
        self.repeats: dict[str, int] = {}
        self.came: dict[str, str] = {}
        """From which other node the run last came to a node by an edge."""
        self.statuses: dict[str, str] = {}
        """The status of every stage, in a run of processes."""
        self.cancelled = ""
        self.checks = 0
        self.summary = ""

    def supplied(self, holder: Mapping[str, Any]) -> dict[str, str]:
        """Return the texts of the variables that can be supplied."""
        found = {name: self._value(each) for name, each in holder.get("variables", {}).items()}
        return {name: text(value) for name, value in found.items() if value is not NOTHING}

    def _value(self, variable: Mapping[str, Any]) -> Any:
        if variable["is"] == "given":
            return self.inputs.get(variable["name"], NOTHING)
        if variable["is"] == "provided":
            return self._provided().get(variable["name"], self.inputs.get(variable["name"], NOTHING))
        carried = follow(self.records.get(variable["node"], NOTHING), [variable["key"]])
        if carried is not NOTHING:
            return carried
        if variable.get("default") is not None:
            return variable["default"]
        return NOTHING if variable.get("required", True) else ""

    def _provided(self) -> dict[str, Any]:
        """Return what the runner provides to an execution that is about to begin."""
        judge = self.plan.get("judge")
        settings = {} if judge is None else judge.get("settings", {})
        most = self.plan["limits"].get("executions")
        known = {
            "iteration": self.executions + 1,
            "completed_iterations": self.executions,
            "max_iterations": most,
            "remaining": None if most is None else most - self.executions,
            "completion_keyword": settings.get("verdictKeyword"),
            "max_checks": settings.get("maxChecks"),
            "check_count": self.checks,
            "previous_summary": self.summary,
            "verdict_criteria": None if judge is None else _criteria(judge["kind"], settings),
        }
        return {name: value for name, value in known.items() if value is not None}


def _defaults(plan: Mapping[str, Any]) -> dict[str, Any]:
    declared = plan.get("inputs", {})
    return {name: each["default"] for name, each in declared.items() if each.get("default") is not None}


def _criteria(kind: str, settings: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name}: {text(settings[name])}" for name in sorted(settings))
    return f"The work is judged by {kind}{f' ({told})' if told else ''}."


def refusal(plan: Mapping[str, Any], entry: str | None, inputs: Mapping[str, Any]) -> str | None:
    """Return why a run must not begin, or nothing."""
    if entry not in plan["entries"]:
        return "entry"
    declared = plan.get("inputs", {})
    lacking = any(
        each.get("required", False) and each.get("default") is None and name not in inputs
        for name, each in declared.items()
    )
    given = {**_defaults(plan), **inputs}
    fit = all(name in declared and _fits(plan, declared[name], value) for name, value in given.items())
    return "inputs" if lacking or not fit else None


def _fits(plan: Mapping[str, Any], declared: Mapping[str, Any], value: Any) -> bool:
    return "schema" not in declared or satisfies(value, plan["contents"][declared["schema"]])
