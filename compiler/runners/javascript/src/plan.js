/** Read the file of a plan: its frame, digest, form, references and soundness (§§ 1 and 2 of the format). */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { has, isReadable, parse } from "./json.js";
import { attempt, Refused, regex, Schema } from "./schema.js";

export { Refused };
const FRAME = /^\{"digest":"(sha256:[0-9a-f]{64})","plan":(.*)\}\n$/s;
const DEEPEST = 100;
const { keys, values, entries } = Object;

/** The JSON Schema of plans: beside this file in the published package, else in the checkout. */
const PLACES = ["./plan.schema.json", "../../../../schemas/plan.schema.json"];
const FILE = PLACES.map((each) => new URL(each, import.meta.url)).find(existsSync);
const FORM = new Schema(readFileSync(FILE, "utf8"), "#/$defs/Plan");

function refuse(why) { throw new Refused(why); }

/** Return the digest and the payload of a plan, with its schemas by content, or throw `Refused`. */
export function read(file) {
  const [, digest, payload] = FRAME.exec(file) ?? refuse("this is no plan");
  const hash = createHash("sha256").update(payload).digest("hex");
  if (digest !== `sha256:${hash}`) refuse("the digest is another one");
  const plan = attempt(() => parse(payload)) ?? refuse("the payload is no JSON");
  if (plan.is !== "stagec.plan/1") refuse("the format is not known");
  if (!isReadable(plan, 2 * DEEPEST + 100)) refuse("values are nested too deeply, or are no texts or numbers");
  if (!FORM.accepts(plan)) refuse("a member is unknown, is missing or has another form");
  spellOut(plan);
  for (const check of [missing, unsupported, unsound]) for (const fault of check(plan)) refuse(fault);
  const make = (text) => attempt(() => new Schema(text)) ?? refuse("a schema cannot be judged here");
  const schemas = new Map(schemasOf(plan).map((content) => [content, make(plan.contents[content])]));
  return { digest, plan, schemas };
}

/** Put the nodes that each `pick` may lead to in its place. */
function spellOut({ nodes, choices = {} }) {
  const picks = targetsOf({ nodes }).filter(({ is }) => is === "pick");
  for (const target of picks) Object.assign(target, { is: "named", nodes: choices[target.choices] ?? {} });
}

// ---- parts of a plan

const targetsOf = ({ nodes }) => values(nodes).flatMap(({ edges }) => edges.map(({ target }) => target));
const isSchedule = ({ is }) => is === "schedule";
const schedulesOf = (plan) => [...values(plan.entries), ...targetsOf(plan)].filter(isSchedule);
/** Return the acts of a plan, and what they ask in repeats. */
const actsOf = ({ nodes }) => values(nodes).flatMap(({ act }) => [act, ...(act.repeats ?? [])]);
const isThere = (each) => each !== undefined;

/** Return the nodes that a target or an entry names. */
function led(target) {
  if (typeof target === "string") return [target];
  const { node, otherwise, join, nodes = {}, needs = {} } = target;
  return [...values(nodes), ...keys(needs), ...[node, otherwise, join].filter(isThere)];
}

function schemasOf({ inputs = {}, tools = {}, ...plan }) {
  const holders = [...values(inputs), ...values(tools), ...actsOf(plan)];
  return holders.flatMap(({ schema, accepts }) => [schema, accepts]).filter(isThere);
}

/** Return every template of a plan, with the names of its scope, and those below them; null stands for any. */
function templatesOf({ system, nodes }) {
  const asked = ({ prompt = [], variables = {} }) => [prompt, { variable: keys(variables), stdin: null }];
  const ofNode = ({ act, validation: { prompts = {} } = {} }) => [
    ...(act.is === "command" ? act.words.map((word) => [word, { input: null }]) : []),
    ...(act.is === "converse" ? [[act.prompt, { ctx: null }]] : []),
    ...(act.is === "prompt" ? [act, ...(act.repeats ?? [])].map(asked) : []),
    ...values(prompts).map((prompt) => [prompt, { failure: null }]),
  ];
  return [...(system ? [asked(system)] : []), ...values(nodes).flatMap(ofNode)];
}

// ---- references (§ 2.3)

