"""The agent files of a project as the tools that own them read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stagec.core.json import Object
from stagec.core.place import Place
from stagec.core.value import value
from stagec.sources.tree import Tree

if TYPE_CHECKING:  # most projects have no agent files
    from stagec.languages.agent_files.claude_project import ClaudeProject
    from stagec.languages.agent_files.kinds import AgentKind, Where
    from stagec.languages.agent_files.known import Known
    from stagec.languages.agent_files.loaders import OwnerReading


@value
class AgentFile:
    """One file: its kind, what its path says of it, its tree, and what its tool reads in it.

    `real_path` is equal for two paths that lead to the same file.
    """

    kind: AgentKind
    where: Where
    tree: Tree
    reading: OwnerReading
    real_path: str = ""

    @property
    def at(self) -> Place:
        """The place of the whole file."""
        return self.tree.at

    @property
    def members(self) -> Object:
        """The keys and values of the frontmatter, as far as the tool reads it."""
        return self.reading.members

    @property
    def title(self) -> str:
        """The name of such a file in messages, such as `agent`."""
        return self.kind.title

    @property
    def text(self) -> str:
        """The text of the file, without a byte order mark."""
        return self.tree.data.decode(errors="replace")


@value
class AgentFiles:
    """All agent files of a project, by path, and what is known of the tools that read them."""

    files: tuple[AgentFile, ...]
    known: Known
    by_kind: Mapping[str, tuple[AgentFile, ...]]
    claude: ClaudeProject

    def of(self, *kinds: str) -> Iterator[AgentFile]:
        """Yield the files of some kinds, by kind and path."""
        for kind in kinds:
            yield from self.by_kind.get(kind, ())
