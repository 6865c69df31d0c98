"""What a stage plan, a checkpoint and a log of markers can have many of."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from math import isqrt
from typing import Any

from stagec.core.canonical import canonical, compact
from stagec_dev.cost import Dimension, Dimensions, Files


def _name(number: int) -> str:
    letters = "".join("abcdefghij"[int(digit)] for digit in str(number))
    return f"S{1 + number % 99:02}_load_{letters}"


def _stage(number: int, **more: Any) -> dict[str, Any]:
    made = {
        "stageId": _name(number),
        "goal": "Load the numbers of one part",
        "inputs": {},
        "outputs": {"made": "made.csv"},
        "maxDurationSec": 60,
        "dependencies": [],
    }
    return {**made, **more}


def _plan(stages: list[dict[str, Any]]) -> Files:
    return {"plan.json": json.dumps({"reportTitle": "large", "runId": "run-001", "stages": stages}, indent=1)}


def _chain(count: int, *, faulty: bool) -> Files:
    """Make stages in a row, or each after one that there is not."""
    needed = [[_name(number - 1) + "x" * faulty] if number else [] for number in range(count)]
    return _plan(
        [
            _stage(number, dependencies=each, inputs={f"a{at}": f"{one}/made.csv" for at, one in enumerate(each)})
            for number, each in enumerate(needed)
        ]
    )


def _joined(count: int, *, faulty: bool) -> Files:
    """Make one stage after many, or in a circle with each of them."""
    last = _stage(count, dependencies=[_name(number) for number in range(count)])
    return _plan([*(_stage(number, dependencies=[_name(count)] * faulty) for number in range(count)), last])


def _layers(count: int, *, faulty: bool) -> Files:
    """Make layers of three stages, of which each needs all of the layer before, or three times the first of it."""
    stages = []
    for number in range(count):
        layer = number // 3 * 3
        before = [_name(each) for each in range(max(0, layer - 3), layer)]
        stages.append(_stage(number, dependencies=before[:1] * 3 if faulty else before))
    return _plan(stages)


def _all_before(count: int, *, faulty: bool) -> Files:
    """Make so many dependencies, of each stage on all before it, or on itself as well."""
    stages = range(isqrt(2 * count) + 1)
    return _plan([_stage(at, dependencies=[_name(each) for each in range(at + faulty)]) for at in stages])


def _inputs(count: int, *, faulty: bool) -> Files:
    """Make files that one stage makes and another reads, or reads others."""
    outputs = {f"made{number}": f"made_{number}.csv" for number in range(count)}
    inputs = {name: f"{_name(0)}/{path}{'x' * faulty}" for name, path in outputs.items()}
    return _plan([_stage(0, outputs=outputs), _stage(1, inputs=inputs, dependencies=[_name(0)])])


def _outputs(count: int, *, faulty: bool) -> Files:
    """Make outputs of a stage, or so many names for one file."""
    return _plan([_stage(0, outputs={f"made{at}": f"made_{0 if faulty else at}.csv" for at in range(count)})])


def _folder(count: int, *, faulty: bool) -> Files:
    """Make a file for each stage; faulty where all have one id."""
    return {
        "stages/list.yaml": "",
        **{f"stages/{number}.json": json.dumps(_stage(0 if faulty else number)) for number in range(count)},
    }


def _checkpoint(count: int, *, faulty: bool) -> Files:
    """Make artifacts of one checkpoint; faulty where none is what the manifest says."""
    data = b"a,b\n"
    files: dict[str, str | bytes] = {f"S01_load_a/made_{number}.csv": data for number in range(count)}
    artifacts = [
        {"relativePath": path, "sha256": sha256(data + b"x" * faulty).hexdigest(), "sizeBytes": len(data)}
        for path in files
    ]
    manifest: Any = {
        "format": "stagec.checkpoint/1",
        "algorithm": "sha256",
        "pathBase": "run",
        "reportTitle": "large",
        "runId": "run-001",
        "stageId": "S01_load_a",
        "attempt": 1,
        "checkpointId": "ckpt-S01_load_a",
        "createdAt": "2026-01-02T10:30:00.000Z",
        "status": "saved",
        "trustLevel": "local",
        "artifacts": artifacts,
    }
    text = compact({**manifest, "manifestSha256": sha256(canonical(manifest)).hexdigest()})
    top = "reports/large/run-001"
    return {f"{top}/checkpoints/ckpt-S01_load_a.json": text, **{f"{top}/{name}": each for name, each in files.items()}}


def _log(line: Callable[[int], str], wrong: Callable[[int], str]) -> Callable[..., Files]:
    def make(count: int, *, faulty: bool) -> Files:
        return {"log": "".join(map(wrong if faulty else line, range(count)))}

    return make


def _stages_of_log(number: int) -> str:
    return f"[STAGE:begin:id={_name(number)}]\n[STAGE:end:id={_name(number)}:status=success:duration=1.0]\n"


ENVELOPES = Dimensions(
    (
        Dimension("stages in a chain", _chain, 3_500),
        Dimension("stages before one", _joined, 4_000),
        Dimension("dependencies in layers", _layers, 2_800),
        Dimension("dependencies on all before", _all_before, 40_000),
        Dimension("files between two stages", _inputs, 8_000),
        Dimension("outputs of a stage", _outputs, 20_000),
        Dimension("files of stages", _folder, 3_000),
        Dimension("artifacts of a checkpoint", _checkpoint, 5_000, ("checkpoint verify",)),
        Dimension(
            "stages of a log", _log(_stages_of_log, lambda at: f"[STAGE:end:id={_name(at)}]\n"), 10_000, ("markers",)
        ),
        Dimension(
            "markers of a log",
            _log(lambda at: f"[METRIC:loss_{at}] 1\n", lambda at: f"[STAGE:progress:id=x{at}:pct=y]\n"),
            25_000,
            ("markers",),
        ),
        Dimension(
            "brackets of a line", _log(lambda at: f"[a{at}] ", lambda at: f"[STAGE:x{at} "), 80_000, ("markers",)
        ),
    )
)
