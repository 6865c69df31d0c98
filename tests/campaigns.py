"""How much a campaign tries: little in a test run on somebody's machine, everything in CI.

A campaign is a test that tries many cases: random projects, every byte altered, every moment at which a process can be
killed. `STAGEC_CAMPAIGNS=full` asks for all of them; `.ci/run` sets it. Without it, a campaign takes seconds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from typing import TypeVar

T = TypeVar("T")

SIZE = "STAGEC_CAMPAIGNS"

SAMPLED = {
    **dict.fromkeys(("cli", "conformance", "crash", "determinism", "hostile", "world"), 1),
    "core": 3,
    "corpus": 30,
    "drivers": 6,
    "emitters": 6,
    "packaging": 2,
    "plan": 3,
    "properties": 3,
    "serve": 6,
    "sources": 8,
    "stagec_dev": 4,
}
"""Folders whose tests take long, and how many tests of one kind a quick run of the whole suite keeps."""
SAMPLED_FULL = {"hostile": 15}
"""The same for a full run; whoever names a folder runs all of its tests."""

FULL_ONLY = {
    "tests/cli/test_review.py::test_a_comment_is_never_longer_than_github_accepts",
    "tests/cli/test_review.py::test_many_flows_are_counted_and_drawn_as_far_as_there_is_room",
    "tests/conformance/test_kills.py::test_a_worker_that_is_killed_again_and_again_changes_nothing",
    "tests/conformance/test_kills.py::test_a_worker_that_is_stopped_and_goes_on_later_doubles_nothing",
    "tests/conformance/test_page.py::test_a_driver_of_somebody_else_is_judged",
    "tests/conformance/test_page.py::test_a_driver_that_doubles_an_event_is_found_out",
    "tests/conformance/test_people.py::test_a_paused_run_stands_still_until_it_is_resumed",
    "tests/conformance/test_people.py::test_a_question_survives_the_death_of_the_worker",
    "tests/conformance/test_people.py::test_a_run_that_is_cancelled_ends_for_good",
    "tests/conformance/test_people.py::test_a_run_that_nobody_executes_is_cancelled",
    "tests/conformance/test_people.py::test_a_run_that_waits_for_people_is_cancelled",
    "tests/conformance/test_people.py::test_nothing_can_be_answered_that_is_not_asked",
    "tests/conformance/test_people.py::test_of_many_answers_one_counts",
    "tests/conformance/test_runs.py::test_a_journal_moves_out_and_the_local_driver_goes_on",
    "tests/conformance/test_runs.py::test_a_journal_of_the_local_driver_moves_in",
    "tests/conformance/test_runs.py::test_a_run_that_is_submitted_again_is_the_same_run",
    "tests/conformance/test_runs.py::test_a_worker_that_is_asked_to_end_ends_and_another_one_goes_on",
    "tests/conformance/test_runs.py::test_every_sample_ends_as_in_memory",
    "tests/core/test_docstring.py::test_no_page_and_no_help_is_lost",
    "tests/core/test_secrets.py::test_no_output_takes_for_ever",
    "tests/crash/test_crashes_of_stages.py",
    "tests/crash/test_full_disk_of_stages.py",
    "tests/crash/test_kills_of_commands.py",
    "tests/crash/test_kills_of_stages.py",
    "tests/determinism/test_output.py",
    "tests/determinism/test_plans.py::test_the_locale_does_not_matter",
    "tests/drivers/local/test_copies.py",
    "tests/hostile/test_boundaries.py",
    "tests/hostile/test_files.py",
    "tests/packaging/test_pre_commit.py::test_a_repository_without_anything_to_check_passes",
    "tests/packaging/test_pre_commit.py::test_every_hook_stops_what_it_is_for",
    "tests/packaging/test_pre_commit.py::test_the_hook_stops_a_broken_registry_and_lets_a_clean_one_pass",
    "tests/packaging/test_review_comment.py::test_a_branch_that_is_checked_out_itself_is_compared_with_where_it_went_off",
    "tests/packaging/test_review_comment.py::test_a_fork_without_rights_gets_the_summary",
    "tests/packaging/test_review_comment.py::test_a_project_with_errors_is_reviewed_and_fails_the_job",
    "tests/properties/test_bundles.py",
    "tests/properties/test_fixes_of_mutants.py",
    "tests/properties/test_quick_yaml.py::test_third_party_texts_are_read_like_the_parser_does",
    "tests/registries/test_stage_tutorial.py",
    "tests/registries/test_tour.py::test_a_model_of_this_machine_drives_a_run_that_is_killed",
    "tests/registries/test_wine_quality.py::test_the_stages_find_out_about_wines",
    "tests/scale/test_failures.py::test_a_run_whose_segment_has_failed_goes_on",
    "tests/scale/test_storm.py::test_a_storm_changes_nothing_of_what_comes_of_runs",
    "tests/scale/test_versions.py::test_a_rolling_upgrade_mixes_no_versions",
    "tests/scale/test_waiting.py::test_runs_that_wait_for_people_hold_nothing",
    "tests/stagec_dev/site/test_site.py::test_the_site_is_whole_and_works_without_a_network",
    "tests/stagec_dev/test_new.py",
    "tests/stagec_dev/test_scaling.py",
    "tests/world/stages/test_hostile_stages.py",
    "tests/world/tools/test_real_servers.py",
}
"""Files of tests, and tests whatever their parameters, that a quick run of the whole suite leaves out.

They run other test suites, install packages, build all pages, fill disks, kill programs again and again, or wait for
many processes. A quick run keeps tests of each kind.
"""


def is_full() -> bool:
    """Tell whether campaigns run at full size."""
    size = os.environ.get(SIZE, "quick")
    if size not in {"quick", "full"}:
        raise ValueError(f"{SIZE} is {size!r} and must be 'quick' or 'full'")
    return size == "full"


def choose(quick: int, *, full: int) -> int:
    """Return the number of cases that a campaign tries."""
    return full if is_full() else quick


def sample(cases: Sequence[T], quick: int, *, full: int | None = None) -> Sequence[T]:
    """Return all cases, or that many of them in a quick or a full run, spread evenly, with the first and the last."""
    most = full if is_full() else quick
    if most is None or len(cases) <= most:
        return cases
    if most == 1:
        return cases[:1]
    between = ((at * (len(cases) - 1)) // (most - 1) for at in range(1, most - 1))
    return [cases[at] for at in chain((0,), between, (len(cases) - 1,))]


def select(names: Sequence[str]) -> set[str]:
    """Return the names of the tests that a run of the whole suite keeps."""
    left_out = set[str]() if is_full() else {each for each in names if FULL_ONLY.intersection(_list_wholes(each))}
    for folder, most in (SAMPLED_FULL if is_full() else SAMPLED).items():
        inside = [each for each in names if each.startswith(f"tests/{folder}/")]
        left_out.update({*inside}.difference(sample_alike(inside, most)))
    return {*names} - left_out


def _list_wholes(name: str) -> tuple[str, str]:
    """Return the file of a test, and the test without its parameters."""
    return name.partition("::")[0], name.partition("[")[0]


def sample_alike(names: Sequence[str], most: int) -> list[str]:
    """Return the names of tests, of those that differ in their parameters only at most so many."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(name.partition("[")[0], []).append(name)
    return [name for alike in kinds.values() for name in sample(alike, most, full=most)]
