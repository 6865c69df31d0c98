// The list of runs: a link for each, changed in place when something has happened.

import { bdi, count, el, mark, put, shownName } from "/static/dom.js";

export const SIGNS = {
  running: "▶",
  waiting: "?",
  interrupted: "‖",
  done: "✓",
  failed: "✗",
  blocked: "⊘",
  "not begun": "○",
  damaged: "⚠",
  unusable: "⚠",
};
const FIRST = ["waiting", "running"];

const elapsed = (since) => {
  const seconds = Math.max(0, Math.round((Date.now() - since) / 1000));
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(since).toISOString().slice(0, 10);
};

const order = (one, other) => {
  const ranks = [one, other].map((row) => {
    const at = FIRST.indexOf(row.status);
    return at < 0 ? FIRST.length : at;
  });
  return ranks[0] - ranks[1] || other.changed - one.changed || (one.name < other.name ? -1 : 1);
};

const compose = (row) => {
  const told = [count(row.events, "event")];
  if (row.tokens) told.push(count(row.tokens, "token"));
  if (row.cost !== null) told.push(`$${row.cost}`);
  if (row.questions) told.push(count(row.questions, "question"));
  return told.join(", ");
};

export class RunList {
  constructor() {
    this.rows = new Map();
    this.items = new Map();
    this.list = document.getElementById("rows");
    this.filter = document.getElementById("filter");
    this.status = document.getElementById("status");
    this.counter = document.getElementById("count");
    this.trouble = "";
    this.selected = null;
    this.isPressed = false;
    for (const name of Object.keys(SIGNS)) this.status.append(el("option", { value: name }, name));
    this.filter.addEventListener("input", () => this.arrange());
    this.status.addEventListener("change", () => this.arrange());
    setInterval(() => this.age(), 20000);
    // An item that moves between press and release gets no click: the list stays as it is until the release.
    this.list.addEventListener("pointerdown", ({ button }) => { this.isPressed = button === 0; });
    for (const name of ["pointerup", "pointercancel", "blur"]) window.addEventListener(name, () => setTimeout(() => this.release()));
  }

  release() {
    if (!this.isPressed) return;
    this.isPressed = false;
    this.arrange();
  }

  take({ rows, gone, trouble }) {
    let moved = gone.length > 0;
    for (const name of gone) {
      this.rows.delete(name);
      this.items.get(name)?.remove();
      this.items.delete(name);
    }
    for (const row of rows) {
      const before = this.rows.get(row.name);
      moved ||= before === undefined || before.status !== row.status;
      this.rows.set(row.name, row);
      this.draw(row);
    }
    this.trouble = trouble;
    if (moved || rows.length === 0) this.arrange();
  }

  draw(row) {
    let item = this.items.get(row.name);
    if (item === undefined) {
      const parts = { sign: el("span", { class: "sign", "aria-hidden": "true" }), status: el("span", { class: "status" }) };
      parts.told = el("small", { class: "told" });
      parts.when = el("small", { class: "when" });
      const plan = bdi(row.plan, "plan");
      const link = el(
        "a",
        { href: `#/run/${encodeURIComponent(row.name)}` },
        parts.sign,
        el("span", { class: "names" }, bdi(row.name, "name"), plan),
        el("span", { class: "facts" }, parts.status, parts.told, parts.when),
      );
      item = Object.assign(el("li", {}, link), { parts: { ...parts, link, plan } });
      this.items.set(row.name, item);
    }
    const { sign, status, told, when, link, plan } = item.parts;
    mark(item, "data-status", row.status);
    put(sign, SIGNS[row.status] ?? "");
    put(status, row.status);
    put(told, compose(row));
    put(when, elapsed(row.changed));
    put(plan, row.plan);
    mark(link, "title", row.reason ? shownName(row.reason).slice(0, 500) : null);
    mark(link, "aria-current", row.name === this.selected ? "page" : null);
  }

  age() {
    for (const row of this.rows.values()) put(this.items.get(row.name).parts.when, elapsed(row.changed));
  }

  select(name) {
    this.selected = name;
    for (const [each, item] of this.items) mark(item.parts.link, "aria-current", each === name ? "page" : null);
  }

  /** Show what was asked for, those first that need somebody. */
  arrange() {
    if (this.isPressed) return;
    const wanted = this.filter.value.toLowerCase();
    const found = [...this.rows.values()].filter(
      (row) =>
        (!this.status.value || row.status === this.status.value) &&
        (row.name.toLowerCase().includes(wanted) || row.plan.toLowerCase().includes(wanted)),
    );
    const items = found.sort(order).map((row) => this.items.get(row.name));
    // An item that is put in its place again gets no click until it is drawn: a list in order stays as it is.
    if (items.length !== this.list.children.length || items.some((item, at) => this.list.children[at] !== item)) {
      const focused = document.activeElement;
      this.list.replaceChildren(...items);
      if (focused && this.list.contains(focused) && document.activeElement !== focused) focused.focus();
    }
    const whole = this.rows.size;
    put(
      this.counter,
      this.trouble || (whole === 0 ? "no runs yet" : found.length === whole ? count(whole, "run") : `${found.length} of ${count(whole, "run")}`),
    );
  }
}
