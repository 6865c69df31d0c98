// What was said in each visit of a node: prompts, answers, tool calls and their results.

import { bdi, el, put } from "/static/dom.js";
import { nameStatus } from "/static/flow.js";
import { ask, pathOf } from "/static/server.js";

const ROLES = { system: "System", user: "Prompt", assistant: "Answer", tool: "Result", note: "Note", error: "Error" };
const PAUSE = 600;

export class Transcript {
  constructor() {
    this.title = el("h3", {}, "Transcript");
    this.facts = el("p", { class: "said" });
    this.body = el("div", { class: "visits" }, el("p", { class: "said" }, "Choose a node of the graph, or in the journal."));
    this.node = el("section", { class: "transcript", "aria-label": "Transcript" }, el("div", { class: "bar" }, this.title), this.facts, this.body);
    this.earlier = el("button", { type: "button", onclick: () => this.loadEarlier() }, "Show earlier visits");
    this.chosen = null;
    this.open = new Map();
    this.timer = 0;
    this.text = "";
  }

  choose(run, node) {
    this.run = run;
    this.chosen = node;
    this.open = new Map();
    this.text = "";
    this.body.replaceChildren();
    this.title.replaceChildren(bdi(node));
    this.load();
  }

  /** Take note of how the node stands now. */
  show(flow) {
    const found = flow?.nodes.find((each) => each.node !== null && each.node === this.chosen);
    if (found === undefined) return;
    const { input, output, requests, cost } = found.usage;
    const used = requests ? `, ${(input + output).toLocaleString("en")} tokens${cost === null ? "" : `, $${cost}`}` : "";
    put(this.facts, `${found.kind ? `${found.kind}, ` : ""}${nameStatus(found.status)}${found.visits > 1 ? `, ${found.visits} visits` : ""}${used}`);
  }

  /** Load again when events concern the node, though not with each of many. */
  take(events) {
    const concerns = events.some((each) => each.node === this.chosen || each.moves.some((move) => move.node === this.chosen || move.to.includes(this.chosen)));
    if (this.chosen !== null && concerns && !this.timer) {
      this.timer = setTimeout(() => this.load(), PAUSE);
    }
  }

  async load() {
    clearTimeout(this.timer);
    this.timer = 0;
    const node = this.chosen;
    let told;
    try {
      told = await ask(pathOf(this.run, `/node?node=${encodeURIComponent(node)}`));
    } catch (refusal) {
      this.body.replaceChildren(el("p", { class: "said" }, refusal.message));
      return;
    }
    const text = JSON.stringify(told);
    if (node !== this.chosen || text === this.text) return;
    this.text = text;
    const { visits } = told;
    const first = visits[0]?.visit ?? 1;
    const kept = [...this.body.children].filter((each) => Number(each.dataset.visit) < first);
    const fresh = visits.map((visit, at) => this.makeVisit(visit, at === visits.length - 1));
    if (fresh.length === 0) fresh.push(el("p", { class: "said" }, "Nothing has been asked here."));
    this.body.replaceChildren(this.earlier, ...kept, ...fresh);
    this.earlier.hidden = this.first <= 1;
  }

  /** The number of the first visit that is shown. */
  get first() {
    return Number(this.body.querySelector("details")?.dataset.visit ?? 1);
  }

  async loadEarlier() {
    const node = this.chosen;
    const { visits } = await ask(pathOf(this.run, `/node?node=${encodeURIComponent(node)}&before=${this.first}`));
    if (node !== this.chosen) return;
    this.earlier.after(...visits.map((visit) => this.makeVisit(visit, false)));
    this.earlier.hidden = this.first <= 1;
  }

  makeVisit({ visit, outcome, messages }, isLast) {
    const isOpen = this.open.get(visit) ?? isLast;
    const made = el(
      "details",
      { open: isOpen, "data-visit": visit },
      el("summary", {}, `Visit ${visit}`, outcome ? [": ", bdi(outcome)] : null),
      ...messages.map(makeMessage),
    );
    made.addEventListener("toggle", () => this.open.set(visit, made.open));
    return made;
  }
}

const makeMessage = (message) => {
  const calls = (message.calls ?? []).map((call) =>
    el("div", { class: "call" }, el("b", {}, "calls ", bdi(call.tool)), el("pre", { tabindex: "0", dir: "auto" }, call.arguments)),
  );
  const cut = message.cut ? el("p", { class: "said" }, `cut off: it has ${message.cut.toLocaleString("en")} characters`) : null;
  return el(
    "div",
    { class: `message ${ROLES[message.role] ? message.role : "note"}` },
    el("h4", {}, ROLES[message.role] ?? message.role),
    message.text ? el("pre", { tabindex: "0", dir: "auto" }, message.text) : null,
    cut,
    ...calls,
  );
};
