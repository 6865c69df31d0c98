"""Settings of Claude Code: what drops a whole file, the permission rules and the hooks in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.json import Object, kind_of, list_of, object_of
from stagec.core.place import Place
from stagec.core.value import value
from stagec.frontends.agent_files.hooks import HookFault, Hooks, read_hooks
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.permission_rules import Behaviour, PermissionRule, read_permission_rules
from stagec.sources.tree import Tree


@value
class Discard:
    """One value for which Claude Code drops a settings file: what is expected there, and what was found.

    `fault` is the malformed hook, if it is one.
    """

    at: Place
    expected: str
    found: str
    hook: HookFault | None = None


@value
class ClaudeSettings:
    """One settings file: the values that drop it, and its permission rules."""

    discards: tuple[Discard, ...]
    rules: tuple[PermissionRule, ...]

    def list_denied(self) -> tuple[PermissionRule, ...]:
        """Return the rules that take a tool from every agent; none if the file is dropped."""
        if self.discards:
            return ()
        return tuple(each for each in self.rules if each.behaviour is Behaviour.DENY and each.is_bare)


_TEXT, _TRUTH, _NUMBER, _LIST, _TEXTS, _MAP = (
    "a text",
    "true or false",
    "a number",
    "a list",
    "a list of texts",
    "a map",
)
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    _TEXT: str,
    _TRUTH: bool,
    _NUMBER: (int, float),
    _LIST: list,
    _TEXTS: list,
    _MAP: dict,
}
_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("model", "agent", "outputStyle", "language", "apiKeyHelper", "otelHeadersHelper"), _TEXT),
    **dict.fromkeys(("awsAuthRefresh", "awsCredentialExport", "statusLine.command"), _TEXT),
    **dict.fromkeys(("includeCoAuthoredBy", "disableAllHooks", "enableAllProjectMcpServers"), _TRUTH),
    **dict.fromkeys(("respectGitignore", "alwaysThinkingEnabled", "spinnerTipsEnabled"), _TRUTH),
    **dict.fromkeys(("autoMemoryEnabled", "sandbox.enabled"), _TRUTH),
    "cleanupPeriodDays": _NUMBER,
    **dict.fromkeys(("enabledMcpjsonServers", "disabledMcpjsonServers", "companyAnnouncements"), _TEXTS),
    **dict.fromkeys(("claudeMdExcludes", "permissions.additionalDirectories"), _TEXTS),
    **dict.fromkeys(
        (f"sandbox.filesystem.{each}" for each in ("allowWrite", "denyWrite", "allowRead", "denyRead")), _TEXTS
    ),
    **dict.fromkeys((f"permissions.{each.value}" for each in Behaviour), _LIST),
    **dict.fromkeys(("permissions", "sandbox", "sandbox.filesystem", "statusLine", "enabledPlugins"), _MAP),
    **dict.fromkeys(("extraKnownMarketplaces", "hooks"), _MAP),
}
"""Keys of which it is certain what they hold; a value of another type drops the file."""


def read_settings(tree: Tree, known: Known, *, is_object: bool = True) -> ClaudeSettings:
    """Return what a settings file says; of one that cannot be read, or is no object, nothing."""
    root = object_of(tree.value)
    hooks = read_hooks(root["hooks"], tree.at / "hooks") if isinstance(root.get("hooks"), dict) else None
    lost = (Discard(tree.at, _MAP, ""),) if tree.readable else ()
    return ClaudeSettings(
        discards=tuple(_Check(root, tree.at, known).find_discards(hooks)) if is_object else lost,
        rules=tuple(read_permission_rules(root.get("permissions"), tree.at / "permissions")),
    )


class _Check:
    """Looks for the values of one file that Claude Code does not take."""

    def __init__(self, root: Object, at: Place, known: Known) -> None:
        self._root = root
        self._at = at
        self._known = known

    def find_discards(self, hooks: Hooks | None) -> Iterator[Discard]:
        for path, expected in _TYPES.items():
            yield from self._check_type(path.split("."), expected)
        permissions = object_of(self._root.get("permissions"))
        mode, modes = permissions.get("defaultMode"), self._known.names("permission-modes")
        if "defaultMode" in permissions and (not isinstance(mode, str) or mode not in modes):
            found = mode if isinstance(mode, str) else kind_of(mode)
            yield Discard(self._at / "permissions" / "defaultMode", "mode", found)
        for fault in hooks.faults if hooks is not None else ():
            if fault.costs_file:
                yield Discard(fault.at, "hook", fault.found, fault)

    def _check_type(self, path: list[str], expected: str) -> Iterator[Discard]:
        *owners, name = path
        given, at = self._root, self._at
        for owner in owners:
            given, at = object_of(given.get(owner)), at / owner
        found = given.get(name)
        if name not in given:
            return
        if isinstance(found, bool) is not (expected == _TRUTH) or not isinstance(found, _KINDS[expected]):
            yield Discard(at / name, expected, kind_of(found))
        elif expected == _TEXTS:
            wrong = ((index, each) for index, each in enumerate(list_of(found)) if not isinstance(each, str))
            yield from (Discard(at / name / index, _TEXT, kind_of(each)) for index, each in wrong)
