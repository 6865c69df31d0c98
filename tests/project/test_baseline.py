"""Baselines as texts: sorted, a line for each entry, and refused when they are anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.sources.project.baseline import (
    VERSION,
    BaselineEntry,
    BaselineError,
    make_baseline,
    read_baseline,
    write_baseline,
)

ENTRY = BaselineEntry("a/steps_registry.json", "STG201", "/steps/x", "step 'x' goes nowhere", "0" * 64)
TEXT = write_baseline(make_baseline([ENTRY])).decode()


texts = st.text(max_size=12)
entries = st.builds(
    BaselineEntry,
    texts,
    st.sampled_from(["STG125", "STG2001"]),
    texts,
    texts,
    st.integers(0, 40).map(lambda number: f"{number:064x}"),
    st.integers(1, 5),
)


@given(st.lists(entries, max_size=12))
def test_a_baseline_is_read_as_it_was_written_in_any_order(given_entries: list[BaselineEntry]) -> None:
    baseline = make_baseline(given_entries)
    shuffled = tuple(reversed(baseline.entries))
    assert read_baseline(write_baseline(baseline)) == baseline == make_baseline(shuffled)
    assert write_baseline(read_baseline(write_baseline(baseline))) == write_baseline(baseline)
    assert baseline.count == sum(each.count for each in given_entries)


def test_each_entry_has_a_line() -> None:
    lines = write_baseline(make_baseline([ENTRY, BaselineEntry("b", "STG125", "", "\n\u202e##[x]", "1" * 64, 3)]))
    assert sum(b'"fingerprint":' in line for line in lines.split(b"\n")) == 2
    assert lines.isascii()


@pytest.mark.parametrize("text", ["\ufeff" + TEXT, TEXT.replace("\n", "\r\n")], ids=["bom", "crlf"])
def test_what_editors_of_windows_make_of_a_baseline_is_read(text: str) -> None:
    assert read_baseline(text.encode()).entries == (ENTRY,)


def test_what_a_merge_joined_counts_twice_and_is_sorted() -> None:
    row = next(line for line in TEXT.split("\n") if "fingerprint" in line and "rule" in line)
    assert read_baseline(TEXT.replace(row, f"{row},\n{row}").encode()).entries[0].count == 2


def _change(**members: object) -> bytes:
    return json.dumps({**json.loads(TEXT), **members}).encode()


def _entry(**members: object) -> bytes:
    described = json.loads(TEXT)["findings"][ENTRY.file][0]
    return _change(findings={ENTRY.file: [{**described, **members}]})


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe{", "is not UTF-8: byte 0xff at offset 0"),
        (b"", "is not JSON: line 1"),
        (b"<<<<<<< HEAD\n{}", "a merge conflict?"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[]", "has no 'version'"),
        (b"{}", "has no 'version'"),
        (b'{"version": ' + b"9" * 5_000 + b"}", "has version 1000000001"),
        (_change(version=2), "has version 2 of baselines, and this stagec reads version 1"),
        (_change(version="1"), "has no 'version'"),
        (_change(fingerprints="other/v1"), f"has other fingerprints than '{VERSION}'"),
        (_change(findings=[]), "'findings' must be an object"),
        (_change(findings={"a": {}}), "'a' must be an array"),
        (_change(findings={"a": [1]}), "a finding of 'a' must have"),
        (_entry(fingerprint="0" * 63), "must have"),
        (_entry(fingerprint="A" * 64), "must have"),
        (_entry(rule="201"), "must have"),
        (_entry(message=None), "must have"),
        (_entry(count=0), "must have"),
        (_entry(count=True), "must have"),
        (_entry(count=10**12), "must have"),
        (_entry(count=1.5), "must have"),
        (TEXT.replace('"version"', '"findings": {}, "version"').encode(), "has the member 'findings' twice"),
    ],
)
def test_what_is_no_baseline_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(BaselineError, match=f".*{why.replace('(', '.').replace('?', '.')}"):
        read_baseline(data)
