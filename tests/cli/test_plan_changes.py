"""`stagec resume --plan`: runs that go on under another plan, what is refused, and what other commands make of it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jsonschema
import pytest
from playable import STEPS, steps

from stagec.cli.app import run as stagec
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Text
from stagec.ir.plan.document import Contents, Input, Limits
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Edge, Go, Outcome, Stop
from stagec.runtime.drivers.local import read_journal
from stagec.runtime.drivers.local.request_descriptions import describe_change
from stagec.runtime.machine import load
from stagec.runtime.serve.run_view import RunDrawing, RunView

Shown = pytest.CaptureFixture[str]
Run = Callable[..., CompletedProcess[bytes]]
TOP = Path(__file__).parents[2]
HALF = "inputs: {topic: winter}\nanswers:\n  draft: {action: next}\n"
DIGEST = re.compile(r"sha256:[0-9a-f]{12}")


def write(name: str, plan: Plan) -> None:
    Path(name).write_bytes(dump(replace(plan, facts=facts(plan))))


def asking(node: str, text: str) -> Plan:
    """Return the plan in which a node has another prompt."""
    contents = Contents()
    for each in steps().contents.values():
        contents.add(each)
    act: Any = steps().nodes[node].act
    changed = replace(steps().nodes[node], act=replace(act, prompt=(Text(contents.add(text)),)))
    return replace(steps(), contents=contents.texts, nodes={**steps().nodes, node: changed})


def without_repeat(node: str) -> Plan:
    """Return the plan in which a node does not know the intent `repeat` any more."""
    gate: Any = steps().nodes[node].gate
    kept = tuple(each for each in gate.intents if each != "repeat")
    edges = tuple(each for each in steps().nodes[node].edges if each.on != "repeat")
    changed = replace(steps().nodes[node], gate=IntentGate(gate.field, kept), edges=edges)
    return replace(steps(), nodes={**steps().nodes, node: changed})


@pytest.fixture(autouse=True)
def half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> Path:
    """Begin a run that waits for the answer of `close`; `draft` is behind it."""
    monkeypatch.chdir(tmp_path)
    write("p", steps())
    Path("whole.yaml").write_text(STEPS, encoding="utf-8")
    Path("half.yaml").write_text(HALF, encoding="utf-8")
    assert stagec(["run", "p", "--scenario", "half.yaml", "--run", "one"]) == 2
    capfd.readouterr()
    return tmp_path


def resume(*words: str) -> int:
    return stagec(["resume", "one", "--scenario", "whole.yaml", *words])


def test_a_run_goes_on_under_another_plan_and_keeps_it(capfd: Shown) -> None:
    write("new", asking("close", "Close well."))
    assert resume("--plan", "new") == 0
    out, err = capfd.readouterr()
    assert out == "close    closing → done\ndone: completed, 2 executions, 5 events\n"
    assert re.sub(DIGEST, "…", err) == "run one of writer, …\nstagec: the plan has changed, from …\n"
    assert stagec(["runs", "replay", "one"]) == 0
    assert capfd.readouterr().out.startswith("equal: 5 events")


@pytest.mark.parametrize("command", [["runs", "list"], ["runs", "show", "one"], ["runs", "export", "one"]])
def test_the_plan_that_counts_is_the_new_one(command: list[str], capfd: Shown) -> None:
    write("new", asking("close", "Close well."))
    assert stagec(["resume", "one", "--plan", "new"]) == 2  # changed, and stopped where nobody answers
    capfd.readouterr()
    assert stagec(["resume", "one", "--dry-run"]) == 0
    digest = DIGEST.findall(capfd.readouterr().out)[0]
    assert stagec(command) == 0
    assert digest in capfd.readouterr().out


def test_the_history_shows_the_change(capfd: Shown) -> None:
    write("new", asking("close", "Close well."))
    resume("--plan", "new")
    capfd.readouterr()
    stagec(["runs", "show", "one"])
    assert re.search(
        r"^  2 +[\d:]{8} +replanned +continues with sha256:[0-9a-f]{12}$", capfd.readouterr().out, re.MULTILINE
    )
    stagec(["runs", "export", "one"])
    told = json.loads(capfd.readouterr().out)["events"][2]
    assert (told["is"], told["again"], told["signature"]) == ("replanned", [], None)
    assert told["plan"] == Path("new").read_text(encoding="utf-8")


def test_a_change_that_breaks_other_states_is_taken(capfd: Shown) -> None:
    write("new", without_repeat("draft"))
    assert stagec(["breaking", "--against", "p", "new"]) == 1
    assert resume("--plan", "new", "--dry-run") == 0
    assert resume("--plan", "new") == 0


def test_a_change_that_breaks_this_state_is_refused_with_the_way_out(capfd: Shown) -> None:
    write("new", without_repeat("close"))
    before = read_journal(Path(".stagec/runs/one.run"))
    assert resume("--plan", "new", "--dry-run") == 1
    dry = capfd.readouterr().err
    assert resume("--plan", "new") == 2
    assert capfd.readouterr().err == dry
    lines = [line.removeprefix("stagec: error: ") for line in dry.splitlines()]
    assert re.sub(DIGEST, "…", lines[0]) == "run 'one' cannot continue with 'new', from … to …: 1 reason"
    assert lines[1].startswith("  CHG128  intent-removed  node 'close' no longer knows the intent 'repeat'")
    assert lines[2:] == [
        "    here: 'close' is under way",
        "    remedy: Keep the intent, with an edge, until the runs in flight have ended.",
        "--again close stops the open execution, starts it again, and makes all its requests again",
        "'stagec resume one' continues the run with the plan that it has",
    ]
    assert read_journal(Path(".stagec/runs/one.run")) == before


@pytest.mark.parametrize("way", [("--again", "close"), ("--allow", "CHG128")])
def test_the_ways_out_lead_out(way: tuple[str, str]) -> None:
    write("new", without_repeat("close"))
    assert resume("--plan", "new", *way) == 0
    assert stagec(["runs", "replay", "one"]) == 0


def test_what_begins_again_counts_for_the_limit(capfd: Shown) -> None:
    write("new", replace(steps(), limits=Limits(2)))
    assert resume("--plan", "new", "--again", "close") == 1
    assert "bound reached: the limit is 2" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--plan", "p", "--again", "draft"), "no such node is under way in run 'one'"),
        (("--plan", "p", "--allow", "CHG217"), "is not a code of a breaking change"),
        (("--again", "close"), "'--again' needs --plan, which names another plan"),
        (("--plan", "absent"), "absent"),
        (("--plan", "whole.yaml"), "whole.yaml' is refused"),
    ],
)
def test_what_makes_no_sense_is_told(words: tuple[str, ...], told: str, capfd: Shown) -> None:
    assert resume(*words) == 2
    assert told in capfd.readouterr().err


def toned() -> Plan:
    """Return the plan that demands one more input, a short text."""
    contents = Contents()
    for each in steps().contents.values():
        contents.add(each)
    wanted = Input(required=True, schema=contents.add('{"type":"string","maxLength":5}'))
    return replace(steps(), inputs={**steps().inputs, "tone": wanted}, contents=contents.texts)


def test_a_new_input_is_given_with_the_plan(capfd: Shown) -> None:
    write("new", toned())
    assert resume("--plan", "new") == 2
    err = capfd.readouterr().err
    assert "CHG106  required-input-added  " in err
    assert "stagec: error: --input tone=VALUE gives the run the missing inputs\n" in err
    assert resume("--plan", "new", "--input", "tone=brief", "--dry-run") == 0
    assert resume("--plan", "new", "--input", "tone=brief") == 0
    assert stagec(["runs", "replay", "one"]) == 0
    capfd.readouterr()
    assert stagec(["runs", "export", "one"]) == 0
    assert json.loads(capfd.readouterr().out)["events"][2]["inputs"] == {"tone": "brief"}
    event = read_journal(Path(".stagec/runs/one.run")).events[2]
    assert re.fullmatch(r"continues with sha256:[0-9a-f]{12}, given 'tone'", describe_change(event))


def test_inputs_are_given_by_a_file_and_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    write("new", replace(steps(), inputs={**steps().inputs, "tone": Input(required=True)}))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijklmnop")
    Path("tone.json").write_text('{"tone": {"key": "sk-abcdefghijklmnop"}}', encoding="utf-8")
    assert resume("--plan", "new", "--input", "@tone.json") == 0
    history = read_journal(Path(".stagec/runs/one.run"))
    assert history.last_change is not None
    assert history.last_change.inputs == {"tone": {"key": "[redacted]"}}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("tome=brief", "--input is refused: there is no input 'tome'; did you mean 'tone'?"),
        ("topic=summer", "--input is refused: the run has the input 'topic', and keeps it as it is"),
        ("tone=very long", "--input is refused: the input 'tone' cannot be used: "),
        ("tone", "'tone' is not an input: write NAME=VALUE or @FILE"),
    ],
)
def test_inputs_that_make_no_sense_leave_the_run_as_it_was(given: str, told: str, capfd: Shown) -> None:
    write("new", toned())
    before = read_journal(Path(".stagec/runs/one.run"))
    assert resume("--plan", "new", "--input", given) == 2
    assert told in capfd.readouterr().err
    assert resume("--plan", "new", "--input", given, "--dry-run", "--format", "json") == 2
    assert capfd.readouterr().out == ""
    assert resume("--input", given) == 2
    assert "'--input' needs --plan, which names another plan" in capfd.readouterr().err
    assert read_journal(Path(".stagec/runs/one.run")) == before


def read_outlook(shown: Shown) -> Any:
    """Return the document that was printed, which satisfies its schema."""
    made = json.loads(shown.readouterr().out)
    jsonschema.validate(made, json.loads((TOP / "schemas" / "resume.schema.json").read_bytes()))
    return made


def test_the_outlook_is_told_to_programs(capfd: Shown) -> None:
    write("new", asking("close", "Close well."))
    own = json.loads(Path("p").read_bytes())["digest"]
    assert resume("--plan", "new", "--dry-run", "--format", "json") == 0
    made = read_outlook(capfd)
    assert (made["run"], made["goesOn"], made["before"], made["reasons"]) == ("one", True, own, [])
    assert made["after"] == json.loads(Path("new").read_bytes())["digest"]
    assert resume("--dry-run", "--format", "json") == 0
    assert read_outlook(capfd)["after"] == own


def test_what_hinders_a_run_is_told_to_programs_with_the_ways_out(capfd: Shown) -> None:
    narrow = without_repeat("close")
    write("new", replace(toned(), nodes=narrow.nodes))
    assert resume("--plan", "new", "--dry-run", "--format", "json") == 1
    made = read_outlook(capfd)
    assert (made["goesOn"], made["again"], made["missing"]) == (False, ["close"], ["tone"])
    assert sorted(each["code"] for each in made["reasons"]) == ["CHG106", "CHG128"]
    assert [each["node"] for each in made["reasons"] if each["code"] == "CHG128"] == ["close"]
    assert resume("--plan", "new", "--format", "json") == 2
    assert "--format json is for --dry-run" in capfd.readouterr().err


def test_another_flow_is_no_other_plan(capfd: Shown) -> None:
    write("new", replace(steps(), id="other"))
    assert resume("--plan", "new") == 2
    assert "CHG101  flow-removed" in capfd.readouterr().err


def test_a_run_that_has_ended_is_told_to_have_ended(capfd: Shown) -> None:
    assert resume() == 0
    write("new", asking("close", "Close well."))
    assert resume("--plan", "new") == 2
    assert "run 'one' has ended as done, completed: no other plan can change that" in capfd.readouterr().err
    assert resume("--plan", "p") == 0


def test_its_own_plan_changes_nothing(capfd: Shown) -> None:
    assert resume("--plan", "p", "--dry-run") == 0
    assert capfd.readouterr().out.endswith(", as before\n")
    assert resume("--plan", "p") == 0
    assert "the plan has changed" not in capfd.readouterr().err


def test_a_run_may_change_to_and_fro(capfd: Shown) -> None:
    write("new", asking("close", "Close well."))
    for plan in ("new", "p", "new"):
        assert stagec(["resume", "one", "--plan", plan]) == 2
    assert resume() == 0
    stagec(["runs", "list"])
    assert stagec(["runs", "replay", "one"]) == 0
    assert capfd.readouterr().out.count("7 events") == 3


def test_what_is_wrong_besides_leaves_the_plan_as_it_was() -> None:
    write("new", asking("close", "Close well."))
    before = read_journal(Path(".stagec/runs/one.run"))
    Path("bad.yaml").write_text("answers: {nobody: {}}\n", encoding="utf-8")
    assert stagec(["resume", "one", "--plan", "new", "--scenario", "bad.yaml"]) == 2
    assert read_journal(Path(".stagec/runs/one.run")) == before


def test_a_changed_run_is_cancelled_and_drawn(capfd: Shown) -> None:
    write("new", replace(steps(), nodes={**steps().nodes, "more": steps().nodes["draft"]}))
    assert stagec(["resume", "one", "--plan", "new"]) == 2
    assert stagec(["runs", "questions", "one"]) == 0
    assert stagec(["runs", "cancel", "one"]) == 0
    assert stagec(["runs", "export", "one"]) == 0
    capfd.readouterr()


def test_the_page_draws_the_new_plan() -> None:
    last = replace(steps().nodes["close"], edges=(Edge("closing", Go("more")), Edge("repeat", Go("draft"))))
    more = replace(
        steps().nodes["close"], validation=None, edges=(Edge("closing", Stop(Outcome.DONE)), Edge("repeat", Go("more")))
    )
    write("new", replace(steps(), nodes={**steps().nodes, "close": last, "more": more}))
    Path("whole.yaml").write_text(f"{STEPS}  more: {{action: closing}}\n", encoding="utf-8")
    assert resume("--plan", "new") == 0
    history = read_journal(Path(".stagec/runs/one.run"))
    program = load(history.plan)
    view = RunView(program, RunDrawing(program.plan))
    for each in history.events:
        view.take(each)
    flow: Any = view.describe_flow()
    assert {each["node"]: each["status"] for each in flow["nodes"] if each["node"]} == dict.fromkeys(
        ("draft", "close", "more"), "visited"
    )
    taken = [each["taken"] for each in flow["edges"] if each["taken"]]
    assert taken == [1, 1, 1]
    told = f"continues with {view.program.digest[:19]}"
    assert [row.answer for row in view.rows if row.what == "replanned"] == [told]


HEAD = "import json, os; from pathlib import Path; outputs = json.loads(os.environ['STAGEC_OUTPUTS'])\n"
GOOD, BAD = f"{HEAD}Path(outputs['data']).write_text('x')", "raise SystemExit(3)"
LOAD, TRAIN, TELL = "S01_load_data", "S02_train_model", "S03_tell_team"


def stage(name: str, program: str, *needs: str) -> dict[str, Any]:
    inputs = {one.lower(): f"{one}/data.txt" for one in needs}
    told = {"stageId": name, "goal": name, "inputs": inputs, "outputs": {"data": "data.txt"}, "maxDurationSec": 60}
    return {**told, "dependencies": list(needs), "run": [sys.executable, "-c", program]}


@pytest.fixture
def staged(tmp_path: Path, run: Run) -> Callable[..., None]:
    """Compile a plan of stages for a run whose second stage fails, and another one for it to go on with."""

    def compile_both(*new: dict[str, Any]) -> None:
        old = (stage(LOAD, GOOD), stage(TRAIN, BAD, LOAD))
        for name, stages in {"old": old, "new": new}.items():
            document = {"reportTitle": "wine", "stages": stages}
            (tmp_path / "plan.json").write_text(json.dumps(document), encoding="utf-8")
            assert run("compile", "plan.json", "-o", f"{name}.plan.json").returncode == 0
        assert run("run", "old.plan.json", "--run", "two").returncode == 1

    return compile_both


def test_a_run_of_stages_goes_on_with_what_it_has_published(
    staged: Callable[..., None], tmp_path: Path, run: Run
) -> None:
    staged(stage(LOAD, GOOD), stage(TRAIN, GOOD, LOAD), stage(TELL, GOOD, TRAIN))
    assert run("resume", "two", "--plan", "new.plan.json", "--again", TRAIN).returncode == 2
    ended = run("resume", "two", "--plan", "new.plan.json")
    assert ended.returncode == 0, ended.stderr.decode()
    assert "1 stage of 3 kept" in ended.stderr.decode() + ended.stdout.decode()
    assert run("runs", "replay", "two").returncode == 0
    assert "replanned" in run("runs", "show", "two").stdout.decode()
    assert (tmp_path / "reports" / "wine" / "two" / TELL / "data.txt").exists()


def test_a_stage_that_has_completed_cannot_be_taken_away(staged: Callable[..., None], run: Run) -> None:
    staged(stage(TRAIN, GOOD))
    refused = run("resume", "two", "--plan", "new.plan.json")
    assert refused.returncode == 2
    assert re.findall(r"CHG\d+", refused.stderr.decode()) == ["CHG104", "CHG117"]


def test_the_page_about_changes_does_what_it_says(tmp_path: Path, run: Run) -> None:
    page = (TOP / "docs" / "user-guide" / "resume.md").read_text(encoding="utf-8")
    about = page + (TOP / "docs" / "user-guide" / "run.md").read_text(encoding="utf-8")
    for name in ("scenario.yaml", "half.yaml"):
        found = re.search(rf"^```yaml {name}\n(.*?)^```$", about, re.MULTILINE | re.DOTALL)
        assert found is not None
        (tmp_path / name).write_text(found[1], encoding="utf-8")
    shutil.copytree(TOP / "registries" / "docs-repair", tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    check = tmp_path / "new" / "check.md"
    check.write_text(check.read_text(encoding="utf-8").replace("submit_verdict", "hand_in"), encoding="utf-8")
    for name in ("old", "new"):
        assert run("compile", name, "-o", f"{name}.plan.json").returncode == 0
    assert run("run", "old.plan.json", "--scenario", "half.yaml", "--run", "other").returncode == 2
    part = page.partition("## Resuming with a new plan")[2].partition("\n## ")[0]
    commands = re.findall(r"^```console[^\n]*\n\$ stagec (.*?)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    for command, shown in commands:
        ended = run(*command.split())
        printed = ended.stderr.decode() + ended.stdout.decode()
        assert sorted(DIGEST.sub("…", printed).splitlines()) == sorted(DIGEST.sub("…", shown).splitlines())
