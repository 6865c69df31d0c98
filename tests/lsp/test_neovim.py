"""Neovim, set up as the page about editors says: it shows a finding, applies its fix, renames a stage and completes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lsp.conftest import EXAMPLES

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs" / "user-guide" / "editors.md"
SESSION = """
local told = {}
local function wait(what, ready)
  if not vim.wait(20000, ready, 20) then
    error("waited in vain for " .. what)
  end
end
local function ask(method, change)
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  for key, value in pairs(change or {}) do
    params[key] = value
  end
  local result
  vim.lsp.buf_request(0, method, params, function(failure, found)
    result = found or { failed = failure.message }
  end)
  wait(method, function() return result ~= nil end)
  return result
end

vim.cmd("edit pipeline.yaml")
wait("the server", function() return #vim.lsp.get_active_clients() > 0 end)
vim.fn.search("entry: plan")
vim.cmd("s/entry: plan/entry: paln/")
wait("a finding", function() return #vim.diagnostic.get(0) == 1 end)
told.finding = vim.diagnostic.get(0)[1].message
local line = vim.fn.line(".") - 1
local actions = ask("textDocument/codeAction", {
  range = { start = { line = line, character = 0 }, ["end"] = { line = line, character = 20 } },
  context = { diagnostics = {} },
})
for _, action in ipairs(actions) do
  if action.edit and action.title:find("plan") then
    vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
    break
  end
end
told.fixed = vim.fn.getline(line + 1)
wait("no finding", function() return #vim.diagnostic.get(0) == 0 end)
vim.fn.cursor(line + 1, 9)
vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", { newName = "outline" }), "utf-16")
told.renamed = vim.fn.getline(line + 1)
told.hover = ask("textDocument/hover").contents.value
told.labels = {}
for _, item in ipairs(ask("textDocument/completion").items) do
  table.insert(told.labels, item.label)
end
vim.cmd("wall")
vim.fn.writefile({ vim.json.encode(told) }, "told.json")
vim.cmd("qall!")
"""


@pytest.mark.needs("nvim")
def test_a_session_in_neovim(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "code-review", tmp_path / "it")
    setups = re.findall(r"```lua\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    version = subprocess.run(["nvim", "--version"], capture_output=True, text=True, check=True).stdout
    release = tuple(map(int, re.findall(r"\d+", version)[:2]))
    setup = setups[0 if release >= (0, 11) else 1]
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "stagec"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m stagec "$@"\n')
    program.chmod(0o755)
    (tmp_path / "session.lua").write_text(
        f"local fine, problem = pcall(function()\n{SESSION}\nend)\n"
        'if not fine then io.stderr:write(tostring(problem)) vim.cmd("cquit") end\n'
    )
    (tmp_path / "init.lua").write_text(f"vim.o.swapfile = false\n{setup}")
    around = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(TOP / "compiler"),
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    ended = subprocess.run(
        ["nvim", "--headless", "-n", "-u", str(tmp_path / "init.lua"), "-c", f"luafile {tmp_path / 'session.lua'}"],
        cwd=tmp_path / "it",
        env=around,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads((tmp_path / "it" / "told.json").read_text())
    assert "'paln'" in told["finding"]
    assert told["fixed"] == "entry: plan"
    assert told["renamed"] == "entry: outline"
    assert "stage **outline**" in told["hover"]
    assert "review" in told["labels"]
    assert "id: outline" in (tmp_path / "it" / "stages" / "plan.md").read_text()
