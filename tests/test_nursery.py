"""What the nursery bears behaves as a Python that starts."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import nursery
import pytest

REGISTRIES = Path(__file__).parents[1] / "registries"
COMMANDS = {
    "clean": ("validate", "code-review"),
    "findings": ("validate", "broken-on-purpose", "--format", "json"),
    "usage": ("validate", "--no-such-option"),
    "nothing to check": ("validate", "LICENSE"),
    "help": ("run", "--help"),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_does_and_says_the_same(words: tuple[str, ...]) -> None:
    environment = nursery.environment(COLUMNS="70")
    born = nursery.run(words, REGISTRIES, environment)
    started = subprocess.run(
        [*nursery.STAGEC, *words], cwd=REGISTRIES, env=environment, capture_output=True, check=False
    )
    assert (born.returncode, born.stdout, born.stderr) == (started.returncode, started.stdout, started.stderr)


def test_each_process_has_its_own_folder_and_environment(tmp_path: Path) -> None:
    for limit in ("1kB", "2kB"):
        folder = tmp_path / limit
        folder.mkdir()
        (folder / "steps_registry.json").write_text(" " * 3000)
        ended = nursery.run(("validate",), folder, nursery.environment(STAGEC_BUDGET_FILE_SIZE=limit))
        assert f"more than the {limit[0]},000" in ended.stdout.decode()


def test_a_process_can_be_killed_and_is_none_of_the_caller() -> None:
    reading, writing = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    words = ("validate", "-", "--stdin-filename", "steps_registry.json")
    process = nursery.start(words, REGISTRIES, nursery.environment(), (reading, nothing, nothing))
    assert process.poll() is None
    process.kill()
    assert process.wait(30) == -signal.SIGKILL == process.poll()
    for each in (reading, writing, nothing):
        os.close(each)


def test_another_module_has_its_words_and_folders_and_a_group_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "born.py").write_text(
        "import os, random, sys\n"
        "print(sys.argv[1:], os.getpgid(0) == os.getpid(), random.random())\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    paths = os.pathsep.join((str(tmp_path), str(nursery.COMPILER)))
    said = []
    for status in ("0", "3", "0"):
        with Path(os.devnull).open("rb") as nothing, (tmp_path / "said").open("w+b") as out:
            streams = (nothing.fileno(), out.fileno(), out.fileno())
            around = nursery.environment(PYTHONPATH=paths)
            process = nursery.start((status,), REGISTRIES, around, streams, "born", is_group=True)
            assert process.wait(30) == int(status)
            said.append((tmp_path / "said").read_text())
    assert [each.rpartition(" ")[0] for each in said] == ["['0'] True", "['3'] True", "['0'] True"]
    assert said[0] != said[2], "each has chances of its own"


def test_a_python_that_is_told_something_starts() -> None:
    ended = nursery.run(("--version",), REGISTRIES, nursery.environment(PYTHONVERBOSE="1"))
    assert b"import 'stagec.cli.app'" in ended.stderr
