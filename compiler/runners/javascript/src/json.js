/** JSON as plans need it: members stay in their order, also names of digits, which `JSON.parse` puts first. */

const ORDER = Symbol("order");
const DEEPEST = 10_000;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const INDEX = /^(?:0|[1-9][0-9]*)$/;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const WORDS = { true: true, false: false, null: null };

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const isWhole = (value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 53;
/** Return the names of the members of an object, in the order in which they came. */
export const names = (object) => object[ORDER] ?? Object.keys(object);
export const has = (object, name) => Object.hasOwn(object, name);

/** Return an object of pairs of a name and a value, in their order. */
export function objectOf(pairs) {
  const made = Object.create(null);
  for (const [name, value] of pairs) made[name] = value;
  const order = [...new Set(pairs.map(([name]) => name))];
  if (order.some((name) => INDEX.test(name))) Object.defineProperty(made, ORDER, { value: order });
  return made;
}

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail() {
    throw new SyntaxError(`this is no JSON, at character ${this.at}`);
  }

  blank() {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at += 1;
  }

  take(token) {
    this.blank();
    if (this.text[this.at] !== token) return false;
    this.at += 1;
    return true;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) this.fail();
    this.at = pattern.lastIndex;
    return found[0];
  }

  value(depth) {
    if (depth > DEEPEST) this.fail();
    this.blank();
    const first = this.text[this.at];
    if (first === '"') return this.string();
    if (first === "{") return objectOf(this.list("}", () => this.member(depth)));
    if (first === "[") return this.list("]", () => this.value(depth + 1));
    for (const word of Object.keys(WORDS)) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return WORDS[word];
      }
    }
    return Number(this.match(NUMBER));
  }

  member(depth) {
    this.blank();
    const name = this.string();
    if (!this.take(":")) this.fail();
    return [name, this.value(depth + 1)];
  }

  list(end, element) {
    this.at += 1;
    const found = [];
    if (this.take(end)) return found;
    do found.push(element());
    while (this.take(","));
    if (!this.take(end)) this.fail();
    return found;
  }

  string() {
    if (this.text[this.at] !== '"') this.fail();
    this.at += 1;
    let made = "";
    for (;;) {
      made += this.match(PLAIN);
      const next = this.text[this.at];
      this.at += 1;
      if (next === '"') return made;
      if (next !== "\\") this.fail();
      made += this.escape();
    }
  }

  escape() {
    const letter = this.text[this.at];
    this.at += 1;
    if (letter === "u") return String.fromCharCode(parseInt(this.match(/[0-9a-fA-F]{4}/y), 16));
    return ESCAPES[letter] ?? this.fail();
  }
}

/** Return the value of a JSON text, or throw `SyntaxError`. */
export function parse(text) {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.blank();
  if (parser.at !== text.length) parser.fail();
  return value;
}

/** Return JSON without blanks: members in an order, texts and numbers as RFC 8785 writes them. */
export function write(value, order = names) {
  if (Array.isArray(value)) return `[${value.map((each) => write(each, order)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = order(value).filter((name) => value[name] !== undefined);
  return `{${members.map((name) => `${JSON.stringify(name)}:${write(value[name], order)}`).join(",")}}`;
}

/** Return the text of RFC 8785: names sorted by their UTF-16 code units. */
export const canonical = (value) => write(value, (object) => Object.keys(object).sort());

/** Say whether two values are equal as JSON Schema compares them. */
export function same(one, other) {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((each, index) => same(each, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const listed = Object.keys(one);
  return (
    listed.length === Object.keys(other).length && listed.every((name) => has(other, name) && same(one[name], other[name]))
  );
}

/** Say whether a value counts as an answer (§ 3.6): not too deep, no half characters, no number beyond all doubles. */
export function isReadable(value, levels = 128) {
  if (typeof value === "string") return value.isWellFormed?.() ?? !/\p{Surrogate}/u.test(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value !== "object") return true;
  if (levels === 0) return false;
  const inner = Array.isArray(value) ? value : [...Object.keys(value), ...Object.values(value)];
  return inner.every((each) => isReadable(each, levels - 1));
}
