"""Where a report sends readers: to the command that prints a rule's page, and to a site only where there is one."""

from __future__ import annotations

import json
import re

import pytest

from stagec.check import reporters
from stagec.check.reporters import Report, Reporter
from stagec.core.shelf import member, names
from stagec.core.value import replace
from stagec.core.version import DOCUMENTATION, locate_page

SITE = "https://docs.example.org/stagec"
EXPLAINING = sorted({*names(reporters)} - {"concise"})  # whose line names nothing but the code


def printed(name: str, report: Report, site: str | None) -> str:
    pointed = tuple(replace(each, url=locate_page(site, each.code)) for each in report.diagnostics)
    return member(reporters, name, Reporter).render(replace(report, diagnostics=pointed, documentation=site))


@pytest.mark.parametrize("name", EXPLAINING)
@pytest.mark.parametrize("site", [None, SITE])
def test_the_command_that_explains_is_always_named(name: str, site: str | None, found: Report) -> None:
    text = printed(name, found, site)
    assert {f"stagec explain {each.code}" for each in found.diagnostics} <= {*re.findall(r"stagec explain \w+", text)}


@pytest.mark.parametrize("name", names(reporters))
def test_without_a_site_no_address_is_printed(name: str, found: Report) -> None:
    addresses = {*re.findall(r"https?://[\w.-]+", printed(name, found, None))}
    assert addresses <= {"https://docs.oasis-open.org"}  # the schema of SARIF


@pytest.mark.parametrize("name", EXPLAINING)
def test_where_there_is_a_site_it_is_named_too(name: str, found: Report) -> None:
    text = printed(name, found, f"{SITE}/")
    assert {f"{SITE}/rules/{each.code}/" for each in found.diagnostics} <= {*re.findall(rf"{SITE}/rules/\w+/", text)}


def test_sarif_names_the_site_of_the_tool_only_where_there_is_one(found: Report) -> None:
    drivers = [json.loads(printed("sarif", found, site))["runs"][0]["tool"]["driver"] for site in (None, SITE)]
    assert [driver.get("informationUri") for driver in drivers] == [None, SITE]
    assert [{"helpUri" in rule for rule in driver["rules"]} for driver in drivers] == [{False}, {True}]


def test_a_site_that_the_package_itself_names_is_the_one_of_its_metadata() -> None:
    from importlib.metadata import metadata

    named = [each.partition(", ") for each in metadata("stagec").get_all("Project-URL") or []]
    assert [url for label, _, url in named if label == "Documentation"] == ([DOCUMENTATION] if DOCUMENTATION else [])
