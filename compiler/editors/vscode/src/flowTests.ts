// The tests in a file of flow tests, and the results that `stagec test --format json` prints.
export interface ListedTest {
  name: string;
  line: number;
}

export interface Complaint {
  line: number;
  column: number;
  message: string;
}

export interface TestResult {
  name: string;
  complaints: Complaint[];
}

const KEY = /^(\s*)(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#"'[{&*!|>%@`-][^#]*?|-[^\s#][^#]*?))\s*:(?:\s|$)/;

/** Return the names below `tests:` with their lines from zero. Text that is not laid out like a file of tests has none. */
export function listTests(text: string): ListedTest[] {
  const found: ListedTest[] = [];
  let depth: number | undefined;
  let isInside = false;
  text.split(/\r?\n/).forEach((content, line) => {
    const key = KEY.exec(content);
    const indent = content.search(/\S/);
    if (indent < 0 || content[indent] === "#") return;
    if (indent === 0) {
      isInside = key !== null && nameOf(key) === "tests";
      depth = undefined;
    } else if (isInside && (depth === undefined || indent === depth)) {
      depth = indent;
      if (key !== null) found.push({ name: nameOf(key), line });
    }
  });
  return found;
}

function nameOf(key: RegExpExecArray): string {
  if (key[2] !== undefined) return JSON.parse(`"${key[2]}"`) as string;
  if (key[3] !== undefined) return key[3].replaceAll("''", "'");
  return key[4] ?? "";
}

/** Return the results of all tests by name; throw an error with what stagec has said where it ran none. */
export function readResults(printed: string, said: string): Map<string, TestResult> {
  let told: { files?: { tests?: TestResult[] }[] };
  try {
    told = JSON.parse(printed) as typeof told;
  } catch {
    throw new Error(said.trim() || "stagec printed no results");
  }
  const tests = (told.files ?? []).flatMap((file) => file.tests ?? []);
  return new Map(tests.map((each) => [each.name, each]));
}
