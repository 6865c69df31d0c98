"""Whether a schema of a plan accepts every value that another one accepts, as runs judge values."""

from __future__ import annotations

import json
from contextlib import suppress

from stagec.core.json import Object
from stagec.ir.plan.facts import schema_in
from stagec.runtime.machine.answer_schemas import prepare
from stagec.sources.contract.inclusion import Inclusion, ValueJudge, find_inclusion


def compare_texts(old: str | None, new: str | None) -> Inclusion:
    """Return whether the new schema accepts all that the old one accepts; no schema accepts everything."""
    before, after = (schema_in("{}" if each is None else each)[0] for each in (old, new))
    return find_inclusion(before, after, _prepare)


def _prepare(schema: Object) -> ValueJudge | None:
    with suppress(ValueError, RecursionError):
        prepared = prepare(json.dumps(schema))
        return lambda given: prepared.complaint(given) is None
    return None
