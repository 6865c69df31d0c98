/** JSON as plans need it: members stay in their order, also names of digits, which `JSON.parse` puts first. */

const ORDER = Symbol("order");
const INDEX = /^(?:0|[1-9][0-9]*)$/;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs;

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const isWhole = (value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 53;
/** Return the names of the members of an object, in the order in which they came. */
export const names = (object) => object[ORDER] ?? Object.keys(object);
export const has = (object, name) => Object.hasOwn(object, name);

/** Return the names and the values of the members of an object, in the same order. */
export const pairsOf = (object) => names(object).map((name) => [name, object[name]]);

/** Return an object of pairs of a name and a value, in their order. */
export function objectOf(pairs) {
  const made = Object.create(null);
  for (const [name, value] of pairs) made[name] = value;
  const order = [...new Set(pairs.map(([name]) => name))];
  if (order.some((name) => INDEX.test(name))) Object.defineProperty(made, ORDER, { value: order });
  return made;
}

/** Return the value of a JSON text, or throw `SyntaxError`. */
export function parse(text) {
  const marked = text.replace(STRING, (string, colon) => (colon ? `"~${string.slice(1)}` : string));
  const restored = (value) => objectOf(Object.entries(value).map(([name, each]) => [name.slice(1), each]));
  // `~10` is no name of digits, and stays where it came
  return JSON.parse(marked, (_, value) => (isObject(value) ? restored(value) : value));
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
  const isSame = (name) => has(other, name) && same(one[name], other[name]);
  return listed.length === Object.keys(other).length && listed.every(isSame);
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
