/** One run of a plan: it takes events, makes requests, and has a state (§§ 3.1 to 3.3, 3.9 and 3.17). */

import { ANSWERS, chosen, execute, late, nameIn, prompts, read as readAnswer } from "./acts.js";
import { has, isObject, isReadable, names, objectOf, pairsOf } from "./json.js";
import { follow } from "./text.js";

export { read, Refused } from "./plan.js";

/** Return the request that lets a deadline pass, which no attempt has made; null for none. */
const due = (id, milliseconds) => (milliseconds ? { key: `${id}/0.0`, is: "wait", milliseconds } : null);

/** An execution that has begun: steps that wait for answers, and the open requests, in the order of their keys. */
class Execution {
  constructor(run, arrival, found) {
    const { name } = arrival;
    Object.assign(this, { run, arrival, name, found, node: run.plan.nodes[name], attempt: 1, asked: 0 });
    Object.assign(this, { open: new Map(), answers: new Map(), used: new Set(), interrupted: false, rests: false });
    this.label = `${name}#${run.past(name).visits}`;
    this.id = `${run.id}/${this.label}`;
    this.deadline = due(this.id, this.node.act.deadline);
    if (this.deadline) this.open.set(this.deadline.key, this.deadline);
    this.steps = execute(this);
    this.goOn();
  }

  /** Let the steps go on until they wait for other answers, or are over. */
  goOn(answers) {
    const { done, value } = this.steps.next(answers);
    if (done) this.over = value;
    else this.awaited = value;
  }

  again() { Object.assign(this, { attempt: this.attempt + 1, asked: 0 }); }

  /** Make a request; its key has the attempt, and the number of requests that this has made before. */
  request(is, of = {}) {
    const request = { key: `${this.id}/${this.attempt}.${this.asked}`, is, ...of };
    this.asked += 1;
    this.open.set(request.key, request);
    return request;
  }

  /** Make a request, and wait for its answer. */
  *ask(is, of) { return (yield [this.request(is, of)])[0]; }

  answer(key, told) {
    const request = this.open.get(key);
    this.open.delete(key);
    if (request === this.deadline) {
      this.open.clear();
      this.steps = late(this);
      return this.goOn();
    }
    this.answers.set(request, readAnswer(ANSWERS[request.is], told));
    if (!this.awaited.every((each) => this.answers.has(each))) return;
    this.goOn(this.awaited.map((each) => this.answers.get(each)));
  }
}

/** A fork, a chain, a schedule or a list of elements that is under way in a branch. */
class Scope {
  constructor(target, branch, opener = "", elements = undefined) {
    const { is: kind, join, needs, nodes = names(needs), collect = false, concurrency } = target;
    Object.assign(this, { kind, join, needs, nodes, collect, elements, branch });
    this.branches = (elements ?? nodes).map((_, index) => {
      const own = elements ? nodes : [nodes[index]];
      return { name: `${opener}.${index}`, scope: this, nodes: own, place: 0, last: {} };
    });
    this.room = kind === "chain" ? 1 : (concurrency ?? this.branches.length);
  }

  /** Say whether no branch acts or waits. */
  get isOver() { return this.branches.every((each) => !each.begun || each.ended); }

  get outcome() {
    const ends = this.branches.map((each) => each.ended).filter((each) => each && each !== "done");
    if (this.collect || ends.length === 0) return "done";
    return ends.includes("failed") ? "failed" : "interrupted";
  }

  needed({ nodes: [name] }) { return this.needs[name].map((each) => this.branches[this.nodes.indexOf(each)]); }

  /** Return the branches that may begin now. */
  ready() {
    const left = this.branches.filter((each) => !each.begun && !each.ended);
    const underWay = this.branches.filter((each) => each.begun && !each.ended);
    if (this.kind !== "schedule") return left.slice(0, this.room - underWay.length);
    return left.filter((each) => this.needed(each).every(({ ended }) => ended === "done"));
  }

  /** Return what a branch begins with, after another one is over or the scope has opened. */
  arrival(branch, over) {
    const begun = { branch, name: branch.nodes[0] };
    if (this.kind === "chain") return { ...begun, handed: [over.result], origin: over.name };
    if (this.kind === "schedule") return { ...begun, handed: this.needed(branch).map(({ last }) => last) };
    return { ...begun, handed: [], origin: this.kind === "fork" ? over.name : undefined, begins: true };
  }
}

/** Return the branches in which a branch is, and itself, without that of the run. */
const around = (branch) => (branch.scope ? [...around(branch.scope.branch), branch] : []);
const branchNames = (branch) => around(branch).map(({ name }) => name);

export class Run {
  constructor({ plan, schemas }) {
    Object.assign(this, { plan, schemas, root: { last: {} }, nodes: new Map(), statuses: new Map() });
    Object.assign(this, { checks: 0, summary: "", deadline: null, unconsented: false });
    this.reset();
  }

  reset() {
    Object.assign(this, { ended: null, reason: null, active: [], waiting: [], executions: 0, cancelled: null });
  }

