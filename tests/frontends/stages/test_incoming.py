"""How stages are come to, and whose results they are handed there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from stagec.core.json import Json
from stagec.languages.stages.document import IncomingKind, Pipeline
from stagec.languages.stages.read import incoming

Machine = Callable[..., Pipeline]
FORK: Mapping[str, Json] = {"stages": ["test", "lint"], "execution": "parallel", "join": "review"}
FAILED: Mapping[str, Json] = {"when": {"verdict": "fail"}, "stages": ["repair"]}


def ways(found: Pipeline) -> dict[str, list[str]]:
    """Return every arrival in a few words: `join plan|fix, lint` is handed two results, the first of two stages."""
    shown = {
        IncomingKind.ENTRY: "entry",
        IncomingKind.SIBLING: "sibling",
        IncomingKind.SUCCESSOR: "after",
        IncomingKind.CHAINED: "then, of",
        IncomingKind.JOIN: "join",
    }
    return {
        name: [f"{shown[way.kind]} {', '.join('|'.join(each) or '?' for each in way.sources)}".strip() for way in own]
        for name, own in found.incoming.items()
    }


def test_a_successor_is_handed_the_result_before_it(pipeline: Machine) -> None:
    assert ways(pipeline({"plan": "execute", "execute": "review", "review": None})) == {
        "plan": ["entry"],
        "execute": ["after plan"],
        "review": ["after execute"],
    }


def test_a_join_is_handed_the_results_of_all_siblings_in_their_order(pipeline: Machine) -> None:
    assert ways(pipeline({"plan": FORK, "review": None, "lint": None, "test": None})) == {
        "plan": ["entry"],
        "test": ["sibling"],
        "lint": ["sibling"],
        "review": ["join test, lint"],
    }


def test_siblings_without_a_join_are_followed_by_nothing(pipeline: Machine) -> None:
    route: Json = {"stages": ["test", "lint"], "execution": "parallel"}
    assert ways(pipeline({"plan": route, "lint": None, "test": None})) == {
        "plan": ["entry"],
        "test": ["sibling"],
        "lint": ["sibling"],
    }


def test_each_of_a_sequence_is_handed_the_result_of_the_one_before(pipeline: Machine) -> None:
    route: Json = {"stages": ["a", "b", "c"]}
    assert ways(pipeline({"plan": route, "a": None, "b": None, "c": None})) == {
        "plan": ["entry"],
        "a": ["after plan"],
        "b": ["then, of a"],
        "c": ["then, of b"],
    }


CHAIN: Json = {"stages": ["a", "b"]}
ENDS: Mapping[str, Json] = {"stages": []}


@pytest.mark.parametrize(
    ("stages", "handed"),
    [
        ({"a": "c", "c": None}, "c"),
        ({"a": [{"when": {"parsed.x": 1}, "stages": ["c"]}, ENDS], "c": None}, "a|c"),
        ({"a": [{"when": {"verdict": "fail"}, "stages": ["c"]}], "c": None}, "a|c"),
        ({"a": [{"when": {"parsed.x": 1}, "stages": ["c"]}, {"stages": ["d"]}], "c": None, "d": "c"}, "c"),
        ({"a": {"stages": ["c", "d"]}, "c": None, "d": None}, "d"),
        ({"a": {"stages": ["c", "d"], "execution": "parallel", "join": "e"}, **dict.fromkeys("cd"), "e": "f"}, "f"),
        ({"a": {"stages": ["c", "d"], "execution": "parallel"}, **dict.fromkeys("cd")}, "c|d"),
        ({"a": {"stages": ["c", "d"], "execution": "parallel"}, "c": "f", "d": [FAILED]}, "c|d|repair"),
        ({"a": "a"}, "?"),
        ({"a": [{"when": {"parsed.x": 1}, "stages": ["a"]}, ENDS]}, "a"),
        ({"a": "plan"}, "b"),
        ({"a": "nowhere"}, "?"),
        ({"a": {"stages": ["c", "d"], "execution": "paralel"}, **dict.fromkeys("cd")}, "?"),
    ],
)
def test_a_sequence_goes_on_where_the_branch_of_the_one_before_ends(
    pipeline: Machine, stages: dict[str, Json], handed: str
) -> None:
    found = pipeline({"plan": CHAIN, "b": None, "f": None, "repair": None, **stages})
    assert f"then, of {handed}" in ways(found)["b"]


def test_the_stages_of_a_very_long_sequence_are_known(pipeline: Machine) -> None:
    names = [f"s{each}" for each in range(300)]
    found = pipeline({"plan": {"stages": names}, **dict.fromkeys(names)})
    assert ways(found)["s299"] == ["then, of s298"]


def test_every_case_is_a_way_of_its_own(pipeline: Machine) -> None:
    route: Json = [{"when": {"parsed.x": 1}, "stages": ["a"]}, {"stages": ["a"]}]
    found = pipeline({"plan": route, "a": None})
    assert ways(found)["a"] == ["after plan", "after plan"]
    assert [way.at.pointer[-3:] for way in found.incoming["a"]] == [(0, "stages", 0), (1, "stages", 0)]


def test_a_cycle_comes_back_to_the_entry(pipeline: Machine) -> None:
    assert ways(pipeline({"plan": "execute", "execute": "plan"})) == {
        "plan": ["entry", "after execute"],
        "execute": ["after plan"],
    }


def test_the_route_of_a_sibling_is_not_followed(pipeline: Machine) -> None:
    assert ways(pipeline({"plan": FORK, "test": "docs", "lint": None, "review": None, "docs": None})) == {
        "plan": ["entry"],
        "test": ["sibling"],
        "lint": ["sibling"],
        "review": ["join test, lint"],
    }


def test_siblings_that_lead_to_each_other_are_siblings_still(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": "lint", "lint": "test", "review": None})
    assert ways(found)["test"] == ways(found)["lint"] == ["sibling"]


def test_the_recovery_of_a_sibling_is_followed_and_its_last_result_may_stand_for_it(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": [FAILED], "lint": None, "review": None, "repair": "again", "again": None})
    assert ways(found)["repair"] == ["after test"]
    assert ways(found)["again"] == ["after repair"]
    assert ways(found)["review"] == ["join test|again, lint"]


def test_a_recovery_that_ends_at_once_leaves_the_result_of_the_sibling(pipeline: Machine) -> None:
    given_up: Json = [{"when": {"verdict": "fail"}, "stages": []}]
    found = pipeline({"plan": FORK, "test": given_up, "lint": None, "review": None})
    assert ways(found)["review"] == ["join test, lint"]


def test_a_recovery_may_end_in_several_stages(pipeline: Machine) -> None:
    either: Json = [{"when": {"parsed.x": 1}, "stages": ["again"]}, {"stages": []}]
    found = pipeline({"plan": FORK, "test": [FAILED], "lint": None, "review": None, "repair": either, "again": None})
    assert ways(found)["review"] == ["join test|repair|again, lint"]


def test_a_recovery_that_goes_round_ends_where_it_can(pipeline: Machine) -> None:
    either: Json = [{"when": {"parsed.x": 1}, "stages": ["repair"]}, {"stages": []}]
    found = pipeline({"plan": FORK, "test": [FAILED], "lint": None, "review": None, "repair": either})
    assert ways(found)["review"] == ["join test|repair, lint"]


def test_the_end_of_a_recovery_that_forks_is_its_join(pipeline: Machine) -> None:
    route: Json = {"stages": ["a", "b"], "execution": "parallel", "join": "c"}
    stages: dict[str, Json] = {"plan": FORK, "test": [FAILED], "repair": route}
    found = pipeline({**stages, **dict.fromkeys(["lint", "review", "a", "b", "c"])})
    assert ways(found)["review"] == ["join test|c, lint"]


def test_any_of_the_last_may_stand_where_a_recovery_forks_without_a_join(pipeline: Machine) -> None:
    route: Json = {"stages": ["a", "b"], "execution": "parallel"}
    stages: dict[str, Json] = {"plan": FORK, "test": [FAILED], "repair": route}
    found = pipeline({**stages, **dict.fromkeys(["lint", "review", "a", "b"])})
    assert ways(found)["review"] == ["join test|a|b, lint"]


def test_whose_result_stands_is_not_known_where_a_recovery_leads_to_what_is_not_there(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": [FAILED], "review": None})
    assert ways(found)["review"] == ["join ?, ?"]


def test_a_sibling_that_also_runs_alone_goes_on_from_there(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": "docs", "lint": None, "review": "test", "docs": None})
    assert ways(found) == {
        "plan": ["entry"],
        "test": ["sibling", "after review"],
        "docs": ["after test"],
        "lint": ["sibling"],
        "review": ["join test, lint"],
    }


def test_a_stage_that_runs_alone_only_after_a_route_that_is_not_followed_does_not_go_on(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": "lint", "lint": "docs", "review": None, "docs": None})
    assert "docs" not in ways(found)


def test_the_entry_may_be_a_sibling_too(pipeline: Machine) -> None:
    route: Json = {"stages": ["plan", "lint"], "execution": "parallel"}
    assert ways(pipeline({"plan": "fork", "fork": route, "lint": None})) == {
        "plan": ["entry", "sibling"],
        "fork": ["after plan"],
        "lint": ["sibling"],
    }


def test_a_join_may_be_come_to_on_other_ways(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": None, "lint": None, "review": "docs", "docs": "review"})
    assert ways(found)["review"] == ["join test, lint", "after docs"]


def test_two_fan_outs_may_share_a_join(pipeline: Machine) -> None:
    other: Json = {"stages": ["lint", "test", "docs"], "execution": "parallel", "join": "review"}
    either: Json = [{"when": {"parsed.x": 1}, **FORK}, other]
    found = pipeline({"plan": either, "test": None, "lint": None, "review": None, "docs": None})
    assert ways(found)["review"] == ["join test, lint", "join lint, test, docs"]


def test_a_join_among_its_siblings_is_taken_for_the_join(pipeline: Machine) -> None:
    route: Json = {"stages": ["test", "lint", "review"], "execution": "parallel", "join": "review"}
    found = pipeline({"plan": route, "test": None, "lint": None, "review": "docs", "docs": None})
    assert ways(found) == {
        "plan": ["entry"],
        "test": ["sibling"],
        "lint": ["sibling"],
        "review": ["join test, lint"],
        "docs": ["after review"],
    }


def test_a_join_after_one_stage_or_none_is_no_arrival(pipeline: Machine) -> None:
    ends: Json = {"stages": [], "execution": "parallel", "join": "review"}
    one: Json = {"stages": ["test"], "join": "review"}
    assert ways(pipeline({"plan": one, "test": ends, "review": None})) == {"plan": ["entry"], "test": ["after plan"]}


def test_nothing_is_known_of_stages_that_are_run_in_no_known_way(pipeline: Machine) -> None:
    route: Json = {"stages": ["test", "lint"], "execution": "paralel", "join": "review"}
    found = pipeline({"plan": route, "test": "docs", "lint": None, "review": None, "docs": None})
    assert ways(found) == {"plan": ["entry"], "docs": ["after test"]}


def test_aliases_are_read_like_what_they_stand_for(pipeline: Machine) -> None:
    route: Json = {"nextStages": ["test", "lint"], "execution": "parallel", "join": "review"}
    stages: dict[str, Json] = {"plan": route, "test": {"terminate": True}, "lint": {"execution": "terminate"}}
    assert ways(pipeline({**stages, "review": {"nextStages": []}}, entry=None, entryStage="plan")) == {
        "plan": ["entry"],
        "test": ["sibling"],
        "lint": ["sibling"],
        "review": ["join test, lint"],
    }


def test_names_that_no_stage_has_are_kept_as_they_are_written(pipeline: Machine) -> None:
    assert ways(pipeline({"plan": "nowhere"}, entry="begin")) == {"begin": ["entry"], "nowhere": ["after plan"]}


def test_without_an_entry_the_routes_are_still_known(pipeline: Machine) -> None:
    found = pipeline({"plan": "execute", "execute": None})
    assert {name: len(own) for name, own in incoming(None, found.by_id, lambda *_: True).items()} == {"execute": 1}


def test_stages_that_belong_to_no_pipeline_are_come_to_on_no_way(reading: Machine) -> None:
    text = "---\nid: a\nallowedTools: []\nturnCap: 1\nstagec: {next: b}\n---\nGo.\n"
    assert ways(reading({"a.md": text})) == {}
