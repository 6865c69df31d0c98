"""Random edits of everything that a result follows from never give a result that is not true any more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import nursery
import pytest
from campaigns import choose

from stagec.cli import app, result_cache
from stagec.core.disk import make_folder

EXAMPLES = Path(__file__).parents[2] / "registries"
CONFIGURATIONS = (
    "",
    'select = ["STG1"]\n',
    'ignore = ["STG2"]\n',
    'fail-on = "note"\n',
    'severity.STG601 = "off"\n',
    'exclude = ["prompts/"]\n',
    'roots = ["agent"]\n',
    "gitignore = false\n",
    "budgets.depth = 5\n",
    "budgets.file-size = 300\n",
    "not toml",
)
PATTERNS = ("", "prompts/\n", "*.json\n", "!*.json\n", "agent/\n", "/pipeline\n", "*.md\n!f_default.md\n")
ENVIRONMENTS = ({}, {"STAGEC_BUDGET_DEPTH": "6"}, {"FORCE_COLOR": "1"}, {"XDG_CONFIG_HOME": "CONFIG"})
COMMANDS = (
    ("validate",),
    ("validate", "agent"),
    ("validate", "pipeline", "agent"),
    ("validate", "--format", "json", "--statistics"),
    ("validate", "--root", ".", "pipeline"),
    ("validate", "agent/steps_registry.json"),
    ("--budget", "depth=6", "validate", "--strict"),
)
STRANGE = (
    "é.md",
    "UPPER.json",
    "steps_registry.json",
    "pipeline.yaml",
    "tools.yaml",
    "x.schema.json",
    ".git",
    "f_default.md",
)


class Tinkerer:
    """Changes a project, and what is around it, at random; much of it is changed back sooner or later."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311
        self.top = folder / "above" / "project"
        shutil.copytree(EXAMPLES / "broken-on-purpose", self.top / "agent")
        shutil.copytree(EXAMPLES / "code-review", self.top / "pipeline")
        self.outside = folder / "outside"
        shutil.copytree(EXAMPLES / "guest-book", self.outside)
        self.kept = folder / "kept"
        shutil.copytree(self.top, self.kept)
        self.environment: dict[str, str] = {}
        self.arguments = COMMANDS[0]

    def edit(self) -> str:
        """Change one thing, and return what was done."""
        edits = (
            *[self.restore] * 8,
            *[self.alter] * 4,
            *[self.swap] * 2,
            *[self.ask_otherwise] * 2,
            self.remove,
            self.add,
        )
        edits += (self.rename, self.link, self.configure, self.leave_out, self.turn_into_folder, self.surround)
        how: Callable[[], None] = self.chance.choice(edits)
        with suppress(OSError):  # what is a folder by now, or gone
            how()
        return how.__name__

    def find_file(self) -> Path:
        """Return a file, a link or a folder."""
        every = [*self.top.rglob("*")]
        return self.chance.choice(every) if every else self.top / "agent"

    def restore(self) -> None:
        """Put everything, or one thing, back."""
        every = [each for each in self.kept.rglob("*") if each.is_file()]
        for each in every if self.chance.random() < 0.3 else self.chance.sample(every, 3):
            target = self.top / each.relative_to(self.kept)
            self._clear(target)
            make_folder(target.parent)
            shutil.copy2(each, target)

    def alter(self) -> None:
        path = self.find_file()
        data = bytearray(path.read_bytes())
        at = self.chance.randrange(len(data) + 1)
        data[at : at + self.chance.randrange(3)] = self.chance.choice(
            (b"", b"x", b'"', b"{", b"\n", b"\xff", b"stepId")
        )
        path.write_bytes(data)

    def swap(self) -> None:
        """Change bytes, and neither size nor times."""
        path = self.find_file()
        status, data = path.stat(), bytearray(path.read_bytes())
        one, other = self.chance.randrange(len(data) or 1), self.chance.randrange(len(data) or 1)
        data[one], data[other] = data[other], data[one]
        path.write_bytes(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def remove(self) -> None:
        self._clear(self.find_file())

    def add(self) -> None:
        path = self.find_file()
        folder = path if path.is_dir() else path.parent
        donor = self.chance.choice([each for each in self.kept.rglob("*") if each.is_file()])
        shutil.copy(donor, folder / self.chance.choice((*STRANGE, donor.name)))

    def rename(self) -> None:
        path = self.find_file()
        name = self.chance.choice((path.name.upper(), path.name.lower(), path.name + "~", *STRANGE))
        path.rename(path.with_name(name))

    def link(self) -> None:
        path = self.find_file()
        target = self.chance.choice((self.outside, self.find_file(), Path("nowhere"), Path(path.name), self.top))
        self._clear(path)
        path.symlink_to(target)

    def turn_into_folder(self) -> None:
        path = self.find_file()
        self._clear(path)
        path.mkdir()

    def configure(self) -> None:
        folder = self.chance.choice((self.top, self.top.parent, self.top / "agent"))
        text = self.chance.choice(CONFIGURATIONS)
        if self.chance.random() < 0.5:
            self._write(folder / "stagec.toml", text)
        else:
            self._write(folder / "pyproject.toml", text and f"[tool.stagec]\n{text}")

    def leave_out(self) -> None:
        folder = self.chance.choice((self.top, self.top / "agent", self.top / "agent" / "prompts", self.top.parent))
        self._write(folder / ".gitignore", self.chance.choice(PATTERNS))

    def surround(self) -> None:
        self.environment = self.chance.choice(ENVIRONMENTS)
        own = self.top.parent / "CONFIG" / "stagec" / "stagec.toml"
        make_folder(own.parent)
        self._write(own, self.chance.choice(("", "budgets.depth = 5\n", "budgets.depth = 90\n", "nonsense")))

    def ask_otherwise(self) -> None:
        self.arguments = self.chance.choice(COMMANDS)

    def _write(self, path: Path, text: str) -> None:
        self._clear(path)
        if text:
            path.write_text(text, encoding="utf-8")

    def _clear(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


Shown = tuple[int | None, str, str]


class User:
    """Somebody who runs stagec in this process, with a cache and without."""

    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str], caches: Path) -> None:
        self._patch, self._capture = patch, capture
        patch.setenv("XDG_CACHE_HOME", str(caches))
        patch.setattr(result_cache, "_stamp_own", lambda: ())  # both take most of the time, and nothing of them changes
        patch.setattr(result_cache, "_stamp_libraries", lambda: ())

    def look_up(self, tinkerer: Tinkerer) -> Shown:
        """Return what is printed of a known result, and a status of None if none is known."""
        self._prepare(tinkerer)
        self._patch.delenv("STAGEC_NO_CACHE", raising=False)
        return self._show(result_cache.print_known(tinkerer.arguments))

    def execute(self, tinkerer: Tinkerer) -> Shown:
        """Execute the command; its result is kept if it was looked up before."""
        self._prepare(tinkerer)
        return self._show(app.run(tinkerer.arguments))

    def forget(self) -> None:
        """Let nothing be kept of what is executed next."""
        result_cache.take_description()

    def _prepare(self, tinkerer: Tinkerer) -> None:
        for name in ("STAGEC_BUDGET_DEPTH", "FORCE_COLOR", "XDG_CONFIG_HOME"):
            self._patch.delenv(name, raising=False)
        for name, text in tinkerer.environment.items():
            self._patch.setenv(name, str(tinkerer.top.parent / text) if text == "CONFIG" else text)
        self._patch.chdir(tinkerer.top)
        self._patch.setattr(sys, "argv", ["stagec", *tinkerer.arguments])

    def _show(self, status: int | None) -> Shown:
        shown = self._capture.readouterr()
        return status, shown.out, shown.err


