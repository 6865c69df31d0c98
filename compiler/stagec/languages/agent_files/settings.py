"""Settings of Claude Code: what drops a whole file, the permission rules and the hooks in it."""

from __future__ import annotations

from stagec.core.json import Object, object_of
from stagec.core.place import Place
from stagec.core.value import value
from stagec.languages.agent_files.hooks import HookFault, read_hooks
from stagec.languages.agent_files.known import Known
from stagec.languages.agent_files.permission_rules import Behaviour, PermissionRule, read_permission_rules
from stagec.languages.agent_files.values import Misfit, find_misfits
from stagec.sources.tree import Tree


@value
class ClaudeSettings:
    """One settings file: whether it is one, values that do not fit, malformed guards, and its permission rules."""

    at: Place
    is_object: bool
    misfits: tuple[Misfit, ...]
    hooks: tuple[HookFault, ...]
    rules: tuple[PermissionRule, ...]
    members: Object

    @property
    def is_lost(self) -> bool:
        """Whether Claude Code drops the file as a whole."""
        return not self.is_object or bool(self.hooks) or any(each.cost == "file" for each in self.misfits)

    def list_denied(self) -> tuple[PermissionRule, ...]:
        """Return the rules that take a tool from every agent; none if the file is dropped."""
        if self.is_lost:
            return ()
        return tuple(each for each in self.rules if each.behaviour is Behaviour.DENY and each.is_bare)


def read_settings(tree: Tree, known: Known, *, is_object: bool = True) -> ClaudeSettings:
    """Return what a settings file says; of one that cannot be read, or is no object, nothing."""
    root = object_of(tree.value)
    misfits = tuple(find_misfits(root, tree.at, known, "settings")) if is_object else ()
    hooks = read_hooks(root["hooks"], tree.at / "hooks") if isinstance(root.get("hooks"), dict) and is_object else None
    return ClaudeSettings(
        tree.at,
        is_object or not tree.readable,
        misfits,
        tuple(fault for fault in hooks.faults if fault.costs_file) if hooks is not None else (),
        tuple(read_permission_rules(root.get("permissions"), tree.at / "permissions")),
        root,
    )
