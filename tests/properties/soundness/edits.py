"""Real projects, changed at random: the examples and the agents of the corpus, with a few edits of their structure."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml
from properties.soundness.chance import Chance
from properties.soundness.free_registries import Made

from stagec.core.diagnostic import Severity
from stagec.ir.plan.document import Plan
from stagec_dev.checkout import ROOT, diagnostics, plans

Json = Any
Spot = tuple[Any, Any]
"""A dictionary or a list, and the key of one of its members."""


def edited(random: Chance) -> Made:
    """Return a real project after one to three edits."""
    base = random.choice(bases())
    files = dict(_texts(base))
    marks = Counter({f"edited {base.name}": 1})
    for _ in range(random.choice((1, 1, 2, 3))):
        name = random.choice(sorted(files))
        is_markdown = name.endswith(".md")
        head, body = _split(files[name]) if is_markdown else (files[name], "")
        if is_markdown and (head is None or random.random() < 0.3):
            body = _changed_text(random, body, marks)
            files[name] = body if head is None else f"---\n{head}---\n{body}"
            continue
        files[name] = _changed(random, str(head), marks)
        if is_markdown:
            files[name] = f"---\n{files[name]}\n---\n{body}"
    return Made(files, marks, {}, {})


@cache
def bases() -> tuple[Path, ...]:
    """Return the folders of projects without errors: examples, and agents of the corpus where there is one.

    Stage plans are left out: no model answers them, and `stage_runs` has worlds for their processes.
    """
    found = [*(ROOT / "registries").iterdir()]
    if "STAGEC_CORPUS" in os.environ:
        corpus = Path(os.environ["STAGEC_CORPUS"])
        found += [*(corpus / "agents").iterdir(), *(corpus / "mutants" / "bases").iterdir()]
    return tuple(sorted(each for each in found if each.is_dir() and _is_clean(each)))


def _is_clean(folder: Path) -> bool:
    try:
        has_errors = any(each.severity is Severity.ERROR for each in diagnostics(folder))
        return not has_errors and any(_texts(folder)) and not any(map(_has_schedule, plans(folder)))
    except Exception:  # whatever stops stagec is not what this is about
        return False


def _has_schedule(plan: Plan) -> bool:
    return any(not isinstance(entry, str) for entry in plan.entries.values())


@cache
def _texts(folder: Path) -> tuple[tuple[str, str], ...]:
    paths = sorted(each for each in folder.rglob("*") if each.suffix in {".json", ".yaml", ".yml", ".md"})
    return tuple((each.relative_to(folder).as_posix(), each.read_text(encoding="utf-8")) for each in paths)


def _split(text: str) -> tuple[str | None, str]:
    """Return the frontmatter of a text and the rest."""
    if not text.startswith("---\n") or "\n---\n" not in text:
        return None, text
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    return head + "\n", body


def _changed(random: Random, text: str, marks: Counter[str]) -> str:
    """Return a document with one edit."""
    try:
        whole = json.loads(text) if text.startswith("{") else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError):
        return text
    spots = list(_spots(whole))
    if spots:
        edit = random.choice(_EDITS)
        marks[f"edit {edit.__name__.strip('_')}"] += 1
        edit(random, random.choice(spots), spots)
    lines = (
        [f"{json.dumps(key)}: {json.dumps(each, ensure_ascii=False)}" for key, each in whole.items()]
        if isinstance(whole, dict)
        else []
    )
    return json.dumps(whole, ensure_ascii=False, indent=1) if text.startswith("{") else "\n".join(lines)


def _changed_text(random: Random, text: str, marks: Counter[str]) -> str:
    """Return a prompt with a line left out, doubled or cut off."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    marks["edit a line"] += 1
    at = random.randrange(len(lines))
    lines[at : at + 1] = random.choice(([], [lines[at]] * 2, [lines[at][: len(lines[at]) // 2] + "\n"]))
    return "".join(lines)


def _spots(whole: Json) -> Iterator[Spot]:
    todo = [whole]
    while todo:
        given = todo.pop()
        if isinstance(given, dict | list):
            for key, each in given.items() if isinstance(given, dict) else enumerate(given):
                yield given, key
                todo.append(each)


def _remove(_: Random, spot: Spot, __: list[Spot]) -> None:
    holder, key = spot
    del holder[key]


def _double(_: Random, spot: Spot, __: list[Spot]) -> None:
    holder, key = spot
    if isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[f"{key}-2"] = json.loads(json.dumps(holder[key]))


def _rename(random: Random, spot: Spot, spots: list[Spot]) -> None:
    holder, key = spot
    names = [name for _, name in spots if isinstance(name, str)]
    if isinstance(holder, dict) and names:
        holder[random.choice(names)] = holder.pop(key)


def _replace(random: Random, spot: Spot, spots: list[Spot]) -> None:
    """Put what stands elsewhere and is of the same type."""
    holder, key = spot
    others = [box[name] for box, name in spots if type(box[name]) is type(holder[key]) and box[name] != holder[key]]
    if others:
        holder[key] = json.loads(json.dumps(random.choice(others)))


def _swap(random: Random, spot: Spot, _: list[Spot]) -> None:
    """Exchange two members of one holder."""
    holder, key = spot
    other = random.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


def _twist(random: Random, spot: Spot, _: list[Spot]) -> None:
    """Put another value of the same type, or of another."""
    holder, key = spot
    given = holder[key]
    if isinstance(given, bool):
        holder[key] = not given
    elif isinstance(given, int | float):
        holder[key] = random.choice((0, 1, -1, given + 1, given * 10**21, 0.5))
    elif isinstance(given, str):
        holder[key] = random.choice((given.upper(), given[1:], f"{given}x", "", "1", None))
    else:
        holder[key] = random.choice(({}, [], "", None))


_EDITS: tuple[Callable[[Random, Spot, list[Spot]], None], ...] = (_remove, _double, _rename, _replace, _swap, _twist)
