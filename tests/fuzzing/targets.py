"""What is attacked: how an input is made from a seed, and what is done with it as a run would."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import yaml
from fuzzing import mutate, runs

from stagec.check import reporters
from stagec.check.fixes import fix_project
from stagec.check.marker_log import MarkerLog
from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.check.reporters import Report, Reporter
from stagec.check.rules.markers import FAMILY
from stagec.cli.app import run
from stagec.cli.running.inputs import read_scenario
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import members
from stagec.ir.plan import Plan, PlanError, dump
from stagec.runtime.machine.program import verify
from stagec.sources.project.settings import Selection, Settings
from stagec_dev.checkout import ROOT, plans

REGISTRIES = ROOT / "registries"
ATOMS: list[str] = [
    *re.findall(
        r"\S+",
        r"a . \d \w [a-z] [^\s] \p{L} \u0041 ( ) (?: (?= (?! | * + ? {2,3} {9999} ^ $ \b \1 [ ] (?<n> \k<n> \cA é 😀",
    ),
    *("\\", "\0", " "),
]


class CrashError(Exception):
    """What no input may bring about."""


class Target(NamedTuple):
    """Makes the input of a seed, and uses it in a folder of its own; whatever the use raises is a crash."""

    make: Callable[[Random], bytes]
    use: Callable[[bytes, Path], None]


@cache
def examples() -> Mapping[str, Mapping[str, str]]:
    """Return the files of each example project, by its name."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(REGISTRIES.rglob("*")):
        if path.is_file():
            name, *rest = path.relative_to(REGISTRIES).parts
            found.setdefault(name, {})["/".join(rest)] = path.read_text(encoding="utf-8")
    return found


@cache
def frozen() -> tuple[bytes, ...]:
    """Return the plans of the examples."""
    return tuple(dump(each) for name in examples() if name != "broken-on-purpose" for each in plans(REGISTRIES / name))


def _texts(*endings: str) -> list[str]:
    return [text for files in examples().values() for file, text in files.items() if file.endswith(endings)]


def _structured(random: Random, given: str) -> bytes:
    """Return a JSON or YAML text, damaged as a text or, where it can still be read, as a value."""
    try:
        made = mutate.value(random, yaml.load(given, yaml.CSafeLoader)) if random.random() < 0.5 else None
    except (yaml.YAMLError, ValueError, RecursionError):
        made = None
    if made is None:
        return mutate.data(random, given)
    text = mutate.written(made) if random.random() < 0.5 else yaml.safe_dump(made, allow_unicode=True)
    return mutate.data(random, text) if random.random() < 0.2 else text.encode(errors="replace")


def _frontmatter(random: Random, given: str) -> bytes:
    head, fence, body = given.removeprefix("---\n").partition("\n---\n")
    if not fence or random.random() < 0.5:
        return mutate.data(random, given)
    inside = _structured(random, head).decode(errors="replace")
    return f"---\n{inside}\n---\n{mutate.text(random, body)}".encode(errors="replace")


def _pattern(random: Random) -> bytes:
    made = "".join(random.choice(ATOMS) for _ in range(random.choice([1, 3, 8, 30, 300])))
    return json.dumps(made).encode()


def _scenario(random: Random) -> bytes:
    return _structured(random, examples()["code-review"]["scenario.yaml"])


