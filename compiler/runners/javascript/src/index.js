/** One run of a plan: it takes events, asks requests, and has a state, which says where it stands (§§ 3.1 to 3.3, 3.9). */

import { execute, late, nameIn, prompts, READERS, stageOver, Together } from "./acts.js";
import { has, isObject, isReadable, names } from "./json.js";
import { Schema } from "./schema.js";
import { follow } from "./text.js";

export { read, Refused } from "./plan.js";

/** One generator that is under way, and what it waits for: an answer, or tasks of its own. */
class Task {
  constructor(steps) {
    this.steps = steps;
    this.goOn(undefined);
  }

  *requests() {
    if (this.request) yield this.request;
    for (const task of this.inner) yield* task.requests();
  }

  answer(request, answer) {
    if (this.request === request) return this.goOn(answer);
    for (const task of this.inner) if ([...task.requests()].includes(request)) task.answer(request, answer);
    if (this.inner.every((task) => task.ended)) this.goOn(this.inner.map((task) => task.returned));
  }

  goOn(sent) {
    for (;;) {
      const { done, value } = this.steps.next(sent);
      this.inner = value instanceof Together ? value.steps.map((steps) => new Task(steps)) : [];
      this.request = done || value instanceof Together ? null : value;
      [this.ended, this.returned] = [done, value];
      if (!(value instanceof Together) || this.inner.some((task) => !task.ended)) return;
      sent = this.inner.map((task) => task.returned);
    }
  }
}

/** Return the request that lets a deadline pass, which no attempt has made; null for none. */
const due = (id, milliseconds) => (milliseconds ? { key: `${id}/0.0`, is: "wait", milliseconds } : null);

/** An execution that has begun; its requests have keys made of its name, the attempt and a count in it. */
class Execution {
  constructor(run, arrival, node, found) {
    Object.assign(this, { arrival, node, found, name: arrival.name, attempt: 1, asked: 0, asides: [], used: new Set() });
    this.label = `${arrival.name}#${run.past(arrival.name).visits}`;
    this.id = `${run.id}/${this.label}`;
    this.interrupted = this.rests = false;
    this.deadline = due(this.id, node.act.deadline);
  }

  again() {
    this.attempt += 1;
    this.asked = 0;
  }

  ask(is, of = {}) {
    const request = { key: `${this.id}/${this.attempt}.${this.asked}`, is, ...of };
    this.asked += 1;
    return request;
  }

  requests() {
    const place = (request) => Number(request.key.split(".").at(-1));
    const others = [...(this.task?.requests() ?? []), ...this.asides].sort((one, other) => place(one) - place(other));
    return [this.deadline, ...others].filter(Boolean);
  }
}

/** A fork, a chain, a schedule or a list of elements that is under way in a branch. */
class Scope {
  constructor(target, branch, opener, elements) {
    Object.assign(this, { kind: target.is, join: target.join, needs: target.needs ?? {}, branch });
    this.nodes = target.nodes ?? names(this.needs);
    this.collect = target.collect ?? false;
    this.elements = elements;
    this.room = target.concurrency ?? elements?.length;
    this.branches = (elements ?? this.nodes).map((_, place) => ({ name: `${opener}.${place}`, scope: this, last: {}, place: 0 }));
  }

  get isOver() { return this.branches.every((each) => !each.begun || each.ended); }

  get outcome() {
    const ends = this.branches.map((each) => each.ended).filter((each) => each && each !== "done");
    return ends.includes("failed") ? "failed" : ends.length ? "interrupted" : "done";
  }

  needed(place) { return this.needs[this.nodes[place]].map((each) => this.branches[this.nodes.indexOf(each)]); }

  ready() {
    const isReady = (branch, place) => !branch.begun && !branch.ended && this.needed(place).every((each) => each.ended === "done");
    return [...this.branches.keys()].filter((place) => isReady(this.branches[place], place));
  }
}

const branchNames = (branch) => (branch.scope ? [...branchNames(branch.scope.branch), branch.name] : []);
const isWithin = (branch, scope) => Boolean(branch.scope) && (branch.scope === scope || isWithin(branch.scope.branch, scope));

export class Run {
  constructor({ plan }) {
    Object.assign(this, { plan, schemas: new Map(), ended: null, reason: null });
    Object.assign(this, { root: { last: {} }, active: [], waiting: [], executions: 0, checks: 0, summary: "" });
    Object.assign(this, { nodes: new Map(), statuses: new Map(), cancelled: false, unconsented: false });
  }

