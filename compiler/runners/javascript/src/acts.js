/** What executions do, from their beginning to the edge that they take (§§ 3.5 to 3.14), as generators of requests. */

import { createHash } from "node:crypto";
import { canonical, has, isObject, isWhole, objectOf } from "./json.js";
import { regex } from "./schema.js";
import { extract, follow, holds, put, render, textOf, tryRender } from "./text.js";

/** Return the element for which a branch runs, as the context names it. */
function elementOf(branch) {
  if (!branch.scope) return {};
  const { elements, branches } = branch.scope;
  if (!elements) return elementOf(branch.scope.branch);
  const index = branches.indexOf(branch);
  return { item: elements[index], index };
}

const MEAN = { continue: "next", pass: "next", retry: "repeat", wait: "repeat", fail: "repeat", done: "closing", finished: "closing" };
const RESERVED = ["upstream", "workflowRunId", "stageExecutionId", "attempts", "host"];

/** Several generators that wait for the world at the same time. */
export class Together {
  constructor(steps) { this.steps = steps; }
}

function* backOff(execution, number) {
  const { kind = "none", milliseconds = 0 } = execution.node.retry?.backoff ?? {};
  const length = { none: 0, fixed: milliseconds, exponential: milliseconds * 2 ** (number - 1) }[kind];
  yield execution.ask("wait", { milliseconds: Math.min(24 * 60 * 60 * 1000, length) });
}

// ---- prompts (§ 3.5)

/** Return the variables that can be supplied. */
function supplied(run, holder) {
  const found = Object.entries(holder.variables ?? {}).map(([name, each]) => [name, variable(run, each)]);
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, textOf(value)]])));
}

function variable(run, each) {
  const given = run.inputs[each.name];
  if (each.is === "given") return given;
  if (each.is === "provided") return provided(run, each.name) ?? given;
  const carried = run.past(each.node).record?.[each.key];
  if (carried !== undefined) return carried;
  return each.default ?? (each.required === false ? "" : undefined);
}

/** Return a variable of the runner (§ 3.13); `undefined` for one that it does not provide. */
function provided(run, name) {
  const { judge, limits } = run.plan;
  const settings = judge?.settings ?? {};
  const told = Object.keys(settings).sort().map((each) => `${each}: ${textOf(settings[each])}`).join(", ");
  const remaining = limits.executions === undefined ? undefined : limits.executions - run.executions;
  const known = {
    ...{ iteration: run.executions + 1, completed_iterations: run.executions, max_iterations: limits.executions, remaining },
    ...{ completion_keyword: settings.verdictKeyword, max_checks: settings.maxChecks },
    ...{ check_count: run.checks, previous_summary: run.summary },
    verdict_criteria: judge && `The work is judged by ${judge.kind}${told && ` (${told})`}.`,
  };
  return has(known, name) ? known[name] : undefined;
}

/** Return what the model is asked in an execution that is about to begin; null when it cannot start. */
export function prompts(run, node, { name, prompt }) {
  const repeats = run.past(name).repeats;
  const asked = repeats ? node.act.repeats[repeats - 1] : node.act;
  const scope = { variable: supplied(run, asked), stdin: run.inputs.stdin ?? "" };
  const lacks = (each) => !has(scope.variable, each);
  const unfit = !asked.prompt || Object.keys(asked.variables ?? {}).some(lacks) || (node.act.needed ?? []).some((each) => !scope.variable[each]);
  if (prompt === undefined && unfit) return null;
  const text = prompt ?? tryRender(asked.prompt, scope, run.plan.contents);
  return text === null ? null : { prompt: text, ...systemPrompt(run) };
}

function systemPrompt(run) {
  const { system, contents } = run.plan;
  if (!system) return {};
  const empty = Object.fromEntries(Object.keys(system.variables ?? {}).map((name) => [name, ""]));
  const scope = { variable: { ...empty, ...supplied(run, system) }, stdin: run.inputs.stdin ?? "" };
  return { system: render(system.prompt, scope, contents, ["failure", "this", "variable", "stdin"]) };
}

function* prompt(run, execution) {
  const { act, gate } = execution.node;
  const { schema, tools, model, permission } = act;
  for (const number of [1, 2]) {
    if (number > 1) execution.again();
    const { answer, text } = yield execution.ask("ask", { ...execution.found, schema, tools, model, permission });
    const read = readings(gate, answer).find((each) => schema === undefined || run.satisfies(each, schema));
    if (read === undefined) continue;
    run.summary = text;
    return read;
  }
  return null;
}

