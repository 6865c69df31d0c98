// One run: how it stands, its questions, its graph, what was said, and its journal.

import { announce, bdi, count, el, fill, put, shownName } from "/static/dom.js";
import { FlowPicture } from "/static/flow.js";
import { Journal } from "/static/journal.js";
import { Actions, Questions } from "/static/people.js";
import { SIGNS } from "/static/runs.js";
import { ask, pathOf } from "/static/server.js";
import { Transcript } from "/static/transcript.js";

const EXECUTED = ["running", "waiting"];
const URGENT = ["failed", "waiting", "active"];

export class RunPage {
  constructor(name, canStart) {
    this.name = name;
    this.status = null;
    this.sign = el("span", { class: "sign", "aria-hidden": "true" });
    this.state = el("span", { class: "status" });
    this.reason = el("span", { class: "reason" });
    this.plan = el("p", { class: "said" });
    this.next = el("ul", { class: "next" });
    this.failure = el("p", { class: "failure", role: "alert", hidden: true });
    this.budget = el("div", { class: "budget" });
    this.actions = new Actions(name, canStart);
    this.questions = new Questions(name);
    this.flow = new FlowPicture((node) => this.choose(node));
    this.transcript = new Transcript();
    this.journal = new Journal((node) => this.choose(node));
    this.node = el(
      "article",
      { class: "run" },
      el("p", { class: "back" }, el("a", { href: "#/" }, "← All runs")),
      el("div", { class: "head" }, el("h2", {}, bdi(name)), el("p", { class: "pill" }, this.sign, this.state), this.actions.node),
      this.plan,
      this.reason,
      this.failure,
      this.next,
      this.questions.node,
      this.budget,
      el("div", { class: "both" }, this.flow.node, this.transcript.node),
      this.journal.node,
    );
  }

  /** Load what there is; what happens from now on is taken from the stream. */
  async load() {
    await this.journal.load(this.name);
    this.show(await ask(pathOf(this.name)));
    await this.flow.load(this.name);
    const urgent = URGENT.map((status) => this.last?.flow?.nodes.find((each) => each.node !== null && each.status === status)).find(Boolean);
    if (urgent !== undefined && this.transcript.chosen === null) this.look(urgent.node);
  }

  choose(node) {
    this.look(node);
    if (window.matchMedia("(max-width: 60rem)").matches) this.transcript.node.scrollIntoView({ block: "start" });
  }

  look(node) {
    this.flow.mark(node);
    this.transcript.choose(this.name, node);
    this.transcript.show(this.last?.flow);
  }

  show(told) {
    if (told === null) return;
    this.last = told;
    const { row, flow, questions, budget, failure, names } = told;
    this.node.dataset.status = row.status;
    put(this.sign, SIGNS[row.status] ?? "");
    put(this.state, row.status);
    if (this.status !== null && this.status !== row.status) announce(`Run ${row.name}: ${row.status}`);
    this.status = row.status;
    put(this.plan, `${row.plan} · ${row.digest.slice(0, 19)} · ${count(row.executions, `${names?.node ?? "node"} execution`)}`);
    put(this.reason, failure === null ? row.reason : "");
    this.failure.hidden = failure === null;
    put(this.failure, failure?.sentence ?? "");
    this.actions.show(row);
    fill(this.next, ...(told.next ?? []).map(({ sentence, command }) => el("li", {}, `${sentence} `, el("code", { dir: "ltr" }, shownName(command)))));
    this.questions.show(questions, EXECUTED.includes(row.status));
    this.showBudget(budget);
    if (flow !== null) this.flow.show(flow);
    this.transcript.show(flow);
    document.title = `${SIGNS[row.status] ?? ""} ${shownName(row.name)} – stagec`;
  }

  take(news) {
    this.journal.take(news);
    this.transcript.take(news.events);
  }

  /** Show what was used, against what may be where that is known. */
  showBudget(budget) {
    if (budget === null || (!budget.requests && !Object.keys(budget.limits).length)) {
      this.budget.replaceChildren();
      return;
    }
    const { input, output, requests, cost, limits } = budget;
    const facts = [
      ["Requests", requests.toLocaleString("en"), null, null],
      ["Tokens", `${(input + output).toLocaleString("en")} (${input.toLocaleString("en")} in, ${output.toLocaleString("en")} out)`, input + output, limits.max_tokens],
      ["Cost", cost === null ? (requests ? "price unknown" : "$0") : `$${cost}`, cost, limits.max_cost],
      ["Time", limits.max_time === undefined ? null : `at most ${limits.max_time} s`, null, null],
    ];
    const made = facts.filter(([, told]) => told !== null).map(([name, told, used, most]) => {
      const meter = most === undefined || most === null || used === null ? null : el("meter", { min: "0", max: most, value: used, "aria-label": `${name} of ${most}` });
      return el("div", {}, el("dt", {}, name), el("dd", {}, told, meter === null ? null : [` of ${name === "Cost" ? "$" : ""}${Number(most).toLocaleString("en")} `, meter]));
    });
    this.budget.replaceChildren(el("dl", {}, ...made));
  }
}
