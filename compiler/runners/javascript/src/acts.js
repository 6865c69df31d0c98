/** What executions do, from their beginning to the edge that they take (§§ 3.5 to 3.14): generators of requests. */

import { createHash } from "node:crypto";
import { canonical, has, isObject, isWhole, objectOf, pairsOf } from "./json.js";
import { regex } from "./schema.js";
import { extract, follow, holds, put, render, textOf } from "./text.js";

const DAY = 24 * 60 * 60 * 1000;

function* backOff(execution, number) {
  const { kind = "none", milliseconds = 0 } = execution.node.retry?.backoff ?? {};
  const times = { none: 0, fixed: 1, exponential: 2 ** (number - 1) }[kind];
  yield* execution.ask("wait", { milliseconds: Math.min(DAY, times * milliseconds) });
}

// ---- prompts (§ 3.5)

/** Return the variables that are not missing, as texts. */
function supplied(run, variables = {}) {
  const found = Object.entries(variables).map(([name, each]) => [name, variable(run, each)]);
  return objectOf(found.filter(([, value]) => value !== undefined).map(([name, value]) => [name, textOf(value)]));
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
  const known = {
    __proto__: null,
    iteration: run.executions + 1,
    completed_iterations: run.executions,
    max_iterations: limits.executions,
    remaining: limits.executions && limits.executions - run.executions,
    completion_keyword: settings.verdictKeyword,
    max_checks: settings.maxChecks,
    check_count: run.checks,
    previous_summary: run.summary,
    verdict_criteria: judge && `The work is judged by ${judge.kind}${told && ` (${told})`}.`,
  };
  return known[name];
}

/** Return what the model is asked in an execution that is about to begin; null when it cannot start. */
export function prompts(run, { name, prompt: given }) {
  const { nodes, system, contents } = run.plan;
  const { act } = nodes[name];
  const { repeats } = run.past(name);
  const { prompt, variables = {} } = repeats ? act.repeats[repeats - 1] : act;
  const scopeOf = (listed) => ({ variable: supplied(run, listed), stdin: run.inputs.stdin ?? "" });
  const scope = scopeOf(variables);
  const hasAll = Object.keys(variables).every((each) => has(scope.variable, each));
  const isFit = prompt && hasAll && (act.needed ?? []).every((each) => scope.variable[each]);
  const text = given ?? (isFit ? render(prompt, scope, contents) : null);
  if (text === null || !system) return text === null ? null : { prompt: text };
  const always = ["failure", "this", "variable", "stdin"];
  return { prompt: text, system: render(system.prompt, scopeOf(system.variables), contents, always) };
}

