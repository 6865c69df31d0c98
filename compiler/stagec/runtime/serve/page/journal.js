// The journal of a run: what has happened, event by event, the newest last.

import { bdi, count, el, mark, put } from "/static/dom.js";
import { ask, pathOf } from "/static/server.js";

const MOST = 1000;
const PAGE = 200;

export class Journal {
  constructor(choose) {
    this.choose = choose;
    this.first = 0;
    this.count = 0;
    this.body = el("tbody");
    this.earlier = el("button", { type: "button", hidden: true, onclick: () => this.loadEarlier() }, "Show earlier events");
    this.follow = el("input", { type: "checkbox", id: "follow", checked: true });
    this.counter = el("span", { class: "said" });
    this.frame = el(
      "div",
      { class: "table", tabindex: "0", role: "region", "aria-label": "Events" },
      this.earlier,
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...["#", "Who", "What", "Answer", "Led to"].map((name) => el("th", { scope: "col" }, name)))),
        this.body,
      ),
    );
    this.node = el(
      "section",
      { class: "journal", "aria-label": "Journal" },
      el("div", { class: "bar" }, el("h3", {}, "Journal"), this.counter, el("label", {}, this.follow, " follow")),
      this.frame,
    );
  }

  async load(run) {
    this.run = run;
    const { events, count: whole } = await ask(pathOf(run, `/journal?limit=${PAGE}`));
    this.replace(events, whole);
  }

  replace(events, whole) {
    this.body.replaceChildren(...events.map((each) => this.makeRow(each)));
    this.first = events[0]?.seq ?? 0;
    this.settle(whole);
  }

  take({ events, count: whole, begins }) {
    if (begins) {
      this.replace(events, whole);
      return;
    }
    const fresh = events.filter((each) => each.seq >= this.count);
    if (fresh.length && fresh[0].seq > this.count) this.body.replaceChildren();
    this.body.append(...fresh.map((each) => this.makeRow(each)));
    while (this.body.rows.length > MOST) this.body.rows[0].remove();
    this.first = Number(this.body.rows[0]?.dataset.seq ?? 0);
    this.settle(whole);
  }

  settle(whole) {
    this.count = whole;
    this.earlier.hidden = this.first === 0;
    put(this.counter, count(whole, "event"));
    if (this.follow.checked) this.frame.scrollTop = this.frame.scrollHeight;
  }

  async loadEarlier() {
    const begin = Math.max(0, this.first - PAGE);
    const { events } = await ask(pathOf(this.run, `/journal?from=${begin}&limit=${this.first - begin}`));
    this.follow.checked = false;
    this.body.prepend(...events.map((each) => this.makeRow(each)));
    this.first = begin;
    this.earlier.hidden = begin === 0;
  }

  makeRow(event) {
    const moves = event.moves.flatMap((move, at) => [at ? el("br") : null, ...this.describeMove(move)]);
    const open = el(
      "button",
      { type: "button", class: "plain", "aria-expanded": "false", "aria-label": `Event ${event.seq}`, onclick: () => this.toggle(row, event.seq, open) },
      String(event.seq),
    );
    const who = event.node
      ? el("button", { type: "button", class: "plain", onclick: () => this.choose(event.node) }, bdi(event.who))
      : null;
    const row = el(
      "tr",
      { "data-seq": event.seq },
      el("td", { class: "number" }, open),
      el("td", {}, who),
      el("td", {}, bdi(event.what)),
      el("td", {}, bdi(event.answer)),
      el("td", {}, ...moves),
    );
    return row;
  }

  describeMove(move) {
    const to = move.to.slice(0, 6).flatMap((each, at) => [at ? ", " : null, bdi(each)]);
    const more = move.to.length > 6 ? ` and ${move.to.length - 6} more` : "";
    const where = move.to.length ? [" → ", ...to, more] : move.end ? [" → ", el("b", {}, move.end)] : [];
    return [bdi(move.outcome), ...where];
  }

  /** Show or hide all of an event, as the journal has it. */
  async toggle(row, seq, button) {
    if (row.nextSibling?.dataset?.of === String(seq)) {
      row.nextSibling.remove();
      mark(button, "aria-expanded", "false");
      return;
    }
    mark(button, "aria-expanded", "true");
    const text = await ask(pathOf(this.run, `/event?seq=${seq}`)).then(
      (told) => told.text,
      (refusal) => refusal.message,
    );
    row.after(el("tr", { class: "whole", "data-of": seq }, el("td", { colspan: "5" }, el("pre", { tabindex: "0", dir: "ltr" }, text))));
  }
}