/** Return an answer with the intent in place of a word for it, if there is one, and as it is; nothing for no object. */
function readings(gate, answer) {
  if (!isObject(answer)) return [];
  const intent = gate.is === "intent" ? meant(gate, answer) : null;
  return intent === null ? [answer] : [put(answer, gate.field, intent), answer];
}

function meant(gate, answer) {
  const found = follow(answer, gate.field);
  if (found === undefined || found === null || typeof found === "object") return null;
  const said = textOf(found).toLowerCase();
  const intent = has(MEAN, said) ? MEAN[said] : said;
  return gate.intents.includes(intent) || intent === "abort" ? intent : null;
}

// ---- programs and processes (§§ 3.6, 3.17)

function* command(run, execution) {
  const { words, milliseconds } = execution.node.act;
  const scope = { input: run.inputs };
  const isLacking = (piece) => piece.is === "hole" && (follow(scope, piece.path) ?? null) === null;
  if (words.some((word) => word.some(isLacking))) return null;
  const made = words.map((word) => tryRender(word, scope, run.plan.contents));
  if (made.includes(null)) return null;
  const { exit, stdout } = yield execution.ask("run", { words: made, milliseconds });
  return objectOf([["exit", exit], ["stdout", stdout]]);
}

/** Return how an attempt of a stage has ended, and the reason of one that is no success. */
function judgeAttempt(act, answer, isInterrupted) {
  if (isInterrupted || answer.interrupted) return ["interrupted", isInterrupted ? "abort" : answer.interrupted];
  const isWell = !answer.failed && answer.exit === 0 && !answer.changed.length && !answer.missing.length;
  const isWhole = Object.keys(act.outputs ?? {}).every((name) => has(answer.outputs, name));
  return isWell && isWhole && !["failed", "interrupted"].includes(answer.status) ? ["success", ""] : ["failure", "error"];
}

export function stageOver(execution, outcome) {
  const edge = execution.node.edges.find((each) => each.on === outcome);
  return { outcome, edge, result: { answer: { outcome } } };
}

function* stage(run, execution) {
  const { act, retry } = execution.node;
  const { words = [], inputs = {}, outputs = {}, limits, checkpoint = true, retryable = true } = act;
  const become = (status) => run.statuses.set(execution.name, status);
  for (;;) {
    become("RUNNING");
    const answer = yield execution.ask("execute", { words, inputs, outputs, limits });
    let [how, reason] = judgeAttempt(act, answer, execution.interrupted);
    if (how === "success") {
      const wanted = objectOf(Object.keys(outputs).map((name) => [name, answer.outputs[name]]));
      const { failed } = yield execution.ask("publish", { outputs: wanted, checkpoint });
      if (!failed) {
        become("COMPLETED");
        return stageOver(execution, how);
      }
      [how, reason] = ["failure", "error"];
    }
    become(how === "interrupted" ? "INTERRUPTED" : "FAILED");
    const { valid } = yield execution.ask("preserve", { reason });
    const may = valid && retryable;
    become(may ? "RESUMABLE" : "BLOCKED");
    const isLast = execution.attempt >= (retry?.attempts ?? 1) || run.cancelled;
    if (how !== "failure" || !may || isLast) return stageOver(execution, how);
    yield* backOff(execution, execution.attempt);
    execution.again();
  }
}

// ---- conversations (§§ 3.6, 3.10, 3.12)

const unacted = (verdict, reason) => ({ verdict, reason, capHit: false, attemptCount: 0 });

function* converse(run, execution) {
  const { act } = execution.node;
  const element = elementOf(execution.arrival.branch);
  const own = Object.fromEntries(Object.entries(run.inputs).filter(([name]) => !RESERVED.includes(name)));
  const upstream = execution.arrival.handed;
  const ctx = { ...own, ...element, upstream, workflowRunId: run.id, stageExecutionId: execution.id };
  if (act.tools.includes(act.completion)) return unacted("fail", "init-failed");
  if (act.accepts && !upstream.every((each) => run.satisfies(each, act.accepts))) return unacted("fail", "init-failed");
  const text = tryRender(act.prompt, { ctx }, run.plan.contents);
  if (text === null) return unacted("fail", "init-failed");
  return (yield* admit(execution, ctx)) ?? (yield* attempts(run, execution, [{ is: "system", text }]));
}

