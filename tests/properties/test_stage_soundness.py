"""Stage plans that compile without errors run to an end, whatever stages do, and never longer than is proved."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from campaigns import choose
from properties.soundness import stage_runs
from properties.soundness.envelopes import StageTally, campaign_stages, compile_document, name_all

CHUNKS, CHUNK = choose(2, whole=10), choose(1_500, whole=3_000)
LEAST, MOST, DOCUMENTS = 0.3, 0.98, 60


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_run_of_a_stage_plan_ends_as_it_should(chunk: int) -> None:
    tally = campaign_stages(CHUNK, seed=chunk * 1_000_000)
    assert name_all(tally.found) == []
    assert tally.lagging(1) == ()


def test_neither_nearly_all_nor_nearly_none_of_the_documents_compile(tmp_path: Path) -> None:
    tally = StageTally()
    for seed in range(DOCUMENTS):
        compile_document(tmp_path, Random(seed), tally)  # noqa: S311
    assert LEAST < tally.compiled / tally.made < MOST


def test_a_campaign_notices_what_must_not_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_runs, "SETTLED", frozenset[object]())
    assert campaign_stages(200).found
