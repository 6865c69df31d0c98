"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("data").textContent);
  const sections = [...document.querySelectorAll(".picture")];
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panel = document.getElementById("panel");
  const search = document.getElementById("search");
  const results = document.getElementById("results");
  const LEAST = 0.02, MOST = 4, READABLE = 0.75, FAR = 0.3, LISTED = 60, LONG = 3000;
  let shown = 0;

  /** Make an element; what is given as text can only ever be text. */
  const make = (name, given, ...children) => {
    const made = document.createElement(name);
    for (const [key, each] of Object.entries(given)) {
      if (key === "click") made.addEventListener("click", each);
      else made.setAttribute(key, each);
    }
    made.append(...children);
    return made;
  };
  const short = (text) => (text.length > 200 ? text.slice(0, 200) + "…" : text);

  /** One drawing: how far it is zoomed, what of it is in sight, and what is marked in it. */
  const view = (section, picture) => {
    const stage = section.querySelector(".stage");
    const sizer = section.querySelector(".sizer");
    const svg = section.querySelector("svg");
    const width = Number(svg.getAttribute("width")), height = Number(svg.getAttribute("height"));
    const tiles = [...svg.querySelectorAll(".tile")].map((tile) => [tile, ...tile.dataset.reach.split(" ").map(Number)]);
    const boxes = [...svg.querySelectorAll("[data-box]")].reduce((all, each) => { all[each.dataset.box] = each; return all; }, []);
    let zoom = 1, waiting = false;

    const cull = () => {
      waiting = false;
      const seen = stage.getBoundingClientRect(), own = svg.getBoundingClientRect();
      const left = (seen.left - own.left - seen.width) / zoom, right = (seen.right - own.left + seen.width) / zoom;
      const top = (seen.top - own.top - seen.height) / zoom, bottom = (seen.bottom - own.top + seen.height) / zoom;
      for (const [tile, x, y, x2, y2] of tiles) tile.classList.toggle("off", x > right || x2 < left || y > bottom || y2 < top);
    };
    const soon = () => {
      if (!waiting) { waiting = true; requestAnimationFrame(cull); }
    };
    /** Zoom, leaving the point of the drawing where it is that is at a point of the window. */
    const zoomTo = (wanted, at) => {
      const seen = stage.getBoundingClientRect(), before = svg.getBoundingClientRect();
      const [x, y] = at || [seen.left + seen.width / 2, seen.top + seen.height / 2];
      const across = (x - before.left) / zoom, down = (y - before.top) / zoom;
      zoom = Math.min(MOST, Math.max(LEAST, wanted));
      sizer.style.width = `${width * zoom}px`;
      sizer.style.height = `${height * zoom}px`;
      svg.style.transform = `scale(${zoom})`;
      svg.classList.toggle("far", zoom < FAR);
      const after = svg.getBoundingClientRect();
      stage.scrollLeft += after.left + across * zoom - x;
      stage.scrollTop += after.top + down * zoom - y;
      soon();
    };
    const fitting = () => Math.min((stage.clientWidth - 4) / width, (stage.clientHeight - 4) / height, 1.5);
    const center = ([x, y, w, h]) => {
      if (zoom < READABLE) zoomTo(READABLE);
      stage.scrollLeft = (x + w / 2) * zoom - stage.clientWidth / 2;
      stage.scrollTop = (y + h / 2) * zoom - stage.clientHeight / 2;
      cull();
    };
    /** Show all of it if it can then be read, else where runs start. */
    const begin = () => {
      if (!width || !stage.clientWidth) return;
      if (fitting() >= 0.55) { zoomTo(fitting()); return; }
      zoomTo(Math.max(READABLE, Math.min(1, (stage.clientWidth - 4) / width)));
      const first = picture.boxes.find((box) => box.role === "start") || picture.boxes[0];
      if (first) {
        const [x, y, w] = first.frame;
        center([x, y, w, Math.min(height, (stage.clientHeight / zoom) * 0.8)]);
      }
    };
    const mark = (kind, elements) => {
      for (const each of svg.querySelectorAll(`.${kind}`)) each.classList.remove(kind);
      for (const each of elements) each.classList.add(kind);
    };
    const linesOf = (at) => [...svg.querySelectorAll(`[data-line="${at}"]`)];
    stage.addEventListener("scroll", soon, { passive: true });
    return { stage, svg, boxes, begin, center, mark, linesOf, cull, soon, zoomTo, fit: () => zoomTo(fitting()), zoomed: () => zoom };
  };
  const views = sections.map((section, at) => view(section, pictures[at]));

  const finding = (found) => {
    const told = make("div", { class: `finding ${found.severity}` });
    const code = found.url ? make("a", { href: found.url, rel: "noreferrer noopener" }, found.code) : found.code;
    told.append(make("b", {}, code), `${found.severity}: ${found.message}`, make("small", {}, found.place));
    for (const also of found.related) told.append(make("small", {}, also));
    told.append(make("small", {}, found.help));
    return told;
  };
  const jump = (at, text) => make("button", { class: "link", type: "button", click: () => choose(at, true) }, short(text));
  const section = (title, ...children) => (children.length ? [make("h3", {}, title), ...children] : []);
  const list = (items) => (items.length ? [make("ul", {}, ...items.map((each) => make("li", {}, ...[each].flat())))] : []);
  const written = (given) => (typeof given === "string" ? given : JSON.stringify(given, null, 2));
  const detail = ([title, given]) => {
    const text = written(given);
    const made = make("details", {}, make("summary", {}, title), make("pre", {}, text));
    made.open = text.length < LONG;
    return made;
  };
  /** A change: its sentence, and what of a text or schema is gone and new. */
  const change = (told) => {
    const [head, ...lines] = told.split("\n");
    return make("div", { class: "change" }, head, ...(lines.length ? [make("pre", {}, ...lines.map((each) =>
      make("span", { class: each.startsWith("+") ? "plus" : each.startsWith("-") ? "minus" : "" }, `${each}\n`)))] : []));
  };
  const labels = (line) => line.shown || line.labels;
  const named = (line) => (labels(line).map(short).join(", ") || line.stroke) + (line.guess ? " (probably meant)" : "");
  const show = (title, ...children) => panel.replaceChildren(make("h2", { tabindex: "-1" }, title), ...children.flat());

  const showOverview = () => {
    const picture = pictures[shown];
    if (!picture) { show("Nothing to show"); return; }
    const all = picture.boxes.map((box, at) => [box, at]);
    const of = (...roles) => all.filter(([box]) => roles.includes(box.role)).map(([box, at]) => jump(at, box.name));
    const wrong = [
      ...picture.found.map(finding),
      ...all.filter(([box]) => box.found.length).map(([box, at]) => [jump(at, box.name), ...box.found.map(finding)]),
      ...[...picture.lines.entries()].filter(([, line]) => line.found.length).map(([at, line]) => [
        make("button", { class: "link", type: "button", click: () => chooseLine(at, true) }, `line ${named(line)}`), ...line.found.map(finding)]),
    ];
    const lost = all.filter(([box]) => !box.reached).map(([box, at]) => jump(at, box.name));
    const some = (items) => list(items.slice(0, LISTED)).concat(items.length > LISTED ? [`and ${items.length - LISTED} more`] : []);
    const compared = [...(picture.changes || []).map(change),
      ...all.filter(([box]) => box.fate && box.fate !== "same").map(([box, at]) => [`${box.fate}: `, jump(at, box.name)])];
    show(picture.title,
      section("Changes", ...(picture.fate ? (compared.length ? some(compared) : ["none"]) : [])),
      make("p", { class: "said" }, `${picture.boxes.length} boxes, ${picture.lines.length} lines`),
      section("Runs start", ...some(of("start"))),
      section("Runs end", ...some(of("done", "failed", "interrupted"))),
      section("Missing", ...some(of("missing"))),
      section("No run comes here", ...some(lost)),
      section("Findings", ...(wrong.length ? some(wrong) : ["none"])));
  };
  const showBox = (at) => {
    const { boxes, lines } = pictures[shown], box = boxes[at];
    const beside = (mine, other) => lines.filter((line) => line[mine] === at)
      .map((line) => [`${named(line)}: `, jump(line[other], boxes[line[other]].name)]);
    const said = [box.role === "node" ? box.kind : box.role, box.join && "waits for all before it", !box.reached && "never reached", box.fate, ...box.notes];
    show(box.name,
      make("p", { class: "said" }, [box.id, ...said.filter(Boolean)].join(" · ")),
      section("Changes", ...(box.changes || []).map(change)),
      section("Inside", ...(box.opens === undefined ? [] : [make("button", { class: "link", type: "button", click: () => open(box.opens) }, pictures[box.opens].title)])),
      section("Findings", ...box.found.map(finding)),
      section("Leads to", ...list(beside("source", "target"))),
      section("Comes from", ...list(beside("target", "source"))),
      section("Stands for", ...list(box.members.slice())),
      Object.entries(box.details).map(detail));
  };
  const showLine = (at) => {
    const { boxes, lines } = pictures[shown], line = lines[at];
    show(`Line: ${line.stroke}`,
      section("From", jump(line.source, boxes[line.source].name)),
      section("To", jump(line.target, boxes[line.target].name)),
      section("Changes", ...(line.fate && line.fate !== "same" ? [line.fate] : [])),
      section("When", ...list([...labels(line)])),
      section("Note", ...(line.guess ? ["written wrongly; this is what was probably meant"] : [])),
      section("Findings", ...line.found.map(finding)));
  };
  const choose = (at, isFar) => {
    const own = views[shown];
    own.mark("on", [own.boxes[at]]);
    showBox(at);
    if (isFar) {
      own.center(pictures[shown].boxes[at].frame);
      own.boxes[at].focus({ preventScroll: true });
    }
  };
  const chooseLine = (at, isFar) => {
    const own = views[shown], elements = own.linesOf(at);
    own.mark("on", elements);
    if (isFar) own.center(pictures[shown].boxes[pictures[shown].lines[at].source].frame);
    showLine(at);
  };
  const chooseNothing = () => {
    if (views[shown]) { views[shown].mark("on", []); views[shown].mark("hit", []); }
    showOverview();
  };

  const open = (at) => {
    shown = at;
    sections.forEach((each, index) => { each.hidden = index !== at; });
    tabs.forEach((each, index) => {
      each.setAttribute("aria-selected", String(index === at));
      each.tabIndex = index === at ? 0 : -1;
    });
    if (!views[at]) { showOverview(); return; }
    if (!views[at].begun) { views[at].begun = true; views[at].begin(); }
    look();
    chooseNothing();
    look();
  };

  const matches = (word) => {
    const has = (text) => text.toLowerCase().includes(word);
    return pictures[shown].boxes.map((box, at) => [box, at]).filter(([box]) => has(box.name) || has(box.id)
      || box.members.some(has) || box.found.some((found) => has(found.code) || has(found.name)));
  };
  let next = 0;
  const look = () => {
    next = 0;
    const word = search.value.trim().toLowerCase(), own = views[shown];
    if (!own) return [];
    const found = word ? matches(word) : [];
    own.mark("hit", found.map(([, at]) => own.boxes[at]));
    const items = found.slice(0, LISTED).map(([box, at]) => {
      const codes = box.found.map((each) => each.code).join(" ");
      return make("li", {}, make("button", { type: "button", click: () => { results.replaceChildren(); choose(at, true); } }, `${short(box.name)} ${codes}`));
    });
    if (found.length > LISTED) items.push(make("li", {}, make("p", {}, `and ${found.length - LISTED} more`)));
    if (word && !found.length) items.push(make("li", {}, make("p", {}, "nothing found")));
    results.replaceChildren(...items);
    return found;
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search.value = ""; look(); search.blur(); }
    if (event.key === "ArrowDown" && results.querySelector("button")) { results.querySelector("button").focus(); event.preventDefault(); }
    if (event.key === "Enter") {
      const word = search.value.trim().toLowerCase(), found = word && views[shown] ? matches(word) : [];
      if (!found.length) return;
      const at = found[next % found.length][1];
      next += 1;
      results.replaceChildren();
      choose(at, true);
      search.focus();
    }
  });

  const near = (event) => {
    const hit = event.target.closest("[data-box],[data-line]");
    if (hit) return hit;
    for (const [x, y] of [[0, 0], [0, 5], [0, -5], [5, 0], [-5, 0]]) {
      const found = document.elementFromPoint(event.clientX + x, event.clientY + y);
      const line = found && found.closest("[data-line]");
      if (line) return line;
    }
    return null;
  };
  views.forEach(({ stage, zoomTo, zoomed }) => {
    let held = null, moved = false;
    stage.addEventListener("pointerdown", (event) => {
      moved = false;
      if (event.button === 0 && event.pointerType !== "touch") held = [event.clientX, event.clientY, stage.scrollLeft, stage.scrollTop];
    });
    window.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [x, y, left, top] = held;
      moved = moved || Math.hypot(event.clientX - x, event.clientY - y) > 4;
      if (moved) {
        stage.classList.add("held");
        stage.scrollTo(left + x - event.clientX, top + y - event.clientY);
      }
    });
    window.addEventListener("pointerup", () => { held = null; stage.classList.remove("held"); });
    stage.addEventListener("click", (event) => {
      if (moved) return;
      const hit = near(event);
      if (!hit) chooseNothing();
      else if (hit.dataset.box) choose(Number(hit.dataset.box), false);
      else chooseLine(Number(hit.dataset.line));
    });
    stage.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoomTo(zoomed() * Math.exp(-event.deltaY / 400), [event.clientX, event.clientY]);
    }, { passive: false });
    stage.addEventListener("keydown", (event) => {
      const box = event.target.closest("[data-box]");
      if (box && (event.key === "Enter" || event.key === " ")) {
        choose(Number(box.dataset.box), false);
        event.preventDefault();
      }
    });
  });
  const zooms = { in: () => views[shown].zoomTo(views[shown].zoomed() * 1.25), out: () => views[shown].zoomTo(views[shown].zoomed() / 1.25), fit: () => views[shown].fit() };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => views[shown] && zooms[button.dataset.zoom]());
  }
  const keys = { "+": "in", "=": "in", "-": "out", "0": "fit" };
  document.addEventListener("keydown", (event) => {
    if (event.target === search || event.ctrlKey || event.metaKey || event.altKey || !views[shown]) return;
    if (event.key === "/") { search.focus(); event.preventDefault(); }
    if (event.key === "Escape") { results.replaceChildren(); chooseNothing(); }
    if (Object.hasOwn(keys, event.key)) { zooms[keys[event.key]](); event.preventDefault(); }
  });
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => open(at));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const to = (at + step + tabs.length) % tabs.length;
      open(to);
      tabs[to].focus();
    });
  });
  window.addEventListener("resize", () => views[shown] && views[shown].soon());
  open(0);
})();
