"""Stage plans that are right by construction: inputs are made before they are read, and names are as they must be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import yaml

Json = Any
Files = dict[str, str]
_VERBS = ("load", "validate", "clean", "explore", "engineer", "split", "train", "tune", "evaluate", "analyze", "export")
_OWN_VERBS = ("prepare", "compile", "merge", "review")
_REPORTING = ("send", "notify", "publish", "upload", "email", "deploy")
"""Verbs of stages that do something outside, which is not done twice."""
_NOUNS = ("data", "wine_data", "model", "x", "the_long_report", "features")
_GOALS = (
    "Load and validate the data",
    "ten-chars.",
    "Größe und Qualität der Weine prüfen",
    "🍷" * 200,
    "a b c d e f g h i j k",
    "x" * 200,
    "yes: no # { not: yaml",
    "12345678901",
)
_PATHS = (
    "wine_df.parquet",
    "part/one_df.csv",
    "part/two_df.csv",
    "deep/er/still/rows.jsonl",
    "Größe.csv",
    "with space.txt",
    ".hidden",
    "no_suffix",
    "quality_metrics.json",
    "final_report.md",
    "rf_model.pkl",
    "a.b.c.tar.gz",
    "S01",
    "data/wine.csv",
    "console.txt",
    "n" * 200,
)
_KEYS = ("df", "model", "1", "a b", "größe", "path/like", "true", "null", "$ref", "x")
_FILES = ("data/wine.csv", "wine.csv", "data/S01_raw.csv", "Daten/Größe.csv", "data/deep/er.json")
_URLS = ("https://example.org/wine.csv", "s3://bucket/key/S01_load_data/x.csv", "http://localhost:80/a?b=c#d")
_DURATIONS = (30, 30.0, 31.5, 60, 61, 239.99, 240, 240.5, 480)
_RUNS = (
    ["python3", "scripts/work.py"],
    ["python3", "-c", "print('S99_lost_data')"],
    ["bash", "scripts/run.sh", "--to", "S01_load_data/x.csv"],
    ["make"],
)
_SCRIPTS = ("scripts/work.py", "scripts/run.sh")
_REMARKS: tuple[dict[str, Json], ...] = ({}, {}, {"comment": "why"}, {"$note": [1]}, {"_own": None}, {"x-team": {}})


class StagePlan:
    """A stage plan while it is made; `behind` are the stages that each one waits for, also by way of others."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._files: Files = {}
        self._envelopes: list[Json] = []
        self._behind: dict[str, list[str]] = {}
        self._outputs: dict[str, list[str]] = {}
        for number in self._number(random.randint(1, 9)):
            self._add(number)

    def _number(self, size: int) -> Sequence[int]:
        """Return numbers in order, with gaps, and some of them shared."""
        random = self._random
        if random.random() < 0.3:
            return sorted(random.choices(range(1, size + 1), k=size))
        return sorted(random.sample(range(1, 100), size)) if random.random() < 0.3 else range(1, size + 1)

    def _add(self, number: int) -> None:
        random = self._random
        verb = random.choice((*_VERBS, *_VERBS, *_OWN_VERBS, *_REPORTING))
        name = f"S{number:02}_{verb}_{random.choice(_NOUNS)}"
        if name in self._behind:
            return
        before = [*self._behind]
        needed = random.sample(before, min(len(before), random.choice((0, 1, 1, 2, 3))))
        behind = [*dict.fromkeys(each for one in needed for each in (one, *self._behind[one]))]
        self._behind[name] = behind
        envelope: Json = {
            "stageId": name,
            "goal": random.choice(_GOALS),
            "inputs": self._make_inputs(behind),
            "outputs": self._make_outputs(name),
            "maxDurationSec": random.choice(_DURATIONS),
            **random.choice(_REMARKS),
        }
        if needed or random.random() < 0.3:
            envelope["dependencies"] = needed
        self._say_how_often(envelope, is_once=verb in _REPORTING)
        if random.random() < 0.5:
            envelope["run"] = random.choice(_RUNS)
            self._files.update({each: "# work\n" for each in envelope["run"] if each in _SCRIPTS})
        members = [*envelope.items()]
        random.shuffle(members)
        self._envelopes.append(dict(members))

    def _make_inputs(self, behind: Sequence[str]) -> dict[str, str]:
        random = self._random
        made = [f"{stage}/{path}" for stage in behind for path in self._outputs[stage]]
        bare = {path for stage in behind for path in self._outputs[stage]}
        files = [each for each in _FILES if each not in bare]
        read = random.sample(made, random.randint(0, min(4, len(made))))
        read += random.sample(files, random.choice((0, 0, 1, 2))) + random.sample(_URLS, random.choice((0, 0, 0, 1)))
        self._files.update({each: "x\n" for each in read if each in files})
        return dict(zip(random.sample(_KEYS, min(len(read), len(_KEYS))), read, strict=False))

    def _make_outputs(self, name: str) -> dict[str, str]:
        paths = self._random.sample(_PATHS, self._random.choice((0, 1, 1, 2, 4)))
        self._outputs[name] = paths
        return dict(zip(self._random.sample(_KEYS, len(paths)), paths, strict=True))

    def _say_how_often(self, envelope: Json, *, is_once: bool) -> None:
        """Say whether a stage may run again, and whether its end is recorded, which one that may not needs."""
        random = self._random
        if is_once or random.random() < 0.2:
            envelope["retryable"] = False
            envelope |= random.choice(({}, {"checkpointAfter": True}))
            return
        envelope |= random.choice(({}, {"retryable": True}))
        envelope |= random.choice(({}, {"checkpointAfter": True}, {"checkpointAfter": False}))

    def write(self) -> Files:
        """Return the files of the project, in one of the shapes in which a plan may be written."""
        random = self._random
        stages = self._envelopes
        if random.random() < 0.5:
            random.shuffle(stages)
        if random.random() < 0.15:
            folder = random.choice(("", "plan/"))
            return {**self._files, **{f"{folder}{each['stageId']}.json": json.dumps(each) for each in stages}}
        given: Json = stages
        if len(stages) == 1 and random.random() < 0.5:
            (given,) = stages
        elif random.random() < 0.8:
            given = {"stages": stages, **self._make_members()}
        if random.random() < 0.5:
            return {**self._files, "plan.json": json.dumps(given, ensure_ascii=random.random() < 0.5)}
        flow = random.choice((None, False, True))
        text = yaml.safe_dump(given, default_flow_style=flow, allow_unicode=True, sort_keys=False, width=200)
        return {**self._files, f"plan.{random.choice(('yaml', 'yml'))}": text}

    def _make_members(self) -> dict[str, Json]:
        random = self._random
        members: dict[str, Json] = {
            "reportTitle": random.choice(("wine-quality", "x", "2026-wine-1")),
            "runId": random.choice(("run-001", "run-20260102-143022")),
            "maxParallel": random.choice((1, 3, 3.0, 40)),
            "title": "A title",
            "goal": "To know",
            "description": "Long: text",
        }
        kept = random.sample([*members], random.randint(0, len(members)))
        return {name: members[name] for name in kept}


def make_stage_plan(random: Random) -> Files:
    """Return the files of a project with a stage plan."""
    return StagePlan(random).write()
