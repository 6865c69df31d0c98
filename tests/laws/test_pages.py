"""Every rule can be turned into its page."""

from __future__ import annotations

import re

from stagec_dev.rule_examples import find_examples_file, write_examples
from stagec_dev.rule_pages import pages


def test_the_examples_that_explain_shows_are_those_of_the_specifications() -> None:
    """`python -m stagec_dev docs` writes them."""
    assert find_examples_file().read_text(encoding="utf-8") == write_examples()


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