@pytest.mark.parametrize("seed", range(choose(2, full=2, whole=4)))
def test_no_edit_gives_a_stale_result(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tinkerer = Tinkerer(tmp_path, seed)
    user = User(monkeypatch, capsys, tmp_path / "caches")
    rounds = int(os.environ.get("STAGEC_EDITS", choose(40, full=60, whole=120)))
    known, done = 0, [""]
    for _ in range(rounds):
        done.append(tinkerer.edit())
        first = user.look_up(tinkerer)
        if first[0] is None:
            user.execute(tinkerer)
            first = user.look_up(tinkerer)
        else:
            known += 1
        user.forget()
        assert first[0] in {None, 0, 1}
        assert first == user.execute(tinkerer) or first[0] is None, done[-5:]
    assert known > rounds / 20, "nearly nothing was ever known: the test says nothing"


@pytest.mark.parametrize("number", [choose(4, full=6, whole=12)])
def test_processes_at_the_same_time_do_not_disturb_each_other(number: int, tmp_path: Path) -> None:
    tinkerer = Tinkerer(tmp_path, 1)
    around = nursery.environment(XDG_CACHE_HOME=str(tmp_path / "caches"), STAGEC_NO_CACHE="")
    command = [sys.executable, "-m", "stagec", "validate", "--format", "json"]
    expected = subprocess.run([*command, "--no-cache"], cwd=tinkerer.top, env=around, capture_output=True, check=False)
    for _ in range(choose(2, full=2, whole=4)):
        started = [
            subprocess.Popen(command, cwd=tinkerer.top, env=around, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(number)
        ]
        ended = [(each.communicate(), each.returncode) for each in started]
        assert {(out, err, status) for (out, err), status in ended} == {(expected.stdout, expected.stderr, 1)}
    stagec = tmp_path / "caches" / "stagec"
    assert sorted(each.name for each in stagec.iterdir()) == [".gitignore", "CACHEDIR.TAG", "results", "secret"]
    assert len(list((stagec / "results").iterdir())) == 1