/** Yield a sentence for each reference that leads to nothing. */
function* missing(plan) {
  const { system = {}, choices = {}, tools = {}, nodes } = plan;
  const acts = actsOf(plan);
  const targets = targetsOf(plan);
  const sources = [...acts, system].flatMap(({ variables, inputs }) => [variables ?? {}, inputs ?? {}]).flatMap(values);
  const guards = values(nodes).map(({ validation = {} }) => [validation.conditions ?? [], validation.preflight ?? []]);
  const wanted = {
    nodes: [...[...values(plan.entries), ...targets, ...sources].flatMap(led), ...values(choices).flatMap(values)],
    choices: targets.map((target) => target.choices),
    entries: [plan.entry],
    contents: schemasOf(plan),
    validators: guards.flat(2).map(({ validator }) => validator),
    tools: acts.flatMap((act) => act.tools ?? []),
    servers: values(tools).map(({ server }) => server),
  };
  for (const [part, listed] of entries(wanted)) {
    for (const name of listed.filter(isThere)) if (!has(plan[part] ?? {}, name)) yield `${part} has no ${name}`;
  }
}

/** Yield why this runner cannot run a plan, sound or not. */
function* unsupported(plan) {
  const nodes = values(plan.nodes);
  if ([...nodes, plan.session ?? {}].some(({ hooks = {} }) => keys(hooks).length)) yield "this runner calls no hooks";
  if (plan.phases || plan.plans || !nodes.every(({ act }) => has(GATES, act.is))) yield "this runner runs no phases";
  const isPattern = ({ kind, argument = "" }) => kind !== "matches" || regex(argument) !== null;
  if (!values(plan.validators ?? {}).every(({ success }) => isPattern(success))) yield "a regular expression is none";
}

// ---- soundness (§ 2.4)

const GATES = { prompt: ["intent", "judge"], converse: ["verdict"], command: ["exit"], process: ["stage"] };
const ENDS = { success: "done", failure: "failed", interrupted: "interrupted" };
const OUTCOMES = { judge: ["verdict", "next"], exit: ["closing", "repeat"], stage: keys(ENDS) };

function outcomesOf(gate) {
  if (gate.is === "verdict") return gate.checks?.length ? ["fail"] : ["ok", "fail"];
  return OUTCOMES[gate.is] ?? gate.intents.filter((each) => each !== "abort");
}

/** Yield a sentence for each way in which a plan is not sound. */
function* unsound(plan) {
  const { tools = {}, servers = {} } = plan;
  for (const [name, node] of entries(plan.nodes)) for (const fault of unsoundNode(node)) yield `${name}: ${fault}`;
  for (const [template, scope] of templatesOf(plan)) yield* unsoundTemplate(template, scope, plan.contents);
  for (const { needs } of schedulesOf(plan)) yield* unsoundNeeds(needs);
  yield* unsoundProcesses(plan);
  if (plan.limits.executions === undefined && hasReachableCycle(plan)) yield "a cycle has no bound";
  for (const [name, { origin, server, command = [] }] of entries(tools)) {
    if ((origin === "mcp") !== isThere(server)) yield `${name} has another origin than its server`;
    if (isThere(server) && command.length) yield `${name} has a server and a command`;
  }
  for (const [name, { command, url }] of entries(servers)) if (!command && !url) yield `${name} is nowhere`;
}

function* unsoundNode({ act, gate, edges }) {
  const { intents = [], failFast = true, fallback } = gate;
  if (!GATES[act.is].includes(gate.is)) yield "the gate cannot judge the act";
  for (const each of outcomesOf(gate)) if (!edges.some(({ on }) => on === each)) yield `there is no edge for ${each}`;
  if (!failFast && !intents.includes(fallback)) yield "there is nothing to fall back on";
  for (const { target: { is, nodes, join }, wait } of edges) {
    if (wait && is === "stop") yield "a wait comes before an end";
    if (is === "named" && !gate.target) yield "nothing names the node";
    const isFork = ["fork", "each"].includes(is);
    if (isFork && new Set([...nodes, join]).size <= nodes.length) yield "a fork has a node twice";
  }
  for (const { variables = {} } of [act, ...(act.repeats ?? [])]) {
    for (const name of act.needed ?? []) if (!has(variables, name)) yield `${name} is no variable`;
  }
}

function* unsoundTemplate(template, scope, contents, level = 0) {
  if (level > DEEPEST) yield "a template is too deep";
  for (const { is, content, path = [], body = [], then = [], otherwise = [] } of template) {
    const [first, second] = path;
    const isKnown = has(scope, first) && (scope[first] === null || !isThere(second) || scope[first].includes(second));
    if (is === "text" ? !has(contents, content) : !isKnown) yield `${content ?? path} leads to nothing`;
    yield* unsoundTemplate(body, { ...scope, this: null }, contents, level + 1);
    yield* unsoundTemplate([...then, ...otherwise], scope, contents, level + 1);
  }
}

