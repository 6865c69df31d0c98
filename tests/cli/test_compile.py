"""`stagec compile` writes the plans of flows without errors, says why others have none, and never half a file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.cli.app import run
from stagec.cli.commands.compile import name_files
from stagec.ir.plan import verify

Shown = pytest.CaptureFixture[str]
Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]
EXAMPLES = Path(__file__).parents[2] / "registries"
REVIEW = str(EXAMPLES / "code-review")
BROKEN = str(EXAMPLES / "broken-on-purpose")
NODES = {
    "code-review": 5,
    "docs-repair": 3,
    "file-review": 3,
    "guest-book": 4,
    "issue-solver": 3,
    "project-lead": 7,
    "review": 4,
    "reviewed-change": 7,
    "support-desk-apart": 3,
    "support-desk": 3,
    "wine-quality": 8,
}


def copy(example: str, folder: Path) -> Path:
    shutil.copytree(EXAMPLES / example, folder)
    return folder


def short(path: Path) -> str:
    return verify(path.read_bytes()).digest[:19]


# Where plans are written.


def test_one_plan_goes_to_standard_output_as_it_is(run: Run) -> None:
    ended = run("compile", REVIEW)
    loaded = verify(ended.stdout)
    assert (ended.returncode, loaded.plan.id) == (0, "code-review")
    assert ended.stderr.decode() == f"standard output  {loaded.digest[:19]}  5 nodes\n"
    assert run("compile", REVIEW, "-o", "-").stdout == ended.stdout


def test_one_plan_goes_to_the_file_that_is_named(tmp_path: Path, capfd: Shown) -> None:
    path = tmp_path / "x.json"
    assert run(["compile", REVIEW, "-o", str(path)]) == 0
    assert capfd.readouterr() == ("", f"{path}  {short(path)}  5 nodes\n")


@pytest.mark.parametrize(("output", "is_made"), [("out/", True), ("out/deep/", True), ("out", False)])
def test_one_plan_goes_into_a_folder_under_its_name(tmp_path: Path, output: str, *, is_made: bool) -> None:
    if not is_made:
        (tmp_path / output).mkdir()
    assert run(["compile", REVIEW, "-o", f"{tmp_path}/{output}"]) == 0
    assert [each.name for each in (tmp_path / output).iterdir()] == ["code-review.plan.json"]


def test_several_plans_go_into_a_folder_with_a_line_for_each(tmp_path: Path, capfd: Shown) -> None:
    assert run(["compile", str(EXAMPLES), "-o", str(tmp_path / "out")]) == 1
    paths = {name: tmp_path / "out" / f"{name}.plan.json" for name in NODES}
    assert sorted((tmp_path / "out").iterdir()) == list(paths.values())
    *_, last = told = capfd.readouterr().err.splitlines()
    width = max(len(str(path)) for path in paths.values())
    expected = [f"{path!s:<{width}}  {short(path)}  {NODES[name]} nodes" for name, path in paths.items()]
    assert sorted(told[-1 - len(paths) : -1]) == sorted(expected)
    assert last == "stagec: error: flow 'answerer' is not compiled: 6 errors"


def test_several_plans_do_not_fit_on_standard_output(capfd: Shown) -> None:
    assert run(["compile", str(EXAMPLES)]) == 2
    assert capfd.readouterr() == (
        "",
        "stagec: error: there are 12 flows: name a folder for their plans with --output, or one flow with --flow\n",
    )


def test_one_of_several_flows_is_chosen_by_its_id(run: Run) -> None:
    ended = run("compile", str(EXAMPLES), "--flow", "docs-repair")
    assert (ended.returncode, ended.stderr.count(b"\n")) == (0, 1)
    assert verify(ended.stdout).plan.id == "docs-repair"


def test_a_flow_that_is_not_there_is_refused(capfd: Shown) -> None:
    assert run(["compile", REVIEW, "--flow", "review"]) == 2
    assert capfd.readouterr().err == "stagec: error: no flow is called 'review'; did you mean 'code-review'?\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([REVIEW, "-o", "file/"], "'file' is not a folder"),
        ([str(EXAMPLES), "-o", "file"], "'file' is not a folder, and there are 12 flows"),
        ([REVIEW, "-o", "nowhere/x"], "cannot write 'nowhere/x': No such file or directory"),
        ([REVIEW, "-o", "file/x/"], "cannot make 'file/x': Not a directory"),
        ([REVIEW, "--check"], "--check needs --output, which names the files to compare"),
        (["nowhere"], "'nowhere' does not exist"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "file").touch()
    ended = run("compile", *arguments)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.decode().splitlines()[-1] == f"stagec: error: {said}"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_where_there_is_no_flow_there_is_nothing_to_compile(tmp_path: Path, capfd: Shown) -> None:
    assert run(["compile", str(tmp_path)]) == 3
    assert capfd.readouterr().err.startswith("stagec: error: nothing to compile: ")


def test_a_flow_that_cannot_be_read_is_none(broken: Path, run: Run) -> None:
    ended = run("compile")
    assert (ended.returncode, ended.stdout) == (3, b"")
    assert ended.stderr == (
        b"stagec: error: nothing to compile: '.' holds no flow that can be read; 'stagec validate' says why\n"
    )


def test_a_plan_is_put_in_place_of_a_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o600)
    assert run(["compile", REVIEW, "-o", str(path)]) == 0
    assert verify(path.read_bytes()).plan.id == "code-review"
    assert (path.stat().st_mode & 0o777, [each.name for each in tmp_path.iterdir()]) == (0o600, ["x"])


def test_nothing_in_a_plan_plays_tricks_to_a_terminal(
    tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> None:
    folder = copy("docs-repair", tmp_path / "project")
    (folder / "check.md").write_text((folder / "check.md").read_text() + "\u202e\x9b31m\n")
    master, terminal = os.openpty()
    command = [sys.executable, "-m", "stagec", "compile", str(folder)]
    subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, env=environment(), check=True)
    os.close(terminal)
    shown = b""
    while part := _read(master):
        shown += part
    os.close(master)
    assert rb"\u202e\x9b31m" in shown
    assert "\u202e" not in shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # nobody writes any more
        return b""


# Which flows have a plan.


def test_errors_and_warnings_are_shown_as_validate_shows_them(run: Run, tmp_path: Path) -> None:
    ended, validated = run("compile", BROKEN, "-o", "x"), run("validate", BROKEN, "--quiet")
    told = ended.stderr.decode().removesuffix("stagec: error: flow 'answerer' is not compiled: 6 errors\n")
    assert (ended.returncode, ended.stdout, told) == (1, b"", validated.stdout.decode())
    assert not (tmp_path / "x").exists()


def test_a_flow_with_warnings_has_a_plan(warned: Path, run: Run) -> None:
    ended = run("compile")
    assert ended.returncode == 0
    assert verify(ended.stdout).plan.id == "a"
    assert ended.stderr.startswith(b"warning[STG105] byte-order-mark: ")


def test_notes_are_left_to_validate(run: Run, tmp_path: Path) -> None:
    folder = copy("docs-repair", tmp_path / "project")
    (folder / "tools.yaml").write_text("bundled: [Read, Grep, Glob, Edit, Write]\nmcp: {x: {command: y}}\n")
    assert b"note[STG507]" in run("validate", "project").stdout
    assert run("compile", "project").stderr.count(b"\n") == 1


def test_only_what_concerns_the_chosen_flow_is_shown(run: Run) -> None:
    ended = run("compile", str(EXAMPLES), "--flow", "code-review", "-o", os.devnull)
    assert (ended.returncode, ended.stderr.count(b"\n")) == (0, 1)


@pytest.mark.parametrize(
    "configured",
    ['ignore = ["ALL"]', "select = []", 'severity = {ALL = "off"}', 'severity = {ALL = "note"}', 'fail-on = "never"'],
)
def test_no_configuration_makes_a_broken_flow_compile(run: Run, tmp_path: Path, configured: str) -> None:
    folder = copy("issue-flow", tmp_path / "project")
    registry = folder / ".agent" / "issue-solver" / "steps_registry.json"
    broken = registry.read_text().replace(
        '"target": "continuation.issue" }, "repeat"', '"target": "other.issue" }, "repeat"'
    )
    registry.write_text(broken)
    assert run("validate", "project").returncode == 1
    (folder / "stagec.toml").write_text(f"{configured}\n")
    assert run("validate", "project").returncode == 0
    ended = run("compile", "project")
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert ended.stderr.endswith(b"stagec: error: flow 'issue-solver' is not compiled: 1 error\n")


def test_no_configuration_stops_a_sound_flow(run: Run, tmp_path: Path) -> None:
    folder = copy("issue-flow", tmp_path / "project")
    (folder / "stagec.toml").write_text('extend-select = ["policy"]\nseverity = {ALL = "error"}\n')
    assert run("validate", "project").returncode == 1
    assert run("compile", "project").returncode == 0


def test_a_plan_does_not_depend_on_what_is_compiled_with_it(run: Run, tmp_path: Path) -> None:
    copy("broken-on-purpose", tmp_path / "broken")
    copy("docs-repair", tmp_path / "sound")
    assert run("compile", "--root", ".", "-o", "out/").returncode == 1
    assert run("compile", "--root", ".", "sound").stdout == (tmp_path / "out" / "docs-repair.plan.json").read_bytes()


SHARED = {
    "catalogue": ("shared/tools.yaml", "bundled: [Read"),
    "member of the catalogue": ("shared/tools.yaml", "bundled: 1\n"),
    "servers": ("shared/.mcp.json", "{"),
    "lock": ("shared/tools.lock.json", "{"),
    "schema of a tool": ("shared/schemas/run_tests.json", "{"),
}


@pytest.mark.parametrize(("file", "text"), SHARED.values(), ids=SHARED)
def test_a_mistake_in_what_flows_share_stops_those_that_use_it(run: Run, tmp_path: Path, file: str, text: str) -> None:
    flow, shared = copy("code-review", tmp_path / "flow"), tmp_path / "shared"
    copy("docs-repair", tmp_path / "other")
    shared.mkdir()
    for name in ("tools.yaml", "tools.lock.json", ".mcp.json", "schemas"):
        (flow / name).rename(shared / name)
    pipeline = flow / "pipeline.yaml"
    pipeline.write_text(pipeline.read_text().replace("tools: tools.yaml", "tools: ../shared/tools.yaml"))
    assert run("compile", "--root", ".", "-o", "out/").returncode == 0
    shutil.rmtree(tmp_path / "out")
    (tmp_path / file).write_text(text)
    ended = run("compile", "--root", ".", "-o", "out/")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(b"stagec: error: flow 'code-review' is not compiled: ")
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["docs-repair.plan.json"]


def test_a_mistake_in_a_file_of_no_flow_is_told_and_stops_nobody(run: Run, tmp_path: Path) -> None:
    copy("docs-repair", tmp_path / "sound")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "steps_registry.json").write_text("{")
    ended = run("compile", "-o", "out/")
    assert ended.returncode == 1
    assert ended.stderr.endswith(b"\nstagec: error: 1 error in files that belong to no flow\n")
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["docs-repair.plan.json"]
    assert run("compile", "-o", "out/", "--flow", "docs-repair").returncode == 0


# Comparing with what is there.


def test_what_is_up_to_date_is_left_alone_and_passes(run: Run, tmp_path: Path) -> None:
    run("compile", REVIEW, "-o", "x")
    (tmp_path / "x").chmod(0o400)
    ended = run("compile", REVIEW, "-o", "x", "--check")
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert ended.stderr.decode() == f"x  {short(tmp_path / 'x')}  5 nodes  up to date\n"


def test_what_is_out_of_date_or_missing_fails_and_stays(run: Run, tmp_path: Path) -> None:
    run("compile", str(EXAMPLES), "-o", "out")
    (tmp_path / "out" / "code-review.plan.json").write_bytes(b"old")
    (tmp_path / "out" / "docs-repair.plan.json").unlink()
    unreadable = "out of date: it is not a readable plan"
    for flow, told in (("code-review", unreadable), ("docs-repair", "missing"), ("issue-solver", "up to date")):
        ended = run("compile", str(EXAMPLES), "-o", "out", "--check", "--flow", flow)
        assert ended.stderr.decode().endswith(f" nodes  {told}\n")
        assert ended.returncode == (told != "up to date")
    assert (tmp_path / "out" / "code-review.plan.json").read_bytes() == b"old"
    assert not (tmp_path / "out" / "docs-repair.plan.json").exists()


def test_what_made_a_plan_stale_is_named(run: Run, tmp_path: Path) -> None:
    project = copy("docs-repair", tmp_path / "project")
    assert run("compile", "project", "-o", "x").returncode == 0
    for file in ("write.md", "check.md"):
        (project / file).write_text((project / file).read_text() + "And be brief.\n")
    ended = run("compile", "project", "-o", "x", "--check")
    assert (ended.returncode, ended.stderr.decode().endswith("out of date: 'check.md' and 'write.md' changed\n")) == (
        1,
        True,
    )


def test_a_comparison_makes_no_folder(run: Run, tmp_path: Path) -> None:
    assert run("compile", REVIEW, "-o", "out/", "--check").returncode == 1
    assert not (tmp_path / "out").exists()


# Names of files.


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["code-review", "a b"], ["code-review", "a b"]),
        (["a/b", "a\\b", "a:b"], ["a_b", "a_b-2", "a_b-3"]),
        (["../../etc/passwd", ".hidden", ".."], ["_._.._etc_passwd", "_hidden", "_."]),
        (["a", "A", "a-2", "a"], ["a", "A-2", "a-2-2", "a-3"]),
        (["", " ", "\0"], ["flow", "flow-2", "_"]),
        (["é", "e\u0301"], ["é", "e\u0301-2"]),
        (["\x1b[2J", "\u202eabc", "\ud800"], ["_[2J", "_abc", "_"]),
        (["x" * 101, "x" * 102], ["x" * 100, "x" * 98 + "-2"]),
        (["é" * 51, "審" * 40], ["é" * 50, "審" * 33]),
    ],
)
def test_a_plan_has_a_name_that_every_file_system_takes(ids: list[str], names: list[str]) -> None:
    assert name_files(ids) == tuple(f"{name}.plan.json" for name in names)


@given(st.lists(st.text(max_size=120) | st.sampled_from(["a", "A", "a-2", "a-3", "ß", "ss", "x" * 100])))
def test_names_differ_everywhere_and_lead_nowhere(ids: list[str]) -> None:
    names = name_files(ids)
    assert len({normalize("NFKC", name).casefold() for name in names}) == len(ids)
    for name in names:
        assert name.isprintable()
        assert not name.startswith((".", " "))
        assert not {*name} & {*'/\\:*?"<>|'}
        assert len(name.removesuffix(".plan.json").encode()) <= 100


def test_flows_of_one_id_have_a_file_each_whichever_is_chosen(run: Run, tmp_path: Path) -> None:
    copy("docs-repair", tmp_path / "one")
    copy("docs-repair", tmp_path / "two")
    pipeline = tmp_path / "two" / "pipeline.yaml"
    pipeline.write_text(pipeline.read_text().replace("Repair the", "Mend the", 1))
    made = {
        "docs-repair.plan.json": "Repair the documentation",
        "docs-repair-2.plan.json": "Mend the documentation",
    }
    assert run("compile", "-o", "out").returncode == 0
    assert run("compile", "-o", "chosen", "--flow", "docs-repair").returncode == 0
    for folder in ("out", "chosen"):
        plans = {path.name: verify(path.read_bytes()).plan for path in (tmp_path / folder).iterdir()}
        assert {name: plan.title for name, plan in plans.items()} == made
