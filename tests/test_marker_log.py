"""Logs are judged line by line: what a line says does not depend on the lines around it, nor on how the log comes."""

from __future__ import annotations

import random
import tracemalloc

import pytest

import stagec
from stagec.check.marker_log import MarkerLog, check_markers
from stagec.check.rules.markers import FAMILY
from stagec.core.diagnostic import Diagnostic
from stagec.core.failure import Failure
from stagec.core.value import replace
from stagec.ir.protocol import markers
from stagec.sources.project.settings import Selection, Settings

WORDS = (
    "[STAGE:begin:id=S01_load_data]", "[STAGE:end:id=S01_load_data:status=success:duration=1s]", "[STAGE:begin:load]",
    "[STAGE:progress:id=S01_load_data:pct=5:msg=a: b]", "[STAGE:end:id=S02_eda:status=fail]", "[STAGE", "text",
    "[CHECKPOINT:saved:id=c]", "[CHECKPOINT:emergency:id=c:reason=why]", "[REHYDRATED]", "[DATA:a=1:a=2:b]", "[DATA] x",
    "[STAGE:begin:id=S01_load_data] a\rb", "", "[STAGE:status:success]", "  [STAT:x=[1]]", "[CITATION:a:b]",
)  # fmt: skip


def make_log(seed: int, lines: int) -> bytes:
    return "".join(f"{each}\n" for each in random.Random(seed).choices(WORDS, k=lines)).encode()


def moved(each: Diagnostic, line: int) -> Diagnostic:
    start, end = (replace(at, line=line) for at in (each.span.start, each.span.end))
    return replace(each, span=replace(each.span, start=start, end=end), at=replace(each.at, pointer=(line - 1,)))


@pytest.mark.parametrize("stage", [None, "S01_load_data"])
def test_each_line_is_judged_as_if_it_were_alone(stage: str | None) -> None:
    for seed in range(20):
        data = make_log(seed, 200)
        alone = [
            moved(each, number)
            for number, line in enumerate(data.split(b"\n"), 1)
            for each in check_markers([line], "run.log", stage=stage)
        ]
        assert [*check_markers([data], "run.log", stage=stage)] == alone


def test_pieces_do_not_change_what_is_found() -> None:
    data = make_log(1, 300)
    whole = [*check_markers([data])]
    for size in (1, 7, 64, 1_000):
        assert [*check_markers(data[at : at + size] for at in range(0, len(data), size))] == whole


def test_an_unknown_type_is_reported_once() -> None:
    found = [*check_markers([b"[ODD]\n[STRANGE:a]\n[ODD]\n[STRANGE:a]\n[ODD]"])]
    assert [(each.code, each.span.start.line) for each in found] == [("STG801", 1), ("STG801", 2)]


def test_of_each_rule_a_thousand_findings_are_reported_and_the_others_counted() -> None:
    log = MarkerLog("run.log", Selection.of(Settings(), (FAMILY,)))
    found = log.feed(b"[REHYDRATED]\n" * 1_500 + b"[STAGE:begin]\n")
    assert sum(len(each.diagnostics) for each in found) == 1_001
    assert (log.markers, log.lines, log.folded) == (1_501, 1_501, {"STG810": 500})


def test_of_one_line_ten_findings_of_a_rule_are_reported() -> None:
    assert len([*check_markers([b"[DATA:x" + b":y" * 30_000 + b"]"])]) == 10


def test_nothing_is_wrong_with_what_stagec_writes() -> None:
    lines = (
        markers.format_stage_begin("S01_load_data"),
        markers.format_stage_progress("S01_load_data", 33.3, "12:30 [loading]: a=b"),
        *(markers.format_stage_end("S01_load_data", each, 1.25) for each in ("success", "failed", "interrupted")),
        markers.format_checkpoint_saved("ckpt-S01_load_data", "S01_load_data", "checkpoints/ckpt-S01_load_data.json"),
        *(markers.format_checkpoint_emergency("c", "S01_load_data", each) for each in ("timeout", "abort", "error")),
        markers.format_rehydrated("ckpt-S01_load_data"),
    )
    data = "".join(f"{line}\n" for line in lines).encode()
    assert [*check_markers([data], stage="S01_load_data")] == []
    assert len(stagec.read_markers(data)) == len(lines)


def test_settings_select_and_weigh_rules() -> None:
    given = Settings(select=("markers",), ignore=("STG806",), severity={"STG805": None})
    assert [*check_markers([b"[STAGE:end:id=S01_load_data]"], settings=given)] == []
    with pytest.raises(Failure, match="no rule is called 'STG899'"):
        next(check_markers([], settings=Settings(ignore=("STG899",))), None)


def test_memory_does_not_grow_with_what_differs() -> None:
    log = MarkerLog("run.log", Selection.of(Settings(), (FAMILY,)))
    log.feed(b"[STAGE:begin]\n")
    tracemalloc.start()
    try:
        log.feed(b"".join(b"[T%0100d]\n" % at for at in range(1_100)))
        for at in range(12):
            log.feed(b"".join(b"[DATA:x=%d_%d]\n" % (at, each) for each in range(1_000)))
        assert tracemalloc.get_traced_memory()[0] < 6_000_000
    finally:
        tracemalloc.stop()


def test_logs_are_read_by_the_public_names() -> None:
    (marker,) = stagec.read_markers(b"[STAGE:begin:id=S01_load_data]")
    assert isinstance(marker, stagec.Marker)
    assert [each.code for each in stagec.check_markers([b"[STAGE:begin]"])] == ["STG803"]