function* admit(execution, ctx) {
  const { admission = {}, retry } = execution.node;
  const isMet = (terms) => terms?.length && holds(terms, { ctx });
  const policy = isMet(admission.block) ? admission.onBlock : isMet(admission.defer) ? admission.onDefer : null;
  if (policy === null) return null;
  if (policy === "skip") return unacted("skip", "skipped");
  if (policy === "ask" && (yield execution.ask("confirm")).yes) return null;
  // the terms are about a context that does not change: they hold again after each wait
  for (let number = 1; policy === "retry-later" && number < (retry?.attempts ?? 1); number += 1) yield* backOff(execution, number);
  return unacted("fail", "gate-unresolved");
}

function* attempts(run, execution, told) {
  const most = execution.node.retry?.attempts ?? 1;
  for (let number = 1; ; number += 1) {
    const attempt = yield* converseOnce(run, execution, told);
    if (attempt.failed) return { verdict: "fail", reason: "provider-failed", capHit: false, attemptCount: number };
    const { parsed, capHit } = attempt;
    const result = { verdict: "ok", reason: "", ...(capHit ? {} : { parsed }), capHit, attemptCount: number };
    const check = (execution.node.gate.checks ?? []).find((each) => holds(each.when, result));
    const { verdict, reason = "" } = check ?? (capHit ? { verdict: "retry", reason: "turn cap" } : { verdict: "ok" });
    if (verdict !== "retry") return { ...result, verdict, reason };
    if (number >= most) return { ...result, verdict: "fail", reason: "retry-exhausted" };
    yield* backOff(execution, number);
    execution.again();
    told = [...attempt.told, { is: "again", text: reason }];
  }
}

function* converseOnce(run, execution, told) {
  const { tools, completion, schema, turns } = execution.node.act;
  for (let number = 1; number <= turns; number += 1) {
    const turn = yield execution.ask("turn", { tools, completion, schema, told });
    if (turn.failed) return { failed: true };
    const calls = turn.calls.map((call, index) => ({ ...call, id: call.id || `${number}.${index}` }));
    const [{ id, arguments: parsed } = {}] = calls;
    if (calls.length !== 1 || calls[0].tool !== completion) told = yield* answerCalls(execution, calls);
    else if (isObject(parsed) && run.satisfies(parsed, schema)) return { parsed, capHit: false, told: [{ is: "accepted", call: id }] };
    else told = [{ is: "wrong", call: id }];
  }
  return { capHit: true, told };
}

function* answerCalls(execution, calls) {
  if (calls.length === 0) return [{ is: "reminder" }];
  if (calls.some((call) => call.tool === execution.node.act.completion)) return calls.map(({ id }) => ({ is: "alone", call: id }));
  const decided = [];
  for (const call of calls) decided.push([call, yield* authorise(execution, call)]);
  return yield new Together(decided.map(([call, whyNot]) => carryOut(execution, call, whyNot)));
}

/** Return why a call is not carried out, or the empty text. */
function* authorise(execution, call) {
  if (!call.tool || !isObject(call.arguments)) return "unread";
  if (execution.node.act.tools.includes(call.tool)) return "";
  const digest = createHash("sha256").update(canonical(call.arguments)).digest("hex");
  const grant = JSON.stringify([execution.attempt, call.id, call.tool, digest]);
  if (execution.used.has(grant)) return "used";
  const { granted } = yield execution.ask("grant", { tool: call.tool, digest });
  if (!granted) return "denied";
  execution.used.add(grant);
  return "";
}

function* carryOut(execution, call, whyNot) {
  if (whyNot) return { is: whyNot, call: call.id };
  const answer = yield execution.ask("call", { tool: call.tool, arguments: call.arguments });
  return has(answer, "value") ? { is: "value", call: call.id, text: textOf(answer.value) } : { is: "error", call: call.id };
}

// ---- judges and validation (§§ 3.7, 3.11, 3.13)

function* outcomeOf(run, execution, answer) {
  const { gate } = execution.node;
  if (gate.is === "exit") return answer.exit === 0 ? "closing" : "repeat";
  if (gate.is === "intent") return meant(gate, answer) ?? (gate.failFast === false ? gate.fallback : null);
  run.checks += 1;
  return (yield* judged(run, execution, answer, run.plan.judge)) ? "verdict" : "next";
}