  /** Return what the run remembers of a node. */
  past(name) {
    if (!this.nodes.has(name)) this.nodes.set(name, { visits: 0, failures: 0, repeats: 0 });
    return this.nodes.get(name);
  }

  satisfies(value, content) { return this.schemas.get(content).accepts(value); }

  /** Take the next event. */
  tell(event) {
    if (["start", "answer", "cancel", "resume"].includes(event.is)) this[event.is](event);
    this.advance();
  }

  /** Return what the world is asked and has not answered. */
  requests() {
    return [this.deadline, ...this.active.flatMap((execution) => [...execution.open.values()])].filter(Boolean);
  }

  state() {
    const active = this.active.map(({ label: execution, arrival, attempt, open }) => {
      return { execution, branch: branchNames(arrival.branch), attempt, requests: [...open.keys()] };
    });
    const waiting = this.waiting.map(({ name, branch }) => ({ node: name, branch: branchNames(branch) }));
    const statuses = this.statuses.size ? { statuses: Object.fromEntries(this.statuses) } : {};
    return { executions: this.executions, active, waiting, ...statuses };
  }

  outcome() { return this.ended === null ? null : { ended: this.ended, reason: this.reason }; }

  // ---- the beginning and the end of a run

  start({ run, entry = this.plan.entry, inputs = {} }) {
    this.id = run;
    const defaults = pairsOf(this.plan.inputs ?? {}).map(([name, each]) => [name, each.default ?? null]);
    this.inputs = objectOf([...defaults.filter(([, value]) => value !== null), ...pairsOf(inputs)]);
    const refused = this.refusal(entry);
    if (refused) return this.end("refused", refused);
    this.entry = this.plan.entries[entry];
    this.deadline = due(`${run}/#0`, this.plan.limits.deadline);
    if (isObject(this.entry)) return this.open(this.newSchedule());
    this.waiting.push({ branch: this.root, name: this.entry, handed: [] });
  }

  refusal(entry) {
    if ((entry ?? null) === null || !has(this.plan.entries, entry)) return "entry";
    const declared = this.plan.inputs ?? {};
    const isFit = (value, schema) => isReadable(value) && (!schema || this.satisfies(value, schema));
    const isUnfit = ([name, value]) => !has(declared, name) || !isFit(value, declared[name].schema);
    const isLacking = ([name, each]) => each.required && !has(this.inputs, name);
    return Object.entries(this.inputs).some(isUnfit) || Object.entries(declared).some(isLacking) ? "inputs" : null;
  }

  /** Return the scope of the schedule of the entry, of which nothing has begun; stages have a status. */
  newSchedule() {
    const scope = new Scope(this.entry, this.root);
    this.statuses = new Map(scope.nodes.filter((name) => this.isProcess(name)).map((name) => [name, "PENDING"]));
    return scope;
  }

  end(outcome, reason) {
    Object.assign(this, { ended: outcome, reason, active: [], waiting: [], deadline: null });
  }

  isProcess(name) { return this.plan.nodes[name].act.is === "process"; }

  cancel({ reason = "cancelled" }) {
    if (this.ended !== null || this.cancelled) return;
    if (!this.active.some((each) => this.isProcess(each.name))) return this.end("failed", reason);
    [this.cancelled, this.waiting] = [reason, []];
    for (const execution of this.active) {
      const [request] = execution.open.values();
      if (request.is === "wait") execution.over = chosen(execution, { outcome: "failure", result: {} });
      if (request.is !== "execute") continue;
      this.statuses.set(execution.name, "INTERRUPTING");
      execution.interrupted = true;
      execution.request("interrupt", { request: request.key });
    }
  }

  /** Begin the schedule of the entry anew, with what is kept as done (§ 3.17). */
  resume({ kept, consented }) {
    if (this.ended === "done" || this.statuses.size === 0) return;
    const scope = this.newSchedule();
    this.deadline ??= due(`${this.id}/#0`, this.plan.limits.deadline);
    this.reset();
    const set = (branch, ended, status) => {
      branch.ended = ended;
      this.statuses.set(branch.nodes[0], status);
    };
    const counted = () => scope.ready().filter(({ nodes: [name] }) => kept.includes(name));
    for (let found = counted(); found.length; found = counted()) {
      for (const branch of found) set(branch, "done", "COMPLETED");
    }
    const hasRun = (name) => kept.includes(name) || this.past(name).visits > 0;
    const mayRun = (name) => this.plan.nodes[name].act.retryable !== false || consented.includes(name);
    const refused = scope.branches.filter(({ ended, nodes: [name] }) => !ended && hasRun(name) && !mayRun(name));
    for (const branch of refused) set(branch, "failed", "BLOCKED");
    for (const { nodes: [name] } of refused) this.block(scope, name);
    this.unconsented = refused.length > 0;
    this.open(scope);
    if (scope.isOver) this.end(scope.outcome, this.unconsented ? "consent" : "stop");
  }

  // ---- from event to event

  answer({ to, answer }) {
    if (this.deadline?.key === to) {
      this.deadline = null;
      return this.cancel({ reason: "deadline" });
    }
    const told = isObject(answer) && isReadable(answer) ? answer : { error: "no object" };
    this.active.find((each) => each.open.has(to))?.answer(to, told);
  }

