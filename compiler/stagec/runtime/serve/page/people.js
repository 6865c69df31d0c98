// What people do to a run: answer its questions, pause it, cancel it, resume it.

import { announce, bdi, count, el, mark, shownName } from "/static/dom.js";
import { pathOf, send } from "/static/server.js";

const YES = "Yes";
const NO = "No";

export class Questions {
  constructor(run) {
    this.run = run;
    this.cards = new Map();
    this.node = el("div", { class: "questions" });
  }

  /** Show what is asked; nobody takes an answer from the page while no process executes the run. */
  show(questions, isExecuted) {
    const keys = new Set(questions.map((each) => each.key));
    for (const [key, card] of this.cards) {
      if (!keys.has(key)) {
        card.remove();
        this.cards.delete(key);
      }
    }
    for (const question of questions) {
      if (!this.cards.has(question.key)) {
        const card = this.make(question);
        this.cards.set(question.key, card);
        this.node.append(card);
        announce(`A question waits: ${question.sentence}`);
      }
      this.allow(this.cards.get(question.key), isExecuted);
    }
  }

  allow(card, isExecuted) {
    if ((card.dataset.idle !== "yes") === isExecuted) return;
    mark(card, "data-idle", isExecuted ? null : "yes");
    for (const button of card.querySelectorAll(".yes, .no")) button.disabled = !isExecuted;
    card.querySelector(".told").textContent = isExecuted ? "" : "No process executes the run: resume it first, then answer.";
  }

  make(question) {
    const told = el("p", { class: "told", role: "status" });
    const buttons = [true, false].map((yes) =>
      el("button", { type: "button", class: yes ? "yes" : "no", onclick: () => answer(yes) }, yes ? YES : NO),
    );
    const answer = async (yes) => {
      for (const button of buttons) button.disabled = true;
      try {
        await send(pathOf(this.run, "/answer"), { key: question.key, answer: yes });
        told.textContent = `You answered ${yes ? "yes" : "no"}; the run takes it next.`;
      } catch (refusal) {
        told.textContent = shownName(refusal.message);
        if (refusal.status !== 409) for (const button of buttons) button.disabled = false;
      }
    };
    return el(
      "section",
      { class: "question", "aria-label": "Question" },
      el("h3", {}, bdi(phrase(question.sentence))),
      ...(question.shown ?? []).map(showArgument),
      el("ul", {}, ...question.details.map((each) => el("li", {}, bdi(each)))),
      question.arguments ? el("details", {}, el("summary", {}, "All of it"), el("pre", { class: "argument", tabindex: "0", dir: "ltr" }, question.arguments)) : null,
      el("ul", { class: "said" }, ...["yes", "no"].map((word) => el("li", {}, `${word}: `, bdi(question.consequences[word] ?? "")))),
      el("div", { class: "buttons" }, ...buttons),
      told,
    );
  }
}

/** Make what is shown of an argument; the rows of a long one are folded, and can be opened. */
const showArgument = ({ name, length, rows, whole }) =>
  el(
    "div",
    { class: "shown-argument" },
    el("strong", {}, bdi(name)),
    whole || rows.length > 1 ? ` (${count(length, "character")})` : null,
    el("pre", { class: "argument", tabindex: "0", dir: "ltr" }, rows.join("\n")),
    whole ? el("details", {}, el("summary", {}, `Show all ${count(length, "character")}`), el("pre", { class: "argument", tabindex: "0", dir: "ltr" }, whole.join("\n"))) : null,
  );

/** Return a sentence as a question: with a capital letter, and one question mark. */
const phrase = (sentence) => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\?$/, "")}?`;

const ACTIONS = [
  { name: "pause", label: "Pause", when: ["running", "waiting"], ask: null, told: "The run pauses; it can be resumed." },
  { name: "resume", label: "Resume", when: ["interrupted"], ask: null, told: "The run goes on." },
  {
    name: "cancel",
    label: "Cancel",
    when: ["running", "waiting", "interrupted"],
    ask: "Cancel this run? It ends as failed, and cannot be resumed.",
    told: "The run is cancelled.",
  },
];

export class Actions {
  constructor(run, canStart) {
    this.run = run;
    this.canStart = canStart;
    this.told = el("span", { class: "told", role: "status" });
    this.buttons = new Map(ACTIONS.map((each) => [each.name, el("button", { type: "button", class: each.name, onclick: () => this.begin(each) }, each.label)]));
    this.confirm = el("span", { class: "confirm", hidden: true });
    this.node = el("div", { class: "buttons" }, ...this.buttons.values(), this.confirm, this.told);
  }

  show(row) {
    for (const { name, when } of ACTIONS) {
      const fits = when.includes(row.status) && (name !== "resume" || this.canStart);
      this.buttons.get(name).hidden = !fits;
    }
    if (this.status !== row.status) {
      this.status = row.status;
      this.told.textContent = "";
      this.confirm.hidden = true;
    }
  }

  begin(action) {
    if (action.ask === null) {
      this.act(action);
      return;
    }
    const yes = el("button", { type: "button", class: "no", onclick: () => this.act(action) }, "Yes, cancel it");
    const no = el("button", { type: "button", onclick: () => this.end(action) }, "No, keep it");
    this.confirm.replaceChildren(action.ask, " ", yes, " ", no);
    this.confirm.hidden = false;
    no.focus();
  }

  end(action) {
    this.confirm.hidden = true;
    this.buttons.get(action.name).focus();
  }

  async act(action) {
    this.confirm.hidden = true;
    this.told.textContent = "…";
    try {
      await send(pathOf(this.run, `/${action.name}`));
      this.told.textContent = action.told;
    } catch (refusal) {
      this.told.textContent = shownName(refusal.message);
    }
  }
}
