"""The page is one file that says what the picture says, and nothing in a name becomes markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from stagec.views.emitters import Picture
from stagec.views.emitters.html import EMITTER


class Reader(HTMLParser):
    """Collects the elements of a page, the addresses it names, and what it holds as data."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.data = ""
        self._holds = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        given = dict(attrs)
        self.addresses += [str(each) for name, each in attrs if name in {"src", "href", "action", "srcset"}]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self._holds = given.get("id") == "data"

    def handle_data(self, data: str) -> None:
        if self._holds:
            self.data += data

    def handle_endtag(self, tag: str) -> None:
        self._holds = self._holds and tag != "script"


def read(*pictures: Picture) -> tuple[str, Reader]:
    text = EMITTER.emit(pictures).decode()
    reader = Reader()
    reader.feed(text)
    return text, reader


def test_a_page_names_no_address_and_has_no_handler(hostile: Picture) -> None:
    _, page = read(hostile)
    assert page.addresses == ["data:,"]
    assert page.handlers == []


def test_whatever_things_are_called_the_page_has_the_same_elements(hostile: Picture, every: Picture) -> None:
    _, page = read(hostile)
    assert page.names.count("script") == 2
    assert page.names.count("style") == 1
    assert set(page.names) <= set(read(every)[1].names) | {"p"}


def test_what_is_held_as_data_is_what_the_picture_says(hostile: Picture) -> None:
    (held,) = json.loads(read(hostile)[1].data)
    assert [each["name"] for each in held["boxes"]] == [box.name for box in hostile.boxes.values()]
    assert [tuple(each["labels"]) for each in held["lines"]] == [line.labels for line in hostile.lines]


def test_the_policy_allows_the_page_its_own_style_and_script_and_nothing_else(every: Picture) -> None:
    text, _ = read(every)
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert found is not None
    policy = found[1].replace("&#x27;", "'")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_the_same_pictures_give_the_same_bytes(every: Picture) -> None:
    assert EMITTER.emit((every,)) == EMITTER.emit((every,))


def test_nothing_to_show_is_a_page_as_well() -> None:
    assert read()[1].names.count("section") == 0