function* judged(run, execution, answer, judge) {
  if (!judge) return false;
  const { kind, settings = {} } = judge;
  if (kind === "poll:state" || kind === "meta:custom") return (yield execution.ask("judge", { kind, settings })).done;
  if (kind !== "meta:composite") return detected(run, kind, settings, answer);
  const said = [];
  for (const each of Array.isArray(settings.conditions) ? settings.conditions.filter(isObject) : []) {
    const inner = { kind: each.type, settings: isObject(each.config) ? each.config : {} };
    said.push(each.type !== "meta:composite" && (yield* judged(run, execution, answer, inner)));
  }
  return ["or", "first"].includes(settings.operator) ? said.some(Boolean) : said.length > 0 && said.every(Boolean);
}

function detected(run, kind, settings, answer) {
  const { maxIterations, maxChecks, verdictKeyword, signalType, requiredFields = [] } = settings;
  if (kind === "count:iteration") return typeof maxIterations === "number" && run.executions >= maxIterations;
  if (kind === "count:check") return typeof maxChecks === "number" && run.checks >= maxChecks;
  if (kind === "detect:graph") return answer.status === "completed" || answer.complete === true;
  const fields = isObject(requiredFields) ? Object.keys(requiredFields) : requiredFields;
  const isSignal = (each) => isObject(each) && each.type === signalType && fields.every((name) => has(each, name));
  if (kind === "detect:structured") return typeof signalType === "string" && [...everything(answer)].some(isSignal);
  const isKeyed = kind === "detect:keyword" && typeof verdictKeyword === "string";
  return isKeyed && [...everything(answer)].some((each) => typeof each === "string" && each.includes(verdictKeyword));
}

function* everything(value) {
  yield value;
  if (value !== null && typeof value === "object") for (const each of Object.values(value)) yield* everything(each);
}

/** Return the first validator that fails, with its command and how that ended; null when all succeed. */
function* failedValidator(run, execution, listed) {
  for (const { validator: name, params = {} } of execution.node.validation?.[listed] ?? []) {
    const validator = run.plan.validators[name];
    const text = validator.command.replace(/\$\{([^{}]*)\}/g, (whole, each) => (has(params, each) ? textOf(params[each]) : whole));
    const ended = yield execution.ask("shell", { command: text });
    if (!hasSucceeded(validator.success, ended)) return { validator, command: text, ended };
  }
  return null;
}

function hasSucceeded({ kind, argument = "" }, { exit, stdout }) {
  if (kind === "exit") return exit !== null && String(exit) === argument;
  const looks = { empty: () => stdout.trim() === "", contains: () => stdout.includes(argument), matches: () => regex(argument).test(stdout) };
  return exit === 0 && looks[kind]();
}

/** Return what happens in place of an edge; null when one is taken. */
function* validated(run, execution, over) {
  const { conditions, everyOutcome, action = "retry", attempts = 3, prompts = {} } = execution.node.validation ?? {};
  const ends = ["closing", "verdict"].includes(over.outcome);
  const isGuarded = ends || (everyOutcome && !["repeat", "abort"].includes(over.outcome));
  if (!isGuarded || !conditions?.length) return null;
  const past = run.past(execution.name);
  const failed = yield* failedValidator(run, execution, "conditions");
  past.failures = failed === null ? 0 : past.failures + 1;
  if (failed === null) return null;
  const { validator, command: text, ended } = failed;
  const isUnable = [126, 127].includes(ended.exit) || /EACCES|Permission denied/.test(ended.stderr);
  if (action === "abort" || isUnable) return { ...over, failed: "validation" };
  if (action === "skip") return null;
  if (past.failures >= attempts) return { ...over, failed: "validation" };
  const template = has(prompts, validator.pattern) ? prompts[validator.pattern] : null;
  const values = Object.entries(validator.extract ?? {}).map(([name, each]) => [name, extract(each, ended)]);
  const failure = Object.fromEntries(values.filter(([, value]) => value !== null));
  const told = `The work was checked and is not done: ${text}\n\n${ended.stdout}${ended.stderr}`;
  const again = template === null ? told : render(template, { failure }, run.plan.contents);
  return { ...over, again, stays: !ends };
}

// ---- one execution

/** Act, and wait before the edge that is taken where it says so: a timer takes no place of those that act. */
export function* execute(run, execution) {
  return yield* lead(execution, yield* decide(run, execution));
}

/** Fail as an execution does whose deadline has passed, and go on as from any failure. */
export function* late(execution) {
  const result = { verdict: "fail", reason: "deadline-exceeded", capHit: false, attemptCount: execution.attempt };
  return yield* lead(execution, chosen(execution, { outcome: "fail", result }));
}

