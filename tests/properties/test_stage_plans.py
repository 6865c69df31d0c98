"""Rules of stage plans on random plans: they never raise, and neither the order nor the words of stages matter."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Change, Diagnostic, Severity
from stagec.sources.project.settings import Settings

WORDS = ("alpha", "beta", "gamma", "delta", "omega")
IDS = st.builds("S{:02}_load_{}".format, st.integers(1, 3), st.sampled_from(WORDS))
TEXTS = st.one_of(
    st.text(max_size=20), st.sampled_from(["S01", "S1_load", "S02_do_stuff", "S00_eda", "../x", "a//b", ""])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1000, 1000), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
PATHS = st.sampled_from(["out.json", "OUT.json", "out.json/x", "wine_df.parquet", "m.pkl", "S01_load_alpha/out.json"])
FILES = st.one_of(PATHS, st.builds("{}/{}".format, IDS, PATHS), st.just("data/x.csv"), st.just("s3://a/b"), TEXTS)
DURATIONS = st.sampled_from([30, 60, 200, 240.5, 480, 599, 600, 29, 601])
REQUIRED = {
    "stageId": IDS,
    "goal": st.just("Do the work of this stage"),
    "inputs": st.dictionaries(st.sampled_from("abc"), FILES, max_size=3),
    "outputs": st.dictionaries(st.sampled_from("abc"), PATHS, max_size=3),
    "maxDurationSec": DURATIONS,
}
ENVELOPES = st.fixed_dictionaries(
    REQUIRED,
    optional={
        "dependencies": st.lists(st.one_of(IDS, st.sampled_from(["S01", "S02", "S03"])), max_size=3),
        "retryable": st.booleans(),
        "checkpointAfter": st.booleans(),
    },
)
PLANS = st.lists(ENVELOPES, min_size=1, max_size=6, unique_by=lambda each: each["stageId"])
BROKEN = st.dictionaries(st.sampled_from([*REQUIRED, "dependencies", "retryable", "checkpointAfter", "run"]), VALUES)
seldom = settings(phases=[Phase.explicit, Phase.reuse, Phase.generate], deadline=None)
"""Each example compiles a project once or twice, so making a failing one smaller takes minutes."""
EVERY = Settings(extend_select=("pedantic",))


def compile_stages(stages: Sequence[Any], **members: Any) -> tuple[Diagnostic, ...]:
    return compile_text(json.dumps({"reportTitle": "demo", **members, "stages": list(stages)}))


def compile_text(text: str) -> tuple[Diagnostic, ...]:
    """Return what the rules find; two errors that a swap explains are one only if the search comes to that swap."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "plan.json")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return compile_project(Project(Path(folder), (path,), EVERY), folds_swaps=False).diagnostics


def count(found: Sequence[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((each.code, each.severity.value) for each in found)


@seldom
@given(
    st.lists(
        st.one_of(ENVELOPES, st.builds(lambda whole, part: {**whole, **part}, ENVELOPES, BROKEN), VALUES), max_size=5
    ),
    st.dictionaries(st.sampled_from(["reportTitle", "runId", "maxParallel"]), VALUES),
)
def test_no_plan_makes_a_rule_raise(stages: list[Any], members: Mapping[str, Any]) -> None:
    compile_stages(stages, **members)


@seldom
@given(st.builds(lambda whole, part: {**whole, **part}, ENVELOPES, BROKEN))
def test_nothing_is_said_of_other_stages_where_an_envelope_is_alone(envelope: dict[str, Any]) -> None:
    about_others = {"STG434", "STG435", "STG437", "STG439", "STG442", "STG443", "STG446", "STG447", "STG449", "STG451"}
    assert about_others.isdisjoint(each.code for each in compile_text(json.dumps(envelope)))


@seldom
@given(PLANS, st.randoms(use_true_random=False))
def test_the_order_of_stages_does_not_matter(stages: list[dict[str, Any]], chance: Random) -> None:
    moved = [stages[index] for index in chance.sample(range(len(stages)), len(stages))]
    assert count(compile_stages(stages)) == count(compile_stages(moved))


@seldom
@given(PLANS, st.permutations(WORDS))
def test_the_words_of_ids_do_not_matter(stages: list[dict[str, Any]], words: list[str]) -> None:
    new = dict(zip(WORDS, words, strict=True))
    renamed = json.loads(re.sub("|".join(WORDS), lambda found: new[found[0]], json.dumps(stages)))
    found = count(compile_stages(stages))
    if ("STG437", "error") not in found:  # which stage was meant is a question of words
        assert found == count(compile_stages(renamed))


@seldom
@given(PLANS)
def test_a_plan_without_errors_has_an_order_and_reads_only_what_is_made(stages: list[dict[str, Any]]) -> None:
    """An oracle of few words: each stage is put behind all that it needs, and no stage is left over."""
    if any(each.severity is Severity.ERROR for each in compile_stages(stages)):
        return
    made = {f"{stage['stageId']}/{path}" for stage in stages for path in stage["outputs"].values()}
    known = {stage["stageId"] for stage in stages}
    waiting = list(stages)
    done: set[str] = set()
    while waiting:
        ready = [stage for stage in waiting if all(_begins(name, done) for name in stage.get("dependencies", ()))]
        assert ready, "no stage can start"
        done |= {stage["stageId"] for stage in ready}
        waiting = [stage for stage in waiting if stage not in ready]
    for stage in stages:
        for path in stage["inputs"].values():
            assert path.partition("/")[0] not in known or path in made


def _begins(name: str, done: set[str]) -> bool:
    """Tell whether a dependency, by its id or its number, is done."""
    return any(each == name or each.startswith(f"{name}_") for each in done)


@seldom
@given(PLANS)
def test_after_a_fix_there_is_less_to_fix_and_no_other_error(stages: list[dict[str, Any]]) -> None:
    found = compile_stages(stages)
    for each in found:
        if each.fix is not None and each.fix.is_safe:
            changed = json.loads(json.dumps({"stages": stages}))
            for edit in each.fix.edits:
                *way, last = edit.at.pointer
                owner: Any = changed
                for key in way:
                    owner = owner[key]
                if edit.change is Change.INSERT:
                    owner.insert(last, edit.value)
                elif edit.change is Change.REMOVE:
                    del owner[last]
                else:
                    owner[last] = edit.value
            after = compile_stages(changed["stages"])
            assert _safe_fixes(after) < _safe_fixes(found)
            assert _errors(after) <= _errors(found)


def _safe_fixes(found: Sequence[Diagnostic]) -> int:
    return sum(each.fix is not None and each.fix.is_safe for each in found)


def _errors(found: Sequence[Diagnostic]) -> int:
    return sum(each.severity is Severity.ERROR for each in found)
