// Starting a run: a plan, an entry, its inputs, a name.

import { bdi, el, fill, shownName } from "/static/dom.js";
import { FAILED, makeField, readField } from "/static/fields.js";
import { send } from "/static/server.js";

export class StartForm {
  constructor(plans, open) {
    this.plans = plans;
    this.open = open;
    this.fields = new Map();
    this.told = el("p", { role: "alert", class: "failure", tabindex: "-1", hidden: true });
    this.plan = el("select", { id: "plan", onchange: () => this.show() }, ...plans.map((each, at) => el("option", { value: String(at) }, `${shownName(each.id)} (${shownName(each.path)})`)));
    this.about = el("p", { class: "said" });
    this.entry = el("div");
    this.inputs = el("div", { class: "inputs" });
    this.name = el("input", { id: "name", autocomplete: "off", spellcheck: "false", maxlength: "100", "aria-describedby": "name-about" });
    this.button = el("button", { type: "submit", class: "yes" }, "Start the run");
    this.node = el("section", { class: "notice start" }, el("h2", {}, "Start a run"));
    if (plans.length === 0) {
      this.node.append(el("p", {}, "There are no plans: 'stagec serve --plans PATH' names them, and 'stagec compile' makes them."));
      return;
    }
    this.node.append(
      el(
        "form",
        { novalidate: true, onsubmit: (event) => this.submit(event) },
        el("div", { class: "field" }, el("label", { for: "plan" }, "Plan"), this.plan, this.about),
        this.entry,
        this.inputs,
        el(
          "div",
          { class: "field" },
          el("label", { for: "name" }, "Name of the run (may be left out)"),
          el("p", { class: "said", id: "name-about" }, "letters, digits, '.', '_' and '-'"),
          this.name,
        ),
        this.told,
        el("div", { class: "buttons" }, this.button),
      ),
    );
    this.show();
  }

  get chosen() {
    return this.plans[Number(this.plan.value)];
  }

  show() {
    const { title, digest, entries, entry, inputs } = this.chosen;
    fill(this.about, title ? [bdi(title), " · "] : null, digest.slice(0, 19));
    this.told.hidden = true;
    this.entryField = entries.length > 1 ? makeField("Entry", { enum: entries }, {}, { isRequired: entry === null, start: entry ?? undefined }) : null;
    fill(this.entry, this.entryField?.node ?? null);
    this.fields = new Map(
      Object.entries(inputs).map(([name, each]) => [
        name,
        makeField(name, each.schema ?? {}, each.schema ?? {}, { isRequired: each.required, start: each.default ?? undefined }),
      ]),
    );
    fill(this.inputs, ...[...this.fields.values()].map((field) => field.node));
  }

  /** Return what is filled in, null when something is wrong; the first wrong field gets the focus. */
  read() {
    const inputs = Object.create(null);
    const wrong = [];
    for (const [name, field] of this.fields) {
      const told = readField(field);
      if (told === FAILED) wrong.push(field);
      else if (told !== undefined) inputs[name] = told;
    }
    const entry = this.entryField === null ? undefined : readField(this.entryField);
    if (entry === FAILED) wrong.unshift(this.entryField);
    if (wrong.length) {
      this.complain(`${wrong.length === 1 ? "One field needs" : `${wrong.length} fields need`} another look.`);
      this.node.querySelector('[aria-invalid="true"]')?.focus();
      return null;
    }
    return { plan: this.chosen.digest, entry: entry ?? null, inputs, name: this.name.value.trim() };
  }

  complain(sentence) {
    this.told.textContent = shownName(sentence);
    this.told.hidden = false;
  }

  async submit(event) {
    event.preventDefault();
    const given = this.read();
    if (given === null) return;
    this.told.hidden = true;
    this.button.disabled = true;
    try {
      this.open((await send("/api/runs", given)).name);
    } catch (refusal) {
      this.complain(refusal.message);
      for (const [name, why] of Object.entries(refusal.told?.fields ?? {})) this.fields.get(name)?.complain(why);
      (this.node.querySelector('[aria-invalid="true"]') ?? this.told).focus();
    } finally {
      this.button.disabled = false;
    }
  }
}
