import assert from "node:assert/strict";
import { test } from "node:test";
import { listTests, readResults } from "../src/flowTests";

test("tests are the members below 'tests'", () => {
  const text = [
    "# tests: no",
    "flow: demo",
    "scenario:",
    "  answers: {}",
    "tests:",
    "",
    "  # a comment",
    "  a run ends well:",
    "    expect: {outcome: done}",
    "    scenario:",
    "      inputs: {}",
    "  'it''s: quoted':",
    "    expect: {}",
    '  "a \\"b\\"":',
    "    expect: {}",
    "other:",
    "  not a test: 1",
  ].join("\r\n");
  assert.deepEqual(listTests(text), [
    { name: "a run ends well", line: 7 },
    { name: "it's: quoted", line: 11 },
    { name: 'a "b"', line: 13 },
  ]);
});

test("a text that is no file of tests has none", () => {
  assert.deepEqual(listTests(""), []);
  assert.deepEqual(listTests("tests: [a, b]\n"), []);
  assert.deepEqual(listTests("{tests: {a: 1}}"), []);
});

test("results are found by name", () => {
  const complaint = { line: 3, column: 5, message: "outcome is failed" };
  const printed = JSON.stringify({ failed: 1, files: [{ tests: [{ name: "a", complaints: [] }, { name: "b", complaints: [complaint] }] }] });
  const results = readResults(printed, "");
  assert.deepEqual(results.get("a")?.complaints, []);
  assert.deepEqual(results.get("b")?.complaints, [complaint]);
});

test("what stagec says where it runs no test is told", () => {
  assert.throws(() => readResults("", "stagec: error: no tests\n"), /^Error: stagec: error: no tests$/);
  assert.throws(() => readResults("", ""), /printed no results/);
});
