"""The texts of a registry's plan: prompts are read from their files, schemas come from the outputs of steps."""

from __future__ import annotations

from stagec.contract.schemas import Schema, Schemas
from stagec.contract.texts import Texts
from stagec.frontends.registry.document import Output
from stagec.sources.read import Sources


class RegistryTexts(Texts):
    """The texts collected so far; `files` are those of prompts as well."""

    def __init__(self, sources: Sources) -> None:
        super().__init__(Schemas(sources))
        self._sources = sources
        self._outputs: dict[int, str | None] = {}

    def prompt(self, file: str) -> str | None:
        """Return what a prompt says below its frontmatter; nothing where there is no such file."""
        tree = self._sources.tree(file, "prompt")
        if tree is None or not tree.readable:
            return None
        self.files.add(file)
        text = tree.data.decode(errors="replace")
        return text if tree.body is None else text[slice(*tree.body)]

    def output(self, output: Output | None) -> str | None:
        """Keep the schema of an output and return its name; nothing where there is none."""
        if id(output) not in self._outputs:  # the outputs of a registry live as long as it
            found = output.found if output is not None else None
            self._outputs[id(output)] = self.schema(found) if isinstance(found, Schema) else None
        return self._outputs[id(output)]