function* lead(execution, over) {
  execution.deadline = null;
  execution.rests = (over.edge?.wait ?? 0) > 0;
  if (execution.rests) yield execution.ask("wait", { milliseconds: over.edge.wait });
  return over;
}

/** Act, find the outcome, choose the edge, and validate where that ends the work. */
function* decide(run, execution) {
  const { act, gate } = execution.node;
  if (act.is === "process") return yield* stage(run, execution);
  if (act.is === "converse") {
    const result = yield* converse(run, execution);
    return chosen(execution, { outcome: result.verdict === "fail" ? "fail" : "ok", result });
  }
  if (act.is === "prompt" && (yield* failedValidator(run, execution, "preflight"))) return { failed: "preflight" };
  const answer = yield* act.is === "prompt" ? prompt(run, execution) : command(run, execution);
  if (answer === null) return { failed: act.is === "prompt" ? "answer" : "command" };
  const outcome = yield* outcomeOf(run, execution, answer);
  if (outcome === null) return { failed: "intent" };
  const kept = (gate.handoff ?? []).map((path) => [String(path.at(-1)), follow(answer, path)]);
  const handoff = objectOf(kept.filter(([, value]) => value !== undefined));
  const record = Object.keys(handoff).length ? handoff : answer;
  const over = { outcome, record, result: { answer, handoff } };
  if (hasRepeatedTooOften(run, execution, outcome)) return { ...over, failed: "repeats" };
  return (yield* validated(run, execution, over)) ?? chosen(execution, over);
}

function hasRepeatedTooOften(run, { name, node }, outcome) {
  const past = run.past(name);
  const most = node.act.repeats?.length;
  const isRepeat = most !== undefined && outcome === "repeat";
  if (isRepeat && past.repeats === most) return true;
  past.repeats = isRepeat ? past.repeats + 1 : 0;
  return false;
}

function chosen(execution, over) {
  const { arrival, node } = execution;
  if (arrival.begins && over.outcome !== "fail") return over;
  const isOpen = ({ on, when, target }) =>
    on === over.outcome && holds(when, over.result) && (target.is !== "named" || has(target.nodes, nameIn(node, over.result)));
  const edge = node.edges.find(isOpen);
  return edge ? { ...over, edge } : { ...over, failed: over.outcome === "abort" ? "abort" : "no-edge" };
}

/** Return the name that an answer gives to the next node; only a text is a name. */
export function nameIn({ gate }, { answer }) {
  const found = gate.target && follow(answer, gate.target);
  return typeof found === "string" ? found : undefined;
}

// ---- answers of the world (§ 3.16)

const text = (told, member) => (typeof told[member] === "string" ? told[member] : "");
const list = (told, member) => (Array.isArray(told[member]) ? told[member] : []);
const status = (told) => (isWhole(told.exit) ? told.exit : null);
const says = (member) => (told) => ({ [member]: told[member] === true });
const failed = (told) => (told.error ?? null) !== null;
const ran = (told) => ({ exit: status(told), stdout: text(told, "stdout"), stderr: text(told, "stderr") });
const call = (told) => ({ id: text(told, "id"), tool: text(told, "tool"), arguments: told.arguments ?? objectOf([]) });
const isOutput = (each) => isObject(each) && text(each, "path") === each.path && text(each, "sha256") === each.sha256 && isWhole(each.sizeBytes);

/** How the members of an answer count, by the kind of the request. */
export const READERS = {
  ask: (told) => ({ answer: told.answer, text: text(told, "text") }),
  turn: (told) => ({ failed: has(told, "error"), calls: list(told, "calls").map((each) => call(isObject(each) ? each : {})) }),
  call: (told) => (has(told, "value") ? { value: told.value } : {}),
  ...{ grant: says("granted"), confirm: says("yes"), judge: says("done"), preserve: says("valid") },
  ...{ wait: () => ({}), interrupt: () => ({}), run: ran, shell: ran, publish: (told) => ({ failed: failed(told) }) },
  execute: (told) => ({
    ...{ failed: failed(told), exit: status(told), status: text(told, "status") },
    ...{ missing: list(told, "missing"), changed: list(told, "changed") },
    interrupted: ["timeout", "abort"].includes(told.interrupted) ? told.interrupted : null,
    outputs: isObject(told.outputs) ? objectOf(Object.entries(told.outputs).filter(([, each]) => isOutput(each))) : {},
  }),
};
