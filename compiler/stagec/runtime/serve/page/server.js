// What the server is asked, and what it tells while it goes on.

export class Refusal extends Error {
  constructor(status, told) {
    super(told.error || `the server answers ${status}`);
    this.status = status;
    this.told = told;
  }
}

const read = async (response) => {
  let told = {};
  try {
    told = await response.json();
  } catch {
    told = { error: `the server answers ${response.status}` };
  }
  if (!response.ok) throw new Refusal(response.status, told);
  return told;
};

const reach = async (path, options) => {
  try {
    return await fetch(path, options);
  } catch {
    throw new Refusal(0, { error: "the server does not answer" });
  }
};

export const ask = async (path) => read(await reach(path, { credentials: "same-origin" }));

export const send = async (path, given = {}) =>
  read(
    await reach(path, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(given),
    }),
  );

export const pathOf = (run, rest = "") => `/api/runs/${encodeURIComponent(run)}${rest}`;

/** Return a drawing as a document: it is parsed as XML, in which no script runs. */
export const askPicture = (run) =>
  new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("GET", pathOf(run, "/picture"));
    request.responseType = "document";
    request.onload = () =>
      request.status === 200 && request.responseXML
        ? done(request.responseXML.documentElement)
        : fail(new Refusal(request.status, { error: "there is no picture" }));
    request.onerror = () => fail(new Refusal(0, { error: "the server does not answer" }));
    request.send();
  });

/** A stream that is opened again when it breaks, and is closed while nobody sees the page. */
export class Stream {
  constructor(listeners, tell) {
    this.listeners = listeners;
    this.tell = tell;
    this.run = null;
    this.source = null;
    this.timer = 0;
    document.addEventListener("visibilitychange", () => this.look());
    window.addEventListener("pagehide", () => this.close());
  }

  /** Follow a run, from an event of its journal on, besides the rows of all. */
  follow(run, place) {
    this.run = run;
    this.place = place;
    this.open();
  }

  look() {
    if (document.hidden) this.close();
    else if (this.source === null) this.open();
  }

  close() {
    clearTimeout(this.timer);
    if (this.source !== null) this.source.close();
    this.source = null;
  }

  open() {
    this.close();
    if (document.hidden) return;
    const query = this.run === null ? "" : `?run=${encodeURIComponent(this.run)}&from=${this.place()}`;
    const source = new EventSource(`/api/stream${query}`);
    this.source = source;
    source.onopen = () => this.tell("live");
    source.onerror = () => {
      this.tell("lost");
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        this.source = null;
        this.timer = setTimeout(() => this.look(), 2000);
      }
    };
    for (const [name, listener] of Object.entries(this.listeners)) {
      source.addEventListener(name, (event) => this.source === source && listener(JSON.parse(event.data)));
    }
  }
}
