"""The files of a project that the commands of hooks begin with."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.frontends.agent_files.hooks import HookHandler, Hooks

_ROOT = r"(?:\$CLAUDE_PROJECT_DIR|\$\{CLAUDE_PROJECT_DIR\})"
_PLUGIN = r"\$\{CLAUDE_PLUGIN_ROOT\}"
_RUNNER = r"(?:(?:bash|sh|zsh|node|python3?|ruby|perl|bun)[ ]+)?"
_WORD = r"[\w@%+=:,./-]+"
_SHELL = re.compile(
    rf"\s*{_RUNNER}(?:"
    rf"\"(?P<quoted>{_ROOT}|{_PLUGIN})/(?P<inside>[\w@%+=:,./ -]+)\""
    rf"|\"(?P<base>{_ROOT}|{_PLUGIN})\"/(?P<behind>{_WORD})"
    r"|(?:\"\"|'')(?P<bare>/\.(?:claude|opencode|cursor|github)/[\w@%+=:,./-]+)"
    rf"|(?P<plain>(?:{_ROOT}|{_PLUGIN}|\.)/|\.claude/)(?P<rest>{_WORD})"
    r")(?=[\s;&|>)]|\Z)",
    re.ASCII,
)
_OWN = ".claude/"
_MADE = frozenset({"node_modules", ".venv", "venv", "dist", "build", "out", "target", "bin", ".cache"})
"""Folders whose files are made, not written."""


def list_scripts(hooks: Hooks, *, is_plugin: bool) -> Iterator[Mention]:
    """Yield the files, relative to the project or the plugin, that the commands of hooks certainly run."""
    for entry in hooks.entries:
        for hook in entry.hooks:
            path = _find_script(hook, is_plugin=is_plugin)
            if path is not None and _MADE.isdisjoint(path.split("/")) and not path.startswith("../"):
                yield Mention(path, hook.at / "command")


def _find_script(hook: HookHandler, *, is_plugin: bool) -> str | None:
    command = hook.members.get("command")
    if hook.members.get("type") != "command" or not isinstance(command, str):
        return None
    found = _SHELL.match(command)
    if found is None or ("args" in hook.members and found.end() < len(command)):
        return None
    if found["bare"]:
        return found["bare"]
    base = found["quoted"] or found["base"] or found["plain"]
    if ("PLUGIN" in base) is not is_plugin:
        return None
    written = found["inside"] or found["behind"] or found["rest"]
    return posixpath.normpath(f"{_OWN}{written}" if base == _OWN else written)
