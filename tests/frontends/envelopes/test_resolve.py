"""What dependencies and inputs mean: other stages, their outputs, files, URLs, or nothing that is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from frontends.envelopes.conftest import Files, envelope

from stagec.languages.envelopes.document import DependencyKind, Envelope, InputKind, StagePlan

ReadStages = Callable[..., StagePlan]
ReadPlans = Callable[[Files], tuple[StagePlan, ...]]

LOAD = envelope("S01_load_data", inputs={})
CLEAN = envelope("S02_clean_data", "S01_load_data")


def train(read_stages: ReadStages, *stages: Any, needs: Any = (), **inputs: str) -> Envelope:
    """Return the last stage of a plan, with these dependencies and inputs."""
    plan = read_stages(*stages, envelope("S09_train_model", inputs=inputs, dependencies=[*needs]))
    return plan.by_id["S09_train_model"]


class TestDependencies:
    def test_ids_are_needed_in_their_order(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, CLEAN, needs=("S02_clean_data", "S01_load_data"))
        assert (found.needs, found.implied, found.oddities) == (("S02_clean_data", "S01_load_data"), (), ())

    @pytest.mark.parametrize(
        ("name", "kind", "meant", "needs"),
        [
            ("S01", DependencyKind.SHORT, ("S01_load_data",), ("S01_load_data",)),
            ("S03", DependencyKind.AMBIGUOUS, ("S03_a_b", "S03_c_d"), ()),
            ("S09_train_model", DependencyKind.OWN, ("S09_train_model",), ()),
            ("S09", DependencyKind.OWN, ("S09_train_model",), ()),
            ("S05", DependencyKind.UNKNOWN, (), ()),
            ("S05_nothing_like_it", DependencyKind.UNKNOWN, (), ()),
            ("S01_laod_data", DependencyKind.UNKNOWN, ("S01_load_data",), ("S01_load_data",)),
            ("S01_load_dataset", DependencyKind.UNKNOWN, ("S01_load_data",), ("S01_load_data",)),
            ("s01-load-data", DependencyKind.UNKNOWN, ("S01_load_data",), ("S01_load_data",)),
            ("S09_train_modell", DependencyKind.UNKNOWN, (), ()),
        ],
    )
    def test_a_remarkable_name(
        self, read_stages: ReadStages, name: str, kind: DependencyKind, meant: tuple[str, ...], needs: tuple[str, ...]
    ) -> None:
        others = (LOAD, envelope("S03_a_b", inputs={}), envelope("S03_c_d", inputs={}))
        found = train(read_stages, *others, needs=(name,))
        assert [(each.name, each.kind, each.meant) for each in found.oddities] == [(name, kind, meant)]
        assert found.needs == needs
        assert found.oddities[0].at.pointer == ("stages", 3, "dependencies", 0)

    def test_a_repeated_name_is_needed_once(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, needs=("S01_load_data", 7, "S01_load_data", "S01"))
        assert [(each.kind, each.at.pointer[-1]) for each in found.oddities] == [
            (DependencyKind.REPEATED, 2),
            (DependencyKind.SHORT, 3),
        ]
        assert found.needs == ("S01_load_data",)

    def test_every_mention_has_its_place(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, CLEAN, needs=(None, "S01", "S02_clean_data"))
        assert [(each.name, each.at.pointer[-1]) for each in found.list_mentions()] == [
            ("S01", 1),
            ("S02_clean_data", 2),
        ]

    def test_one_envelope_alone_says_nothing_about_others(self, read_plans: ReadPlans) -> None:
        (plan,) = read_plans({"a.json": envelope("S02_clean_data", "S01_load_data", "S01", "S02_clean_data")})
        (found,) = plan.envelopes
        assert [(each.name, each.kind) for each in found.oddities] == [
            ("S01", DependencyKind.SHORT),
            ("S02_clean_data", DependencyKind.OWN),
        ]
        assert (found.needs, found.implied) == ((), ())


class TestInputs:
    @pytest.mark.parametrize(
        ("text", "kind", "path", "producer"),
        [
            ("S01_load_data/out.json", InputKind.OUTPUT, "out.json", "S01_load_data"),
            ("S01_load_data/other.json", InputKind.UNKNOWN_OUTPUT, "other.json", "S01_load_data"),
            ("S01_load_data/", InputKind.UNKNOWN_OUTPUT, "", "S01_load_data"),
            ("S09_train_model/out.json", InputKind.OWN, "out.json", "S09_train_model"),
            ("S05_tune_model/out.json", InputKind.UNKNOWN_STAGE, "out.json", "S05_tune_model"),
            ("S01/out.json", InputKind.UNKNOWN_STAGE, "out.json", "S01"),
            ("s01_load_data/out.json", InputKind.UNKNOWN_STAGE, "out.json", "s01_load_data"),
            ("data/wine.csv", InputKind.FILE, "data/wine.csv", None),
            ("s3-bucket/wine.csv", InputKind.FILE, "s3-bucket/wine.csv", None),
            ("S3/wine.csv", InputKind.FILE, "S3/wine.csv", None),
            ("./S01_load_data/out.json", InputKind.FILE, "./S01_load_data/out.json", None),
            ("/etc/passwd", InputKind.FILE, "/etc/passwd", None),
            ("wine.csv", InputKind.FILE, "wine.csv", None),
            ("", InputKind.FILE, "", None),
            ("https://example.org/S01_load_data/x.csv", InputKind.URL, "https://example.org/S01_load_data/x.csv", None),
            ("s3://bucket/key", InputKind.URL, "s3://bucket/key", None),
            ("a:b/c", InputKind.FILE, "a:b/c", None),
        ],
    )
    def test_a_path_is_one_of_three(
        self, read_stages: ReadStages, text: str, kind: InputKind, path: str, producer: str | None
    ) -> None:
        found = train(read_stages, LOAD, needs=("S01_load_data",), x=text).inputs["x"]
        assert (found.kind, found.path, found.producer) == (kind, path, producer)

    def test_a_bare_name_is_an_output_of_the_one_stage_before_that_makes_it(self, read_stages: ReadStages) -> None:
        found = train(
            read_stages, LOAD, envelope("S02_clean_data", "S01_load_data", outputs={}), needs=("S02",), x="out.json"
        )
        assert (found.inputs["x"].kind, found.inputs["x"].producer) == (InputKind.OUTPUT, "S01_load_data")
        assert found.inputs["x"].bare

    def test_a_bare_name_that_several_make_is_left_to_the_rules(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, CLEAN, needs=("S02_clean_data",), x="out.json").inputs["x"]
        assert (found.kind, found.candidates) == (InputKind.AMBIGUOUS, ("S01_load_data", "S02_clean_data"))

    def test_a_bare_name_that_only_others_make_is_a_file(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, x="out.json").inputs["x"]
        assert (found.kind, found.candidates) == (InputKind.FILE, ("S01_load_data",))

    @pytest.mark.parametrize(
        ("needs", "kind", "producer"),
        [
            ([], InputKind.FILE, None),
            (["S01_load_data"], InputKind.OUTPUT, "S01_load_data"),
            (["S01_load_data", "S03_a_b"], InputKind.OUTPUT, None),
        ],
    )
    def test_a_bare_name_alone(
        self, read_plans: ReadPlans, needs: list[str], kind: InputKind, producer: str | None
    ) -> None:
        (plan,) = read_plans({"a.json": envelope("S02_eda", inputs={"df": "wine.parquet"}, dependencies=needs)})
        found = plan.envelopes[0].inputs["df"]
        assert (found.kind, found.producer, found.bare) == (kind, producer, True)

    def test_another_stage_alone_is_taken_for_granted(self, read_plans: ReadPlans) -> None:
        (plan,) = read_plans(
            {"a.json": envelope("S02_eda", inputs={"df": "S01_load_data/df.parquet"}, dependencies=[])}
        )
        found = plan.envelopes[0].inputs["df"]
        assert (found.kind, found.producer, found.inferred) == (InputKind.OUTPUT, "S01_load_data", False)


class TestInference:
    def test_an_input_implies_a_dependency_that_nobody_states(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, x="S01_load_data/out.json")
        assert (found.needs, found.implied) == ((), ("S01_load_data",))
        assert found.inputs["x"].inferred

    def test_a_dependency_by_way_of_others_is_enough(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, CLEAN, needs=("S02_clean_data",), x="S01_load_data/out.json")
        assert (found.implied, found.inputs["x"].inferred) == ((), False)

    def test_what_a_stage_on_the_way_forgot_is_told_there_only(self, read_stages: ReadStages) -> None:
        clean = {**CLEAN, "dependencies": []}
        plan = read_stages(
            LOAD,
            clean,
            envelope("S03_train_model", inputs={"x": "S01_load_data/out.json"}, dependencies=["S02_clean_data"]),
        )
        assert [each.implied for each in plan.envelopes] == [(), ("S01_load_data",), ()]

    def test_each_producer_that_nobody_states_is_implied(self, read_stages: ReadStages) -> None:
        found = train(read_stages, LOAD, CLEAN, a="S01_load_data/out.json", b="S02_clean_data/out.json")
        assert found.implied == ("S01_load_data", "S02_clean_data")

    @pytest.mark.parametrize("name", ["S01", "S01_laod_data"])
    def test_a_name_that_is_told_to_be_wrong_counts_as_what_it_means(self, read_stages: ReadStages, name: str) -> None:
        assert train(read_stages, LOAD, needs=(name,), x="S01_load_data/out.json").implied == ()

    def test_one_of_several_that_a_number_may_mean_is_not_inferred(self, read_stages: ReadStages) -> None:
        others = (envelope("S03_a_b", inputs={}), envelope("S03_c_d", inputs={}))
        assert train(read_stages, *others, needs=("S03",), x="S03_a_b/out.json").implied == ()

    def test_circles_are_no_trouble(self, read_stages: ReadStages) -> None:
        plan = read_stages(
            envelope("S01_load_data", inputs={"x": "S02_clean_data/out.json"}),
            envelope("S02_clean_data", "S01_load_data"),
        )
        assert [each.implied for each in plan.envelopes] == [("S02_clean_data",), ()]

    def test_a_long_chain_is_no_trouble(self, read_stages: ReadStages) -> None:
        first = envelope("S00_s_0", inputs={}, outputs={"a": "a.csv"})
        rest = [envelope(f"S00_s_{at}", f"S00_s_{at - 1}", outputs={}, inputs={"x": "a.csv"}) for at in range(1, 3000)]
        plan = read_stages(first, *rest)
        assert {each.inputs["x"].producer for each in plan.envelopes[1:]} == {"S00_s_0"}