  /** Go on until everything waits for the world. */
  advance() {
    while (this.ended === null) {
      const ended = this.active.find((each) => each.over);
      if (ended) {
        this.active = this.active.filter((each) => each !== ended);
        this.follow(ended, ended.over);
      } else if (this.waiting.length && this.hasRoom()) this.begin(this.waiting.shift());
      else return;
    }
  }

  hasRoom() { return this.active.filter((each) => !each.rests).length < (this.plan.limits.parallel ?? 1); }

  begin({ otherwise, ...arrival }) {
    const { executions: most = Infinity, reached = "failed" } = this.plan.limits;
    const { name, origin } = arrival;
    if (this.executions >= most) return this.end(reached, "limit");
    const found = this.plan.nodes[name].act.is === "prompt" ? prompts(this, arrival) : {};
    if (found === null && otherwise === undefined) return this.end("failed", "cannot-start");
    if (found === null) return this.begin({ ...arrival, name: otherwise });
    const past = this.past(name);
    if (origin !== undefined && origin !== name) past.origin = origin;
    this.executions += 1;
    past.visits += 1;
    this.active.push(new Execution(this, arrival, found));
  }

  follow({ arrival, name, node, label, rests }, over) {
    this.hasPlace = !rests;
    if (over.result) this.past(name).record = over.record;
    const { branch } = arrival;
    const ended = { name, node, label, branch, result: over.result };
    if (over.failed) this.end("failed", over.failed);
    else if (over.again !== undefined) {
      const before = over.stays ? name : (this.past(name).origin ?? name);
      this.next({ branch, name: before, handed: [over.result], prompt: over.again });
    } else if (over.edge) this.go(over.edge.target, ended);
    else this.close(branch, "done", ended);
  }

  /** Go on in a branch, which keeps its place among the nodes that act, unless it has waited for a time. */
  next(arrival) { this.waiting = this.hasPlace ? [arrival, ...this.waiting] : [...this.waiting, arrival]; }

  go(target, over) {
    const { branch, name: origin, result } = over;
    const follows = { branch, handed: [result], origin };
    if (target.is === "stop") return this.close(branch, target.outcome, over);
    if (target.is === "go") return this.next({ ...follows, name: target.node, otherwise: target.otherwise });
    if (target.is === "named") return this.next({ ...follows, name: target.nodes[nameIn(over.node, result)] });
    if (target.is === "fork" && target.nodes.length < 2) return this.end("failed", "fork");
    const elements = target.is === "each" ? this.elements(target.list, result) : undefined;
    if (elements === null || elements?.length > target.most) return this.end("failed", "no-edge");
    const scope = new Scope(target, branch, over.label, elements);
    this.open(scope, over);
    if (scope.isOver) this.leave(scope, over); // a list without elements
  }

  // ---- scopes (§ 3.9)

  elements([root, ...inside], result) {
    const found = root === "ctx" ? follow(this.inputs, inside) : follow(result, [root, ...inside]);
    return Array.isArray(found) ? found : null;
  }

  /** Begin the branches of a scope that may begin now: that of a chain at once, others when there is room. */
  open(scope, over) {
    for (const branch of scope.ready()) {
      branch.begun = true;
      if (scope.kind === "chain") this.next(scope.arrival(branch, over));
      else this.waiting.push(scope.arrival(branch, over));
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

  /** End a branch, or its part for one of the nodes of an element, and what ends with it. */
  close(branch, ended, over) {
    const { scope } = branch;
    if (!scope) return this.end(ended, this.unconsented ? "consent" : "stop");
    const outcome = scope.kind !== "chain" && over.result.verdict === "skip" ? "failed" : ended;
    branch.last = over.result;
    branch.place += 1;
    const name = branch.nodes[branch.place];
    if (outcome === "done" && name !== undefined) {
      return this.next({ branch, name, handed: [over.result], origin: over.name, begins: true });
    }
    branch.ended = outcome;
    if (outcome !== "done" && scope.kind === "schedule") this.block(scope, branch.nodes[0]);
    else if (outcome !== "done" && !scope.collect) return this.abandon(scope, outcome, over);
    if (this.cancelled) return this.active.length ? undefined : this.end("failed", this.cancelled);
    this.open(scope, over);
    if (scope.isOver) this.leave(scope, over);
  }

  /** Cancel what is under way in a scope, and end it. */
  abandon(scope, outcome, over) {
    const isOutside = ({ branch }) => !around(branch).some((each) => each.scope === scope);
    this.active = this.active.filter(({ arrival }) => isOutside(arrival));
    this.waiting = this.waiting.filter(isOutside);
    this.close(scope.branch, outcome, over);
  }

  /** Go on after a scope that is over. */
  leave(scope, over) {
    const handed = scope.branches.map((branch) => branch.last);
    if (scope.join === undefined) this.close(scope.branch, scope.outcome, over);
    else if (!scope.collect && !handed.every((last) => (last.verdict ?? "ok") === "ok")) this.end("failed", "join");
    else this.next({ branch: scope.branch, name: scope.join, handed, origin: over.name });
  }
}
