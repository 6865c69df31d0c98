"""Plans made by hand, for what the examples of stagec do not need."""

from __future__ import annotations

from collections.abc import Mapping

from plan_vectors.made_admissions import admissions
from plan_vectors.made_contexts import contexts
from plan_vectors.made_deadlines import deadlines
from plan_vectors.made_gates import gates
from plan_vectors.made_jumps import jumps
from plan_vectors.made_repeats import repeats
from plan_vectors.made_scopes import scopes
from plan_vectors.made_stages import stages
from plan_vectors.made_waits import waits
from plan_vectors.made_words import words
from plan_vectors.writing import framed


def made() -> Mapping[str, bytes]:
    """Return the file of every plan made by hand, by its name."""
    makers = (admissions, contexts, deadlines, gates, jumps, repeats, scopes, stages, waits, words)
    return {make.__name__: framed(make()) for make in makers}
