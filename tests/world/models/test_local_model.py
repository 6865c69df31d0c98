"""The process of a model of this machine, and what it does wrong: other scripts stand in for it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import gone

from stagec.core.json import Object
from stagec.runtime.world.models.local_provider import LocalModel, UnknownSchemaError
from stagec.runtime.world.models.port import ModelError, ModelFault

BEGIN = """
import json, os, sys, time
def tell(**message):
    print(json.dumps(message), flush=True)
def take():
    return json.loads(sys.stdin.readline())
tell(**{"is": "ready"})
"""
ECHO = (
    BEGIN
    + """
for line in sys.stdin:
    asked = json.loads(line)
    tell(**{"is": "begun", "id": asked["id"]})
    tell(**{"is": "text", "id": asked["id"], "text": "a piece"})
    tell(**{"is": "reply", "id": asked["id"], "text": asked["messages"] + str(os.getpid())})
"""
)
Open = Callable[[str], LocalModel]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    models: list[LocalModel] = []

    def make(script: str) -> LocalModel:
        path = tmp_path / f"{len(models)}.py"
        path.write_text(script)
        models.append(LocalModel(tmp_path / "model.gguf", str(path)))
        return models[-1]

    yield make
    for each in models:
        each.close()


def _ask(model: LocalModel, key: str = "k", seconds: float = 30.0) -> Object:
    return model.ask(key, {"messages": key}, seconds, None)


def test_one_process_answers_all_requests(opened: Open) -> None:
    model, heard = opened(ECHO), list[str]()
    first = model.ask("k", {"messages": ""}, 30, heard.append)
    assert first["text"] == _ask(model, "")["text"]
    assert heard == ["a piece"]


def test_the_process_knows_no_keys(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    script = (
        BEGIN
        + """
asked = take()
tell(**{"is": "reply", "id": asked["id"], "text": os.environ.get("OPENAI_API_KEY", "none")})
"""
    )
    assert _ask(opened(script))["text"] == "none"


@pytest.mark.parametrize(
    ("told", "fault", "why"),
    [
        ('{"is": "error", "id": 1, "message": "too long"}', ModelFault.REFUSED, "too long"),
        ('{"is": "trouble", "why": "no model"}', ModelFault.UNKNOWN_MODEL, "cannot be loaded: no model"),
        ("", ModelFault.CONNECTION, "the process of the model has ended"),
        ('"what is no message"', ModelFault.CONNECTION, "the process of the model has ended"),
        ("\\x1b[2J", ModelFault.CONNECTION, "the process of the model has ended"),
    ],
)
def test_what_goes_wrong_is_told(opened: Open, told: str, fault: ModelFault, why: str) -> None:
    model = opened(f"{BEGIN}\ntake()\nprint({told!r})")
    with pytest.raises(ModelError, match=why) as caught:
        _ask(model)
    assert caught.value.fault is fault


def test_a_schema_that_nobody_can_follow_is_its_own_error(opened: Open) -> None:
    with pytest.raises(UnknownSchemaError):
        _ask(opened(f'{BEGIN}\ntell(**{{"is": "error", "type": "schema", "id": take()["id"]}})\ntime.sleep(60)'))


def test_a_process_that_has_ended_is_started_again(opened: Open, tmp_path: Path) -> None:
    once = (
        f"if not os.path.exists({str(tmp_path / 'x')!r}):\n    open({str(tmp_path / 'x')!r}, 'w'); take(); sys.exit()\n"
    )
    model = opened(ECHO.replace("for line", once + "for line"))
    with pytest.raises(ModelError, match="has ended"):
        _ask(model)
    assert str(_ask(model)["text"]).startswith("k")


def test_a_process_that_hangs_is_ended_and_the_next_request_gets_another(opened: Open, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hang = f"""
import pathlib
if not os.path.exists({str(pid)!r}):
    pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))
    tell(**{{"is": "begun", "id": take()["id"]}})
    time.sleep(600)
"""
    model = opened(ECHO.replace("for line", hang + "for line"))
    with pytest.raises(ModelError) as caught:
        _ask(model, seconds=0.2)
    assert caught.value.fault is ModelFault.TIMEOUT
    assert gone(int(pid.read_text()))
    assert str(_ask(model)["text"]).startswith("k")


def test_time_counts_from_when_the_model_begins(opened: Open) -> None:
    slow = ECHO.replace('    tell(**{"is": "begun"', '    time.sleep(0.5)\n    tell(**{"is": "begun"')
    assert _ask(opened(slow), seconds=0.3)["is"] == "reply"


def test_a_cancelled_request_ends_at_once_and_others_go_on(opened: Open) -> None:
    """The second one waits behind the first, whose process takes no notice."""
    script = (
        BEGIN
        + """
first, second = take(), take()
while (told := take())["is"] != "cancel":
    pass
tell(**{"is": "reply", "id": first["id"], "text": "too late"})
tell(**{"is": "reply", "id": second["id"], "text": "here"})
time.sleep(60)
"""
    )
    model, found = opened(script), dict[str, object]()

    def ask(key: str) -> None:
        try:
            found[key] = _ask(model, key)["text"]
        except ModelError as error:
            found[key] = error.fault

    threads = [threading.Thread(target=ask, args=(key,)) for key in ("one", "two")]
    for each in threads:
        each.start()
        time.sleep(0.2)
    model.cancel("one")
    for each in threads:
        each.join(10)
    assert found == {"one": ModelFault.CANCELLED, "two": "here"}


def test_closing_ends_what_waits(opened: Open) -> None:
    model, found = opened(f"{BEGIN}\ntime.sleep(600)"), list[ModelFault]()

    def ask() -> None:
        with pytest.raises(ModelError) as caught:
            _ask(model)
        found.append(caught.value.fault)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    model.close()
    thread.join(10)
    assert found == [ModelFault.CONNECTION]
    with pytest.raises(ModelError, match="the run is over"):
        _ask(model)


def test_nothing_is_left_of_a_process_that_ignores_its_end(opened: Open) -> None:
    model = opened(
        ECHO.replace("import json", "import signal; signal.signal(15, 1); import json") + "time.sleep(600)\n"
    )
    pid = int(str(_ask(model, "")["text"]))
    assert os.path.exists(f"/proc/{pid}") or os.name != "posix"
    model.close()
    assert gone(pid)