/** Return all that a start leads to, over some ways. */
function reach(start, next) {
  const found = new Set();
  const todo = [...next(start)];
  while (todo.length) {
    const each = todo.pop();
    if (!found.has(each)) todo.push(...next(each));
    found.add(each);
  }
  return found;
}

function hasReachableCycle(plan) {
  const next = (name) => plan.nodes[name].edges.flatMap(({ target }) => led(target));
  const reached = reach(plan, (at) => (at === plan ? values(plan.entries).flatMap(led) : next(at)));
  return [...reached].some((name) => reach(name, next).has(name));
}

function* unsoundNeeds(needs) {
  for (const [name, needed] of entries(needs)) {
    for (const each of needed) if (!has(needs, each)) yield `${each} is not in the schedule`;
    if (new Set(needed).size < needed.length) yield `${name} needs a node twice`;
    if (reach(name, (each) => needs[each] ?? []).has(name)) yield `${name} needs itself`;
  }
}

function* unsoundProcesses(plan) {
  const isProcess = (name) => plan.nodes[name].act.is === "process";
  const begun = [...values(plan.entries).filter((each) => !isSchedule(each)), ...targetsOf(plan)];
  if (begun.flatMap(led).some(isProcess)) yield "a process begins outside of schedules";
  for (const { needs } of values(plan.entries).filter(isSchedule)) {
    const named = keys(needs);
    const staged = named.filter(isProcess);
    const { executions: most = named.length } = plan.limits;
    if (staged.length && staged.length < named.length) yield "a schedule has processes and other nodes";
    if (staged.length && most < named.length) yield "a schedule has more nodes than may be executed";
    for (const name of staged) yield* unsoundSources(plan, needs, name);
  }
  for (const name of keys(plan.nodes).filter(isProcess)) yield* unsoundProcess(name, plan.nodes[name]);
}

function* unsoundSources({ nodes }, needs, name) {
  const before = reach(name, (each) => needs[each] ?? []);
  for (const { node, path } of values(nodes[name].act.inputs ?? {}).filter((each) => isThere(each.node))) {
    if (!before.has(node)) yield `${name} reads what it does not need`;
    else if (!values(nodes[node].act.outputs ?? {}).includes(path)) yield `${name} reads what is no output`;
  }
}

function* unsoundProcess(name, { act, edges, retry, admission, validation, hooks = {} }) {
  const { limits: { warn, interrupt, terminate, kill }, inputs = {}, outputs = {}, retryable = true } = act;
  if (!isFileName(name)) yield `${name} is the name of no file`;
  for (const { on, target, when = [] } of edges) {
    if (target.is !== "stop" || target.outcome !== ENDS[on] || when.length) yield `${name} ends its branch otherwise`;
  }
  if (admission || validation || keys(hooks).length) yield `${name} has what processes do not have`;
  if (retry && !retryable) yield `${name} may not be tried again`;
  if (warn > interrupt || interrupt > terminate || terminate > kill) yield `the limits of ${name} fall`;
  for (const { path, url, node } of values(inputs)) {
    if (!isThere(path) && (!isThere(url) || isThere(node))) yield `an input of ${name} is nowhere`;
    if (isThere(path) && !isPath(path)) yield `an input of ${name} has a path that leads elsewhere`;
  }
  for (const [index, path] of values(outputs).entries()) {
    const isAbove = (other, at) => at !== index && (other === path || path.startsWith(`${other}/`));
    if (!isPath(path)) yield `an output of ${name} has a path that leads elsewhere`;
    if (values(outputs).some(isAbove)) yield `an output of ${name} is at or below another one`;
  }
}

const DEVICE = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\..*)?$/i;
const bytesOf = (text) => new TextEncoder().encode(text).length;
const isFileName = (name) =>
  /^[^./\\\p{C}][^/\\\p{C}]*$/u.test(name) && bytesOf(name) <= 255 && !["checkpoints", "run.log"].includes(name);

/** Say whether a path is relative, on POSIX and on Windows, and stays where it begins. */
function isPath(path) {
  const isPart = (part) => !/^\s*$|\.\.|[. ]$/.test(part) && !DEVICE.test(part) && bytesOf(part) <= 255;
  const isOdd = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]|^[A-Za-z]:/u.test(path);
  return !isOdd && path.split(/[/\\]/).every(isPart);
}
