"""Random stage plans as documents, and runs of them in worlds that answer well, badly and not at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from properties.random_stages import make_stages
from properties.soundness.stage_runs import StageRun, UnsoundStageError

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.node import Schedule
from stagec.runtime.machine import load
from stagec.sources.project.settings import Settings

_VERBS = ("load", "clean", "split", "train", "evaluate", "generate")
_RUNS = 6

WANTED = (
    *("PENDING to RUNNING", "RUNNING to COMPLETED", "RUNNING to FAILED", "RUNNING to INTERRUPTING"),
    *("INTERRUPTING to INTERRUPTED", "INTERRUPTED to RESUMABLE", "INTERRUPTED to BLOCKED", "FAILED to RESUMABLE"),
    *("FAILED to BLOCKED", "PENDING to BLOCKED", "RESUMABLE to RUNNING"),
    *("end: done", "end: failed", "end: interrupted", "cancelled", "resumed", "refused to begin again", "kept"),
    *("waits for room", "answer that is none", "process", "publish", "preserve", "interrupt", "wait"),
)
"""What has to happen in a campaign."""


class StageTally:
    """What a campaign has seen."""

    def __init__(self) -> None:
        self.made = 0
        self.compiled = 0
        self.runs = 0
        self.transitions = 0
        self.kinds: Counter[str] = Counter()
        self.found: list[StageFault] = []

    def lagging(self, least: int) -> tuple[str, ...]:
        """Return what has happened less often than that."""
        return tuple(each for each in WANTED if self.kinds[each] < least)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table of what was seen."""
        yield "stage plans: documents made", self.made
        yield "stage plans: compiled without errors", self.compiled
        yield "stage plans: runs", self.runs
        yield "stage plans: transitions", self.transitions
        yield from ((f"stage plans: {kind}", number) for kind, number in sorted(self.kinds.items()))


class StageFault(NamedTuple):
    """What is wrong, and with the plan of which seed."""

    job: tuple[object, ...]
    what: str


def campaign_stages(transitions: int, seed: int = 0) -> StageTally:
    """Make plans, as documents and as values, and run them until there were so many transitions."""
    tally = StageTally()
    with TemporaryDirectory() as folder:
        while tally.transitions < transitions and len(tally.found) < _RUNS:
            random = Random(f"stages {seed}")
            plan = make_stages(random) if seed % 3 == 0 else compile_document(Path(folder), random, tally)
            if plan is not None:
                _attack(plan, random, seed, tally)
            seed += 1
    return tally


def _attack(plan: Plan, random: Random, seed: int, tally: StageTally) -> None:
    program = load(dump(plan))
    for number in range(_RUNS):
        run = StageRun(program, random, tally.kinds, rude=number % 3 == 0)
        try:
            run.play()
        except UnsoundStageError as error:
            tally.found.append(StageFault(("stages", seed), str(error)))
        tally.runs += 1
        tally.transitions += run.transitions


def compile_document(root: Path, random: Random, tally: StageTally) -> Plan | None:
    """Return the plan of a random document; nothing where it has errors."""
    file = random.choice(("plan.json", "plan.yaml"))
    data = json.dumps(make_document(random)).encode()
    compilation = compile_project(Project(root, (root / file,), Settings(), {file: data}))
    tally.made += 1
    if Severity.ERROR in {each.severity for each in compilation.diagnostics} or not compilation.meanings:
        return None
    tally.compiled += 1
    (meaning,) = compilation.meanings
    plan = meaning.plan()
    (entry,) = plan.entries.values()
    assert isinstance(entry, Schedule)
    return replace(plan, limits=replace(plan.limits, parallel=random.choice((1, 2, 5))))


def make_document(random: Random) -> Any:
    """Return a stage plan: mostly one without errors, with every form that envelopes may have."""
    names = [f"S{number:02}_{random.choice(_VERBS)}_data" for number in range(1, random.randint(2, 8) + 1)]
    outputs = {name: _make_outputs(random) for name in names}
    stages = [_make_envelope(random, name, names[:at], outputs) for at, name in enumerate(names)]
    if random.random() < 0.1:
        stages[0]["dependencies"] = [random.choice([*names, "S99_lost_data"])]
    if random.random() < 0.3:
        random.shuffle(stages)
    if random.random() < 0.3:
        return stages
    return {"reportTitle": "wine-quality", "stages": stages, **_some(random, maxParallel=random.randint(1, 3))}


def _make_outputs(random: Random) -> dict[str, str]:
    return {f"o{number}": f"part{number}_df.csv" for number in range(random.randint(0, 2))}


def _make_envelope(
    random: Random, name: str, before: list[str], outputs: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    needed = random.sample(before, k=random.randint(0, min(2, len(before))))
    read = [f"{each}/{path}" for each in (*needed, *before[:1]) for path in outputs[each].values()]
    inputs = {f"i{at}": each for at, each in enumerate(random.sample(read, k=random.randint(0, len(read))))}
    limit = random.choice((30, 60, 240, 480, 600))
    return {
        "stageId": name,
        "goal": "Do what has to be done with the data",
        "inputs": {**inputs, **_some(random, wine="data/wine.csv")},
        "outputs": outputs[name],
        **_some(random, dependencies=needed, maxDurationSec=limit),
        **_some(random, retryable=random.random() < 0.7, checkpointAfter=random.random() < 0.7),
        **_some(random, run=["python3", "work.py"]),
    }


def _some(random: Random, **members: Any) -> dict[str, Any]:
    return {name: each for name, each in members.items() if random.random() < 0.7}


def name_all(found: Iterable[StageFault]) -> list[str]:
    """Return faults as people read them."""
    return [f"{each.job}: {each.what}" for each in found]
