"""The rows of `cases/` that are about running: how each kind is answered, and when an answer is the wanted one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from stagec.core.value import value
from stagec_dev.row import Agreement, is_out_of_scope
from stagec_dev.rows.stage_definitions import calls, groups, lives

Given = Mapping[str, Any]
_REMARKS = frozenset({"why", "reason"})
"""Members of a row's answer that explain it."""


@value
class Case:
    """One kind of row: what stagec makes of one, and whether that is what the row wants."""

    answer: Callable[[Given], Any]
    agrees: Callable[[Given, Any], bool | None]


def _want(given: Given) -> Any:
    return given.get("stagec", given.get("expect"))


def _same(given: Given, got: Any) -> bool | None:
    """Compare member by member; a row whose answer is that there is no such thing is answered so."""
    wanted = _want(given)
    if isinstance(wanted, str):
        return bool(got.get("applicable") is False) if wanted.startswith("not applicable") else None
    if wanted is None:
        return None
    return _meets(wanted, got, given)


def _meets(wanted: Any, got: Any, given: Given) -> bool:
    if isinstance(wanted, list):
        return len(wanted) == len(got) and all(
            _meets(one, other, given) for one, other in zip(wanted, got, strict=True)
        )
    return all(_is(each, got.get(key), given) for key, each in wanted.items() if key not in _REMARKS)


def _is(wanted: Any, got: Any, given: Given) -> bool:
    """Compare one member; an order that is described is that in which the row lists its siblings."""
    if isinstance(wanted, str) and wanted.endswith("declared order"):
        return bool(got == [each[0] for each in given["siblings"]])
    return bool(wanted == got)


def _access(given: Given, got: Any) -> bool | None:
    return None if "ok" not in given else {key: given[key] for key in ("ok", "error") if key in given} == got


def _compare_calls(given: Given, got: Any) -> bool | None:
    """Compare the calls that a row makes; stagec answers more of them."""
    return given["calls"] == got["calls"][: len(given["calls"])] if "calls" in given else None


def _digest(given: Given, got: Any) -> bool | None:
    """Compare digests; where the order of names depends on who sorts them, it is by code points, as the ruling says."""
    if "sha256" not in given:
        return None
    text = json.dumps(given["args"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    ruled = hashlib.sha256(text.encode()).hexdigest()
    return got["sha256"] == given["sha256"] or (got["sha256"] == ruled and _has_odd_names(given["args"]))


def _has_odd_names(given: Any) -> bool:
    """Tell whether any names are of more than small letters, which everybody sorts alike."""
    if isinstance(given, dict):
        return any(not _PLAIN.fullmatch(name) for name in given) or any(map(_has_odd_names, given.values()))
    return isinstance(given, list) and any(map(_has_odd_names, given))


_PLAIN = re.compile(r"[a-z]+")


def _compare_step(given: Given, got: Any) -> bool | None:
    if "stagec" in given:
        return bool(got["refused"])
    consumed = [(step, told) for step, told in zip(given["steps"], got["steps"], strict=True) if step[0] == "consume"]
    return all(told in (step[2:] or [told]) for step, told in consumed) and not got["refused"]


def _compare_answer(given: Given, got: Any) -> bool | None:
    """Compare the answer of nobody; a sentence wants a denial that is told as a typed result, and another turn."""
    if "stagec" in given:
        return bool(got["outcome"] == {"denied": True, "typed": True, "goesOn": True})
    return bool(given["expect"] == got["outcome"]) if "expect" in given else None


def _compare_error(given: Given, got: Any) -> bool | None:
    if "stagec" in given:
        return bool(got.get("error") == str(given["stagec"]).partition(":")[0])
    return bool(got.get("out") == given["out"]) if "out" in given else None


def _compare_shown(given: Given, got: Any) -> bool | None:
    if "stagec" in given:
        return bool(given["stagec"] == got)
    return bool(given["manifest"] == got.get("manifest")) if "manifest" in given else None


CASES: Mapping[str, Case] = {
    "approval-stack": Case(calls.stack, _same),
    "args-digest": Case(calls.digest, _digest),
    "continuation-controller": Case(lives.continuation, _compare_calls),
    "ctx-access": Case(lives.access, _access),
    "fan-out": Case(groups.fan_out, _same),
    "grant-token-sequences": Case(calls.sequence, _compare_step),
    "headless": Case(calls.headless, _compare_answer),
    "join": Case(groups.join, _same),
    "loop-bound": Case(lives.loop, _same),
    "render-body": Case(lives.body, _compare_error),
    "run-stage": Case(lives.stage, _same),
    "tool-manifest": Case(calls.show_model, _compare_shown),
}


def compare(case: Case, given: Given, got: Any) -> Agreement:
    """Tell how an answer stands to that of a row."""
    if is_out_of_scope(got):
        return Agreement.OUT_OF_SCOPE
    agrees = case.agrees(given, got)
    return Agreement.UNKNOWN if agrees is None else Agreement.AGREE if agrees else Agreement.DISAGREE
