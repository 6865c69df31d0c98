import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const sources = ["extension", "drawing", "testing"].map((name) => readFileSync(`src/${name}.ts`, "utf8")).join("\n");

test("every command is registered", () => {
  for (const { command } of manifest.contributes.commands) assert.ok(sources.includes(`registerCommand("${command}"`), command);
});

test("every setting is read", () => {
  for (const name of Object.keys(manifest.contributes.configuration.properties)) {
    assert.ok(sources.includes(`("${name.replace("stagec.", "")}"`), name);
  }
});

// tests/editors/test_vscode.py gives what `stagec validate --format concise` prints
test("the problem matcher reads concise findings", { skip: process.env["STAGEC_CONCISE"] === undefined }, () => {
  const { regexp, file, line, severity, code } = manifest.contributes.problemMatchers[0].pattern;
  const lines = readFileSync(process.env["STAGEC_CONCISE"]!, "utf8").trim().split("\n");
  const found = lines.map((each) => new RegExp(regexp).exec(each)).filter((each) => each !== null);
  assert.equal(found.length, 6);
  const first = found[0]!;
  assert.deepEqual([first[file], first[line], first[severity], first[code]], ["agent.json", "6", "error", "STG109"]);
});
