/** Read the file of a plan: its frame, digest, form, references and soundness (§§ 1 and 2 of the format). */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { has, isReadable, parse } from "./json.js";
import { attempt, Refused, regex, Schema } from "./schema.js";

export { Refused };
const FRAME = /^\{"digest":"(sha256:[0-9a-f]{64})","plan":(.*)\}\n$/s;
const DEEPEST = 100;
const PROFILES = ["prompt", "command", "converse", "process"];
/** The JSON Schema of plans: beside this file in the published package, else in the checkout. */
let form;
function formOf() {
  const places = ["./plan.schema.json", "../../../../schemas/plan.schema.json"].map((each) => new URL(each, import.meta.url));
  form ??= new Schema(readFileSync(places.find(existsSync), "utf8"), "#/$defs/Plan");
  return form;
}

const digestOf = (text) => `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;

/** Return the digest and the payload of a plan, or throw `Refused`. */
export function read(file) {
  const [, digest, payload] = FRAME.exec(file) ?? refuse("this is no plan");
  if (digestOf(payload) !== digest) refuse("the digest is another one");
  const plan = attempt(() => parse(payload)) ?? refuse("the payload is no JSON");
  if (plan?.is !== "stagec.plan/1") refuse("the format is not known");
  if (!isReadable(plan, 2 * DEEPEST + 100)) refuse("values are nested too deeply, or are no texts or numbers");
  if (!formOf().accepts(plan)) refuse("a member is unknown, is missing or has another form");
  for (const check of [unsupported, missing, unsound]) for (const fault of check(plan)) refuse(fault);
  return { digest, plan: spellOut(plan) };
}

function refuse(why) { throw new Refused(why); }

/** Put the nodes that a `pick` may lead to in its place. */
function spellOut(plan) {
  for (const { target } of edgesOf(plan)) {
    if (target.is === "pick") Object.assign(target, { is: "named", nodes: plan.choices[target.choices] });
  }
  return plan;
}

const nodesOf = (plan) => Object.entries(plan.nodes);
const edgesOf = (plan) => Object.values(plan.nodes).flatMap((node) => node.edges);
const schedulesOf = (plan) =>
  [...Object.values(plan.entries), ...edgesOf(plan).map((edge) => edge.target)].filter((each) => each.is === "schedule");

/** Return the nodes that a target names. */
function led(plan, target) {
  const choices = target.is === "pick" ? (plan.choices?.[target.choices] ?? {}) : target.nodes;
  const listed = Array.isArray(choices) ? choices : Object.values(choices ?? {});
  const single = [target.node, target.otherwise, target.join].filter((each) => each !== undefined);
  return [...listed, ...Object.keys(target.needs ?? {}), ...single];
}

function* objects(value) {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) yield value;
  for (const each of Object.values(value)) yield* objects(each);
}

/** Every template of a plan, each with the scope in which it is evaluated; null stands for any names. */
function* templates(plan) {
  const prompted = ({ variables = {} }) => ({ variable: Object.keys(variables), stdin: null });
  if (plan.system) yield [plan.system.prompt, prompted(plan.system)];
  for (const { act, validation = {} } of Object.values(plan.nodes)) {
    if (act.is === "command") for (const word of act.words) yield [word, { input: null }];
    if (act.is === "converse") yield [act.prompt, { ctx: null }];
    if (act.is === "prompt") for (const asked of [act, ...(act.repeats ?? [])]) yield [asked.prompt ?? [], prompted(asked)];
    for (const prompt of Object.values(validation.prompts ?? {})) yield [prompt, { failure: null }];
  }
}

/** Yield a sentence for each reference that leads to nothing (§ 2.3). */
function* missing(plan) {
  const { nodes, contents, tools = {}, servers = {}, validators = {}, choices = {} } = plan;
  const wanted = [];
  const want = (group, listed, called) => wanted.push(...listed.filter((each) => each !== undefined).map((each) => [group, each, called]));
  want(plan.entries, [plan.entry], "entries");
  want(nodes, Object.values(plan.entries).flatMap((each) => (typeof each === "string" ? [each] : [])), "nodes");
  for (const { needs } of schedulesOf(plan)) want(nodes, [...Object.keys(needs), ...Object.values(needs).flat()], "nodes");
  for (const { target } of edgesOf(plan)) want(target.is === "pick" ? choices : nodes, target.is === "pick" ? [target.choices] : led(plan, target), "targets");
  for (const named of Object.values(choices)) want(nodes, Object.values(named), "nodes");
  for (const { act, validation = {} } of Object.values(nodes)) {
    const variables = [act, ...(act.repeats ?? [])].flatMap((each) => Object.values(each.variables ?? {}));
    want(nodes, variables.map((each) => each.node), "nodes");
    want(nodes, Object.values(act.inputs ?? {}).map((each) => each.node), "nodes");
    want(contents, [act.schema, act.accepts], "contents");
    want(tools, act.tools ?? [], "tools");
    want(validators, [...(validation.conditions ?? []), ...(validation.preflight ?? [])].map((each) => each.validator), "validators");
  }
  want(nodes, Object.values(plan.system?.variables ?? {}).map((each) => each.node), "nodes");
  want(contents, [...Object.values(plan.inputs ?? {}), ...Object.values(tools)].map((each) => each.schema), "contents");
  want(servers, Object.values(tools).map((each) => each.server), "servers");
  for (const [template] of templates(plan)) {
    want(contents, [...objects(template)].filter((each) => each.is === "text").map((each) => each.content), "contents");
  }
  for (const [group, name, called] of wanted) if (!has(group, name)) yield `${called} has no ${name}`;
}

const GATES = { prompt: ["intent", "judge"], converse: ["verdict"], command: ["exit"], process: ["stage"] };
const OUTCOMES = { judge: ["verdict", "next"], exit: ["closing", "repeat"], stage: ["success", "failure", "interrupted"] };

function outcomesOf(gate) {
  if (gate.is === "verdict") return gate.checks?.length ? ["fail"] : ["ok", "fail"];
  return OUTCOMES[gate.is] ?? gate.intents.filter((each) => each !== "abort");
}

/** Yield a sentence for each way in which a plan is not sound (§ 2.4). */
function* unsound(plan) {
  for (const [name, node] of nodesOf(plan)) for (const fault of unsoundNode(node)) yield `${name}: ${fault}`;
  for (const [template, scope] of templates(plan)) yield* strays(template, scope, 1);
  for (const { needs } of schedulesOf(plan)) yield* unsoundNeeds(needs);
  yield* unsoundProcesses(plan);
  if (plan.limits.executions === undefined && hasReachableCycle(plan)) yield "a cycle has no bound";
  for (const [name, tool] of Object.entries(plan.tools ?? {})) {
    if ((tool.origin === "mcp") !== has(tool, "server")) yield `${name} has another origin than its server`;
    if (has(tool, "server") && tool.command?.length) yield `${name} has a server and a command`;
  }
  for (const [name, each] of Object.entries(plan.servers ?? {})) if (!each.command && !each.url) yield `${name} is nowhere`;
}

function* unsoundNode({ act, gate, edges }) {
  if (!GATES[act.is].includes(gate.is)) yield "the gate cannot judge the act";
  for (const outcome of outcomesOf(gate)) if (!edges.some((edge) => edge.on === outcome)) yield `there is no edge for ${outcome}`;
  if (gate.is === "intent" && gate.failFast === false && !gate.intents.includes(gate.fallback)) yield "there is nothing to fall back on";
  for (const { target, wait } of edges) {
    if (wait && target.is === "stop") yield "a wait comes before an end";
    if (["named", "pick"].includes(target.is) && !has(gate, "target")) yield "nothing names the node";
    if (["fork", "each"].includes(target.is) && new Set([...target.nodes, target.join]).size <= target.nodes.length) yield "a fork has a node twice";
  }
  for (const asked of [act, ...(act.repeats ?? [])]) {
    for (const name of act.needed ?? []) if (!has(asked.variables ?? {}, name)) yield `${name} is no variable`;
  }
}

function* strays(template, scope, level) {
  if (level > DEEPEST + 1) yield "a template is too deep";
  for (const piece of template) {
    const [first, second] = piece.path ?? [];
    const below = has(scope, first) ? scope[first] : undefined;
    if (piece.is !== "text" && (below === undefined || (below !== null && second !== undefined && !below.includes(second)))) {
      yield `${piece.path} leads out of the scope`;
    }
    yield* strays(piece.body ?? [], { ...scope, this: null }, level + 1);
    yield* strays([...(piece.then ?? []), ...(piece.otherwise ?? [])], scope, level + 1);
  }
}

/** Return all that a start leads to, over some ways. */
function reach(start, next) {
  const found = new Set();
  const todo = [...next(start)];
  while (todo.length) {
    const each = todo.pop();
    if (found.has(each)) continue;
    found.add(each);
    todo.push(...next(each));
  }
  return found;
}

function hasReachableCycle(plan) {
  const next = (name) => plan.nodes[name].edges.flatMap((edge) => led(plan, edge.target));
  const begun = Object.values(plan.entries).flatMap((each) => (typeof each === "string" ? [each] : Object.keys(each.needs)));
  const reached = new Set([...begun, ...begun.flatMap((each) => [...reach(each, next)])]);
  return [...reached].some((name) => reach(name, next).has(name));
}

function* unsoundNeeds(needs) {
  for (const [name, needed] of Object.entries(needs)) {
    for (const each of needed) if (!has(needs, each)) yield `${each} is not in the schedule`;
    if (new Set(needed).size < needed.length) yield `${name} needs a node twice`;
    if (reach(name, (each) => needs[each] ?? []).has(name)) yield `${name} needs itself`;
  }
}

const ENDS = { success: "done", failure: "failed", interrupted: "interrupted" };

function* unsoundProcesses(plan) {
  const processes = new Set(nodesOf(plan).flatMap(([name, { act }]) => (act.is === "process" ? [name] : [])));
  const begun = [...edgesOf(plan).flatMap((edge) => led(plan, edge.target)), ...Object.values(plan.entries)];
  if (begun.some((name) => processes.has(name))) yield "a process begins outside of schedules";
  for (const { needs } of Object.values(plan.entries).filter((each) => each.is === "schedule")) {
    const named = Object.keys(needs);
    const staged = named.filter((name) => processes.has(name));
    if (staged.length && staged.length < named.length) yield "a schedule has processes and other nodes";
    if (staged.length && (plan.limits.executions ?? named.length) < named.length) yield "a schedule has more nodes than may be executed";
    for (const name of staged) yield* unsoundSources(plan, needs, name);
  }
  for (const name of processes) for (const fault of unsoundProcess(name, plan.nodes[name])) yield `${name}: ${fault}`;
}

function* unsoundSources(plan, needs, name) {
  const before = reach(name, (each) => needs[each] ?? []);
  for (const { node, path } of Object.values(plan.nodes[name].act.inputs ?? {})) {
    if (node === undefined) continue;
    if (!before.has(node)) yield `${name} reads what it does not need`;
    else if (!Object.values(plan.nodes[node].act.outputs ?? {}).includes(path)) yield `${name} reads what is no output`;
  }
}

function* unsoundProcess(name, { act, edges, retry, admission, validation, hooks }) {
  const bytes = new TextEncoder().encode(name).length;
  if (!name || /[/\\\p{C}]|^\./u.test(name) || bytes > 255 || ["checkpoints", "run.log"].includes(name)) yield "its name is that of no file";
  for (const { on, target, when } of edges) {
    if (target.is !== "stop" || target.outcome !== ENDS[on] || when?.length) yield "an edge does not end the branch as it should";
  }
  if (admission || validation || Object.keys(hooks ?? {}).length) yield "it has what processes do not have";
  if (retry && act.retryable === false) yield "it may not be tried again";
  const { warn, interrupt, terminate, kill } = act.limits;
  if (warn > interrupt || interrupt > terminate || terminate > kill) yield "its limits fall";
  for (const given of Object.values(act.inputs ?? {})) {
    if (!has(given, "path") && !has(given, "url")) yield "an input has neither a path nor a URL";
    if (has(given, "node") && !has(given, "path")) yield "an input of a node has no path";
    if (has(given, "path") && !isPath(given.path)) yield "an input has a path that leads elsewhere";
  }
  const paths = Object.values(act.outputs ?? {});
  for (const [index, path] of paths.entries()) {
    if (!isPath(path)) yield "an output has a path that leads elsewhere";
    if (paths.some((other, at) => at !== index && (other === path || path.startsWith(`${other}/`)))) yield "an output is at or below another one";
  }
}

const DEVICE = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\..*)?$/i;

/** Say whether a path is relative, on POSIX and on Windows, and stays where it begins. */
function isPath(path) {
  const isPart = (part) => part.trim() !== "" && !part.includes("..") && part !== "." && !/[. ]$/.test(part) && !DEVICE.test(part);
  const fits = (part) => new TextEncoder().encode(part).length <= 255;
  const hasOdd = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(path) || /^[a-z]:/i.test(path);
  return !hasOdd && path.split("/").every((part) => part !== "") && path.split(/[/\\]/).every((part) => isPart(part) && fits(part));
}

/** Yield why this runner cannot run a plan, sound or not. */
function* unsupported(plan) {
  const hooked = [...Object.values(plan.nodes), plan.session ?? {}].some((each) => Object.keys(each.hooks ?? {}).length);
  if (hooked) yield "this runner calls no hooks";
  if (plan.phases || plan.plans || Object.values(plan.nodes).some(({ act }) => !PROFILES.includes(act.is))) yield "this runner runs no phases";
  const patterns = Object.values(plan.validators ?? {}).filter(({ success }) => success.kind === "matches");
  if (patterns.some(({ success }) => regex(success.argument ?? "") === null)) yield "a validator has no regular expression";
}
