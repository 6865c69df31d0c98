"""Whatever happens to three workers and their server, every run comes out as in memory."""

from __future__ import annotations

import pytest
from campaigns import choose

from scale.storm import weather


@pytest.mark.needs("postgres", "mount", "umount")
def test_a_storm_changes_nothing_of_what_comes_of_runs() -> None:
    try:
        told, faults = weather(choose(5, full=5, whole=8), 1)
    except PermissionError as error:
        pytest.skip(str(error))
    assert faults == []
    assert told["kills"] >= 5
    assert told["events"] > 100
