"""Agentic workflows of gh-aw: Markdown with a compiled `.lock.yml` beside it, or with `on` in its frontmatter."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from stagec.core.value import replace
from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, Where, below
from stagec.frontends.agent_files.loaders.strict import load


def find_workflow(file: str) -> Iterator[Where]:
    """Yield what the path of a workflow says, if a compiled one is beside it or events start it."""
    for each in _WORKFLOWS(file):
        yield replace(each, proofs=(f"{posixpath.splitext(file)[0]}.lock.yml",), sign=_EVENTS)


# a conflict of git may begin before the frontmatter
_EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?(?:<{7}[^\n]*\n)?---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?on:")
_WORKFLOWS = below(r"\.github/workflows", r"(?P<name>[^/]+)\.md")

KINDS = AgentKinds(
    (AgentKind("gh-aw-workflow", "agentic workflow", "gh-aw", find_workflow, load, keys="gh-aw-workflow"),)
)
