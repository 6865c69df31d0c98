"""Where prompts are looked for, which of them are there, and when nothing is looked for."""

from __future__ import annotations

from stagec.core.json import Object
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.languages.registry.files import read_address
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.guards import read_validation_steps
from stagec.languages.registry.prompts import PromptFile, Prompts, RetryPrompt, Store, WantedPrompt, find_prompts
from stagec.sources.tree import Fault

ROOT: Object = {"c1": "steps"}
STEP: Object = {"c2": "initial", "c3": "issue"}
PLAIN, ADAPTED = "prompts/steps/initial/issue/f_default.md", "prompts/steps/initial/issue/f_default_empty.md"


def _store(*files: str, linked: tuple[str, ...] = ()) -> Store:
    return Store("prompts", files, linked.__contains__)


def _want(step: Object, key: str = "a") -> WantedPrompt:
    return WantedPrompt(key, read_address(step, Place("r.json", ("steps", key)), Generation.V1_13))


def _find(store: Store, step: Object, root: Object = ROOT, *faults: Fault) -> PromptFile | None:
    return find_prompts(store, root, [_want(step)], {}, faults).of_steps.get("a")


def test_a_step_without_adaptation_has_one_place() -> None:
    assert _find(_store(PLAIN, ADAPTED), STEP) == PromptFile((PLAIN,), PLAIN)


def test_an_adaptation_is_taken_where_it_is_there() -> None:
    assert _find(_store(PLAIN, ADAPTED), {**STEP, "adaptation": "empty"}) == PromptFile((ADAPTED, PLAIN), ADAPTED)


def test_without_it_the_plain_prompt_serves() -> None:
    assert _find(_store(PLAIN), {**STEP, "adaptation": "empty"}) == PromptFile((ADAPTED, PLAIN), PLAIN)


def test_what_is_nowhere_keeps_the_places_that_were_tried() -> None:
    assert _find(_store(), {**STEP, "adaptation": "empty"}) == PromptFile((ADAPTED, PLAIN))


def test_a_file_that_no_search_of_the_folder_finds_may_lie_behind_a_link() -> None:
    assert _find(_store(linked=(PLAIN,)), STEP) == PromptFile((PLAIN,), PLAIN)


def test_a_template_states_another_path() -> None:
    root = {**ROOT, "pathTemplateNoAdaptation": "{c3}-{c2}.md"}
    assert _find(_store(), STEP, root) == PromptFile(("prompts/issue-initial.md",))


def test_a_brace_in_a_coordinate_is_no_placeholder() -> None:
    assert _find(_store(), {**STEP, "c2": "{c3}"}) == PromptFile(("prompts/steps/{c3}/issue/f_default.md",))


def test_a_path_that_leaves_the_project_is_kept_as_written() -> None:
    step = {**STEP, "edition": "/../../../../../../x"}
    assert _find(_store(), step) == PromptFile(("steps/initial/issue/f_/../../../../../../x.md",), is_outside=True)


def test_coordinates_that_are_no_texts_name_no_prompt() -> None:
    assert [_find(_store(PLAIN), {**STEP, **wrong}) for wrong in ({"c2": 1}, {"c3": ["issue"]}, {"edition": None})] == [
        None,
        None,
        None,
    ]


def test_without_a_first_coordinate_no_prompt_can_be_looked_for() -> None:
    assert find_prompts(_store(PLAIN), {}, [_want(STEP)], {}, ()) == Prompts(files=NameIndex((PLAIN,)))


def test_a_fault_in_a_coordinate_silences_its_step_and_no_other() -> None:
    fault = Fault("unknown-key", Place("r.json", ("steps", "a", "editon")).key)
    found = find_prompts(_store(PLAIN), ROOT, [_want(STEP), _want(STEP, "b")], {}, (fault,))
    assert found.of_steps == {"b": PromptFile((PLAIN,), PLAIN)}


def test_a_fault_in_a_template_silences_all() -> None:
    fault = Fault("malformed-value", Place("r.json", ("pathTemplate",)))
    assert _find(_store(PLAIN), STEP, ROOT, fault) is None


def test_a_retry_has_the_coordinates_of_the_validation_step_and_of_the_failure_pattern() -> None:
    root: Object = {
        **ROOT,
        "validators": {"clean": {"failurePattern": "dirty"}, "tidy": {"failurePattern": "dirty"}, "odd": {}},
        "failurePatterns": {"dirty": {"edition": "failed"}},
        "validationSteps": {
            "closure.a": {
                "c2": "retry",
                "c3": "a",
                "validationConditions": [{"validator": "clean"}, {"validator": "tidy"}, {"validator": "odd"}],
            },
            "closure.b": {"onFailure": {"action": "skip"}, "validationConditions": [{"validator": "clean"}]},
        },
    }
    lost = PromptFile(("prompts/steps/retry/a/f_failed.md",))
    guards = read_validation_steps(root, Place("r.json"), Generation.V1_13)
    assert find_prompts(_store(), root, (), guards, ()).of_retries == (RetryPrompt("closure.a", "dirty", lost),)


def test_the_one_coordinate_in_which_another_file_differs_is_named() -> None:
    prompts = find_prompts(_store(), ROOT, [_want(STEP)], {}, ())
    others = (
        "steps/initial/issue/f_first.md",
        "steps/closure/issue/f_default.md",
        "steps/closure/issue/f_x.md",
        "x.md",
    )
    found = [prompts.differing(prompts.of_steps["a"], f"prompts/{each}") for each in others]
    assert found == ["edition", "c2", None, None]