  /** Return what the run remembers of a node. */
  past(name) {
    if (!this.nodes.has(name)) this.nodes.set(name, { visits: 0, failures: 0, repeats: 0 });
    return this.nodes.get(name);
  }

  satisfies(value, content) {
    if (!this.schemas.has(content)) this.schemas.set(content, new Schema(this.plan.contents[content]));
    return this.schemas.get(content).accepts(value);
  }

  /** Take the next event. */
  tell(event) {
    if (event.is === "start") this.start(event);
    else if (event.is === "cancel") this.cancel();
    else if (event.is === "resume") this.resume(event);
    else this.answer(event.to, event.answer);
  }

  /** Return what the world is asked and has not answered. */
  requests() { return [this.deadline, ...this.active.flatMap((execution) => execution.requests())].filter(Boolean); }

  state() {
    const active = this.active.map((each) => {
      const { label: execution, arrival, attempt } = each;
      return { execution, branch: branchNames(arrival.branch), attempt, requests: each.requests().map(({ key }) => key) };
    });
    const waiting = this.waiting.map(({ name, branch }) => ({ node: name, branch: branchNames(branch) }));
    const statuses = this.statuses.size ? { statuses: Object.fromEntries(this.statuses) } : {};
    return { executions: this.executions, active, waiting, ...statuses };
  }

  outcome() {
    return this.ended === null ? null : { ended: this.ended, reason: this.reason };
  }

  // ---- the beginning and the end of a run

  start({ run, entry = this.plan.entry, inputs = {} }) {
    this.id = run;
    const refused = this.refusal(entry, inputs);
    if (refused) return this.end("refused", refused);
    this.inputs = { ...this.defaults(), ...inputs };
    this.deadline = due(`${run}/#0`, this.plan.limits.deadline);
    this.entry = this.plan.entries[entry];
    if (typeof this.entry === "string") this.waiting.push({ branch: this.root, name: this.entry, handed: [] });
    else {
      if (this.hasStages()) this.statuses = new Map(names(this.entry.needs).map((name) => [name, "PENDING"]));
      this.schedule(new Scope(this.entry, this.root, ""));
    }
    this.advance();
  }

  defaults() {
    const given = Object.entries(this.plan.inputs ?? {}).filter(([, each]) => (each.default ?? null) !== null);
    return Object.fromEntries(given.map(([name, each]) => [name, each.default]));
  }

  refusal(entry, inputs) {
    if (entry === undefined || entry === null || !has(this.plan.entries, entry)) return "entry";
    const declared = this.plan.inputs ?? {};
    const given = { ...this.defaults(), ...inputs };
    const isUnfit = ([name, value]) =>
      !has(declared, name) || !isReadable(value) || (declared[name].schema && !this.satisfies(value, declared[name].schema));
    const isLacking = ([name, each]) => each.required && !has(given, name);
    return Object.entries(given).some(isUnfit) || Object.entries(declared).some(isLacking) ? "inputs" : null;
  }

  end(outcome, reason) {
    Object.assign(this, { ended: outcome, reason, active: [], waiting: [], deadline: null });
  }

  isProcess(name) { return this.plan.nodes[name].act.is === "process"; }

  hasStages() { return isObject(this.entry) && names(this.entry.needs).every((name) => this.isProcess(name)); }

  cancel(reason = "cancelled") {
    if (this.ended !== null) return;
    if (!this.active.some((each) => this.isProcess(each.name))) return this.end("failed", reason);
    if (this.cancelled) return;
    [this.cancelled, this.waiting] = [reason, []];
    for (const execution of [...this.active]) {
      const [request] = execution.requests();
      if (request.is === "execute") {
        this.statuses.set(execution.name, "INTERRUPTING");
        execution.interrupted = true;
        execution.asides.push(execution.ask("interrupt", { request: request.key }));
      } else if (request.is === "wait") {
        this.active = this.active.filter((each) => each !== execution);
        this.follow(execution, stageOver(execution, "failure"));
      }
    }
    this.advance();
  }

