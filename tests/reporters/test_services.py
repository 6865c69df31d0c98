"""What build services read: SARIF, workflow commands of GitHub, code quality of GitLab, and JUnit's XML."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree as ET

import pytest

from stagec.check.reporters import Diagnostic, Report, github, gitlab, junit, sarif
from stagec.core.place import Pointer
from stagec.core.value import replace
from stagec.core.words import visible
from stagec.sources.project.baseline import fingerprint

MULTITOOL = os.environ.get("STAGEC_SARIF_MULTITOOL", "")


def in_folder(file: str) -> str:
    return f"tools/agents/{file}"


@pytest.fixture
def placed(found: Report) -> Report:
    """Return a report of a project in a folder of its repository."""
    return replace(found, name_in_repository=in_folder, explain="The page of {}.\n\n## How to fix\nMend it.\n".format)


def read_sarif(report: Report) -> Any:
    (run,) = json.loads(sarif.REPORTER.render(report))["runs"]
    return run


# SARIF


def test_each_finding_is_a_result_of_a_rule_with_help(placed: Report) -> None:
    run = read_sarif(placed)
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(placed.diagnostics)
    for each, result in zip(placed.diagnostics, run["results"], strict=True):
        rule = rules[result["ruleIndex"]]
        assert (rule["id"], result["ruleId"], result["level"]) == (each.code, each.code, each.severity)
        assert rule["help"]["markdown"].startswith(f"The page of {each.code}.")
        assert len(result["relatedLocations"] if each.related else ()) == len(each.related)


def test_files_are_named_from_the_repository_as_urls(placed: Report) -> None:
    for each, result in zip(placed.diagnostics, read_sarif(placed)["results"], strict=True):
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"tools/agents/[A-Za-z0-9._~/%-]+", uri)
        assert unquote_to_bytes(uri) == in_folder(each.at.file).encode(errors="surrogateescape")


def test_no_region_is_empty(placed: Report) -> None:
    for result in read_sarif(placed)["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        first, last = (
            (region.get(f"{at}Line", region["startLine"]), region.get(f"{at}Column", 1)) for at in ("start", "end")
        )
        assert "startColumn" not in region or first < last


def test_brackets_of_users_are_no_links(placed: Report) -> None:
    (first, *_) = placed.diagnostics
    told = read_sarif(replace(placed, diagnostics=(replace(first, message="a [link](1) and a \\ in 'x'"),)))
    assert told["results"][0]["message"]["text"] == "a \\[link\\](1) and a \\\\ in 'x'"


@pytest.mark.skipif(not MULTITOOL, reason="STAGEC_SARIF_MULTITOOL names no program that validates SARIF")
@pytest.mark.parametrize("which", ["found", "clean"])
def test_the_validator_of_the_format_and_of_github_has_nothing_to_say(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    report = replace(
        request.getfixturevalue(which), explain="The page of {}.".format, documentation="https://docs.example"
    )
    (tmp_path / "log.sarif").write_text(sarif.REPORTER.render(report))
    command = [MULTITOOL, "validate", "log.sarif", "--rule-kind", "Sarif;Ghas", "-o", "told.sarif"]
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    told = json.loads((tmp_path / "told.sarif").read_text())["runs"][0]["results"]
    assert [each for each in told if each.get("level", "warning") in {"warning", "error"}] == []


# Fingerprints


def test_fingerprints_are_unique_and_hold_no_line(found: Report) -> None:
    twice = (*found.diagnostics, *found.diagnostics)
    known = [digest for _, digest in fingerprint(twice)]
    assert len({*known}) == len(twice)
    moved = [replace(each, span=replace(each.span, start=each.span.end)) for each in twice]
    assert [digest for _, digest in fingerprint(moved)] == known


@pytest.mark.parametrize(
    ("pointer", "is_same"), [(("a", 1, "b"), True), (("a", 7, "b"), True), (("c", 1, "b"), False), (("a", 1), False)]
)
def test_indices_do_not_count_and_names_do(found: Report, pointer: Pointer, *, is_same: bool) -> None:
    (first, *_) = found.diagnostics
    one, other = (replace(first, at=replace(first.at, pointer=each)) for each in (("a", 1, "b"), pointer))
    assert (digest_of(one) == digest_of(other)) is is_same


def digest_of(each: Diagnostic) -> str:
    ((_, digest),) = fingerprint([each])
    return digest


# GitHub


def test_each_finding_is_one_workflow_command(placed: Report) -> None:
    lines = github.REPORTER.render(placed).splitlines()
    assert len(lines) == len(placed.diagnostics)
    for each, line in zip(placed.diagnostics, lines, strict=True):
        match = re.fullmatch(r"::(error|warning|notice) ((?:[a-zA-Z]+=[^,:]*,?)+)::(.+)", line)
        assert match is not None
        values = dict(part.split("=", 1) for part in match[2].split(","))
        assert {"file", "line", "title"} <= {*values}
        assert values["line"] == str(each.span.start.line)


@pytest.mark.parametrize(
    "hostile", ["::set-output name=x::y", "a,line=9::b", "100%0A::error::x", "one\n::error::two\r"]
)
def test_no_text_of_a_user_ends_a_command(placed: Report, hostile: str) -> None:
    (first, *_) = placed.diagnostics
    bad = replace(first, message=hostile, at=replace(first.at, file=hostile))
    (line,) = github.REPORTER.render(replace(placed, diagnostics=(bad,))).splitlines()
    head, _, _ = line.removeprefix("::").partition("::")
    assert len(head.split(",")) == len(["file", "line", "endLine", "col", "endColumn", "title"])


# GitLab


def test_gitlab_gets_what_it_needs_of_each_finding(placed: Report) -> None:
    issues = json.loads(gitlab.REPORTER.render(placed))
    assert len({each["fingerprint"] for each in issues}) == len(placed.diagnostics)
    for each in issues:
        assert each["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert each["location"]["path"].startswith("tools/agents/")
        assert 1 <= each["location"]["lines"]["begin"] <= each["location"]["lines"]["end"]
        assert each["description"]
        assert each["check_name"]


# JUnit


@pytest.mark.parametrize("which", ["found", "clean"])
def test_junit_counts_what_it_holds(which: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(which)
    top = ET.fromstring(junit.REPORTER.render(report))
    cases = top.findall("testsuite/testcase")
    assert (int(top.attrib["tests"]), int(top.attrib["failures"])) == (len(cases), len(top.findall(".//failure")))
    for suite in top:
        assert int(suite.attrib["tests"]) == len(suite)
        assert int(suite.attrib["failures"]) == len(suite.findall(".//failure"))
    assert {each.attrib["name"] for each in top} >= {visible(file) for file in report.trees}


@pytest.mark.parametrize("hostile", ['"/><x/>', "]]>", "&amp;<", "\x00\x0b\ud800", "\ufffe"])
def test_no_text_of_a_user_is_xml(found: Report, hostile: str) -> None:
    (first, *_) = found.diagnostics
    bad = replace(first, message=f"a {hostile}", at=replace(first.at, file=f"b {hostile}"))
    top = ET.fromstring(junit.REPORTER.render(replace(found, diagnostics=(bad,), trees={})))
    assert [each.tag for each in top.iter()] == ["testsuites", "testsuite", "testcase", "failure"]
