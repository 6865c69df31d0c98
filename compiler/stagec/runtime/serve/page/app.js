// The page: who may see it, which run is shown, and what the server tells.

import { announce, decodePart, el, fill, put, shownName } from "/static/dom.js";
import { StartForm } from "/static/start.js";
import { RunPage } from "/static/run.js";
import { RunList } from "/static/runs.js";
import { Stream, ask, send } from "/static/server.js";

const main = document.getElementById("main");
const link = document.getElementById("link");
const begin = document.getElementById("begin");
const AGAIN = 2000; // milliseconds until what could not be read is asked for again
const LINKS = { live: "live", lost: "not connected: trying again", gone: "no access" };

const tell = (state) => {
  document.body.dataset.link = state;
  put(link, LINKS[state]);
};

/** Show the token once; the cookie that it is given for is out of reach of scripts. */
const logIn = async () => {
  const token = location.hash.slice(1);
  if (location.pathname !== "/login") return;
  history.replaceState(null, "", "/");
  if (token) await send("/api/login", { token });
};

const explain = (refusal) => {
  tell(refusal.status === 401 || refusal.status === 429 ? "gone" : "lost");
  const input = el("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const form = el(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await send("/api/login", { token: input.value.trim().split("#").pop() });
          await start();
        } catch (again) {
          explain(again);
        }
      },
    },
    el("label", { for: "token" }, "Token"),
    input,
    el("button", { type: "submit" }, "Open the page"),
  );
  fill(
    main,
    el("section", { class: "notice" }, el("h2", {}, "This page is closed"), el("p", { role: "alert" }, shownName(refusal.message)),
      el("p", {}, "Open the address that 'stagec serve' has printed, or give the token that is its last part."), form),
  );
  document.body.dataset.view = "run";
};

class App {
  constructor(state) {
    this.state = state;
    this.runs = new RunList();
    this.run = null;
    begin.hidden = !state.canStart;
    this.stream = new Stream({ rows: (told) => this.takeRows(told), run: (told) => this.run?.show(told), journal: (told) => this.run?.take(told) }, tell);
    window.addEventListener("hashchange", () => this.route());
    this.runs.take({ rows: state.runs, gone: [], trouble: "" });
    this.route();
  }

  takeRows(told) {
    this.runs.take(told);
    if (this.run !== null && told.gone.includes(this.run.name)) announce(`Run ${this.run.name} is gone`);
  }

  async route() {
    const [, kind, name] = location.hash.match(/^#\/(run|start)(?:\/(.*))?$/s) ?? [];
    this.run = null;
    document.title = "stagec";
    document.body.dataset.view = kind ? "run" : "list";
    window.scrollTo(0, 0);
    if (kind === "run") await this.open(decodePart(name ?? ""));
    else if (kind === "start" && this.state.canStart) this.openForm();
    else this.openNothing();
  }

  async open(name) {
    const run = new RunPage(name, this.state.canStart);
    const asked = location.hash;
    this.run = run;
    this.runs.select(name);
    fill(main, run.node);
    main.focus({ preventScroll: true });
    try {
      await run.load();
    } catch (refusal) {
      if (refusal.status === 401) return explain(refusal);
      if (this.run !== run) return undefined;
      fill(main, el("section", { class: "notice" }, el("h2", {}, shownName(name)), el("p", { role: "alert" }, shownName(refusal.message)), el("p", {}, el("a", { href: "#/" }, "← All runs"))));
      this.run = null;
      if (refusal.status === 0 || refusal.status === 503) setTimeout(() => this.run === null && location.hash === asked && this.route(), AGAIN);
    }
    if (this.run === run || this.run === null) this.stream.follow(this.run?.name ?? null, () => this.run?.journal.count ?? 0);
    return undefined;
  }

  openForm() {
    this.runs.select(null);
    const form = new StartForm(this.state.plans, (name) => {
      location.hash = `#/run/${encodeURIComponent(name)}`;
    });
    fill(main, form.node);
    this.stream.follow(null, () => 0);
  }

  openNothing() {
    this.runs.select(null);
    const hasRuns = this.runs.rows.size > 0;
    const how = this.state.canStart ? "Start a run with the button above." : "'stagec run' starts one, and it appears here.";
    fill(main, el("section", { class: "notice" }, el("h2", {}, hasRuns ? "Choose a run" : "No runs yet"), el("p", {}, how)));
    this.stream.follow(null, () => 0);
  }
}

const start = async () => {
  try {
    await logIn();
    new App(await ask("/api/state"));
  } catch (refusal) {
    if (refusal.status === undefined) throw refusal;
    explain(refusal);
  }
};

await start();
