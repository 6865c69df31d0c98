import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { connectPage, findNode, findSpot, type NodeSpot } from "../src/page";

const spot = (node: string, uri: string, first: number, last: number): NodeSpot => ({
  node,
  uri,
  range: { start: { line: first, character: 2 }, end: { line: last, character: 4 } },
});
const nodes = [spot("plan", "file:///p.yaml", 1, 20), spot("draft", "file:///p.yaml", 5, 8), spot("plan", "file:///plan.md", 0, 9)];

test("the node of a position is the innermost one", () => {
  assert.equal(findNode(nodes, "file:///p.yaml", { line: 6, character: 0 }), "draft");
  assert.equal(findNode(nodes, "file:///p.yaml", { line: 12, character: 0 }), "plan");
  assert.equal(findNode(nodes, "file:///p.yaml", { line: 1, character: 1 }), undefined);
  assert.equal(findNode(nodes, "file:///p.yaml", { line: 20, character: 5 }), undefined);
  assert.equal(findNode(nodes, "file:///other.md", { line: 1, character: 3 }), undefined);
});

test("the place of a node is its definition", () => {
  assert.equal(findSpot(nodes, "plan")?.uri, "file:///p.yaml");
  assert.equal(findSpot(nodes, "gone"), undefined);
});

test("a page of another form is refused", () => {
  assert.throws(() => connectPage("<body></body>", "n"), /another form/);
});

// tests/editors/test_vscode.py gives a real page, and opens what comes of it in a browser
test("a page keeps its policy and its own script", { skip: process.env["STAGEC_PAGE"] === undefined }, () => {
  const path = process.env["STAGEC_PAGE"]!;
  const html = readFileSync(path, "utf8");
  const connected = connectPage(html, "abc");
  const policyOf = (text: string) => /content="(default-src[^"]+)"/.exec(text)?.[1] ?? "";
  assert.equal(policyOf(connected), policyOf(html).replace("script-src '", "script-src 'nonce-abc' '"));
  assert.equal(connected.split("<script").length, html.split("<script").length + 1);
  writeFileSync(`${path}.connected.html`, connected);
});
