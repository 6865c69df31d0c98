"""Links of a built site: those that lead nowhere, and what other hosts would be asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec_dev.tools.site import complete, find_faults

CDN = "https://cdn.example.org/"
PAGE = '<html><head></head><body><h1 id="top">A</h1>{}</body></html>'


def make_site(folder: Path, content: str, style: str = "") -> Path:
    for name, text in {
        "index.html": PAGE.format(""),
        "a/index.html": PAGE.format(content),
        "a/b/index.html": PAGE.format('<h2 id="größe">B</h2>'),
        "404.html": PAGE.format('<a href="/anything/">here</a>'),
        "x.css": style,
        "search.json": '{"items":[{"location":"rules/A/","text":"<p>Said.</p>"},{"location":"rules/A/#why"},'
        '{"location":"a/#top","text":"<p>One &amp; <code>two</code></p><pre><code>x</code></pre>"},{"location":""}]}',
        "assets/javascripts/x.js": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "content",
    [
        '<a href="">a</a><a href="#top">a</a><a href="./">a</a><a href=".">a</a>',
        '<a href="b/">b</a><a href="b/#gr%C3%B6%C3%9Fe">b</a><a href="../">up</a><a href="../index.html#top">up</a>',
        '<a href="https://example.org/x#y">out</a><a href="mailto:a@example.org">mail</a>',
        '<link rel="canonical" href="https://docs.example.org/a/"><script src="../assets/javascripts/x.js"></script>',
        '<img src="data:image/png;base64,AAAA">',
    ],
)
def test_what_is_there_is_no_fault(content: str, tmp_path: Path) -> None:
    assert [*find_faults(make_site(tmp_path, content, "a{background:url('data:x')}"))] == []


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('<a href="c/">c</a>', "c/ leads nowhere"),
        ('<a href="../../../x/">c</a>', "../../../x/ leads nowhere"),
        ('<a href="/a/">c</a>', "/a/ leads nowhere"),
        ('<a href="b/#c">c</a>', "b/#c names no place of that page"),
        ('<a href="#c">c</a>', "#c names no place of that page"),
        ('<img src="c.png">', "c.png leads nowhere"),
        (
            '<script src="{CDN}x.js"></script>',
            "{CDN}x.js is loaded from another host",
        ),
        ('<img src="//cdn.example.org/x.png">', "//cdn.example.org/x.png is loaded from another host"),
        (
            '<link rel="preconnect" href="{CDN}">',
            "{CDN} is loaded from another host",
        ),
    ],
)
def test_what_is_not_there_or_elsewhere_is_a_fault(content: str, fault: str, tmp_path: Path) -> None:
    found = [*find_faults(make_site(tmp_path, content.replace("{CDN}", CDN)))]
    assert found == [f"a/index.html: {fault}".replace("{CDN}", CDN)]


@pytest.mark.parametrize("style", ["@import 'https://f.example.org/x.css';", "a{b:url( https://f.example.org/x.css )}"])
def test_a_style_asks_no_other_host(style: str, tmp_path: Path) -> None:
    told = "x.css: https://f.example.org/x.css is loaded from another host"
    assert [*find_faults(make_site(tmp_path, "", style))] == [told]


def test_links_name_files_and_stay_right(tmp_path: Path) -> None:
    links = '<a href="b/#größe">b</a><a href="..">up</a><a href="https://example.org/">out</a>'
    links += '<a class="x" href="./">a</a><a href="#top">t</a>'
    complete(make_site(tmp_path, links))
    text = (tmp_path / "a" / "index.html").read_text(encoding="utf-8")
    for link in ("b/index.html#größe", "../index.html", "https://example.org/", "./index.html", "#top"):
        assert f'href="{link}"' in text
    assert '<script src="../assets/javascripts/offline.js"></script></head>' in text
    assert [*find_faults(tmp_path)] == []
    found = (tmp_path / "search.json").read_text(encoding="utf-8")
    assert json.loads(found)["items"] == [
        {"location": "a/index.html#top", "text": "One &amp; two"},
        {"location": "", "text": ""},
        {"location": "rules/A/index.html", "text": ""},
    ]
    assert (tmp_path / "search.js").read_text(encoding="utf-8") == f"var __index = {found}"
