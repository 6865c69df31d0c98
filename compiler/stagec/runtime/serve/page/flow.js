// The graph of a run: the drawing of its plan, with what the run has done on it.

import { el, mark, put, shownName, svg } from "/static/dom.js";
import { askPicture } from "/static/server.js";

const SIGNS = { active: "▶", waiting: "?", queued: "…", visited: "✓", failed: "✗", interrupted: "‖", idle: "" };
const WORDS = {
  active: "is acting",
  waiting: "waits for an answer",
  queued: "waits for its turn",
  visited: "visited",
  failed: "failed",
  interrupted: "interrupted",
  idle: "not visited",
};
const STEP = 1.25;
const LEAST = 0.1;
const MOST = 4;
const READABLE = 0.55;

export class FlowPicture {
  constructor(choose) {
    this.choose = choose;
    this.boxes = new Map();
    this.lines = new Map();
    this.zoom = 1;
    this.chosen = null;
    this.stage = el("div", { class: "stage", tabindex: "0", role: "region", "aria-label": "Graph; arrow keys move it" });
    const button = (label, sign, act) => el("button", { type: "button", title: label, "aria-label": label, onclick: act }, sign);
    this.node = el(
      "section",
      { class: "flow", "aria-label": "Graph" },
      el(
        "div",
        { class: "bar" },
        el("h3", {}, "Graph"),
        button("Zoom in", "+", () => this.scale(this.zoom * STEP)),
        button("Zoom out", "−", () => this.scale(this.zoom / STEP)),
        button("Fit", "Fit", () => this.fit(LEAST)),
      ),
      this.stage,
      el(
        "ul",
        { class: "key", "aria-label": "Legend" },
        ...Object.entries(WORDS).map(([name, words]) =>
          el("li", { "data-status": name }, el("span", { class: "swatch", "aria-hidden": "true" }, SIGNS[name] || "\u00a0"), words),
        ),
      ),
    );
  }

  async load(run) {
    let drawn;
    this.run = run;
    this.drawn = this.flow?.plan;
    this.picture = null;
    try {
      drawn = document.importNode(await askPicture(run), true);
    } catch (refusal) {
      this.stage.replaceChildren(el("p", { class: "said" }, refusal.message));
      return;
    }
    this.boxes.clear();
    this.lines.clear();
    this.picture = drawn;
    this.width = Number(drawn.getAttribute("width"));
    this.height = Number(drawn.getAttribute("height"));
    for (const box of drawn.querySelectorAll("[data-box]")) this.adopt(box);
    for (const line of drawn.querySelectorAll("[data-line]")) {
      const number = Number(line.dataset.line);
      this.lines.set(number, [...(this.lines.get(number) ?? []), line]);
    }
    this.stage.replaceChildren(drawn);
    if (this.flow) this.show(this.flow);
    this.fit(READABLE);
  }

  /** Make a box something that can be chosen, with a sign of how it stands. */
  adopt(box) {
    const number = Number(box.dataset.box);
    const sign = svg("text", { y: "4" });
    box.append(svg("g", { class: "state", transform: "translate(2 -2)" }, svg("circle", { r: "10" }), sign));
    this.boxes.set(number, { box, sign, label: box.getAttribute("aria-label") });
    const act = () => {
      const node = this.flow?.nodes[number]?.node;
      if (node !== null && node !== undefined) this.choose(node);
    };
    box.addEventListener("click", act);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act();
      }
    });
  }

  show(flow) {
    this.flow = flow;
    if (!this.picture) return;
    if (flow.plan !== this.drawn) {
      // the run goes on under another plan
      this.load(this.run);
      return;
    }
    for (const node of flow.nodes) {
      const known = this.boxes.get(node.box);
      if (known === undefined) continue;
      const status = node.node === null ? "" : node.status;
      mark(known.box, "data-status", status || null);
      mark(known.box, "data-chosen", node.node !== null && node.node === this.chosen ? "yes" : null);
      put(known.sign, node.visits > 1 && status === "visited" ? String(node.visits) : (SIGNS[status] ?? ""));
      const times = node.visits > 1 ? `, ${node.visits} visits` : "";
      mark(known.box, "aria-label", `${known.label}${status ? `, ${WORDS[status]}${times}` : ""}`);
      if (node.node === null) mark(known.box, "tabindex", null);
    }
    for (const edge of flow.edges) {
      for (const line of this.lines.get(edge.line) ?? []) {
        mark(line, "data-taken", edge.taken ? "yes" : null);
        mark(line, "data-last", edge.last ? "yes" : null);
      }
    }
  }

  mark(node) {
    this.chosen = node;
    if (this.flow) this.show(this.flow);
  }

  fit(least) {
    if (!this.picture) return;
    const room = Math.max(200, this.stage.clientWidth - 2);
    const high = Math.max(200, this.stage.clientHeight - 2);
    const whole = Math.min(1, room / this.width, high / this.height);
    this.scale(Math.max(least, whole));
    if (whole < least) this.reveal();
  }

  /** Bring what acts now, or where runs begin, into sight. */
  reveal() {
    const now = this.stage.querySelector('[data-status="waiting"], [data-status="active"], [data-status="failed"]');
    const box = (now ?? this.stage.querySelector(".box.start"))?.getBoundingClientRect();
    if (box === undefined) return;
    const stage = this.stage.getBoundingClientRect();
    this.stage.scrollLeft += box.x + box.width / 2 - stage.x - stage.width / 2;
    this.stage.scrollTop += now ? box.y + box.height / 2 - stage.y - stage.height / 2 : 0;
  }

  scale(zoom) {
    if (!this.picture) return;
    this.zoom = Math.min(MOST, Math.max(LEAST, zoom));
    this.picture.setAttribute("width", this.width * this.zoom);
    this.picture.setAttribute("height", this.height * this.zoom);
  }
}

export const nameStatus = (status) => WORDS[status] ?? shownName(status);
