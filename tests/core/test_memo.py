"""An answer is worked out once, also when it is nothing."""

from __future__ import annotations

from stagec.core.memo import Memo


def test_an_answer_is_worked_out_once() -> None:
    asked: list[str] = []
    memo = Memo()
    for question in ("a", "b", "a", "b"):
        assert memo.once(question, lambda question=question: asked.append(question)) is None
    assert asked == ["a", "b"]
