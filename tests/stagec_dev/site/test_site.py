"""The whole site: built, without a broken link, at the addresses that diagnostics print, and used from its folder."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import list_families
from stagec.core.version import locate_page
from stagec_dev.__main__ import main

SITE = "https://docs.example.org/stagec"
WITHOUT_CODE = re.compile(r"<(pre|code|script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)


def leftovers_in(page: Path) -> list[str]:
    """Return Markdown that the generator took for text."""
    text = WITHOUT_CODE.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"```.*|\*\*\w.*|\w\]\(\S.*|^\|.*\|$", text, re.MULTILINE)


def test_the_site_is_whole_and_works_without_a_network(
    tmp_path: Path, chromium: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("zensical")
    site = tmp_path / "site"
    status = main(["site", "--output", str(site), "--address", SITE])
    assert (status, capsys.readouterr().err) == (0, "")

    codes = [rule.code for family in list_families() for rule in family.rules()]
    printed = [str(locate_page(SITE, code)).removeprefix(SITE).strip("/") for code in codes]
    assert [path for path in printed if not (site / path / "index.html").is_file()] == []
    assert {page.relative_to(site): found for page in site.rglob("*.html") if (found := leftovers_in(page))} == {}

    assert (site / "search.json").stat().st_size <= 1_000_000

    # each colour scheme at each width: nothing is asked of another host, nothing is wider than the window
    for width, scheme in ((1280, "light"), (390, "dark")):
        chromium.size(width, 800, scheme=scheme)
        for page in ("index.html", "rules/STG212/index.html", "rules/index.html", "configuration/index.html"):
            chromium.open(site / page)
            assert [url for url in chromium.requests() if not url.startswith("file:")] == []
            assert chromium.complaints() == []
            assert chromium.value("document.documentElement.scrollWidth <= innerWidth")

    _search(chromium, site)


def _search(chromium: Any, site: Path) -> None:
    """Find a rule by its name; the search lives in a tree of its own, and its script may not listen yet."""
    chromium.size(1280, 800)
    chromium.open(site / "configuration" / "index.html")
    while not chromium.value("document.activeElement.shadowRoot !== null"):
        chromium.key("/")
        time.sleep(0.2)
    chromium.write("intent-drift")
    found = "document.activeElement.shadowRoot?.querySelector('a')?.href"
    assert chromium.wait_for(found).startswith((site / "rules" / "STG212" / "index.html").as_uri())


def test_a_folder_that_is_no_site_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["site", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{tmp_path} exists and is no site\n"
    assert (tmp_path / "mine.txt").read_text() == "mine"