def _plan(random: Random) -> bytes:
    given = random.choice(frozen())
    if random.random() < 0.3:
        return mutate.data(random, given.decode())
    made = mutate.value(random, json.loads(given))
    return json.dumps(made, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


def _project(random: Random) -> bytes:
    name = random.choice(sorted(examples()))
    files = dict(examples()[name])
    for _ in range(random.choice([1, 1, 2, 4])):
        file = random.choice(sorted(files))
        chance = random.random()
        if chance < 0.1:
            files[random.choice([f"x/{file}", file.upper(), random.choice(sorted(files))])] = files.pop(file)
        elif file.endswith((".json", ".yaml", ".yml")) and files[file].strip():
            files[file] = _structured(random, files[file]).decode(errors="replace")
        else:
            files[file] = _frontmatter(random, files[file]).decode(errors="replace")
    return json.dumps(files).encode()


def _check(files: Mapping[str, bytes], folder: Path) -> Compilation:
    """Compile files that stand for a project, print what is wrong in every way, and make every fix."""
    paths = tuple(folder / file for file in files)
    project = Project(folder, paths, Settings(), files)
    found = compile_project(project)
    for each in members(reporters, Reporter):
        each.render(Report(found.diagnostics, found.flows, found.trees))
    if any(each.fix for each in found.diagnostics):
        fix_project(project, guesses=True)
    return found


def _file(name: str) -> Callable[[bytes, Path], None]:
    def use(data: bytes, folder: Path) -> None:
        _check({name: data}, folder)

    return use


def _in_schema(data: bytes, folder: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": json.loads(data)}}}
    body = {"id": "a", "name": "A", "allowedTools": [], "completionTool": "submit_a", "completionSchema": schema,
            "retryPolicy": {"maxAttempts": 1, "backoff": "none"}, "turnCap": 1, "resolutionPolicy": "fail"}  # fmt: skip
    text = f"---\n{json.dumps(body)}\n---\nDo it, then call `submit_a`.\n"
    _check({"pipeline.yaml": b"entry: a\nstages: [a.md]\n", "a.md": text.encode()}, folder)


def _verified(data: bytes, _folder: Path) -> None:
    try:
        verify(data)
    except PlanError:
        return


@cache
def _reviewing() -> Plan:
    return next(iter(plans(REGISTRIES / "code-review")))


def _read(data: bytes, folder: Path) -> None:
    file = folder / "scenario.yaml"
    file.write_bytes(data)
    with redirect_stderr(io.StringIO()):
        try:
            read_scenario(file, _reviewing())
        except Failure:
            return


def _as_users_do(data: bytes, folder: Path) -> None:
    """Write a project and run commands on it, as somebody would who has found it."""
    for file, text in json.loads(data).items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
    commands = (["validate"], ["validate", "--diff"], ["compile", "-o", f"{folder}/.o"], ["graph", "--format", "json"])
    for command in (commands[0], commands[len(data) % len(commands)]):
        out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        with redirect_stdout(out), redirect_stderr(err):
            status = run([*command, str(folder)])
        err.seek(0)
        if status == Exit.INTERNAL:
            raise CrashError(f"{' '.join(command)} ended with {status}: {err.read()[-2_000:]}")


LOG = """[STAGE:begin:id=S01_load_data]
12:00:00 INFO reading data/wine.csv
[DATA:rows=800:columns=12] 800 rows
[STAGE:progress:id=S01_load_data:pct=50:msg=half: or more]
[STAGE:progress:load_data]
[STAGE:end:id=S01_load_data:status=failed:duration=1.5s] done
[CHECKPOINT:emergency:id=ckpt-1:stage=S01_load_data:reason=manual_abort]
[REHYDRATED:from=ckpt-1]
[CITATION:doi:10.1145/2939672.2939785] a paper
[NEXT-STEP] [STAGE:end] go on
"""


def _log(random: Random) -> bytes:
    return b"".join(mutate.data(random, LOG) for _ in range(random.choice([1, 1, 3])))


def _judged(data: bytes, _folder: Path) -> None:
    log = MarkerLog("run.log", Selection.of(Settings(), (FAMILY,)), "S01_load_data")
    middle = len(data) // 2
    lines = [*log.feed(data[:middle]), *log.feed(data[middle:]), *log.close()]
    found = tuple(diagnostic for each in lines for diagnostic in each.diagnostics)
    for each in members(reporters, Reporter):
        each.render(Report(found, excerpts={"run.log": {line.marker.line: line.excerpt for line in lines}}))


def _sources(random: Random, *endings: str) -> bytes:
    return _structured(random, random.choice(_texts(*endings)))


TARGETS: Mapping[str, Target] = {
    "json": Target(lambda random: _sources(random, ".json"), _file("steps_registry.json")),
    "yaml": Target(
        lambda random: _sources(random, "pipeline.yaml", "tools.yaml", "scenario.yaml"), _file("pipeline.yaml")
    ),
    "markdown": Target(lambda random: _frontmatter(random, random.choice(_texts(".md"))), _file("stage.md")),
    "patterns": Target(_pattern, _in_schema),
    "logs": Target(_log, _judged),
    "plans": Target(_plan, _verified),
    "scenarios": Target(_scenario, _read),
    "runs": Target(runs.make, runs.use),
    "projects": Target(_project, _as_users_do),
}
