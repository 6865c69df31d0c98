import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { findCommand } from "../src/command";

const none = () => false;

test("the configured command counts first", () => {
  const found = findCommand(["uv", "run", "stagec"], ["/project"], () => true);
  assert.deepEqual(found, { program: "uv", args: ["run", "stagec"] });
});

test("the environment of the project comes before the path", () => {
  const own = join("/two", "venv", "bin", "stagec");
  assert.deepEqual(findCommand([], ["/one", "/two"], (path) => path === own, "linux"), { program: own, args: [] });
  assert.deepEqual(findCommand([], ["/one", "/two"], none, "linux"), { program: "stagec", args: [] });
});

test("environments of Windows have another folder", () => {
  const own = join("/one", ".venv", "Scripts", "stagec.exe");
  assert.deepEqual(findCommand([], ["/one"], (path) => path === own, "win32"), { program: own, args: [] });
});
