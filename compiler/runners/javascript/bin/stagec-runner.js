#!/usr/bin/env node
/** Speak `stagec.conformance/1` over standard input and output: one message a line, one answer to each. */

import { createInterface } from "node:readline";
import process from "node:process";
import { parse, write } from "../src/json.js";
import { read, Refused, Run } from "../src/index.js";

let [plan, run, known] = [null, null, new Set()];

function load(file) {
  try {
    plan = read(file);
    return { is: "loaded", digest: plan.digest };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { is: "refused", why: error.message };
  }
}

function step(event) {
  if (event.is === "start") [run, known] = [new Run(plan), new Set()];
  run.tell(event);
  const requests = run.requests().filter((request) => !known.has(request.key));
  for (const { key } of requests) known.add(key);
  return { is: "step", requests, state: run.state(), outcome: run.outcome() };
}

const READY = { is: "ready", protocol: "stagec.conformance/1" };
const REPLIES = {
  hello: () => ({ ...READY, runner: "stagec-runner 0.1.0", profiles: ["registry", "pipeline", "stages"] }),
  plan: ({ file }) => load(file),
  event: ({ event }) => step(event),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = parse(line);
  if (message.is === "end") break;
  process.stdout.write(`${write(REPLIES[message.is](message))}\n`);
}
