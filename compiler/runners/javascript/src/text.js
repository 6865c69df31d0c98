/** What stands at paths, what text templates make, which terms hold, and what is read from outputs. */

import { has, isObject, objectOf, pairsOf, same, write } from "./json.js";

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
  const isList = Array.isArray(value);
  const made = isList ? [...value] : objectOf(pairsOf(value));
  const key = isList ? Number(first) : first;
  made[key] = put(value[key], rest, other);
  return made;
}

/** Return a value as a hole writes it. */
export const textOf = (value) => (value === null ? "" : typeof value === "string" ? value : write(value));

const isThere = (value) => Boolean(value) && !(Array.isArray(value) && value.length === 0);

/** Return the text of a template; null where a hole leads to nothing, unless its path begins with one of some names. */
export function render(template, scope, contents, empty = ["failure", "this"]) {
  const inner = (pieces, more = scope) => render(pieces ?? [], more, contents, empty);
  const join = (texts) => (texts.includes(null) ? null : texts.join(""));
  const piece = (each) => {
    if (each.is === "text") return contents[each.content];
    const found = follow(scope, each.path);
    if (each.is === "choice") return inner(isThere(found) ? each.then : each.otherwise);
    if (each.is === "hole") return found !== undefined ? textOf(found) : empty.includes(each.path[0]) ? "" : null;
    return join((Array.isArray(found) ? found : []).map((element) => inner(each.body, { ...scope, this: element })));
  };
  return join(template.map(piece));
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
const FILE = /^[./]*[^./].*\.[A-Za-z][\p{L}\p{N}_]{0,11}$/u;
const RULE = /[([]([a-z][\p{L}\p{N}_/-]{2,80})[)\]]/u;
const TEST =
  /^\s*(?:FAILED|FAIL|not ok|✗|✘):?\s+(?:\|\s*)?([^\s|].{0,500})$|^(\S.{0,500}?) \.\.\. FAILED(?![\p{L}\p{N}_])/su;

const linesOf = (text) => text.split(/\r?\n/).map((line) => [...line].slice(0, 2000).join(""));
const allLines = ({ stdout, stderr }) => linesOf(`${stdout}\n${stderr}`);

function paths(line) {
  const found = [...line.matchAll(PATH)].map(([, path, number]) => [path.replace(/\.+$/, ""), Number(number ?? 0)]);
  return found.filter(([path]) => FILE.test(path)).map(([file, line]) => ({ file, line }));
}
const filesIn = (lines) => [...new Set(lines.flatMap((line) => paths(line).map(({ file }) => file)))];
const files = (ended) => filesIn(allLines(ended));

function errors(ended) {
  return allLines(ended).flatMap((line, index, lines) => {
    if (!line.toLowerCase().includes("error")) return [];
    const behind = (lines[index + 1] ?? "").trimStart();
    const place = paths(/^(?:at |--> )/.test(behind) ? `${line} ${behind}` : line)[0] ?? { file: "", line: 0 };
    return [{ message: line.trim(), ...place, rule: RULE.exec(line)?.[1] ?? "" }];
  });
}

function tests(ended) {
  const found = allLines(ended).map((line) => TEST.exec(line)).filter(Boolean);
  return found.map(([, behind, before]) => {
    const [name, ...error] = (behind ?? before).trim().split(" - ");
    return { name, error: error.join(" - ") };
  });
}

const missing = (ended) =>
  filesIn(allLines(ended).filter((line) => /no such file|not found|missing|does not exist/i.test(line)));
const diff = ({ stdout }) => stdout.slice(/(?<![^\n])(?:diff |--- |@@ |[+-]\S)/.exec(stdout)?.index ?? stdout.length);
/** Return an extractor of the files whose two letters of `git status` mean something. */
const changed = (counts) => ({ stdout }) => {
  const lines = linesOf(stdout).map((line) => [...line]).filter((line) => line.length > 3 && counts(line));
  return lines.map((line) => line.slice(3).join("").split(" -> ").at(-1));
};

/** The extractors of § 6, functions of how a command has ended. */
const EXTRACTORS = {
  ...{ stdout: ({ stdout }) => stdout, stderr: ({ stderr }) => stderr, exitCode: ({ exit }) => exit },
  errorOutput: ({ stdout, stderr }) => (stderr.trim() ? stderr : stdout),
  parseChangedFiles: changed(([x, y]) => x !== "?" || y !== "?"),
  parseUntrackedFiles: changed(([x, y]) => x === "?" && y === "?"),
  parseStagedFiles: changed(([x]) => !" ?".includes(x)),
  parseUnstagedFiles: changed(([, y]) => !" ?".includes(y)),
  ...{ extractFiles: files, files, parseFormatOutput: files, formatFiles: files },
  ...{ parseTypeErrors: errors, errors, parseLintErrors: errors, lintErrors: errors },
  lintFiles: (ended) => [...new Set(errors(ended).map(({ file }) => file).filter(Boolean))],
  ...{ parseTestOutput: tests, failedTests: tests, generateDiff: diff, diff, missingPaths: missing },
  expectedPath: (ended) => missing(ended)[0] ?? "",
};

/** Return what an extractor finds; null for nothing. */
export const extract = (name, ended) => (has(EXTRACTORS, name) ? EXTRACTORS[name](ended) : null);
