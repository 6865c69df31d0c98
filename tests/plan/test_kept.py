"""A plan of each format that stagec has written: it runs, or is refused with the way out.

No tool writes these files again. What changes the format adds a file, and keeps the others running or refused.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playable import Answers

from stagec.cli.app import run
from stagec.ir.plan import FORMAT, verify
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local import create, drive
from stagec.runtime.machine import Started, load

KEPT = sorted((Path(__file__).parent / "kept").iterdir())


def test_there_is_one_of_each_format() -> None:
    formats = [json.loads(path.read_bytes())["plan"]["is"] for path in KEPT]
    assert formats == [FORMAT]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_a_kept_plan_is_verified_shown_and_run(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(path)]) == 0
    assert run(["plan", str(path)]) == 0
    assert FORMAT in capsys.readouterr().out
    loaded, program = verify(path.read_bytes()), load(path.read_bytes())
    journal = create(tmp_path / "one.run", path.read_bytes(), loaded.digest)
    state = drive(program, journal, Answers(), Started("one", None, {"topic": "winter"}))
    journal.close()
    assert state.ended is Outcome.DONE
