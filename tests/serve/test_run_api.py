"""What is answered about runs, and what a stream tells of them."""

from __future__ import annotations

import asyncio
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import handmade
import pytest
from serve.asking import App, ask, make_stages, run_plan, serve_folder

from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.document import Limits
from stagec.ir.plan.node import Edge, Go, Outcome, Stop
from stagec.runtime.serve.run_api import Stream
from stagec.runtime.serve.watch import Watch

NASTY = "</script><img src=x onerror=alert(1)>\u202e\u0000\x1b[31m__proto__ 'quoted\" & <b>"


def make_plan(name: str = "plan") -> Plan:
    """Return a plan of one stage, which may be called anything."""
    plan = make_stages()
    node = replace(plan.nodes["lint"], title=name)
    return handmade.completed(replace(plan, id=name, nodes={name: node}, entries={"": name}, inputs={}))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, Watch]]:
    folder = tmp_path_factory.mktemp("runs")
    run_plan(folder, "plain", make_plan(), {"done": True})
    run_plan(folder, "nasty", make_plan(NASTY), {NASTY: NASTY})
    (folder / "bad.run").write_bytes(b"bad")
    app, watch = serve_folder(folder)
    yield app, watch
    watch.close()


def test_the_state_has_a_row_for_each_run(served: tuple[App, Watch]) -> None:
    told = ask(served[0], "/api/state").json
    assert (told["canStart"], told["plans"]) == (False, [])
    assert {each["name"]: each["status"] for each in told["runs"]} == {
        "plain": "done",
        "nasty": "done",
        "bad": "damaged",
    }


def test_a_run_has_its_flow_and_its_picture(served: tuple[App, Watch]) -> None:
    told = ask(served[0], "/api/runs/plain").json
    assert told["row"]["status"] == "done"
    assert [each["status"] for each in told["flow"]["nodes"] if each["node"] == "plan"] == ["visited"]
    drawn = ask(served[0], "/api/runs/plain/picture")
    assert drawn.headers["content-type"] == "image/svg+xml"
    numbers = {each.get("data-box") for each in ET.fromstring(drawn.body).iter()} - {None}
    assert numbers == {str(each["box"]) for each in told["flow"]["nodes"]}


def test_names_of_any_kind_are_text_everywhere(served: tuple[App, Watch]) -> None:
    drawn = ask(served[0], "/api/runs/nasty/picture").body
    assert b"<script" not in drawn
    assert b"<img" not in drawn
    ET.fromstring(drawn)
    told = ask(served[0], "/api/runs/nasty")
    assert told.body.isascii()
    assert told.json["row"]["plan"] == NASTY
    node = next(each for each in told.json["flow"]["nodes"] if each["node"] is not None)
    assert node["node"] == NASTY


def test_a_journal_is_read_in_pieces(served: tuple[App, Watch]) -> None:
    whole = ask(served[0], "/api/runs/plain/journal").json
    assert whole["count"] == 2
    assert [each["seq"] for each in whole["events"]] == [0, 1]
    assert [each["seq"] for each in ask(served[0], "/api/runs/plain/journal?limit=1").json["events"]] == [1]
    assert [each["seq"] for each in ask(served[0], "/api/runs/plain/journal?from=0&limit=1").json["events"]] == [0]
    event = ask(served[0], "/api/runs/plain/event?seq=1").json
    assert json.loads(event["text"])["is"] == "answered"


@pytest.mark.parametrize("query", ["from=-1", "from=x", "limit=99999999999999", "from=²", "limit=", "from=1e9"])
def test_numbers_that_are_none_mean_nothing(served: tuple[App, Watch], query: str) -> None:
    assert ask(served[0], f"/api/runs/plain/journal?{query}".encode().decode("latin-1")).status == 200


@pytest.mark.parametrize(
    "path", ["/api/runs/none", "/api/runs/none/picture", "/api/runs/../state", "/api/runs/plain/event?seq=9"]
)
def test_what_is_not_there_is_said(served: tuple[App, Watch], path: str) -> None:
    assert ask(served[0], path).status == 404


