"""Complete the draft of a plan: sources and facts are added."""

from __future__ import annotations

from stagec.core.canonical import digest
from stagec.core.value import replace
from stagec.plan.document import Draft, Plan
from stagec.plan.facts import facts
from stagec.sources.read import Sources


def freeze(draft: Draft, sources: Sources) -> Plan:
    """Return the plan of a draft whose files are among the sources."""
    read = {tree.file: tree.data for tree in sources.trees}
    digests = {file: digest(read[file]) for file in sorted(draft.files)}
    return replace(draft.plan, sources=digests, facts=facts(draft.plan))
