"""`stagec verify` accepts what `stagec compile` wrote, refuses everything else, and says how sources differ."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from altered import ALTERED, PAYLOAD, PLAN
from campaigns import choose
from handmade import completed, steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stagec.cli.against import find_differences
from stagec.cli.app import run
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.ir.plan import dump
from stagec.ir.plan.document import Limits
from stagec.ir.plan.loader import write_frame
from stagec.ir.plan.node import Edge, Node, Outcome, Stop

Shown = pytest.CaptureFixture[str]
Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]
EXAMPLES = Path(__file__).parents[2] / "registries"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "review.plan.json"
    path.write_bytes(PLAN)
    return path


def test_a_plan_as_it_was_written_is_verified(written: Path, capfd: Shown) -> None:
    assert run(["verify", str(written)]) == 0
    assert capfd.readouterr() == (f"{written}: verified: 'review' with 4 nodes, sha256:{PLAN[18:30].decode()}\n", "")


def test_every_plan_has_a_line_and_one_that_is_refused_fails(written: Path, tmp_path: Path, capfd: Shown) -> None:
    other = tmp_path / "other.plan.json"
    other.write_bytes(PLAN.replace(b"Lint.", b"Lint!"))
    assert run(["verify", str(other), str(written)]) == 1
    first, second = capfd.readouterr().out.splitlines()
    assert first.startswith(f"{other}: refused: it was changed: its bytes have the digest sha256:")
    assert second.startswith(f"{written}: verified: ")


@pytest.mark.parametrize(("data", "reason"), ALTERED.values(), ids=ALTERED)
def test_what_is_no_sound_plan_is_refused_with_the_reason(
    tmp_path: Path, capfd: Shown, data: bytes, reason: str
) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    assert run(["verify", str(path)]) == 1
    shown = capfd.readouterr()
    assert shown.out.startswith(f"{path}: refused: {reason}")
    assert (shown.out.count("\n"), shown.err) == (1, "")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["\ud800", "sha256:", "plan"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def changed(draw: st.DrawFn) -> bytes:
    """Make a plan in whose frame some value was put in place of another."""
    payload = json.loads(json.dumps(PAYLOAD))
    at: Any = payload
    while True:
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], dict | list) or not at[key] or draw(st.integers(0, 3)) == 0:
            break
        at = at[key]
    at[key] = draw(JSON)
    return write_frame(json.dumps(payload, sort_keys=True, separators=(",", ":")).encode())


@settings(
    max_examples=choose(60, whole=200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=300) | st.binary(max_size=100).map(write_frame) | changed())
def test_no_bytes_make_it_stumble(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    assert run(["verify", str(path)]) in {0, 1}
    assert run(["plan", str(path)]) in {0, 1}


def test_a_plan_is_read_from_standard_input(run: Run) -> None:
    ended = run("verify", "-", text=PLAN)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.startswith(b"-: verified: 'review' with 4 nodes, ")


def test_a_file_that_cannot_be_read_is_told_once_the_others_were(written: Path, tmp_path: Path, capfd: Shown) -> None:
    assert run(["verify", str(tmp_path / "nowhere"), str(tmp_path), str(written)]) == 2
    shown = capfd.readouterr()
    assert shown.out.startswith(f"{written}: verified: ")
    assert shown.err.splitlines() == [
        f"stagec: error: {quote(tmp_path / 'nowhere')} does not exist",
        f"stagec: error: {quote(tmp_path)} is a folder, and a file is expected",
    ]


def test_a_name_that_build_services_would_obey_is_shown_as_a_path(run: Run, tmp_path: Path) -> None:
    (tmp_path / "::error::x").write_bytes(b"")
    assert run("verify", "::error::x").stdout == b"./::error::x: refused: it does not have the frame of a plan\n"


def test_a_root_without_sources_is_refused(written: Path, capfd: Shown) -> None:
    assert run(["verify", str(written), "--root", "."]) == 2
    assert capfd.readouterr().err == "stagec: error: --root needs --against, which names the sources\n"


# Against the sources.


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """Copy an example and compile it."""
    shutil.copytree(EXAMPLES / "code-review", tmp_path / "project")
    assert run(["compile", str(tmp_path / "project"), "-o", str(tmp_path / "x")]) == 0
    return tmp_path / "x"


def against(compiled: Path, *more: str) -> int:
    return run(["verify", str(compiled), "--against", str(compiled.parent / "project"), *more])


def test_what_the_sources_compile_to_is_the_same_again(compiled: Path, capfd: Shown) -> None:
    capfd.readouterr()
    assert against(compiled) == 0
    assert capfd.readouterr().out.startswith(f"{compiled}: verified against the sources: 'code-review' with 5 nodes, ")


def test_a_changed_prompt_is_told_by_node_and_source(compiled: Path, capfd: Shown) -> None:
    prompt = compiled.parent / "project" / "stages" / "lint.md"
    prompt.write_bytes(prompt.read_bytes() + b"And nothing else.\n")
    capfd.readouterr()
    assert against(compiled) == 1
    assert capfd.readouterr().out == (
        f"{compiled}: differs from the sources:\n  node 'lint' differs: prompt\n  source 'stages/lint.md' differs\n"
    )


def test_a_flow_with_errors_has_no_plan_to_compare_with(compiled: Path, capfd: Shown) -> None:
    (compiled.parent / "project" / "stages" / "lint.md").unlink()
    capfd.readouterr()
    assert against(compiled) == 1
    told = capfd.readouterr().out
    assert told.startswith(f"{compiled}: differs from the sources: the flow is not compiled: ")
    assert told.endswith("; 'stagec compile --flow code-review' says what is wrong\n")


def test_a_flow_that_is_not_there_is_told(compiled: Path, capfd: Shown) -> None:
    pipeline = compiled.parent / "project" / "pipeline.yaml"
    pipeline.write_text(pipeline.read_text().replace("id: code-review", "id: code-reviews"))
    capfd.readouterr()
    assert against(compiled) == 1
    assert capfd.readouterr().out == (
        f"{compiled}: differs from the sources: they hold no flow called 'code-review'; did you mean 'code-reviews'?\n"
    )


@pytest.mark.parametrize("root", ["project", ".", ".."])
def test_no_root_changes_the_names_of_sources(compiled: Path, root: str, capfd: Shown) -> None:
    capfd.readouterr()
    assert against(compiled, "--root", str(compiled.parent / root)) == 0


def test_a_project_may_be_moved(compiled: Path, capfd: Shown) -> None:
    (compiled.parent / "project").rename(compiled.parent / "copy")
    capfd.readouterr()
    assert run(["verify", str(compiled), "--against", str(compiled.parent / "copy")]) == 0


def test_ten_differences_are_told_and_the_others_counted(compiled: Path, capfd: Shown) -> None:
    for prompt in (compiled.parent / "project" / "stages").iterdir():
        text = prompt.read_text().replace("\nturnCap:", "\ntags: [x]\nturnCap:")
        prompt.write_text(f"{text}And nothing else.\n")
    (compiled.parent / "project" / "pipeline.yaml").write_text(
        (compiled.parent / "project" / "pipeline.yaml").read_text().replace("version: ", "version: 9")
    )
    capfd.readouterr()
    assert against(compiled) == 1
    told = capfd.readouterr().out.splitlines()
    assert told[1] == "  version differs"
    assert len(told) == 12
    assert told[-1] == "  and 2 more"


def test_what_differs_is_said_part_by_part() -> None:
    plan = steps()
    closure = plan.nodes["closure.issue"]
    done = Node(closure.act, closure.gate, (Edge("closing", Stop(Outcome.FAILED)),), title="Done")
    changed = replace(
        plan,
        title=None,
        limits=Limits(21),
        nodes={"x": done},
        entries={"": "x"},
        entry=None,
        sources={},
    )
    assert list(find_differences(dump(plan), dump(completed(changed)))) == [
        "entry differs",
        "facts differ",
        "limits differ",
        "title differs",
        "entry '' differs",
        "entry 'poll:state' is in the plan only",
        "node 'closure.issue' is in the plan only",
        "node 'continuation.issue' is in the plan only",
        "node 'initial.issue' is in the plan only",
        "node 'verification.issue' is in the plan only",
        "node 'x' is not in the plan",
        "source 'agent.json' is in the plan only",
        "source 'prompts/f_default.md' is in the plan only",
    ]


def test_what_a_node_does_is_told_by_its_parts() -> None:
    plan = steps()
    one, other = plan.nodes["initial.issue"], plan.nodes["closure.issue"]
    renamed = replace(
        plan, nodes={**plan.nodes, "initial.issue": replace(one, act=replace(one.act, model="x"), kind=None)}
    )
    assert list(find_differences(dump(plan), dump(renamed))) == ["node 'initial.issue' differs: model, kind"]
    swapped = replace(plan, nodes={**plan.nodes, "initial.issue": replace(one, act=other.act)})
    assert list(find_differences(dump(plan), dump(swapped))) == ["node 'initial.issue' differs: act"]


def test_a_text_that_nothing_refers_to_is_a_difference_too() -> None:
    plan = steps()
    assert list(find_differences(dump(plan), dump(replace(plan, contents={**plan.contents, "x": ""})))) == [
        "contents differ"
    ]


PROBE = """
import json, sys
from stagec.cli.app import run
statuses = [run(["verify", "-"]), run(["verify", "x"]), run(["plan", "x"])]
print(json.dumps({"statuses": statuses, "modules": sorted(sys.modules)}))
"""


def test_the_compiler_is_not_needed(tmp_path: Path, environment: Callable[..., dict[str, str]]) -> None:
    import sys

    (tmp_path / "x").write_bytes(PLAN)
    command = [sys.executable, "-c", PROBE]
    ended = subprocess.run(command, cwd=tmp_path, env=environment(), input=PLAN, capture_output=True, check=True)
    told = json.loads(ended.stdout.splitlines()[-1])
    own = {module for module in told["modules"] if module.startswith("stagec.")}
    libraries = {module.partition(".")[0] for module in told["modules"]} - sys.stdlib_module_names
    assert told["statuses"] == [0, 0, 0]
    compiler = {"catalogue", "findings", "freeze", "frontends", "fixes", "pipeline", "rules"}
    assert {module.split(".")[1] for module in own} & compiler == set()
    named = {each for each in libraries if each not in {"__main__", "stagec"} and not each.startswith("_")}
    judges = {"attr", "attrs", "jsonschema", "jsonschema_rs", "jsonschema_specifications", "referencing", "rpds"}
    # jsonschema imports libraries for formats where they happen to be installed
    happen = {"fqdn", "idna", "isoduration", "jsonpointer", "rfc3339_validator", "rfc3987", "uri_template", "webcolors"}
    assert named - happen == {"click", "msgspec", "networkx", "typing_extensions", *judges}
