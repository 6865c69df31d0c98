"""One attempt of a stage: what it is told, what it must leave, and what is left untouched."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest
from world.stages.workshop import Workshop, is_success, stage, writes

from stagec.core.failure import Failure
from stagec.core.secrets import Redactor
from stagec.ir.plan.act import Process, ProcessInput
from stagec.runtime.world.stage_files import RunFolder

SHOW = "print(json.dumps({name: each for name, each in os.environ.items()} | {'cwd': os.getcwd(), 'argv': sys.argv}))"


def test_a_stage_is_told_where_everything_is(tmp_path: Path) -> None:
    (tmp_path / "wine.csv").write_text("1;2", encoding="utf-8")
    inputs = {
        "raw": ProcessInput(path="wine.csv"),
        "page": ProcessInput(url="https://example.org/x"),
        "made": ProcessInput(path="d/a.txt", node="S01_load_data"),
    }
    shop = Workshop(
        tmp_path,
        {
            "S01_load_data": stage("Path(outputs['a']).write_text('x')", {"a": "d/a.txt"}),
            "S02_show_all": stage(SHOW, {"o": "x/y/o"}, inputs),
        },
    )
    shop.complete("S01_load_data")
    shop.execute("S02_show_all", PATH=os.environ["PATH"], HOME="somewhere")
    told = json.loads(next(line for line in shop.log().splitlines() if line.startswith("{")))
    attempt = shop.path(".attempts", "S02_show_all-1")
    assert json.loads(told["STAGEC_INPUTS"]) == {
        "raw": str(tmp_path / "wine.csv"),
        "page": "https://example.org/x",
        "made": str(shop.path("S01_load_data", "d", "a.txt")),
    }
    assert json.loads(told["STAGEC_OUTPUTS"]) == {"o": str(attempt / "x/y/o")}
    assert (told["STAGEC_ATTEMPT_DIR"], told["cwd"], told["HOME"]) == (str(attempt), str(tmp_path), "somewhere")
    assert (told["STAGEC_RUN_ID"], told["STAGEC_STAGE_ID"]) == ("run-001", "S02_show_all")
    assert (told["STAGEC_IDEMPOTENCY_KEY"], told["PYTHONUNBUFFERED"]) == ("run-001/S02_show_all#1/1.0", "1")


def test_an_answer_says_what_every_output_holds(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": stage(writes(["a", "b"]), {"a": "a.txt", "b": "deep/er/b.txt"})})
    answer = shop.execute("S01_load_data")
    assert is_success(answer)
    assert answer["outputs"] == {
        name: {"path": path, "sha256": hashlib.sha256(name.encode() * 1_000).hexdigest(), "sizeBytes": 1_000}
        for name, path in (("a", "a.txt"), ("b", "deep/er/b.txt"))
    }
    assert not shop.path("S01_load_data").exists()


def test_folders_of_a_run_are_for_nobody_but_the_user(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": stage(writes(), {"data": "deep/data"})})
    shop.complete("S01_load_data")
    folders = [tmp_path / "reports", *(each for each in (tmp_path / "reports").rglob("*") if each.is_dir())]
    assert len(folders) == 7
    assert {stat.S_IMODE(each.stat().st_mode) for each in folders} == {0o700}
    assert stat.S_IMODE(shop.path("run.log").stat().st_mode) == 0o600


LEAVES = {
    "nothing": "",
    "a folder": "os.mkdir(outputs['a'])",
    "a link to a file": "os.symlink('/etc/hostname', outputs['a'])",
    "a link to nothing": "os.symlink('nowhere', outputs['a'])",
    "a pipe": "os.mkfifo(outputs['a'])",
    "a folder that is a link": (
        "os.rmdir(os.path.dirname(outputs['a'])); os.mkdir('/'.join(outputs['a'].split('/')[:-2]) + '/e');"
        "os.symlink('e', os.path.dirname(outputs['a'])); Path(outputs['a']).write_text('x')"
    ),
}


@pytest.mark.parametrize("what", LEAVES)
def test_an_output_must_be_a_regular_file_below_the_attempt(tmp_path: Path, what: str) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": stage(LEAVES[what], {"a": "d/a", "b": "b"})})
    answer = shop.execute("S01_load_data")
    assert (answer["exit"], answer["missing"], answer["outputs"]) == (0, ["a", "b"], {})
    assert "[STAGE:end:id=S01_load_data:status=failed:" in shop.log()


@pytest.mark.parametrize("program", ["os.remove({0})", "open({0}, 'a').write('x')", "os.replace(__file__ or '', {0})"])
def test_inputs_that_are_not_what_they_were_are_told(tmp_path: Path, program: str) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    inputs = {name: ProcessInput(path=name) for name in ("a", "b")}
    code = program.replace("os.replace(__file__ or '', {0})", "Path('c').write_text('a'); os.replace('c', {0})")
    shop = Workshop(tmp_path, {"S01_load_data": stage(code.format("inputs['a']"), inputs=inputs)})
    answer = shop.execute("S01_load_data")
    same_bytes = "replace" in program
    assert (answer["exit"], answer["changed"]) == (0, [] if same_bytes else ["a"])


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nothing", "No such file"),
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),
        ("out", "out of the project"),
        ("../secret", "straight down"),
        ("way/secret", "out of the project"),
    ],
)
def test_a_stage_does_not_begin_without_its_inputs(tmp_path: Path, path: str, words: str) -> None:
    root = tmp_path / "project"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    os.mkfifo(root / "pipe")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "way").symlink_to(tmp_path)
    program = "Path('begun').write_text('')"
    shop = Workshop(root, {"S01_load_data": stage(program, {"o": "o"}, {"i": ProcessInput(path=path)})})
    answer = shop.execute("S01_load_data")
    assert (answer["exit"], answer["missing"]) == (None, ["o"])
    assert words in answer["error"]
    assert not (root / "begun").exists()


@pytest.mark.parametrize("harm", ["write_text('other')", "unlink()", "rename('moved')"])
def test_a_stage_does_not_begin_with_what_another_has_not_published(tmp_path: Path, harm: str) -> None:
    meddles = f"next(Path('reports').glob('*/*/S01_load_data/data')).{harm}"
    inputs = {"data": ProcessInput(path="data", node="S01_load_data")}
    acts = {
        "S01_load_data": stage(writes(), {"data": "data"}),
        "S02_harm_data": stage(meddles),
        "S03_use_data": stage("Path('begun').write_text('')", {}, inputs),
    }
    shop = Workshop(tmp_path, acts, S03_use_data=("S01_load_data",))
    shop.complete("S01_load_data")
    assert is_success(shop.execute("S03_use_data"))
    (tmp_path / "begun").unlink()
    assert is_success(shop.execute("S02_harm_data"))
    answer = shop.execute("S03_use_data", 2)
    assert answer["exit"] is None
    assert "the input 'data', 'data', cannot be read: " in answer["error"]
    assert not (tmp_path / "begun").exists()
    assert shop.preserve("S03_use_data")["valid"] is False


def test_an_attempt_directory_that_a_stage_turns_into_a_link_holds_no_output(tmp_path: Path) -> None:
    program = """
    attempt = Path(os.environ["STAGEC_ATTEMPT_DIR"])
    attempt.rmdir(); Path("elsewhere").mkdir(); Path("elsewhere/a").write_text("x")
    attempt.symlink_to(Path("elsewhere").resolve())
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {"a": "a"})})
    answer = shop.execute("S01_load_data")
    assert (answer["exit"], answer["missing"], answer["outputs"]) == (0, ["a"], {})
    assert shop.preserve("S01_load_data")["checkpoint"] is None
    recorded = {"a": {"path": "a", "sha256": hashlib.sha256(b"x").hexdigest(), "sizeBytes": 1}}
    assert "is a link" in str(shop.publish("S01_load_data", recorded)["error"])
    assert (tmp_path / "elsewhere/a").read_text(encoding="utf-8") == "x"


