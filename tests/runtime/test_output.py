"""What the world says of a program is read as it is written, and what it does not say is empty."""

from __future__ import annotations

import pytest

from stagec.core.json import Json
from stagec.runtime.machine.acts.validation import Output, read_output


@pytest.mark.parametrize(
    ("said", "status"), [(0, 0), (3, 3), (0.0, 0), (-9.0, -9), (0.5, None), (True, None), ("0", None), (None, None)]
)
def test_a_status_is_a_whole_number(said: Json, status: int | None) -> None:
    assert read_output({"exit": said}) == Output(status, "", "")


def test_what_is_not_said_is_empty() -> None:
    assert [read_output(each) for each in ({}, None, {"stdout": 1}, [])] == [Output(None, "", "")] * 4
