"""Every rule can be turned into its page."""

from __future__ import annotations

import re

from stagec.check.pipeline import list_families
from stagec_dev.checkout import ROOT
from stagec_dev.rule_pages import find_examples_file, pages, write_examples
from stagec_dev.tools.docs import find_command_page, find_decisions_page, write_command_page, write_decisions_page


def test_the_examples_that_explain_shows_are_those_of_the_specifications() -> None:
    """`python -m stagec_dev docs` writes them."""
    assert find_examples_file().read_text(encoding="utf-8") == write_examples()


def test_the_reference_of_the_command_line_is_that_of_the_commands() -> None:
    assert find_command_page().read_text(encoding="utf-8") == write_command_page()


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 600


def test_the_index_of_decisions_lists_each() -> None:
    assert find_decisions_page().read_text(encoding="utf-8") == write_decisions_page()


def test_the_page_of_validate_lists_every_family_with_its_codes() -> None:
    page = (ROOT / "docs" / "user-guide" / "validate.md").read_text(encoding="utf-8")
    told = [*re.findall(r"^\| ([a-z ]+) \| (STG[^|]+) \|.*?(?: (Off by default)\.)? \|$", page, re.MULTILINE)]
    assert {*told} == {
        (
            family.name.replace("_", " "),
            ", ".join(f"STG{each.start:03} to STG{each[-1]:03}" for each in family.numbers),
            "Off by default" if family.optional else "",
        )
        for family in list_families()
    }


def test_every_family_has_a_title_in_words() -> None:
    (index,) = (text for path, text in pages().items() if path.stem == "index")
    titles = re.findall(r"^## (.+)$", index, re.MULTILINE)
    assert [title for title in titles if not re.fullmatch(r"[A-Z][a-z ]+: STG\d{3,}.*", title)] == []


def test_every_rule_has_a_page_with_its_executed_examples() -> None:
    written = {path.stem: text for path, text in pages().items()}
    without = [code for code, text in written.items() if code != "index" and "```diagnostics" not in text]
    assert without == []


def test_the_index_lists_every_page() -> None:
    written = {path.stem: text for path, text in pages().items()}
    assert [code for code in written if code != "index" and f"]({code}.md)" not in written["index"]] == []
