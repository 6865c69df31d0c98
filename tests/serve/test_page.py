"""The page in a browser: what it shows, and that nothing in a run is more than text there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import handmade
from misleading import MISLEADING, ask
from playable import stages
from serve.asking import make_asking, make_program, make_stages, run_plan

from stagec.core.json import list_of, object_of
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.runtime.drivers.local import Journal, create
from stagec.runtime.drivers.local.mailbox import Mailbox
from stagec.runtime.drivers.messages import name_answer
from stagec.runtime.machine import Answered, Replanned, Started, State, advance, load
from stagec.runtime.world.questions import describe_question, question_to_json

NASTY = "</script><img src=x onerror=alert(1)>\u202egnp.exe\u0007 __proto__ " + "long" * 300
ROWS = "[...document.querySelectorAll('#rows .name')].map(each => each.textContent)"
VISITED = "document.querySelector('svg .box[data-status=visited]')"
BUSY = """(path, options) => path.startsWith('/api/runs/')
  ? Promise.resolve(new Response('{"error": "the database cannot be used: busy"}', {status: 503}))
  : window.really(path, options)"""
CALLS = {"text": "", "calls": [{"id": "1", "tool": "hand_in", "arguments": {"steps": []}}]}


def text(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})?.textContent"


def box_status(name: str) -> str:
    named = f"[...document.querySelectorAll('svg .box')].find(e => e.querySelector('text').textContent === '{name}')"
    return f"{named}?.dataset.status"


def rename(plan: Plan, name: str) -> Plan:
    """Return a plan of one stage in which every name is another one."""
    node = replace(plan.nodes["lint"], title=name)
    return handmade.completed(
        replace(plan, id=name, title=name, nodes={name: node}, entries={name: name}, entry=name, inputs={})
    )


def begin(folder: Path, plan: Plan) -> tuple[Journal, str]:
    """Begin a run that this process executes; return its journal, and the key of its first request."""
    data = dump(plan)
    program = load(data)
    journal = create(folder / "one.run", data, program.digest)
    started = Started("one", None, {"task": "everything"})
    journal.append(started)
    (key,) = advance(program, State(), started).state.pending
    return journal, key


def test_a_run_is_shown_while_it_goes_on(chromium: Any, serving: Callable[..., Any], tmp_path: Path) -> None:
    journal, key = begin(tmp_path, make_stages())
    served = serving(tmp_path)
    chromium.visit(served.address)
    chromium.wait_for(f"{ROWS}.length === 1")
    assert chromium.value("[location.href, document.cookie]") == [f"{served.host}/", ""], "neither holds the token"
    chromium.click("#rows a")
    chromium.wait_for(f"{box_status('plan')} === 'active'")
    chromium.wait_for(f"{text('.pill .status')} === 'running'")
    journal.append(Answered(key, CALLS))
    chromium.wait_for(f"{box_status('test')} === 'active'")
    assert chromium.value(box_status("plan")) == "visited"
    assert chromium.wait_for(text(".journal tbody tr:last-child td:nth-child(2)")) == "plan"
    chromium.value(f"{VISITED}.focus()")
    chromium.key("Enter")
    chromium.wait_for("document.querySelectorAll('.message').length > 1")
    assert "The task: everything" in chromium.value(text(".visits"))
    journal.close()
    chromium.wait_for(f"{text('.pill .status')} === 'interrupted'")
    hosts = {url.split("/")[2] for url in chromium.requests()}
    assert (hosts, chromium.complaints()) == ({served.host.removeprefix("http://")}, [])


def test_a_run_that_is_clicked_opens_while_the_list_changes_its_order(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    journal, _ = begin(tmp_path, make_stages())
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.settle()
    x, y = chromium.value(
        "(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('#rows a').getBoundingClientRect())"
    )
    arranged = "document.getElementById('filter').dispatchEvent(new Event('input'))"
    hit = chromium.value(f"({arranged}, document.elementFromPoint({x}, {y}).closest('#rows a') !== null)")
    assert hit, "a list that is already in order is not drawn again"
    chromium.mouse("mousePressed", x, y)
    journal.close()
    chromium.wait_for(f"{text('#rows .status')} === 'interrupted'")
    chromium.mouse("mouseReleased", x, y)
    chromium.wait_for(f"{text('.pill .status')} === 'interrupted'")
    chromium.value("history.back()")
    run_plan(tmp_path, "two", make_stages(), {"task": "everything"})
    chromium.wait_for(f"{ROWS}.length === 2")
    assert chromium.complaints() == []


def test_a_run_that_cannot_be_read_for_a_moment_is_asked_for_again(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    journal, _ = begin(tmp_path, make_stages())
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.value(f"(window.really = fetch, window.fetch = {BUSY}, 1)")
    chromium.click("#rows a")
    chromium.wait_for(f"{text('.notice [role=alert]')} === 'the database cannot be used: busy'")
    chromium.value("(window.fetch = window.really, 1)")
    chromium.wait_for(f"{box_status('plan')} === 'active'")
    journal.close()
    chromium.wait_for(f"{text('.pill .status')} === 'interrupted'")


def test_the_graph_is_that_of_the_plan_with_which_a_run_goes_on(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    old = make_stages()
    journal, key = begin(tmp_path, old)
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for(f"{box_status('plan')} === 'active'")
    new = dump(handmade.completed(replace(old, nodes={**old.nodes, "extra": old.nodes["lint"]})))
    journal.append(Replanned(load(new).digest, new.decode()))
    chromium.wait_for(f"{box_status('extra')} === 'idle'")
    journal.append(Answered(key, CALLS))
    chromium.wait_for(f"{box_status('test')} === 'active'")
    assert chromium.value(box_status("plan")) == "visited"
    assert "continues with" in chromium.value(text(".journal"))
    journal.close()
    assert chromium.complaints() == []


FILLS = """['.start', '.done', '.node[data-status=idle]', '.node[data-status=active]'].map(
  each => getComputedStyle(document.querySelector(`svg .box${each} .shape`)).fill)"""
COLOURS = "['--start-fill', '--done-fill', '--node', '--busy-fill']"
"""What the four are filled with: kinds have no colour here, which is that of how they stand."""


def test_colours_tell_how_nodes_stand_and_not_their_kinds(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    plan = make_stages()
    nodes = {name: replace(node, kind="verification") for name, node in plan.nodes.items()}
    journal, _ = begin(tmp_path, handmade.completed(replace(plan, nodes=nodes)))
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for(f"{box_status('plan')} === 'active'")
    chromium.value("document.body.append(document.createElement('hr'))")
    probe = (
        "const rule = document.querySelector('hr'); rule.style.color = `var(${each})`; return getComputedStyle(rule)"
    )
    assert chromium.value(FILLS) == chromium.value(f"{COLOURS}.map(each => {{ {probe}.color }})")
    journal.close()


def test_names_of_every_kind_are_text(chromium: Any, serving: Callable[..., Any], tmp_path: Path) -> None:
    run_plan(tmp_path, "nasty", rename(make_stages(), NASTY), {NASTY: NASTY, "__proto__": {"polluted": 1}})
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for("document.querySelectorAll('.journal tbody tr').length === 2")
    chromium.wait_for("document.querySelector('svg .box[data-status=visited]') !== null")
    chromium.value(f"{VISITED}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    chromium.wait_for("document.querySelectorAll('.message').length > 0")
    chromium.value("document.querySelector('.journal tbody button').click()")
    chromium.wait_for("document.querySelector('.whole') !== null")
    page = chromium.value("document.documentElement.outerHTML")
    assert "<img" not in page
    assert "\u202e" not in chromium.value("document.body.textContent")
    assert "\u0007" not in page
    assert chromium.value("({}).polluted === undefined")
    assert chromium.value("document.scripts.length") == 1
    for width in (1280, 390):
        chromium.size(width, 800)
        assert chromium.value("document.documentElement.scrollWidth") <= width, "nothing makes the page wider"
    chromium.size(1280, 800)
    assert chromium.complaints() == []


def test_without_the_token_nothing_is_shown(chromium: Any, serving: Callable[..., Any], tmp_path: Path) -> None:
    served = serving(tmp_path)
    chromium.visit(f"{served.host}/login#wrong")
    assert chromium.wait_for(text("[role=alert]")) == "the token is wrong"
    chromium.value("document.getElementById('token').focus()")
    chromium.write(served.token)
    chromium.key("Enter")
    assert (
        chromium.wait_for("document.body?.dataset.link === 'live' && document.querySelector('main h2').textContent")
        == "No runs yet"
    )


def test_an_answer_that_somebody_gave_before_is_told(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    journal, key = begin(tmp_path, make_asking())
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for("document.querySelector('.question .yes') !== null")
    no = json.dumps({"key": key, "answer": False})
    headers = "{'Content-Type': 'application/json'}"
    another_tab = f"fetch('/api/runs/one/answer', {{method: 'POST', headers: {headers}, body: {json.dumps(no)}}})"
    assert chromium.value(f"{another_tab}.then(answer => answer.status)") == 200
    chromium.value("document.querySelector('.question .yes').focus()")
    chromium.key("Enter")
    told = chromium.wait_for(text(".question .told"))
    assert told == "the question is already answered: no, by page"
    message = Mailbox(tmp_path / "one.run").read(name_answer(key))
    assert message is not None
    assert message.answer == {"yes": False}
    journal.close()


def test_a_run_is_started_with_a_form(chromium: Any, serving: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.plan.json").write_bytes(dump(make_program("sh", "-c", "exit 0", "sh")))
    chromium.visit(serving(tmp_path, "--plans", "a.plan.json", "--allow-start").address)
    chromium.wait_for("document.querySelector('#begin') !== null && !document.querySelector('#begin').hidden")
    chromium.click("#begin")
    chromium.wait_for("document.querySelector('form .yes') !== null")
    chromium.value("document.querySelector('form .yes').click()")
    assert chromium.wait_for(text("[role=alert]:not([hidden])")) == "One field needs another look."
    assert chromium.value("document.activeElement.closest('.field').querySelector('.wrong').textContent") == (
        "this is missing"
    )
    chromium.write("0")
    chromium.value("document.querySelector('form .yes').click()")
    wrong = "[...document.querySelectorAll('.wrong')].map(each => each.textContent).filter(Boolean)"
    assert chromium.value(wrong) == ["at least 1 is expected"]
    chromium.value("document.activeElement.value = '3'")
    chromium.value("document.querySelector('fieldset textarea').value = '{'")
    chromium.value("document.querySelector('form .yes').click()")
    assert chromium.value(f"{wrong}[0].startsWith('this is not JSON')")
    chromium.value("document.querySelector('fieldset textarea').value = '[1]'")
    chromium.value("document.querySelector('form .yes').click()")
    chromium.wait_for(f"{text('.pill .status')} === 'done'")
    assert chromium.complaints() == []


SHOW = """
(async () => {
  const { Questions } = await import("/static/people.js");
  const questions = new Questions("one");
  questions.show(%s);
  document.querySelector(".questions").replaceWith(questions.node);
  return [...questions.node.querySelectorAll(".question")].map((card) => card.textContent);
})()
"""


def test_no_question_on_the_page_misleads(chromium: Any, serving: Callable[..., Any], tmp_path: Path) -> None:
    begin(tmp_path, make_asking())
    chromium.size(900, 700)
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for("document.querySelector('.question .yes') !== null")
    asked = [question_to_json(describe_question(stages(), ask(tool, given))) for tool, given, _ in MISLEADING.values()]
    cards = chromium.value(SHOW % json.dumps([{**each, "key": str(at)} for at, each in enumerate(asked)]))
    assert len(cards) == len(MISLEADING)
    for card, told, (_, _, wanted) in zip(cards, asked, MISLEADING.values(), strict=True):
        shown = [object_of(each) for each in list_of(told["shown"])]
        rows = [str(row) for each in shown for row in (*list_of(each["rows"]), *list_of(each.get("whole")))]
        assert [row for row in rows if row not in card] == []
        assert [each for each in (text.partition(": | ")[2] or text for text in wanted) if each not in card] == []
        assert all(each.isprintable() or each == "\n" for each in card)
    # nothing is wider than the page, and whatever is folded can be opened
    assert chromium.value("document.documentElement.scrollWidth <= innerWidth") is True
    folded = sum("whole" in each for told in asked for each in map(object_of, list_of(told["shown"])))
    assert chromium.value("document.querySelectorAll('.shown-argument details').length") == folded
    assert chromium.complaints() == []


def test_two_windows_show_the_same_and_one_sees_what_the_other_answers(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    journal, key = begin(tmp_path, make_asking())
    served = serving(tmp_path)
    chromium.visit(served.address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for("document.querySelector('.question .yes') !== null")
    with chromium.window():
        chromium.visit(f"{served.host}/")
        chromium.wait_for(f"{ROWS}.length === 1")
        chromium.value("document.querySelector('#rows a').click()")
        chromium.wait_for("document.querySelector('.question .yes') !== null")
        chromium.value("document.querySelector('.question .yes').click()")
        chromium.wait_for(f"{text('.question .told')}?.length > 0")
        assert chromium.complaints() == []
    message = Mailbox(tmp_path / "one.run").read(name_answer(key))
    assert message is not None
    assert message.answer == {"yes": True}
    chromium.value("document.querySelector('.question .yes').click()")
    assert chromium.wait_for(text(".question .told")) == "the question is already answered: yes, by page"
    journal.close()


def test_nothing_moves_for_readers_who_want_that_and_something_does_for_others(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    journal, _ = begin(tmp_path, make_stages())
    moving = "document.getAnimations().filter(each => each.playState === 'running').length"
    try:
        chromium.size(1280, 800, motion="no-preference")
        chromium.visit(serving(tmp_path).address)
        chromium.wait_for(f"{ROWS}.length === 1")
        chromium.click("#rows a")
        chromium.wait_for(f"{box_status('plan')} === 'active'")
        assert chromium.value(moving) > 0
        chromium.size(1280, 800, motion="reduce")
        assert chromium.value(moving) == 0
        assert chromium.value(box_status("plan")) == "active"
    finally:
        chromium.size(1280, 800)
        journal.close()


CLIPPED = """[...document.querySelectorAll('#layout *')].filter(each => each.checkVisibility()
  && ['auto', 'scroll', 'hidden'].includes(getComputedStyle(each).overflowY)
  && each.scrollHeight > each.clientHeight + 1).map(each => each.className)"""
PRESSED = "[...document.querySelectorAll('header, #runs, .bar button')].filter(each => each.checkVisibility()).length"


def test_on_paper_everything_is_there_and_nothing_to_press(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    journal, _ = begin(tmp_path, make_stages())
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for(f"{box_status('plan')} === 'active'")
    chromium.value("document.querySelector('.flow svg').style.height = '3000px'")
    on_screen = chromium.value(CLIPPED), chromium.value(PRESSED)
    chromium.size(700, 1000, media="print")
    on_paper = chromium.value(CLIPPED), chromium.value(PRESSED)
    high = chromium.value("document.querySelector('.flow .stage').getBoundingClientRect().height")
    chromium.size(1280, 800)
    journal.close()
    assert on_screen[0] == ["stage"]
    assert on_screen[1] > 0
    assert on_paper == ([], 0)
    assert high >= 3_000


NEXT = "[...document.querySelectorAll('.next li')].map(each => each.textContent)"


def test_a_run_that_nobody_executes_acts_nowhere_and_says_how_it_continues(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    journal, _ = begin(tmp_path, make_asking())
    chromium.visit(serving(tmp_path).address)
    chromium.wait_for(f"{ROWS}.length === 1")
    chromium.click("#rows a")
    chromium.wait_for(f"{box_status('plan')} === 'waiting'")
    details = chromium.value("document.querySelector('.question').textContent")
    assert "rule: the node is blocked when ctx.task exists; then its policy is to ask" in details
    assert 'value: ctx.task is "everything"' in details
    assert "no: the node does not act, and its outcome is 'fail': the run, or its branch, ends as failed" in details
    assert chromium.value(NEXT) == []
    journal.close()
    chromium.wait_for(f"{box_status('plan')} === 'interrupted'")
    chromium.wait_for(f"{NEXT}.length === 2")
    assert chromium.value(NEXT) == [
        f"The run continues with stagec resume one --runs {tmp_path}",
        "This page resumes runs when its server is started with stagec serve --allow-start",
    ]
    assert chromium.value("document.querySelectorAll('svg .box[data-status=active]').length") == 0
    assert chromium.value("document.querySelector('.question .yes').disabled")
    assert chromium.value(text(".question .told")) == "No process executes the run: resume it first, then answer."
    assert chromium.complaints() == []


def test_an_address_that_cannot_be_decoded_is_a_run_that_is_not_there(
    chromium: Any, serving: Callable[..., Any], tmp_path: Path
) -> None:
    served = serving(tmp_path)
    chromium.visit(served.address)
    chromium.wait_for("document.body?.dataset.link === 'live'")
    chromium.value("location.hash = '#/run/%E0%A4%A'")
    assert chromium.wait_for(text("main [role=alert]")) == "there is no such run"
    assert [each for each in chromium.complaints() if "404" not in each] == []


CUT = """[...document.querySelectorAll('#layout *')].filter(each => each.checkVisibility() && each.children.length === 0
  && each.textContent.trim() && !each.closest('svg') && !each.closest('.unseen')
  && (each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX !== 'visible'
      || each.getBoundingClientRect().right > innerWidth + 1)).map(each => each.className + ': ' + each.textContent)"""


def test_no_label_is_cut_on_a_phone(chromium: Any, serving: Callable[..., Any], tmp_path: Path) -> None:
    long = "review of the quarterly report for the department of wines"
    plan = make_asking()
    nodes = {**plan.nodes, "plan": replace(plan.nodes["plan"], title=long)}
    data = dump(handmade.completed(replace(plan, id=long, title=long, nodes=nodes)))
    journal = create(tmp_path / f"{long.replace(' ', '-')}.run", data, load(data).digest)
    journal.append(Started("one", None, {"task": "everything"}))
    chromium.size(360, 700)
    try:
        chromium.visit(serving(tmp_path).address)
        chromium.wait_for(f"{ROWS}.length === 1")
        assert chromium.value(CUT) == []
        chromium.click("#rows a")
        chromium.wait_for("document.querySelector('svg .box[data-status=waiting]') !== null")
        assert chromium.value(CUT) == []
        assert chromium.value("document.documentElement.scrollWidth") <= 360
    finally:
        chromium.size(1280, 800)
        journal.close()
