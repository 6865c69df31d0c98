"""The prompts of a registry, also where something superfluous in it made rules fall silent about them."""

from __future__ import annotations

from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.files import is_prompt
from stagec.frontends.registry.prompts import Prompts, Store, find_prompts
from stagec.sources.read import Sources


def prompts(registry: Registry, sources: Sources) -> Prompts:
    """Return the prompts of every step and every retry.

    Of what may be misspelt, such as a member nobody knows, nothing is judged; what is run is what is written.
    """
    tree = sources.known(registry.at.file)
    if tree is None or not tree.faults:
        return registry.prompts
    folder = next(each.path for each in registry.folders if each.member == "userPromptsBase")
    store = Store(folder, sources.below(folder, ".md"), lambda path: is_prompt(sources, path))
    return find_prompts(store, registry.body, ((key, step.body) for key, step in registry.steps.items()), ())