def test_the_visits_of_a_node_are_told_in_pieces(tmp_path: Path) -> None:
    plan = make_stages()
    loop = replace(plan.nodes["lint"], edges=(Edge("ok", Go("work")), Edge("fail", Stop(Outcome.FAILED))))
    limits = Limits(45, Outcome.DONE, 1)
    made = replace(plan, nodes={"work": loop}, entries={"": "work"}, inputs={}, limits=limits)
    run_plan(tmp_path, "loop", handmade.completed(made), {})
    app, watch = serve_folder(tmp_path)

    def visits(query: str) -> list[int]:
        return [each["visit"] for each in ask(app, f"/api/runs/loop/node?node=work{query}").json["visits"]]

    assert visits("") == list(range(26, 46))
    assert visits("&before=26") == list(range(6, 26))
    assert visits("&before=6") == list(range(1, 6))
    assert visits("&before=1") == []
    assert visits("&before=99") == list(range(26, 46))
    watch.close()


def test_a_damaged_run_says_so(served: tuple[App, Watch]) -> None:
    told = ask(served[0], "/api/runs/bad").json
    assert (told["row"]["status"], told["flow"]) == ("damaged", None)
    refused = ask(served[0], "/api/runs/bad/picture")
    assert refused.status == 409
    assert "damaged" in refused.json["error"]


async def listen(watch: Watch, run: str | None, place: str, act: Any, most: int) -> list[tuple[str, Any, str]]:
    """Return what a stream tells until there are so many events; `act` happens after the first of them."""
    found: list[tuple[str, Any, str]] = []
    stream = Stream(watch, "boot", run, place)
    messages = stream.list_messages(lambda name: {"run": name})
    async for message in messages:
        for block in message.decode().strip().split("\n\n"):
            told = dict(line.partition(": ")[::2] for line in block.splitlines())
            if "event" in told:
                found.append((told["event"], json.loads(told["data"]), told.get("id", "")))
        if len(found) >= most:
            stream.close()
        elif found and act is not None:
            act()
            watch.look()
            act = None
    await messages.aclose()
    return found


def test_a_stream_tells_everything_and_then_what_is_new(tmp_path: Path) -> None:
    run_plan(tmp_path, "one", make_plan(), {})
    _, watch = serve_folder(tmp_path)

    def act() -> None:
        run_plan(tmp_path, "two", make_plan(), {})

    told = asyncio.run(listen(watch, "one", "from.0.0", act, 4))
    watch.close()
    kinds = [kind for kind, _, _ in told]
    assert kinds == ["rows", "run", "journal", "rows"]
    assert [row["name"] for row in told[0][1]["rows"]] == ["one"]
    assert [event["seq"] for event in told[2][1]["events"]] == [0, 1]
    assert [row["name"] for row in told[3][1]["rows"]] == ["two"]


def test_a_page_that_was_away_goes_on_after_what_it_knows(tmp_path: Path) -> None:
    run_plan(tmp_path, "one", make_plan(), {})
    _, watch = serve_folder(tmp_path)
    place = asyncio.run(listen(watch, "one", "from.0.0", None, 3))[-1][2]
    run_plan(tmp_path, "two", make_plan(), {})
    watch.look()
    told = asyncio.run(listen(watch, "one", place, None, 2))
    assert [kind for kind, _, _ in told] == ["rows", "run"]
    assert [row["name"] for row in told[0][1]["rows"]] == ["two"]
    another = asyncio.run(listen(watch, "one", place.replace("boot", "another"), None, 3))
    assert len(another[0][1]["rows"]) == 2, "another server begins again"
    watch.close()


@pytest.mark.parametrize("place", ["", "boot", f"boot.{'9' * 5000}.0", "boot.1", "boot.².1", "boot.-1.0", "from.x.0"])
def test_a_place_that_is_none_is_the_beginning(tmp_path: Path, place: str) -> None:
    run_plan(tmp_path, "one", make_plan(), {})
    _, watch = serve_folder(tmp_path)
    told = asyncio.run(listen(watch, "one", place, None, 3))
    watch.close()
    assert [kind for kind, _, _ in told] == ["rows", "run", "journal"]


def test_a_journal_that_became_shorter_is_told_from_its_beginning(tmp_path: Path) -> None:
    run_plan(tmp_path, "one", make_plan(), {})
    _, watch = serve_folder(tmp_path)
    told = asyncio.run(listen(watch, "one", "from.0.7", None, 3))
    watch.close()
    assert told[2][1]["begins"] is True
    assert told[2][1]["count"] == 2
