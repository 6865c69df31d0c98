"""Orchestrators that are right by construction: every outcome of every agent leads on, and every phase to an end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from properties.right.agents import Agent, write_settings

Json = Any
Files = dict[str, str]
_VERDICTS = (("approved", "rejected"), ("ok",), ("handoff-detail", "Stop", "x_y"), ("success", "failed"))
_PRIORITIES = (1, 2, 3, 1, 0, -1, 2.5)
_SOURCES: tuple[dict[str, Json], ...] = (
    {"kind": "ghRepoIssues"},
    {"kind": "ghRepoIssues", "repo": "a/b", "labels": ["x"], "state": "all", "limit": 3, "projectMembership": "any"},
    {"kind": "ghRepoIssues", "projectMembership": "unbound", "limit": 3.0},
    {"kind": "ghProject", "project": {"owner": "me", "number": 3}},
    {"kind": "ghProject", "project": {"id": "PVT_1"}, "state": "open"},
    {"kind": "explicit", "issueIds": [1, "2"]},
)
_OTHER_ENDS = ({"kind": "boundary"}, {"kind": "outboxPre"}, {"kind": "custom", "channel": {"channelId": "x"}})
_SCHEMAS = "agents/common/schemas"


class Performer:
    """An agent as the orchestrator sees it: what comes of it, and the phases that follow."""

    def __init__(self, name: str, agent: Agent, verdicts: Sequence[str]) -> None:
        self.name = name
        self.agent = agent
        self.verdicts = verdicts
        self.body: dict[str, Json] = {}
        self.leads: dict[str, str] = {}
        """The phase after each outcome that may occur."""


class Orchestrator:
    """An orchestrator while it is made, for one release."""

    def __init__(self, random: Random, release: str) -> None:
        self.random = random
        self._release = release
        self._is_new = release == "1.14"
        self._files: Files = write_settings(release)
        self._working = [f"work {at}" for at in range(random.randint(1, 4))]
        self._ends = {"done": "terminal", "stuck": "blocking"}
        if random.random() < 0.3:
            self._ends["given-up"] = random.choice(("terminal", "blocking"))
        names = random.sample(("worker", "judge", "re-viewer", "a1"), min(len(self._working), random.randint(1, 4)))
        self._performers = [self._make_performer(each) for each in names]
        placed = [*self._performers, *random.choices(self._performers, k=len(self._working))][: len(self._working)]
        random.shuffle(placed)
        self._agents = dict(zip(self._working, placed, strict=True))
        for each in self._performers:
            self._lead(each)
        self._reach_ends()
        self._root = self._write()

    def _make_performer(self, name: str) -> Performer:
        verdicts = self.random.choice(_VERDICTS) if self.random.random() < 0.5 else ()
        return Performer(name, Agent(self.random, self._release, name, verdicts), verdicts)

    def _choose_phase(self) -> str:
        return self.random.choice([*self._working, *self._ends])

    def _lead(self, performer: Performer) -> None:
        """Say which phases follow what an agent may answer."""
        random = self.random
        if performer.verdicts:
            said = [each for each in performer.verdicts if random.random() < 0.8]
            table = {each: self._choose_phase() for each in said}
            otherwise = random.choice(("stuck", self._choose_phase()))
            performer.body = {"role": "validator", "outputPhases": table}
            performer.leads = {each: table.get(each, otherwise) for each in performer.verdicts}
            performer.body["fallbackPhase"] = otherwise
            return
        otherwise, after = random.choice(("stuck", self._choose_phase())), self._choose_phase()
        performer.body = {"role": "transformer", "outputPhase": after, "fallbackPhase": otherwise}
        performer.leads = {"success": after, "failed": otherwise}
        if random.random() < 0.2:
            performer.body["fallbackPhases"] = {"failed": performer.body.pop("fallbackPhase")}

    def _reach_ends(self) -> None:
        """Let every phase lead to the end of the work, for which the first outcome of some agents is changed."""
        while True:
            found = {name for name, kind in self._ends.items() if kind == "terminal"}
            for _ in self._working:
                found |= {name for name, each in self._agents.items() if found.intersection(each.leads.values())}
            lost = [each for name, each in self._agents.items() if name not in found]
            if not lost:
                return
            performer = lost[0]
            outcome = next(iter(performer.leads))
            performer.leads[outcome] = "done"
            table = performer.body.get("outputPhases")
            if table is None:
                performer.body["outputPhase"] = "done"
            else:
                table[outcome] = "done"

    # -- the members of the file

    def _write(self) -> dict[str, Json]:
        random = self.random
        root: dict[str, Json] = {"version": "1.0.0"}
        if self._is_new:
            root["issueSource"] = random.choice(_SOURCES)
        root["phases"] = {
            **{
                name: {"type": "actionable", "priority": random.choice(_PRIORITIES), "agent": each.name}
                for name, each in self._agents.items()
            },
            **{name: {"type": kind} for name, kind in self._ends.items()},
        }
        root["labelMapping"] = {f"to {name}": name for name in root["phases"]}
        root["labelMapping"] |= random.choice(({}, {"again": self._working[0]}))
        root["agents"] = {each.name: self._finish(each) for each in self._performers}
        self._bound(root)
        if random.random() < 0.4:
            root["prioritizer"] = {"agent": random.choice(self._performers).name, "labels": ["order:1", "order:2"]}
            root["prioritizer"] |= random.choice(({}, {"defaultLabel": "order:2"}))
        if self._is_new and random.random() < 0.3:
            root["projectBinding"] = {
                "inheritProjectsForCreateIssue": random.random() < 0.5,
                "donePhase": "done",
                "evalPhase": random.choice(self._working),
                "planPhase": random.choice(self._working),
                "sentinelLabel": "project",
            }
        if random.random() < 0.4:
            root["labels"] = self._describe_labels(root)
        root |= random.choice(({}, {"labelPrefix": "flow"}, {"subjectStore": {"path": "tmp/issues"}}))
        self._hand_over(root)
        return root

    def _bound(self, root: dict[str, Json]) -> None:
        """Allow enough transitions, and few of a phase in a row where one may lead to itself."""
        random = self.random
        repeats = any(
            phase in {*each.leads.values(), each.body.get("fallbackPhase")} for phase, each in self._agents.items()
        )
        if not repeats and len(self._working) < 3 and random.random() < 0.3:
            return
        rules: dict[str, Json] = {"maxCycles": random.choice((6, 20, 8.0))}
        rules |= {"maxConsecutivePhases": random.randint(2, 3)} if repeats or random.random() < 0.3 else {}
        root["rules"] = rules | random.choice(({}, {"cycleDelayMs": 0}, {"cycleDelayMs": 10}))

    def _finish(self, performer: Performer) -> Json:
        """Say what an agent closes, and write its files."""
        random = self.random
        body = performer.body
        terminal = [said for said, phase in performer.leads.items() if self._ends.get(phase) == "terminal"]
        named = [each for each in terminal if each in body.get("outputPhases", ("success", "failed"))]
        if named and random.random() < 0.5:
            condition = random.choice((None, random.choice(named)))
            if self._is_new:
                body["closeBinding"] = {"primary": {"kind": "direct"}} | random.choice(({}, {"cascade": False}))
                body["closeBinding"] |= {} if condition is None else {"condition": condition}
            else:
                body["closeOnComplete"] = True
                body |= {} if condition is None else {"closeCondition": condition}
        elif random.random() < 0.3 or (not self._is_new and performer is self._performers[0]):
            other = {"closeBinding": {"primary": random.choice((*_OTHER_ENDS, {"kind": "none"}))}}
            body |= other if self._is_new else {"closeOnComplete": False}
        folder = performer.name
        if random.random() < 0.2:
            folder = body["directory"] = f"{folder}-files"
        self._files.update({f".agent/{folder}/{file}": text for file, text in performer.agent.write().items()})
        return body

    def _describe_labels(self, root: dict[str, Json]) -> Json:
        used = {**root["labelMapping"], **dict.fromkeys(root.get("prioritizer", {}).get("labels", ()))}
        labels: dict[str, Json] = {each: {"color": "00ffAA", "description": each} for each in used}
        if self._is_new:
            labels |= self.random.choice(({}, {"seen": {"color": "123456", "description": "x", "role": "marker"}}))
            if "projectBinding" in root:
                labels["project"] = {"color": "abcdef", "description": "The project", "role": "marker"}
        return labels

    def _hand_over(self, root: dict[str, Json]) -> None:
        """Comment on what came of agents, and hand parts of their answers over."""
        random = self.random
        templates: dict[str, str] = {}
        handoffs: list[Json] = []
        for each in self._performers:
            keys = each.agent.list_closing_keys()
            for outcome in each.leads:
                way = random.choice(("", "To"))
                if random.random() < 0.4:
                    holes = " ".join(f"{{{key}}}" for key in keys if random.random() < 0.7)
                    templates[f"{each.name}{way}{outcome[0].upper()}{outcome[1:]}"] = f"## {outcome}\n{holes}"
                if random.random() < 0.2:
                    handoffs.append(self._hand(each, outcome, len(handoffs)))
        if templates:
            root["handoff"] = {"commentTemplates": templates}
        if handoffs:
            root["handoffs"] = handoffs
        if random.random() < 0.2:
            root["payloadSchema"] = {"$ref": "schemas/payload.json"}
            self._files["schemas/payload.json"] = json.dumps({"type": "object"})

    def _hand(self, performer: Performer, outcome: str, number: int) -> Json:
        random = self.random
        given: dict[str, Json] = {"kind": "'report'", "issue": "$.workflow.context.issue"}
        paths = performer.agent.list_closing_paths()
        if paths:
            given["said"] = f"$.agent.result.{random.choice(paths)}"
        given |= random.choice(({}, {"text": "of ${payload.kind}"}))
        if random.random() < 0.5:
            schema = {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "report"}}}
            self._files[f"{_SCHEMAS}/report.json"] = json.dumps(schema)
        return {
            "id": f"hand-{number}",
            "when": {"fromAgent": performer.name, "outcome": outcome},
            "emit": {
                "type": "report",
                "schemaRef": "report",
                "path": random.choice(("a.json", "${payload.kind}.json")),
            },
            "payloadFrom": given,
            "persistPayloadTo": random.choice(("none", "subjectStore")),
        }

    def write(self) -> Files:
        """Return the files of the project."""
        file = self.random.choice((".agent/workflow.json", ".agent/workflow.json", ".agent/workflow-own.json"))
        return {**self._files, file: json.dumps(self._root, indent=1)}


def make_orchestrator(random: Random) -> Files:
    """Return the files of a project with an orchestrator and its agents."""
    return Orchestrator(random, random.choice(("1.13", "1.14"))).write()
