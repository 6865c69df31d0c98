"""What a baseline accepts, and what of it is stale."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stagec.check.acceptance import accept
from stagec.check.findings import Verdict, diagnose
from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.budgets import SearchScope
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import AnyRule, Finding, Rule
from stagec.core.value import replace
from stagec.sources.project.baseline import Baseline, make_baseline
from stagec.sources.project.settings import Selection, Settings

FILE = Place("a.json")
EXAMPLE = Path(__file__).parents[1] / "registries" / "broken-on-purpose"


def _rule(code: str, groups: tuple[str, ...] = ()) -> AnyRule:
    return Rule(code, "name", "0.1", Severity.ERROR, ("origin",), groups, "", lambda _: ())


ROOT, FOLLOWER, MANDATORY = _rule("STG121"), _rule("STG201"), _rule("STG102", ("mandatory",))
ALL = Selection((), {each.code: each.severity for each in (ROOT, FOLLOWER, MANDATORY)})


def _record(*verdicts: Verdict) -> Baseline:
    return make_baseline(accept(verdicts, Baseline(), ALL).possible)


def _at(*way: str | int, message: str = "wrong", rule: AnyRule = FOLLOWER, file: str = "a.json") -> Verdict:
    return Verdict(rule, Finding(Place(file, way), message))


def test_moved_findings_are_known_and_others_are_not() -> None:
    baseline = _record(_at("steps", 3, "x"))
    assert accept([_at("steps", 7, "x")], baseline, ALL).verdicts == ()
    others = [
        _at("steps", "x"),
        _at("steps", 3, "y"),
        _at("steps", 3, "x", message="worse"),
        _at("steps", 3, "x", rule=ROOT),
        _at("steps", 3, "x", file="b.json"),
    ]
    assert len(accept(others[1:], baseline, ALL).verdicts) == 4
    assert accept(others[:1], baseline, ALL).verdicts == ()


def test_what_a_sentence_suggests_does_not_count() -> None:
    baseline = _record(_at("x", message="there is no step 'a'; did you mean 'b'?"))
    same = [_at("x", message="there is no step 'a'; did you mean 'aa'?"), _at("x", message="there is no step 'a'")]
    assert accept(same[:1], baseline, ALL).verdicts == accept(same[1:], baseline, ALL).verdicts == ()


def test_equal_findings_are_counted() -> None:
    equal = [_at("steps", number) for number in range(4)]
    baseline = _record(*equal[:3])
    assert [each.count for each in baseline.entries] == [3]
    found = accept(equal, baseline, ALL)
    assert (len(found.verdicts), found.known, found.stale) == (1, 3, ())
    fewer = accept(equal[:1], baseline, ALL)
    assert [each.count for each in fewer.stale] == [2]


def test_findings_of_mandatory_rules_and_suppressed_ones_are_in_no_baseline() -> None:
    grave = _at("x", rule=MANDATORY)
    silent = Verdict(FOLLOWER, Finding(FILE / "y", "wrong"), silent=True)
    assert _record(grave, silent).entries == ()
    entry = _record(_at("x")).entries[0]
    by_hand = make_baseline([entry])
    assert accept([grave], by_hand, ALL).verdicts == (grave,)


def test_a_new_finding_inside_an_old_error_is_told_and_the_old_followers_stay_accepted() -> None:
    root, follower = _at("x", rule=ROOT), _at("x", "y")
    baseline = _record(root, follower)
    new = _at("x", "z")
    told = accept([root, follower, new], baseline, ALL)
    assert [each.message for each in diagnose(told.verdicts, {}, ALL)] == ["wrong"]
    assert told.verdicts == (new,)
    fixed = accept([follower], baseline, ALL)
    assert (fixed.verdicts, [each.rule for each in fixed.stale]) == ((), ["STG121"])


def _project(root: Path, **keys: object) -> None:
    root.mkdir(exist_ok=True)
    (root / "pipeline.json").write_text(json.dumps({"entry": "plan", "stages": [], **keys}))


def _compile(root: Path, baseline: Baseline, *paths: str, settings: Settings | None = None) -> Compilation:
    named = tuple(root / each for each in paths)
    return compile_project(Project(root, named, settings or Settings(), baseline=baseline))


def _stale(root: Path, baseline: Baseline, *paths: str, settings: Settings | None = None) -> list[str]:
    found = _compile(root, baseline, *paths, settings=settings).acceptance
    assert found is not None
    return [each.file for each in found.stale]


def test_only_what_was_looked_at_can_be_stale(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _project(tmp_path / name, extra=1)
    found = _compile(tmp_path, Baseline()).acceptance
    assert found is not None
    baseline = make_baseline(each for each in found.possible if each.rule == "STG125")
    assert _stale(tmp_path, baseline) == []
    for name in ("a", "b"):
        _project(tmp_path / name)
    assert _stale(tmp_path, baseline, "a") == ["a/pipeline.json"]
    assert _stale(tmp_path, baseline) == ["a/pipeline.json", "b/pipeline.json"]
    assert _stale(tmp_path, baseline, settings=Settings(ignore=("STG125",))) == []
    (tmp_path / "b" / "pipeline.json").unlink()
    assert _stale(tmp_path, baseline, "a") == ["a/pipeline.json", "b/pipeline.json"]


def _unjudged(root: Path, baseline: Baseline, settings: Settings | None = None) -> list[tuple[str, str]]:
    found = _compile(root, baseline, settings=settings).acceptance
    assert found is not None
    return [(each.file, each.rule) for each in found.unjudged]


def _accept_all(root: Path) -> Baseline:
    found = _compile(root, Baseline()).acceptance
    assert found is not None
    return make_baseline(found.possible)


@pytest.mark.parametrize(
    "data", [b'{"entry": ', b"\xff", b'{"entry": "\xe9"}', None], ids=["syntax", "binary", "encoding", "dangling"]
)
def test_what_a_broken_file_says_is_kept_and_its_neighbour_shrinks(tmp_path: Path, data: bytes | None) -> None:
    for name in ("a", "b"):
        _project(tmp_path / name, extra=1)
    baseline = _accept_all(tmp_path)
    _project(tmp_path / "a")
    broken = tmp_path / "b" / "pipeline.json"
    if data is None:
        broken.unlink()
        broken.symlink_to("nowhere")
    else:
        broken.write_bytes(data)
    assert {*_stale(tmp_path, baseline)} == {"a/pipeline.json"}
    assert {file for file, _ in _unjudged(tmp_path, baseline)} == {"b/pipeline.json"}


def test_what_rests_on_a_broken_file_is_kept(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "x")
    baseline = _accept_all(tmp_path)
    drift = [(each.file, each.rule) for each in baseline.entries]
    assert ("x/steps_registry.json", "STG201") in drift
    # one of its schemas cannot be read
    broken = tmp_path / "x" / "steps_registry.json"
    broken.write_text(broken.read_text().replace("continuation.qestion", "continuation.question"))
    assert ("x/steps_registry.json", "STG201") in _unjudged(tmp_path, baseline)
    # of a registry that cannot be read, nobody knows the prompts either
    broken.write_text("{")
    assert _stale(tmp_path, baseline) == []
    assert sorted(_unjudged(tmp_path, baseline)) == sorted(drift)


def test_an_excluded_file_is_kept_and_a_deleted_one_is_fixed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _project(tmp_path / name, extra=1)
    baseline = _accept_all(tmp_path)
    without = Settings(scope=SearchScope(exclude=("b",)))
    assert _stale(tmp_path, baseline, settings=without) == []
    assert {file for file, _ in _unjudged(tmp_path, baseline, without)} == {"b/pipeline.json"}
    (tmp_path / "b" / "pipeline.json").unlink()
    assert {*_stale(tmp_path, baseline)} == {"b/pipeline.json"}


def test_a_file_that_was_only_named_has_not_been_judged(tmp_path: Path) -> None:
    _project(tmp_path, extra=1)
    baseline = _accept_all(tmp_path)
    (tmp_path / "pipeline.json").rename(tmp_path / "other.json")
    (tmp_path / "other.json").write_text("{}")
    moved = make_baseline(replace(each, file="other.json") for each in baseline.entries)
    assert _stale(tmp_path, moved, "other.json") == []


def test_where_plans_are_made_no_baseline_counts(tmp_path: Path) -> None:
    _project(tmp_path, extra=1)
    project = Project(tmp_path, (), Settings(), tells_all=True)
    assert "STG125" in [each.code for each in compile_project(project).diagnostics]
