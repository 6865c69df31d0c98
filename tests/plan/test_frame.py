"""The frame of a plan: whatever one byte is changed to, left out or put in, the file is refused, and nothing else."""

from __future__ import annotations

import random
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan.examples import FILES

from stagec.core.canonical import digest
from stagec.ir.plan import PlanError, dump, load, verify
from stagec.ir.plan.act import Command
from stagec.ir.plan.document import Limits, Names, Plan
from stagec.ir.plan.gate import ExitGate
from stagec.ir.plan.loader import read_frame, write_frame
from stagec.ir.plan.node import Edge, Node, Outcome, Stop

_END = Stop(Outcome.DONE)
SMALL = dump(
    Plan(
        "é",
        Names("step", "intent"),
        {"": "a"},
        {"a": Node(Command(((),), 1), ExitGate(), (Edge("closing", _END), Edge("repeat", _END)))},
        {},
        Limits(),
    )
)
LARGEST = max(FILES.values(), key=len)
ENDS = b"\x00\t\n\r \"'+-.09:AEaefnt{}[]\\\x7f\x80\xc3\xff"
"""Bytes that mean something to JSON, to UTF-8 or to hexadecimal digits."""


def is_refused(data: bytes) -> bool:
    """Tell whether a file is refused; anything but a refusal and a plan is an error of the reader."""
    try:
        load(data)
    except PlanError:
        return True
    return False


def test_the_frame_is_what_the_page_says() -> None:
    name = f"sha256:{sha256(b'{}').hexdigest()}"
    assert write_frame(b"{}") == b'{"digest":"' + name.encode() + b'","plan":{}}\n'
    assert read_frame(write_frame(b"{}")) == (name, b"{}")
    assert digest(b"{}") == name


def test_an_unchanged_plan_is_not_refused() -> None:
    assert not is_refused(SMALL)
    assert not is_refused(LARGEST)


def test_no_byte_can_be_any_other() -> None:
    changed = bytearray(SMALL)
    for at, kept in enumerate(SMALL):
        for byte in range(256):
            changed[at] = byte
            assert byte == kept or is_refused(bytes(changed)), (at, byte)
        changed[at] = kept


def test_no_byte_can_be_left_out() -> None:
    assert [at for at in range(len(SMALL)) if not is_refused(SMALL[:at] + SMALL[at + 1 :])] == []


def test_no_byte_can_be_put_in() -> None:
    put = [(at, byte) for at in range(len(SMALL) + 1) for byte in ENDS]
    assert [(at, byte) for at, byte in put if not is_refused(SMALL[:at] + bytes([byte]) + SMALL[at:])] == []


def test_no_two_neighbours_can_change_places() -> None:
    swapped = {SMALL[:at] + SMALL[at : at + 2][::-1] + SMALL[at + 2 :] for at in range(len(SMALL) - 1)} - {SMALL}
    assert [each for each in swapped if not is_refused(each)] == []


@pytest.mark.parametrize("data", [SMALL, LARGEST], ids=["small", "largest"])
def test_nothing_can_be_cut_off(data: bytes) -> None:
    assert [length for length in range(len(data)) if not is_refused(data[:length])] == []


def test_nothing_can_be_cut_off_at_the_front() -> None:
    assert [length for length in range(1, len(SMALL) + 1) if not is_refused(SMALL[length:])] == []


def test_ten_thousand_changed_bytes_are_all_refused() -> None:
    chance = random.Random("changed bytes")  # noqa: S311
    for _ in range(10_000):
        at, byte = chance.randrange(len(LARGEST)), chance.randrange(1, 256)
        changed = LARGEST[:at] + bytes([LARGEST[at] ^ byte]) + LARGEST[at + 1 :]
        assert is_refused(changed), (at, byte)


@pytest.mark.parametrize(
    "around",
    [
        b"\xef\xbb\xbf" + SMALL,
        b" " + SMALL,
        SMALL + b"\n",
        SMALL[:-1] + b"\r\n",
        SMALL[:-1],
        SMALL + SMALL,
        SMALL.replace(b'","plan":', b'", "plan":'),
        SMALL.replace(SMALL[18:82], SMALL[18:82].upper()),
    ],
)
def test_a_frame_that_json_would_allow_is_refused(around: bytes) -> None:
    assert is_refused(around)


@given(st.binary() | st.binary().map(write_frame) | st.binary().map(lambda each: SMALL[:91] + each + SMALL[-2:]))
def test_nothing_but_a_refusal_comes_of_bytes_that_are_no_plan(data: bytes) -> None:
    for reader in (load, verify):
        with pytest.raises(PlanError):
            reader(data)
