/** What stands at paths, what text templates make, which terms hold, and what is read from outputs. */

import { has, isObject, names, objectOf, same, write } from "./json.js";

/** Return the value at a path; `undefined` is nothing. */
export function follow(value, path) {
  for (const part of path) {
    if (Array.isArray(value)) value = /^\d+$/.test(String(part)) ? value[Number(part)] : undefined;
    else value = isObject(value) && has(value, String(part)) ? value[String(part)] : undefined;
  }
  return value;
}

/** Return a copy of a value with another one at a path that leads to something. */
export function put(value, path, other) {
  if (path.length === 0) return other;
  const [first, ...rest] = path;
  if (Array.isArray(value)) return value.map((each, index) => (index === Number(first) ? put(each, rest, other) : each));
  return objectOf(names(value).map((name) => [name, name === String(first) ? put(value[name], rest, other) : value[name]]));
}

/** Return a value as a hole writes it. */
export const textOf = (value) => (value === null ? "" : typeof value === "string" ? value : write(value));

class HoleError extends Error {}

const isThere = (value) => Boolean(value) && !(Array.isArray(value) && value.length === 0);

/** Return the text of a template; a hole that leads to nothing is empty below some names only. */
export function render(template, scope, contents, empty = ["failure", "this"]) {
  const inner = (pieces, more = scope) => render(pieces ?? [], more, contents, empty);
  const piece = (each) => {
    if (each.is === "text") return contents[each.content];
    const found = follow(scope, each.path);
    if (each.is === "choice") return inner(isThere(found) ? each.then : each.otherwise);
    if (each.is === "each") {
      const elements = Array.isArray(found) ? found : [];
      return elements.map((element) => inner(each.body, { ...scope, this: element })).join("");
    }
    if (found === undefined && !empty.includes(each.path[0])) throw new HoleError(each.path.join("."));
    return found === undefined ? "" : textOf(found);
  };
  return template.map(piece).join("");
}

/** Return the text of a template; null when a hole leads to nothing. */
export function tryRender(template, scope, contents) {
  try {
    return render(template, scope, contents);
  } catch (error) {
    if (error instanceof HoleError) return null;
    throw error;
  }
}

/** Say whether all terms hold of a value. */
export function holds(terms, value) {
  return (terms ?? []).every((term) => {
    const found = follow(value, term.path);
    if (term.is === "exists") return (found !== undefined) === term.present;
    if (found === undefined) return false;
    return term.is === "reads" ? term.texts.includes(textOf(found)) : term.values.some((each) => same(found, each));
  });
}

const PATH = /(?:file:\/\/)?([\p{L}\p{N}_./@+-]+)(?:[:(](\d{1,9})(?:[:,]\d{1,9})?\)?)?/gu;
const SUFFIX = /^[A-Za-z][\p{L}\p{N}_]{0,11}$/u;
const RULE = /[([]([a-z][\p{L}\p{N}_/-]{2,80})[)\]]/u;
const TEST = /^\s*(?:FAILED|FAIL|not ok|✗|✘):?\s+(?:\|\s*)?([^\s|].{0,500})$|^(\S.{0,500}?) \.\.\. FAILED(?![\p{L}\p{N}_])/u;
const STATUS = {
  parseChangedFiles: (letters) => letters !== "??",
  parseUntrackedFiles: (letters) => letters === "??",
  parseStagedFiles: (letters) => !" ?".includes(letters[0]),
  parseUnstagedFiles: (letters) => !" ?".includes(letters[1]),
};

const lines = (text) => text.split(/\r?\n/).map((line) => [...line].slice(0, 2000).join(""));
const once = (found) => [...new Set(found)];

function paths(line) {
  return [...line.matchAll(PATH)].flatMap(([, found, number]) => {
    const file = found.replace(/\.+$/, "");
    const dot = file.lastIndexOf(".");
    const isFile = dot >= 0 && /[^./]/.test(file.slice(0, dot)) && SUFFIX.test(file.slice(dot + 1));
    return isFile ? [{ file, line: Number(number ?? 0) }] : [];
  });
}
const filesIn = (found) => once(found.flatMap((line) => paths(line).map((each) => each.file)));

function errors(all) {
  return all.flatMap((line, index) => {
    if (!line.toLowerCase().includes("error")) return [];
    const behind = (all[index + 1] ?? "").trimStart();
    const place = paths(/^(?:at |--> )/.test(behind) ? `${line} ${behind}` : line)[0] ?? { file: "", line: 0 };
    return [{ message: line.trim(), ...place, rule: RULE.exec(line)?.[1] ?? "" }];
  });
}

function tests(all) {
  return all.flatMap((line) => {
    const found = TEST.exec(line);
    if (found === null) return [];
    const [name, ...rest] = (found[1] ?? found[2]).trim().split(" - ");
    return [{ name, error: rest.join(" - ") }];
  });
}

/** Return what an extractor finds (§ 6); null for nothing. */
export function extract(name, { stdout, stderr, exit }) {
  if (has(STATUS, name)) {
    const found = lines(stdout).filter((line) => line.length > 3 && STATUS[name](line.slice(0, 2)));
    return found.map((line) => line.slice(3).split(" -> ").at(-1));
  }
  const all = lines(`${stdout}\n${stderr}`);
  const missing = () => filesIn(all.filter((line) => /no such file|not found|missing|does not exist/i.test(line)));
  const diff = () => stdout.slice(/^(?:diff |--- |@@ |[+-]\S)/m.exec(stdout)?.index ?? stdout.length);
  const [files, faults, failed] = [() => filesIn(all), () => errors(all), () => tests(all)];
  const found = {
    ...{ stdout: () => stdout, stderr: () => stderr, exitCode: () => exit, errorOutput: () => (stderr.trim() ? stderr : stdout) },
    ...{ extractFiles: files, files, parseFormatOutput: files, formatFiles: files },
    ...{ parseTypeErrors: faults, errors: faults, parseLintErrors: faults, lintErrors: faults },
    lintFiles: () => once(faults().map((each) => each.file).filter(Boolean)),
    ...{ parseTestOutput: failed, failedTests: failed, generateDiff: diff, diff },
    missingPaths: missing,
    expectedPath: () => missing()[0] ?? "",
  };
  return has(found, name) ? found[name]() : null;
}