  /** Begin the schedule of the entry anew, with what is kept as done (§ 3.17). */
  resume({ kept, consented }) {
    if (this.ended === "done" || this.ended === "refused" || !this.hasStages()) return;
    const scope = new Scope(this.entry, this.root, "");
    this.deadline ??= due(`${this.id}/#0`, this.plan.limits.deadline);
    Object.assign(this, { ended: null, reason: null, active: [], waiting: [], executions: 0, cancelled: false, unconsented: false });
    this.statuses = new Map(scope.nodes.map((name) => [name, "PENDING"]));
    for (let counted; (counted = scope.ready().filter((place) => kept.includes(scope.nodes[place]))).length > 0; ) {
      for (const place of counted) {
        scope.branches[place].ended = "done";
        this.statuses.set(scope.nodes[place], "COMPLETED");
      }
    }
    for (const [place, branch] of scope.branches.entries()) {
      const name = scope.nodes[place];
      const may = this.plan.nodes[name].act.retryable !== false || consented.includes(name);
      if (branch.ended || may || (!kept.includes(name) && !this.past(name).visits)) continue;
      branch.ended = "failed";
      this.statuses.set(name, "BLOCKED");
      this.unconsented = true;
    }
    for (const name of scope.nodes) if (this.statuses.get(name) === "BLOCKED") this.block(scope, name);
    this.schedule(scope);
    if (scope.isOver) this.end(scope.outcome, this.unconsented ? "consent" : "stop");
    this.advance();
  }

  // ---- from event to event

  answer(key, answer) {
    if (this.deadline?.key === key) {
      this.deadline = null;
      return this.cancel("deadline");
    }
    for (const execution of this.active) {
      if (execution.asides.some((request) => request.key === key)) return void (execution.asides = []);
      const request = execution.requests().find((each) => each.key === key);
      if (!request) continue;
      const told = isObject(answer) && isReadable(answer) ? answer : { error: "no object" };
      if (request === execution.deadline) execution.task = new Task(late(execution));
      else execution.task.answer(request, READERS[request.is](told));
      return this.advance();
    }
  }

  /** Go on until everything waits for the world. */
  advance() {
    while (this.ended === null) {
      const over = this.active.find((each) => each.task.ended);
      if (over) {
        this.active = this.active.filter((each) => each !== over);
        this.follow(over, over.task.returned);
      } else if (this.waiting.length && this.hasRoom()) this.begin(this.waiting.shift());
      else return;
    }
  }

  hasRoom() { return this.active.filter((each) => !each.rests).length < (this.plan.limits.parallel ?? 1); }

  begin(arrival) {
    const { executions: most, reached = "failed" } = this.plan.limits;
    if (most !== undefined && this.executions >= most) return this.end(reached, "limit");
    const node = this.plan.nodes[arrival.name];
    const found = node.act.is === "prompt" ? prompts(this, node, arrival) : {};
    if (found === null) return this.beginInstead(arrival);
    const past = this.past(arrival.name);
    if (arrival.origin !== undefined && arrival.origin !== arrival.name) past.origin = arrival.origin;
    this.executions += 1;
    past.visits += 1;
    const execution = new Execution(this, arrival, node, found);
    this.active.push(execution);
    execution.task = new Task(execute(this, execution));
  }

  beginInstead({ otherwise, prompt, ...arrival }) {
    if (otherwise === undefined) return this.end("failed", "cannot-start");
    this.begin({ ...arrival, name: otherwise });
  }

  follow({ arrival, name, node, label, rests }, over) {
    this.hasPlace = !rests;
    if (over.result) this.past(name).record = over.record;
    const { branch } = arrival;
    if (over.failed) this.end("failed", over.failed);
    else if (over.again !== undefined) {
      const before = over.stays ? name : (this.past(name).origin ?? name);
      this.next({ branch, name: before, handed: [over.result], prompt: over.again });
    } else if (!over.edge) this.close(branch, "done", { name, result: over.result });
    else this.go(over.edge.target, { name, node, label, branch, result: over.result });
  }

  /** Go on in a branch, which keeps its place among the nodes that act, unless it has waited for a time. */
  next(arrival) { this.waiting = this.hasPlace ? [arrival, ...this.waiting] : [...this.waiting, arrival]; }

  go(target, over) {
    const { branch, name: origin, result } = over;
    const handed = [result];
    const scope = ["fork", "chain", "schedule"].includes(target.is) ? new Scope(target, branch, over.label) : null;
    if (target.is === "stop") this.close(branch, target.outcome, over);
    else if (target.is === "go") this.next({ branch, name: target.node, handed, otherwise: target.otherwise, origin });
    else if (target.is === "named") this.next({ branch, name: target.nodes[nameIn(over.node, result)], handed, origin });
    else if (target.is === "chain") this.chain(scope, over);
    else if (target.is === "schedule") this.schedule(scope);
    else if (target.is === "each") this.each(target, over);
    else {
      const begun = scope.nodes.map((name, place) => ({ branch: scope.branches[place], name, handed: [], begins: true, origin }));
      this.waiting.push(...begun);
      if (begun.length < 2) this.end("failed", "fork");
    }
  }

