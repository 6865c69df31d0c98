"""An import that ends at any call leaves a checkpoint that is whole, or none; what it left is no obstacle."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path

from crash.interruptions import Interruption, each_interruption
from protocol.manifests import CONTENT, ENTRY, encode, upstream_json

from stagec.ir.protocol.checkpoint import TrustLevel
from stagec.runtime.world.checkpoints import discard, import_checkpoint, judge_checkpoint, judge_import
from stagec.runtime.world.stage_files import RunFolder

PLACE = "reports/wine/checkpoints/run-001/ckpt-001/checkpoint.json"
MADE = "checkpoints/ckpt-S01_load_data.json"


def make_foreign(project: Path) -> Path:
    """Return a checkpoint in another project."""
    for path, data in ((f"reports/wine/run-001/{ENTRY.path}", CONTENT), (PLACE, encode(upstream_json()))):
        (project / path).parent.mkdir(parents=True)
        (project / path).write_bytes(data)
    return project / PLACE


def bring_in(path: Path, run: RunFolder) -> None:
    import_checkpoint(path, judge_import(path, TrustLevel.IMPORTED, run), run)


def test_an_import_that_ends_at_any_call_is_whole_or_does_not_count(tmp_path: Path) -> None:
    foreign, numbers = make_foreign(tmp_path / "other"), count()

    def attempt(interruption: Interruption) -> None:
        run = RunFolder(tmp_path, "wine", f"run-{next(numbers)}")
        run.make()
        with interruption.under_way(), suppress(OSError):
            bring_in(foreign, run)
        made = Path(run.path, MADE)
        if made.exists():
            assert judge_checkpoint(made).is_valid
            assert Path(run.path, ENTRY.path).read_bytes() == CONTENT
        else:
            discard(run, "S01_load_data")  # as a resume does
            bring_in(foreign, run)
        judged = judge_checkpoint(made)
        assert judged.is_valid
        assert judged.trust is TrustLevel.IMPORTED

    assert each_interruption(attempt) > 20
