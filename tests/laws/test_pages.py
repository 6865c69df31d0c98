"""Every rule can be turned into its page."""

from __future__ import annotations

from stagec_dev.rule_pages import pages


def test_every_rule_has_a_page_with_its_executed_examples() -> None:
    written = {path.stem: text for path, text in pages().items()}
    without = [code for code, text in written.items() if code != "index" and "```diagnostics" not in text]
    assert without == []


def test_the_index_lists_every_page() -> None:
    written = {path.stem: text for path, text in pages().items()}
    assert [code for code in written if code != "index" and f"[{code}]({code}.md)" not in written["index"]] == []