function* prompt(execution) {
  const { run, found, node: { act, gate } } = execution;
  const { schema, tools, model, permission } = act;
  for (const number of [1, 2]) {
    if (number > 1) execution.again();
    const { answer, text } = yield* execution.ask("ask", { ...found, schema, tools, model, permission });
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

const MEAN = {
  ...{ continue: "next", pass: "next", retry: "repeat", wait: "repeat", fail: "repeat" },
  ...{ done: "closing", finished: "closing" },
};

function meant(gate, answer) {
  const found = follow(answer, gate.field);
  if (found === undefined || found === null || typeof found === "object") return null;
  const said = textOf(found).toLowerCase();
  const intent = has(MEAN, said) ? MEAN[said] : said;
  return gate.intents.includes(intent) || intent === "abort" ? intent : null;
}

// ---- programs and processes (§§ 3.6, 3.17)

function* command(execution) {
  const { run, node: { act: { words, milliseconds } } } = execution;
  const scope = { input: run.inputs };
  const isLacking = (piece) => piece.is === "hole" && (follow(scope, piece.path) ?? null) === null;
  const made = words.map((word) => (word.some(isLacking) ? null : render(word, scope, run.plan.contents)));
  if (made.includes(null)) return null;
  const { exit, stdout } = yield* execution.ask("run", { words: made, milliseconds });
  return objectOf([["exit", exit], ["stdout", stdout]]);
}

/** Return how an attempt of a stage has ended, and the reason of one that is no success. */
function judgeAttempt(act, answer, isInterrupted) {
  if (isInterrupted || answer.interrupted) return ["interrupted", isInterrupted ? "abort" : answer.interrupted];
  const { error, exit, status, changed, missing, outputs } = answer;
  const isWell = !error && exit === 0 && !["failed", "interrupted"].includes(status);
  const isWhole = Object.keys(act.outputs ?? {}).every((name) => has(outputs, name));
  return isWell && isWhole && !changed.length && !missing.length ? ["success", ""] : ["failure", "error"];
}

/** Run a stage, and return its outcome. */
function* stage(execution) {
  const { run, name, node: { act, retry } } = execution;
  const { words = [], inputs = {}, outputs = {}, limits, checkpoint = true, retryable = true } = act;
  const become = (status) => run.statuses.set(name, status);
  for (;;) {
    become("RUNNING");
    const answer = yield* execution.ask("execute", { words, inputs, outputs, limits });
    let [how, reason] = judgeAttempt(act, answer, execution.interrupted);
    if (how === "success") {
      const wanted = objectOf(Object.keys(outputs).map((each) => [each, answer.outputs[each]]));
      const { error } = yield* execution.ask("publish", { outputs: wanted, checkpoint });
      if (!error) {
        become("COMPLETED");
        return how;
      }
      [how, reason] = ["failure", "error"];
    }
    become(how === "interrupted" ? "INTERRUPTED" : "FAILED");
    const { valid } = yield* execution.ask("preserve", { reason });
    const may = valid && retryable;
    become(may ? "RESUMABLE" : "BLOCKED");
    const isLast = execution.attempt >= (retry?.attempts ?? 1) || run.cancelled;
    if (how !== "failure" || !may || isLast) return how;
    yield* backOff(execution, execution.attempt);
    execution.again();
  }
}

// ---- conversations (§§ 3.6, 3.10, 3.12)

/** Return the element for which a branch runs, as the context names it. */
function elementOf(branch) {
  const { scope } = branch;
  if (!scope?.elements) return scope ? elementOf(scope.branch) : {};
  const index = scope.branches.indexOf(branch);
  return { item: scope.elements[index], index };
}

const unacted = (verdict, reason) => ({ verdict, reason, capHit: false, attemptCount: 0 });

function* converse(execution) {
  const { run, id: stageExecutionId, arrival: { branch, handed: upstream }, node: { act } } = execution;
  const known = { ...elementOf(branch), upstream, workflowRunId: run.id, stageExecutionId };
  const own = pairsOf(run.inputs).filter(([name]) => !has({ ...known, attempts: 0, host: 0 }, name));
  const ctx = objectOf([...own, ...Object.entries(known)]);
  const isFit = !act.accepts || upstream.every((each) => run.satisfies(each, act.accepts));
  const can = isFit && !act.tools.includes(act.completion);
  const text = can ? render(act.prompt, { ctx }, run.plan.contents) : null;
  if (text === null) return unacted("fail", "init-failed");
  return (yield* admit(execution, ctx)) ?? (yield* attempts(execution, [{ is: "system", text }]));
}

/** Decide the admission; return the result of a node that does not act, null for one that does. */
function* admit(execution, ctx) {
  const { admission = {}, retry } = execution.node;
  const isMet = (terms) => terms?.length && holds(terms, { ctx });
  const policy = isMet(admission.block) ? admission.onBlock : isMet(admission.defer) ? admission.onDefer : null;
  if (policy === null) return null;
  if (policy === "skip") return unacted("skip", "skipped");
  if (policy === "ask" && (yield* execution.ask("confirm")).yes) return null;
  // the terms are about a context that does not change: they hold again after each wait
  const most = policy === "retry-later" ? (retry?.attempts ?? 1) : 1;
  for (let number = 1; number < most; number += 1) yield* backOff(execution, number);
  return unacted("fail", "gate-unresolved");
}

function* attempts(execution, told) {
  const { gate: { checks = [] }, retry } = execution.node;
  for (let number = 1; ; number += 1) {
    const attempt = yield* converseOnce(execution, told);
    const { parsed, capHit = false } = attempt;
    const result = { verdict: "ok", reason: "", ...(parsed && { parsed }), capHit, attemptCount: number };
    if (attempt.failed) return { ...result, verdict: "fail", reason: "provider-failed" };
    const none = capHit ? { verdict: "retry", reason: "turn cap" } : { verdict: "ok" };
    const { verdict, reason = "" } = checks.find((each) => holds(each.when, result)) ?? none;
    if (verdict !== "retry") return { ...result, verdict, reason };
    if (number >= (retry?.attempts ?? 1)) return { ...result, verdict: "fail", reason: "retry-exhausted" };
    yield* backOff(execution, number);
    execution.again();
    told = [...attempt.told, { is: "again", text: reason }];
  }
}

function* converseOnce(execution, told) {
  const { run, node: { act: { tools, completion, schema, turns } } } = execution;
  for (let number = 1; number <= turns; number += 1) {
    const turn = yield* execution.ask("turn", { tools, completion, schema, told });
    if (turn.error !== undefined) return { failed: true };
    const calls = turn.calls.map((call, index) => ({ ...call, id: call.id || `${number}.${index}` }));
    const [{ id: call, arguments: parsed } = {}] = calls;
    if (calls.length !== 1 || calls[0].tool !== completion) told = yield* answerCalls(execution, calls);
    else if (isObject(parsed) && run.satisfies(parsed, schema)) return { parsed, told: [{ is: "accepted", call }] };
    else told = [{ is: "wrong", call }];
  }
  return { capHit: true, told };
}

function* answerCalls(execution, calls) {
  const { completion } = execution.node.act;
  if (calls.length === 0) return [{ is: "reminder" }];
  if (calls.some(({ tool }) => tool === completion)) return calls.map(({ id }) => ({ is: "alone", call: id }));
  const denials = [];
  for (const call of calls) denials.push(yield* authorise(execution, call));
  const allowed = calls.filter((_, index) => !denials[index]);
  const requests = allowed.map(({ tool, arguments: given }) => execution.request("call", { tool, arguments: given }));
  const answers = requests.length ? yield requests : [];
  return calls.map(({ id: call }, index) => {
    if (denials[index]) return { is: denials[index], call };
    const { value } = answers.shift();
    return value === undefined ? { is: "error", call } : { is: "value", call, text: textOf(value) };
  });
}

/** Return why a call is not carried out, or the empty text. */
function* authorise(execution, { id, tool, arguments: given }) {
  if (!tool || !isObject(given)) return "unread";
  if (execution.node.act.tools.includes(tool)) return "";
  const digest = createHash("sha256").update(canonical(given)).digest("hex");
  const grant = JSON.stringify([execution.attempt, id, tool, digest]);
  if (execution.used.has(grant)) return "used";
  const { granted } = yield* execution.ask("grant", { tool, digest });
  if (granted) execution.used.add(grant);
  return granted ? "" : "denied";
}

// ---- judges and validation (§§ 3.7, 3.11, 3.13)

function* outcomeOf(execution, answer) {
  const { run, node: { gate } } = execution;
  if (gate.is === "exit") return answer.exit === 0 ? "closing" : "repeat";
  if (gate.is === "intent") return meant(gate, answer) ?? (gate.failFast === false ? gate.fallback : null);
  run.checks += 1;
  return (yield* judged(execution, answer, run.plan.judge)) ? "verdict" : "next";
}

function* judged(execution, answer, { kind, settings = {} } = {}) {
  if (kind === "poll:state" || kind === "meta:custom") return (yield* execution.ask("judge", { kind, settings })).done;
  if (kind !== "meta:composite") return detected(execution.run, kind, settings, answer);
  const said = [];
  for (const { type, config } of list(settings.conditions).filter(isObject)) {
    const inner = { kind: type, settings: object(config) };
    said.push(type !== "meta:composite" && (yield* judged(execution, answer, inner)));
  }
  return ["or", "first"].includes(settings.operator) ? said.some(Boolean) : said.length > 0 && said.every(Boolean);
}

function detected(run, kind, settings, answer) {
  const { maxIterations, maxChecks, verdictKeyword, signalType, requiredFields } = settings;
  const fields = Array.isArray(requiredFields) ? requiredFields : Object.keys(object(requiredFields));
  const hasAll = (each) => fields.every((name) => typeof name === "string" && has(each, name));
  const isSignal = (each) => isObject(each) && each.type === signalType && hasAll(each);
  const isKeyed = (each) => typeof each === "string" && each.includes(verdictKeyword);
  switch (kind) {
    case "count:iteration": return isWhole(maxIterations) && run.executions >= maxIterations;
    case "count:check": return isWhole(maxChecks) && run.checks >= maxChecks;
    case "detect:graph": return answer.status === "completed" || answer.complete === true;
    case "detect:structured": return typeof signalType === "string" && everything(answer).some(isSignal);
    case "detect:keyword": return typeof verdictKeyword === "string" && everything(answer).some(isKeyed);
    default: return false;
  }
}

/** Return a value and all that is in it. */
function everything(value) {
  const isOuter = Array.isArray(value) || isObject(value);
  return [value, ...(isOuter ? Object.values(value).flatMap(everything) : [])];
}

/** Return the first validator that fails, with its command and how that ended; null when all succeed. */
function* failedValidator(execution, conditions = []) {
  for (const { validator: name, params = {} } of conditions) {
    const validator = execution.run.plan.validators[name];
    const filled = (whole, each) => (has(params, each) ? textOf(params[each]) : whole);
    const text = validator.command.replace(/\$\{([^{}]*)\}/g, filled);
    const ended = yield* execution.ask("shell", { command: text });
    if (!hasSucceeded(validator.success, ended)) return { validator, command: text, ended };
  }
  return null;
}

function hasSucceeded({ kind, argument = "" }, { exit, stdout }) {
  if (kind === "exit") return exit !== null && String(exit) === argument;
  if (exit !== 0) return false;
  if (kind === "empty") return stdout.trim() === "";
  return kind === "contains" ? stdout.includes(argument) : regex(argument).test(stdout);
}

/** Return what happens in place of an edge; null when one is taken. */
function* validated(execution, over) {
  const { run, name, node: { validation = {} } } = execution;
  const { conditions = [], everyOutcome, action = "retry", attempts = 3, prompts = {} } = validation;
  const ends = ["closing", "verdict"].includes(over.outcome);
  const isGuarded = ends || (everyOutcome && !["repeat", "abort"].includes(over.outcome));
  if (!isGuarded || conditions.length === 0) return null;
  const past = run.past(name);
  const failed = yield* failedValidator(execution, conditions);
  past.failures = failed === null ? 0 : past.failures + 1;
  if (failed === null) return null;
  const { validator: { pattern, extract: extractors = {} }, command: text, ended } = failed;
  const isUnable = [126, 127].includes(ended.exit) || /EACCES|Permission denied/.test(ended.stderr);
  if (isUnable || action === "abort") return { ...over, failed: "validation" };
  if (action === "skip") return null;
  if (past.failures >= attempts) return { ...over, failed: "validation" };
  const failure = objectOf(pairsOf(extractors).map(([each, extractor]) => [each, extract(extractor, ended)]));
  const told = `The work was checked and is not done: ${text}\n\n${ended.stdout}${ended.stderr}`;
  const again = has(prompts, pattern) ? render(prompts[pattern], { failure }, run.plan.contents) : told;
  return { ...over, again, stays: !ends };
}

// ---- one execution

/** Act, and wait before the edge that is taken where it says so: a timer takes no place of those that act. */
export function* execute(execution) {
  return yield* lead(execution, yield* decide(execution));
}

/** Fail as an execution does whose deadline has passed, and go on as from any failure. */
export function* late(execution) {
  const result = { verdict: "fail", reason: "deadline-exceeded", capHit: false, attemptCount: execution.attempt };
  return yield* lead(execution, chosen(execution, { outcome: "fail", result }));
}

function* lead(execution, over) {
  const { wait: milliseconds = 0 } = over.edge ?? {};
  execution.open.delete(execution.deadline?.key);
  execution.rests = milliseconds > 0;
  if (execution.rests) yield* execution.ask("wait", { milliseconds });
  return over;
}

/** Act, find the outcome, and choose the edge. */
function* decide(execution) {
  const { act } = execution.node;
  if (act.is === "process") {
    const outcome = yield* stage(execution);
    return chosen(execution, { outcome, result: { answer: { outcome } } });
  }
  if (act.is === "converse") {
    const result = yield* converse(execution);
    return chosen(execution, { outcome: result.verdict === "fail" ? "fail" : "ok", result });
  }
  return yield* decideByAnswer(execution);
}

/** Ask a model or run a program, and validate the end of the work. */
function* decideByAnswer(execution) {
  const { run, name, node: { act, gate, validation } } = execution;
  const isPrompt = act.is === "prompt";
  if (isPrompt && (yield* failedValidator(execution, validation?.preflight))) return { failed: "preflight" };
  const answer = yield* isPrompt ? prompt(execution) : command(execution);
  if (answer === null) return { failed: isPrompt ? "answer" : "command" };
  const outcome = yield* outcomeOf(execution, answer);
  if (outcome === null) return { failed: "intent" };
  const kept = (gate.handoff ?? []).map((path) => [String(path.at(-1)), follow(answer, path)]);
  const handoff = objectOf(kept.filter(([, value]) => value !== undefined));
  const record = Object.keys(handoff).length ? handoff : answer;
  const over = { outcome, record, result: { answer, handoff } };
  const past = run.past(name);
  const isRepeat = act.repeats !== undefined && outcome === "repeat";
  if (isRepeat && past.repeats === act.repeats.length) return { ...over, failed: "repeats" };
  past.repeats = isRepeat ? past.repeats + 1 : 0;
  return (yield* validated(execution, over)) ?? chosen(execution, over);
}

/** Return what is over with the edge that it takes (§ 3.8); what begins a branch ends it, unless it fails. */
export function chosen({ arrival, node }, over) {
  if (arrival.begins && over.outcome !== "fail") return over;
  const isNamed = ({ is, nodes }) => is !== "named" || has(nodes, nameIn(node, over.result));
  const isOpen = ({ on, when, target }) => on === over.outcome && holds(when, over.result) && isNamed(target);
  const edge = node.edges.find(isOpen);
  return edge ? { ...over, edge } : { ...over, failed: over.outcome === "abort" ? "abort" : "no-edge" };
}

/** Return the name that an answer gives to the next node; only a text is a name. */
export function nameIn({ gate }, { answer }) {
  const found = gate.target && follow(answer, gate.target);
  return typeof found === "string" ? found : undefined;
}

// ---- answers of the world (§ 3.16)

const text = (value) => (typeof value === "string" ? value : "");
const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (isObject(value) ? value : objectOf([]));
const any = (value) => value;
const isTrue = (value) => value === true;
const isGiven = (value) => (value ?? null) !== null;
const status = (value) => (isWhole(value) ? value : null);
const ending = (value) => (["timeout", "abort"].includes(value) ? value : null);
const isOutput = ({ path, sha256, sizeBytes }) => text(path) === path && text(sha256) === sha256 && isWhole(sizeBytes);
const outputs = (value) => objectOf(Object.entries(object(value)).filter(([, each]) => isOutput(object(each))));
const CALL = { id: text, tool: text, arguments: (value) => value ?? objectOf([]) };
const calls = (value) => list(value).map((each) => read(CALL, object(each)));

/** How the members of an answer count, by the kind of the request; those of another form count as absent. */
export const ANSWERS = {
  ...{ wait: {}, interrupt: {}, ask: { answer: any, text }, turn: { error: any, calls }, call: { value: any } },
  ...{ grant: { granted: isTrue }, confirm: { yes: isTrue }, judge: { done: isTrue }, preserve: { valid: isTrue } },
  ...{ run: { exit: status, stdout: text }, shell: { exit: status, stdout: text, stderr: text } },
  publish: { error: isGiven },
  execute: { error: isGiven, exit: status, status: text, interrupted: ending, missing: list, changed: list, outputs },
};

/** Return the members of an answer as they count. */
export function read(forms, answer) {
  return Object.fromEntries(Object.entries(forms).map(([name, form]) => [name, form(answer[name])]));
}
