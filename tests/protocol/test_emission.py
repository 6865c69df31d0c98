"""What stagec writes about its runs is read back as it was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.ir.protocol.markers import (
    format_checkpoint_emergency,
    format_checkpoint_saved,
    format_rehydrated,
    format_stage_begin,
    format_stage_end,
    format_stage_progress,
    read_markers,
)

WRITTEN = {
    format_stage_begin("S01_load_data"): "[STAGE:begin:id=S01_load_data]",
    format_stage_progress("S01_load_data", 49.6): "[STAGE:progress:id=S01_load_data:pct=50]",
    format_stage_progress("S01_load_data", -1, "a: [b]\nc"): "[STAGE:progress:id=S01_load_data:pct=0:msg=a- (b) c]",
    format_stage_progress("S01_load_data", 1e9): "[STAGE:progress:id=S01_load_data:pct=100]",
    format_stage_end("S01_load_data", "success", 12.34): "[STAGE:end:id=S01_load_data:status=success:duration=12.3s]",
    format_checkpoint_saved("ckpt-S01_load_data", "S01_load_data", "checkpoints/a.json"): (
        "[CHECKPOINT:saved:id=ckpt-S01_load_data:stage=S01_load_data:manifest=checkpoints/a.json]"
    ),
    format_checkpoint_saved("c", "S01_load_data", "C:/a.json"): "[CHECKPOINT:saved:id=c:stage=S01_load_data]",
    format_checkpoint_emergency("c", "S01_load_data", "timeout"): (
        "[CHECKPOINT:emergency:id=c:stage=S01_load_data:reason=timeout]"
    ),
    format_rehydrated("ckpt-S01_load_data"): "[REHYDRATED:from=ckpt-S01_load_data]",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_markers_are_written_as_the_protocol_shows_them(text: str) -> None:
    assert text == WRITTEN[text]


@given(st.text(), st.text(st.characters(categories=("Cc", "Cs", "Zl", "Zp", "Po", "Ps", "Pe"))))
def test_no_text_breaks_out_of_a_value(message: str, stage: str) -> None:
    text = format_stage_progress(stage, 50, message)
    (marker,) = read_markers(f"before\n{text}\nafter\n".encode())
    assert (marker.type, marker.subtype, marker.line, marker.content) == ("STAGE", "progress", 2, "")
    assert list(marker.attributes) == ["id", "pct", *(["msg"] if message else [])]
    assert marker.attributes["pct"] == "50"