def test_a_link_within_the_project_leads_to_an_input(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("x", encoding="utf-8")
    (tmp_path / "wine.csv").symlink_to("real.csv")
    program = "assert Path(inputs['i']).read_text() == 'x'"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {}, {"i": ProcessInput(path="wine.csv")})})
    assert is_success(shop.execute("S01_load_data"))


def test_a_new_attempt_finds_nothing_of_one_that_a_crash_ended(tmp_path: Path) -> None:
    program = "d = Path(os.environ['STAGEC_ATTEMPT_DIR']); assert not list(d.iterdir()); (d / 'partial').write_text('')"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    for _ in range(2):
        assert is_success(shop.execute("S01_load_data"))
    assert is_success(shop.execute("S01_load_data", 2))
    assert sorted(os.listdir(shop.path(".attempts"))) == ["S01_load_data-1", "S01_load_data-2"]


@pytest.mark.parametrize("words", [("no-such-program",), ("a\0b",), ("/",)])
def test_what_cannot_be_started_is_an_error(tmp_path: Path, words: tuple[str, ...]) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": Process("Do it.", stage("").limits, words)})
    answer = shop.execute("S01_load_data")
    assert answer["exit"] is None
    assert answer["error"].startswith("it could not be started: ")


def test_a_stage_without_words_needs_an_executor(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": Process("Do it.", stage("").limits)})
    with pytest.raises(Failure, match="has no 'run'"):
        shop.execute("S01_load_data")


@pytest.mark.parametrize(
    ("program", "exit_status", "end"),
    [
        ("print('[STAGE:end:id=S01_load_data:status=failed]')", 0, "failed"),
        ("print('[STAGE:end:id=S01_load_data:status=success]'); sys.exit(3)", 3, "success"),
        (
            "print('[STAGE:end:id=S01_load_data:status=failed]\\n[STAGE:end:id=S01_load_data:status=success]')",
            0,
            "success",
        ),
        ("print('[STAGE:end:S01_load_data:status=interrupted]', end='')", 0, "interrupted"),
        ("print('[STAGE:end:id=S01_load_data:status=splendid]')", 0, None),
        ("print('[STAGE:end:id=S09_other_one:status=failed]')", 0, None),
        ("print('[STAGE:end:id=S01_load_data:status=failed]', file=sys.stderr)", 0, None),
        ("print('see [STAGE:end:id=S01_load_data:status=failed]')", 0, None),
    ],
)
def test_markers_are_read_from_standard_output(tmp_path: Path, program: str, exit_status: int, end: str | None) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    answer = shop.execute("S01_load_data")
    assert (answer["exit"], answer["status"]) == (exit_status, end)


def test_the_log_has_one_truth_about_the_end(tmp_path: Path) -> None:
    says = "print('[STAGE:end:id=S01_load_data:status=success]')"
    shop = Workshop(tmp_path, {"S01_load_data": stage(f"{says}; sys.exit(1)"), "S02_is_honest": stage(says)})
    shop.execute("S01_load_data")
    lines = shop.log().splitlines()
    assert lines[0] == "[STAGE:begin:id=S01_load_data]"
    assert lines[1] == "[STAGE:end:id=S01_load_data:status=success]"
    assert lines[2].startswith("[STAGE:end:id=S01_load_data:status=failed:duration=")


def test_output_is_in_the_log_without_secrets(tmp_path: Path) -> None:
    program = """
    print('token', os.environ['MY_TOKEN'], 'end')
    print('-----BEGIN RSA PRIVATE KEY-----')
    for number in range(2_000):
        print(f'{number:05}' * 15)
    print('-----END RSA PRIVATE KEY-----')
    print('after', file=sys.stderr, flush=True)
    os.write(1, b'\\xff\\xfe binary \\0\\n no end')
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    value = "correct horse battery"
    answer = shop.execute("S01_load_data", redactor=Redactor({"MY_TOKEN": value}), MY_TOKEN=value)
    log = shop.log()
    assert is_success(answer)
    assert "token [redacted] end\n" in log
    assert all(each in log for each in ("\ufffd\ufffd binary \0\n", " no end\n", "after\n"))
    assert value not in log
    assert "01234" not in log


def test_names_that_can_have_no_folder_are_refused(tmp_path: Path) -> None:
    for title, run in (("../x", "run-001"), ("wine", ".."), ("wine", "a/b"), ("", "run-001"), ("wine", "CON")):
        with pytest.raises(Failure, match="cannot have a folder"):
            RunFolder(tmp_path, title, run)


@pytest.mark.parametrize("level", ["reports", "reports/wine-quality", "reports/wine-quality/run-001"])
def test_a_link_in_the_way_of_a_run_is_refused(tmp_path: Path, level: str) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    (root / level).parent.mkdir(parents=True)
    outside.mkdir()
    (root / level).symlink_to(outside)
    with pytest.raises(Failure, match="is a link"):
        Workshop(root, {})
    assert list(outside.iterdir()) == []


def test_a_log_that_is_a_link_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "reports/wine-quality/run-001"
    run.mkdir(parents=True)
    (tmp_path / "precious").write_text("x", encoding="utf-8")
    (run / "run.log").symlink_to(tmp_path / "precious")
    with pytest.raises(Failure, match="is a link"):
        Workshop(tmp_path, {})
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "x"
