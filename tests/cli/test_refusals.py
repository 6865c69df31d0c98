"""What `stagec verify` refuses is refused by every command that runs or shows a plan, and by the library."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from altered import ALTERED, PLAN

import stagec
from stagec.cli.app import run
from stagec.ir.plan import PlanError
from stagec.ir.plan.loader import read_frame, write_frame
from stagec.runtime.drivers.local import create
from stagec.runtime.machine import Started, load
from stagec.runtime.machine.exchange import Effect

Shown = pytest.CaptureFixture[str]
FRAMED = {name: each for name, each in ALTERED.items() if each[0].endswith(b"}\n") and b'"plan":' in each[0]}
"""Those that a journal can hold: their digest is that of their bytes."""
OTHER = f"sha256:{'0' * 64}"

altered = pytest.mark.parametrize(("data", "reason"), ALTERED.values(), ids=ALTERED)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Nobody:
    """A world that nothing may be asked of."""

    def answer(self, effect: Effect) -> None:
        raise AssertionError(effect)


@pytest.mark.parametrize("command", [["run"], ["simulate"], ["plan"]], ids=" ".join)
@altered
def test_a_command_refuses_it_with_the_same_reason(command: list[str], data: bytes, reason: str, capfd: Shown) -> None:
    Path("p").write_bytes(data)
    assert run([*command, "p"]) == (1 if command[0] == "plan" else 2)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"stagec: error: 'p' is refused: {reason}")
    assert not Path(".stagec").exists()


@pytest.mark.parametrize("command", ["resume", "runs replay", "runs show", "runs export"])
@pytest.mark.parametrize(("data", "reason"), FRAMED.values(), ids=FRAMED)
def test_a_journal_gives_it_no_way_in(command: str, data: bytes, reason: str, capfd: Shown) -> None:
    with closing(create(Path(".stagec/runs/r.run"), data, read_frame(data)[0])) as journal:
        journal.append(Started("r"))
    assert run([*command.split(), "r"]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"stagec: error: the plan of run 'r' is refused: {reason}")


@altered
def test_the_library_refuses_it(data: bytes, reason: str) -> None:
    for read in (stagec.load_plan, load, lambda each: stagec.run(each, Nobody(), Started("r"))):
        for _ in range(2):  # what was refused once is not known to be sound
            with pytest.raises(PlanError) as raised:
                read(data)
            assert str(raised.value).startswith(reason)


def test_what_was_verified_once_says_nothing_of_another_file() -> None:
    digest = load(PLAN).digest
    assert load(PLAN).digest == digest
    with pytest.raises(PlanError, match="it was changed"):
        load(PLAN.replace(b"Lint.", b"Lint!"))
    with pytest.raises(PlanError, match="its content sha256:"):
        load(write_frame(read_frame(PLAN)[1].replace(b"Lint.", b"Lint!")))


def test_a_pinned_plan_is_run_and_no_other(capfd: Shown) -> None:
    Path("p").write_bytes(PLAN)
    own = read_frame(PLAN)[0]
    assert run(["run", "p", "--digest", OTHER]) == 2
    told = f"stagec: error: 'p' is refused: its digest is {own}, and --digest asks for {OTHER}\n"
    assert capfd.readouterr() == ("", told)
    assert not Path(".stagec").exists()
    run(["run", "p", "--digest", own])
    assert "is refused" not in capfd.readouterr().err


def test_a_pin_is_looked_at_before_anything_in_the_file_is_read(capfd: Shown) -> None:
    Path("p").write_bytes(write_frame(b"[" * 100_000))
    assert run(["run", "p", "--digest", OTHER]) == 2
    assert f"and --digest asks for {OTHER}" in capfd.readouterr().err


@pytest.mark.parametrize("digest", ["", "sha256:", "0" * 64, f"sha256:{'G' * 64}", f"sha256:{'0' * 63}", f"{OTHER}0"])
def test_what_is_no_digest_pins_nothing(digest: str, capfd: Shown) -> None:
    Path("p").write_bytes(PLAN)
    assert run(["run", "p", "--digest", digest]) == 2
    assert "is not the digest of a plan: expected 'sha256:' and 64 hexadecimal digits" in capfd.readouterr().err


def test_a_file_that_is_no_plan_cannot_be_pinned(capfd: Shown) -> None:
    Path("p").write_bytes(PLAN.replace(b"Lint.", b"Lint!"))
    assert run(["run", "p", "--digest", read_frame(PLAN)[0]]) == 2
    assert "'p' is refused: it was changed" in capfd.readouterr().err
