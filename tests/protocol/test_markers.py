"""Markers in streams: the grammar, limits, and an independent parser that reads line by line."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator, Mapping
from itertools import product

import pytest

from stagec.ir.protocol.markers import (
    CATEGORIES,
    LONGEST_LINE,
    BrokenMarker,
    Category,
    Marker,
    MarkerParser,
    read_markers,
)

Plain = tuple[str, str | None, Mapping[str, str], str, int]


def plain(marker: Marker) -> Plain:
    return marker.type, marker.subtype, dict(marker.attributes), marker.content, marker.line


def parse(text: str) -> list[Plain]:
    return [plain(each) for each in read_markers(text.encode(errors="surrogatepass"))]


BLANK = set("\t\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | {chr(0x2000 + at) for at in range(11)}
CAPITALS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def naive_split(kind: str, written: str | None) -> tuple[str | None, dict[str, str]]:
    if written is None or kind == "CITATION":
        return written, {}
    subtype, attributes = None, {}
    for part in written.split(":"):
        if "=" in part:
            at = part.index("=")
            attributes[part[:at]] = part[at + 1 :]
        elif subtype is None:
            subtype = part.replace("-", "_")
        else:
            attributes[part] = ""
    return subtype, attributes


def naive_line(data: bytes, number: int) -> Plain | None:
    """Read one line without its line feed, character by character."""
    text = data[:LONGEST_LINE].decode(errors="replace")
    at = 0
    while at < len(text) and text[at] in BLANK:
        at += 1
    if text[at : at + 1] != "[" or text[at + 1 : at + 2] not in CAPITALS:
        return None
    start = at = at + 1
    while at < len(text) and text[at] in CAPITALS | set("0123456789_-"):
        at += 1
    kind, written = text[start:at].replace("-", "_"), None
    if text[at : at + 1] == ":":
        end = text.find("]", at)
        if end <= at + 1:
            return None
        at, written = end, text[at + 1 : end]
    if text[at : at + 1] != "]":
        return None
    content = text[at + 1 :].strip("".join(BLANK))
    return None if "\r" in content else (kind, *naive_split(kind, written), content, number)


def naive(data: bytes) -> list[Plain]:
    lines = enumerate(data.split(b"\n"), 1)
    return [found for number, line in lines if (found := naive_line(line, number)) is not None]


PIECES = (
    b"[STAGE", b"[STAGE:begin:id=S01_load_data]", b"[CHECKPOINT:saved", b"[DATA]", b":", b"=", b"]", b"[", b"\n", b"\n",
    b"\r", b"\r\n", b" ", b"\t", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x00", b"\xff", b"\xed\xa0\x80",
    b"\xc2", b"\xe2\x80", b"\x85", b"\x0b", b"\x1c", b"-", b"_", b"9", b"A", b"id=x", b"pct=50", b"\xf0\x9f\x98\x80",
    b"text", b"::",
)  # fmt: skip


def make_noise(seed: int, length: int) -> bytes:
    chance = random.Random(seed)
    return b"".join(chance.choices(PIECES, k=length))


def cut(data: bytes, chance: random.Random) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size = chance.choice((1, 2, 3, 7, 64, 1000))
        yield data[at : at + size]
        at += size


def test_a_hundred_thousand_random_lines_are_read_as_the_naive_parser_reads_them() -> None:
    lines = 0
    for seed in range(100):
        data = make_noise(seed, 18_000)
        lines += data.count(b"\n")
        assert [plain(each) for each in read_markers(data)] == naive(data)
    assert lines > 100_000


def test_random_bytes_are_read_as_the_naive_parser_reads_them() -> None:
    for seed in range(20):
        data = random.Random(seed).randbytes(100_000)
        assert [plain(each) for each in read_markers(data)] == naive(data)


def test_pieces_of_a_stream_do_not_change_what_is_found() -> None:
    for seed in range(60):
        data, chance = make_noise(seed, 1_500), random.Random(seed)
        parser = MarkerParser()
        found = [each for piece in cut(data, chance) for each in parser.feed(piece)] + parser.close()
        assert found == read_markers(data)
        assert parser.lines == len(data.removesuffix(b"\n").split(b"\n"))


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n[DATA] after\n"])
@pytest.mark.parametrize("over", [-2, -1, 0, 1, 2, 70_000])
def test_of_a_long_line_only_the_beginning_counts(end: bytes, over: int) -> None:
    head = b"[STAGE:begin:id=S01_load_data] "
    data = head + b"x" * (LONGEST_LINE + over - len(head)) + end
    expected = naive(data)
    for size in (1, 1_000, 65_536, 10**6):
        parser = MarkerParser()
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        found = [each for piece in pieces for each in parser.feed(piece)] + parser.close()
        assert [plain(each) for each in found] == expected, size


def test_a_marker_that_ends_beyond_the_limit_is_none() -> None:
    assert parse(f"[STAGE:msg={'x' * LONGEST_LINE}] text\n[DATA]") == [("DATA", None, {}, "", 2)]
    assert parse(f"{' ' * LONGEST_LINE}[STAGE]\n[DATA]") == [("DATA", None, {}, "", 2)]


def test_a_stream_without_a_line_feed_needs_little_memory() -> None:
    parser, piece = MarkerParser(), b"x" * 1_000_000
    tracemalloc.start()
    try:
        for _ in range(200):
            assert parser.feed(piece) == []
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert parser.feed(b"\n[DATA] next\n") == [Marker("DATA", "", "next", 2)]


def test_a_line_is_never_lost_to_its_neighbour() -> None:
    text = "[STAGE:begin:id=S01_load_data]\n\n[DATA] Loaded\n \n[SHAPE]\n[STAGE:end:id=S01_load_data]"
    assert [(each[0], each[3], each[4]) for each in parse(text)] == [
        ("STAGE", "", 1),
        ("DATA", "Loaded", 3),
        ("SHAPE", "", 5),
        ("STAGE", "", 6),
    ]


def test_ends_of_lines_and_white_space_belong_to_no_value() -> None:
    ends = ("", "\n", "\r\n", "\r\r\n")
    contents = ("", " go", "go\t", "a\u2028b", "a\x0cb")
    for indent, content, end in product(("", "\ufeff", "\t \xa0", "\r", "\u3000"), contents, ends):
        found = parse(f"{indent}[STAGE:begin:id=A]{content}{end}")
        assert found == [("STAGE", "begin", {"id": "A"}, content.strip(), 1)], (indent, content, end)


NONE = (
    "[stage:begin]", "[Stage]", "[STAGE :begin]", "[STAGE:]", "[STAGE", "[]", "[2STAGE]", "[_X]", "# [STAGE:begin]",
    "50%\r[STAGE:progress:pct=50]", "\x1b[1m[STAGE:begin]", "[STAGE:begin:\nid=A]", "\x85[STAGE]", "\x00[STAGE]",
    "\x1c[STAGE]", "[STAGE] a\rb", "[ÄRGER]", "text [STAGE]",
)  # fmt: skip


@pytest.mark.parametrize("text", NONE)
def test_what_only_looks_like_a_marker_is_none(text: str) -> None:
    assert parse(text) == []


SPLIT = {
    "STAGE:id=A:begin": ("begin", {"id": "A"}),
    "STAGE:begin:msg=a: b:msg=c": ("begin", {"msg": "c", " b": ""}),
    "STAGE::id=A": ("", {"id": "A"}),
    "STAGE:begin::": ("begin", {"": ""}),
    "STAGE:=": (None, {"": ""}),
    "STAGE:pre-save:run-id=A-B": ("pre_save", {"run-id": "A-B"}),
    "STAGE:begin:a=b=c": ("begin", {"a": "b=c"}),
    "STAGE:begin:__proto__:constructor=x": ("begin", {"__proto__": "", "constructor": "x"}),
    "CITATION:doi=10.1/x:y-z": ("doi=10.1/x:y-z", {}),
    "STAGE": (None, {}),
}


@pytest.mark.parametrize("written", SPLIT)
def test_every_colon_separates(written: str) -> None:
    assert [each[1:3] for each in parse(f"[{written}]")] == [SPLIT[written]]


def test_a_type_with_hyphens_is_known_by_its_underscores() -> None:
    known, unknown = read_markers(b"[NEXT-STEP] a\n[STAGE-2] b")
    assert (known.type, known.valid, known.category) == ("NEXT_STEP", True, Category.SCIENTIFIC)
    assert (unknown.type, unknown.valid, unknown.category) == ("STAGE_2", False, Category.UNKNOWN)
    assert len(CATEGORIES) == 40


def test_columns_count_characters() -> None:
    assert [each.column for each in read_markers("[DATA]\n  [DATA]\n\ufeff\u3000[DATA]\n".encode())] == [1, 3, 3]


STAGES = {
    "[STAGE:begin:id=A]": "A",
    "[STAGE:begin:load_data]": "load_data",
    "[STAGE:end:load_data:status=success]": "load_data",
    "[STAGE:end:load_data:again]": None,
    "[STAGE:status:success]": None,
    "[STAGE:begin:id=]": "",
    "[STAGE:begin:]": None,
    "[CHECKPOINT:saved:id=c]": "c",
    "[CHECKPOINT:saved:c]": None,
}


@pytest.mark.parametrize("text", STAGES)
def test_a_stage_is_named_by_its_id_or_by_position(text: str) -> None:
    assert [each.stage for each in read_markers(text.encode())] == [STAGES[text]]


BROKEN = {
    "[STAGE:begin:\nid=A]": [("STAGE", "[STAGE:begin:", 1, 1)],
    "\t[CHECKPOINT:]\r\n": [("CHECKPOINT", "[CHECKPOINT:]", 1, 2)],
    "[STAGE :begin]": [("STAGE", "[STAGE :begin]", 1, 1)],
    "[DATA] a\rb": [("DATA", "[DATA] a\rb", 1, 1)],
    "x\n[REHYDRATED": [("REHYDRATED", "[REHYDRATED", 2, 1)],
    "[STAGES": [],
    "[STAGE_X:]": [],
    "[STAGE-:]": [],
    "[DATA:]": [],
    "[OTHER] a\rb": [],
    "[stage:begin]": [],
    "x [STAGE": [],
}


@pytest.mark.parametrize("text", BROKEN)
def test_lines_that_only_begin_like_a_marker_are_found_when_asked_for(text: str) -> None:
    found = MarkerParser().scan(text.encode() + b"\n")
    assert [(each.type, each.text, each.line, each.column) for each in found if isinstance(each, BrokenMarker)] == (
        BROKEN[text]
    )
    assert parse(text) == []
