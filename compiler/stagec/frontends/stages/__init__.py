"""Stage definitions and pipelines: Markdown files with frontmatter, and what joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.frontends import Flow, FrontEnd, Sources
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.lower import lower
from stagec.frontends.stages.read import read
from stagec.frontends.stages.recognise import claims, recognises, sees

if TYPE_CHECKING:
    from stagec.plan.document import Draft


def _freeze(document: Pipeline, flow: Flow, sources: Sources) -> Draft:
    from stagec.frontends.stages.freezing.draft import freeze  # most runs only check

    return freeze(document, flow, sources)


FRONTEND = FrontEnd("stages", claims, recognises, read, lower, sees, freeze=_freeze)