  // ---- scopes (§ 3.9)

  each(target, over) {
    const [root, ...inside] = target.list;
    const list = root === "ctx" ? follow(this.inputs, inside) : follow(over.result, target.list);
    if (!Array.isArray(list) || list.length > target.most) return this.end("failed", "no-edge");
    if (list.length) return this.admit(new Scope(target, over.branch, over.label, list));
    if (target.join === undefined) return this.close(over.branch, "done", over);
    this.next({ branch: over.branch, name: target.join, handed: [], origin: over.name });
  }

  /** Let elements wait for room, as many as may be under way. */
  admit(scope) {
    const left = scope.branches.filter((each) => !each.begun);
    const open = scope.branches.filter((each) => each.begun && !each.done).length;
    for (const branch of left.slice(0, scope.room - open)) {
      branch.begun = true;
      this.waiting.push({ branch, name: scope.nodes[0], handed: [], begins: true });
    }
  }

  /** Go on after a node for an element: with the next one, with other elements, or after all of them. */
  closeElement(scope, branch, outcome, over) {
    const name = outcome === "done" ? scope.nodes[branch.place + 1] : undefined;
    if (name !== undefined) {
      Object.assign(branch, { done: false, place: branch.place + 1 });
      return this.next({ branch, name, handed: [over.result], begins: true, origin: over.name });
    }
    if (scope.branches.every((each) => each.done)) return this.leave(scope, over);
    this.admit(scope);
  }

  /** Let the branches of a schedule wait for room that need nothing more. */
  schedule(scope) {
    for (const place of scope.ready()) {
      scope.branches[place].begun = true;
      const handed = scope.needed(place).map((branch) => branch.last);
      this.waiting.push({ branch: scope.branches[place], name: scope.nodes[place], handed });
    }
  }

  /** Block what needs a stage that has not completed, be it through others. */
  block(scope, name) {
    for (const other of scope.nodes) {
      if (!scope.needs[other].includes(name) || this.statuses.get(other) !== "PENDING") continue;
      this.statuses.set(other, "BLOCKED");
      this.block(scope, other);
    }
  }

  chain(scope, over) {
    const place = scope.branches.findIndex((each) => !each.done);
    if (place < 0) return this.leave(scope, over);
    this.next({ branch: scope.branches[place], name: scope.nodes[place], handed: [over.result], origin: over.name });
  }

  /** End a branch, and what ends with it. */
  close(branch, outcome, over) {
    Object.assign(branch, { done: true, last: over.result });
    const { scope } = branch;
    if (!scope) this.end(outcome, this.unconsented ? "consent" : "stop");
    else if (scope.kind === "schedule") this.closeScheduled(scope, branch, outcome, over);
    else if (!scope.collect && (outcome !== "done" || (scope.kind !== "chain" && over.result.verdict === "skip"))) {
      this.active = this.active.filter((each) => !isWithin(each.arrival.branch, scope));
      this.waiting = this.waiting.filter((each) => !isWithin(each.branch, scope));
      this.close(scope.branch, outcome === "done" ? "failed" : outcome, over);
    } else if (scope.kind === "chain") this.chain(scope, over);
    else if (scope.elements) this.closeElement(scope, branch, over.result.verdict === "skip" ? "failed" : outcome, over);
    else if (scope.branches.every((each) => each.done)) this.leave(scope, over);
  }

  closeScheduled(scope, branch, outcome, over) {
    branch.ended = over.result.verdict === "skip" ? "failed" : outcome;
    if (branch.ended !== "done") this.block(scope, scope.nodes[scope.branches.indexOf(branch)]);
    if (this.cancelled) return this.active.length ? undefined : this.end("failed", this.cancelled);
    if (branch.ended === "done") this.schedule(scope);
    if (scope.isOver) this.close(scope.branch, scope.outcome, over);
  }

  /** Go on after a scope that has ended as done. */
  leave(scope, over) {
    const handed = scope.branches.map((branch) => branch.last);
    if (scope.join === undefined) this.close(scope.branch, "done", over);
    else if (!scope.collect && !handed.every((last) => (last.verdict ?? "ok") === "ok")) this.end("failed", "join");
    else this.next({ branch: scope.branch, name: scope.join, handed, origin: over.name });
  }
}
